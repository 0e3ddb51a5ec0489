package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// imageCommands are the commands that work on the node's image store.
type imageCommands struct {
	*target
	*format
}

func (c imageCommands) command() *cobra.Command {
	return group(&cobra.Command{Use: "images", Short: "The images that the node needs when there is no registry"},
		c.list(), c.seed(), c.verify(), c.prune(), c.status(), c.rehearse(), c.boot(), c.check())
}

// tableFlag adds -o for commands that print a table. What it returns tells whether -o json was given, and refuses anything but
// table and json. It has its own variable: the one of the other commands begins as text.
func tableFlag(cmd *cobra.Command) (asJSON func() (bool, error)) {
	output := cmd.Flags().StringP("output", "o", "table", "table or json")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return func() (bool, error) {
		switch *output {
		case "table", "json":
			return *output == "json", nil
		}
		return false, usage(fmt.Errorf("-o %s: table or json", *output))
	}
}

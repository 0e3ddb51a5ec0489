package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (c *common) imagesCommand() *cobra.Command {
	return group(&cobra.Command{Use: "images", Short: "The images that the node needs when there is no registry"},
		c.imagesListCommand(), c.imagesSeedCommand(), c.imagesVerifyCommand(), c.imagesPruneCommand(), c.imagesStatusCommand(),
		c.imagesRehearseCommand(),
		c.imagesBootCommand(), c.imagesCheckCommand())
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

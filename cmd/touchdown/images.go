package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (c *common) imagesCommand() *cobra.Command {
	return group(&cobra.Command{Use: "images", Short: "The images that the node needs when there is no registry"},
		c.imagesListCommand(), c.imagesSeedCommand(), c.imagesVerifyCommand(), c.imagesStatusCommand(), c.imagesRehearseCommand(),
		c.imagesBootCommand(), c.imagesCheckCommand())
}

// tableFlag adds -o for commands that print a table.
func (c *common) tableFlag(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&c.output, "output", "o", "table", "table or json")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "json"}, cobra.ShellCompDirectiveNoFileComp))
}

// tableJSON tells whether -o json was given, and refuses anything but table and json.
func (c *common) tableJSON() (bool, error) {
	switch c.output {
	case "table", "json":
		return c.output == "json", nil
	}
	return false, usage(fmt.Errorf("-o %s: table or json", c.output))
}

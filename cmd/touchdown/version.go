package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

func (c *common) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			asJSON, err := c.json()
			if err != nil {
				return err
			}
			platform := runtime.GOOS + "/" + runtime.GOARCH
			if asJSON {
				return printJSON(cmd, map[string]string{"version": version, "platform": platform, "go": runtime.Version()})
			}
			fmt.Fprintf(printed(cmd), "touchdown %s %s %s\n", version, platform, runtime.Version())
			return nil
		},
	}
	c.outputFlag(cmd)
	return cmd
}

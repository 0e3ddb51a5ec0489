package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

func versionCommand(f *format) *cobra.Command {
	return withJSON(f, &cobra.Command{Use: "version", Short: "Print the version", Args: cobra.NoArgs}, func(cmd *cobra.Command, _ []string, asJSON bool) error {
		platform := runtime.GOOS + "/" + runtime.GOARCH
		if asJSON {
			return printJSON(cmd, map[string]string{"version": version, "platform": platform, "go": runtime.Version()})
		}
		fmt.Fprintf(printed(cmd), "touchdown %s %s %s\n", version, platform, runtime.Version())
		return nil
	})
}

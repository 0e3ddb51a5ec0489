package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"touchdown/steps/site"
)

func siteCommand() *cobra.Command {
	return group(&cobra.Command{Use: "site", Short: "Write, check and explain site configs"},
		siteNew(), siteValidate(), siteExplain(), siteImport())
}

func siteNew() *cobra.Command {
	return &cobra.Command{
		Use: "new", Short: "Print a site config to fill in", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(site.Example())
			return err
		},
	}
}

func siteValidate() *cobra.Command {
	return &cobra.Command{
		Use: "validate FILE", Short: "Say what is wrong with a site config, and where", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := loadSite(cmd, args[0]); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s is a valid site config\n", args[0])
			return nil
		},
	}
}

func siteExplain() *cobra.Command {
	return &cobra.Command{
		Use: "explain [PATH]", Short: "Explain a key of the site config, or all of them", Args: cobra.MaximumNArgs(1),
		Example:           "  touchdown site explain spec.baseDomain",
		ValidArgsFunction: completePaths,
		RunE: func(cmd *cobra.Command, args []string) error {
			text := site.Reference()
			if len(args) == 1 {
				var err error
				if text, err = site.Explain(args[0]); err != nil {
					return usage(err)
				}
			}
			fmt.Fprintln(cmd.OutOrStdout(), strings.TrimRight(text, "\n"))
			return nil
		},
	}
}

func completePaths(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var paths []string
	for _, item := range site.Schema() {
		paths = append(paths, item.Path)
	}
	return paths, cobra.ShellCompDirectiveNoFileComp
}

// importers read other programs' documents, by the name given to --from.
func importers() map[string]func([]byte, string) (*site.Config, []string, error) {
	return map[string]func([]byte, string) (*site.Config, []string, error){
		"seed-reconfiguration": site.FromSeedReconfiguration,
		"cluster-relocation":   site.FromClusterRelocation,
		"install-config":       site.FromInstallConfig,
	}
}

// maxImport is the largest document that is imported: a config map in etcd holds 1 MiB at most.
const maxImport = 1 << 20

func siteImport() *cobra.Command {
	var from string
	cmd := &cobra.Command{
		Use: "import FILE --from KIND", Short: "Turn another program's document into a site config", Args: cobra.ExactArgs(1),
		Long: `Import reads a lifecycle-agent SeedReconfiguration, a ClusterRelocation or an install-config and prints the
site config that says the same. What could not be taken over is told on standard error. Secrets are printed:
send the output to a file that only you can read.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			read, ok := importers()[from]
			if !ok {
				return usage(fmt.Errorf("--from %q: seed-reconfiguration, cluster-relocation or install-config", from))
			}
			return runImport(cmd, args[0], read)
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "seed-reconfiguration, cluster-relocation or install-config")
	return cmd
}

func runImport(cmd *cobra.Command, file string, read func([]byte, string) (*site.Config, []string, error)) error {
	info, err := os.Stat(file)
	if err != nil {
		return usage(err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxImport {
		return usage(fmt.Errorf("%s is no file of at most %d bytes", file, maxImport))
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return usage(err)
	}
	cfg, notes, err := read(data, file)
	if err != nil {
		return usage(err)
	}
	for _, n := range notes {
		fmt.Fprintf(cmd.ErrOrStderr(), "note: %s\n", n)
	}
	if errs, _ := cfg.Validate(time.Now()); errs.Err() != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "note: still to be filled in or mended:\n%v\n", errs.Err())
	}
	out, err := cfg.Marshal(false)
	if err != nil {
		return err
	}
	_, err = cmd.OutOrStdout().Write(out)
	return err
}

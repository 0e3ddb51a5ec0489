package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"touchdown/steps/schema"
	"touchdown/steps/site"
)

func siteCommand(f *format) *cobra.Command {
	return group(&cobra.Command{Use: "site", Short: "Write, check and explain site configs"},
		siteNew(), siteValidate(f), siteExplain(f), siteImport(), schemaCommand("a site config, for editors", schema.Site))
}

func siteNew() *cobra.Command {
	return &cobra.Command{
		Use: "new", Short: "Print a site config to fill in", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := printed(cmd).Write(site.Example())
			return err
		},
	}
}

func siteValidate(f *format) *cobra.Command {
	cmd := &cobra.Command{
		Use: "validate FILE", Short: "Say what is wrong with a site config, and where", Args: cobra.ExactArgs(1),
		Long: `Validate says what is wrong with a site config, each problem in a line with FILE:LINE:COLUMN where it has a place, and ends with 2
when there is any; - reads standard input. Warnings are not a problem. -o json prints one object: file, valid, errors and warnings.`,
		Example: "  touchdown site validate site.yaml\n  touchdown site import install-config.yaml | touchdown site validate -",
		RunE: func(cmd *cobra.Command, args []string) error {
			asJSON, err := f.json()
			if err != nil {
				return err
			}
			if asJSON {
				return validateJSON(cmd, args[0])
			}
			if _, err := loadSite(cmd, args[0]); err != nil {
				return err
			}
			return printText(cmd, args[0]+" is a valid site config\n")
		},
	}
	f.outputFlag(cmd)
	return cmd
}

// verdict is the JSON of `site validate -o json`.
type verdict struct {
	File     string      `json:"file"`
	Valid    bool        `json:"valid"`
	Errors   site.Errors `json:"errors"`
	Warnings site.Errors `json:"warnings"`
}

func validateJSON(cmd *cobra.Command, file string) error {
	v := verdict{File: file, Errors: site.Errors{}, Warnings: site.Errors{}}
	cfg, err := readSite(cmd, file)
	if err == nil {
		errs, warnings := cfg.Validate(time.Now())
		v.Errors, v.Warnings = append(v.Errors, inFile(errs, file)...), append(v.Warnings, inFile(warnings, file)...)
	} else if errs, ok := errors.AsType[site.Errors](err); ok {
		v.Errors = errs
	} else {
		return err
	}
	v.Valid = len(v.Errors) == 0
	if err := printJSON(cmd, v); err != nil {
		return err
	}
	if !v.Valid {
		return &exitError{code: exitUsage, quiet: true, err: v.Errors}
	}
	return nil
}

func siteExplain(f *format) *cobra.Command {
	cmd := &cobra.Command{
		Use: "explain [PATH]", Short: "Explain a key of the site config, or all of them", Args: cobra.MaximumNArgs(1),
		Example:           "  touchdown site explain spec.baseDomain",
		ValidArgsFunction: completePaths,
		RunE: func(cmd *cobra.Command, args []string) error {
			asJSON, err := f.json()
			if err != nil {
				return err
			}
			return explain(cmd, args, asJSON)
		},
	}
	f.outputFlag(cmd)
	return cmd
}

func explain(cmd *cobra.Command, args []string, asJSON bool) error {
	text, items := site.Reference(), site.Schema()
	if len(args) == 1 {
		var err error
		if text, err = site.Explain(args[0]); err != nil {
			return usage(err)
		}
		items = slices.DeleteFunc(items, func(i site.Item) bool { return i.Path != args[0] })
	}
	if asJSON {
		return printJSON(cmd, items)
	}
	fmt.Fprintln(printed(cmd), strings.TrimRight(text, "\n"))
	return nil
}

func completePaths(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var paths []string
	for _, item := range site.Schema() {
		paths = append(paths, item.Path)
	}
	return paths, cobra.ShellCompDirectiveNoFileComp
}

// maxImport is the largest document that is imported: a config map in etcd holds 1 MiB at most.
const maxImport = 1 << 20

func siteImport() *cobra.Command {
	var choice site.ImportChoice
	kinds := site.Imports()
	cmd := &cobra.Command{
		Use: "import FILE [--from KIND] [--node NAME]", Short: "Turn another program's document into a site config", Args: cobra.ExactArgs(1),
		Long: `Import reads a document of another program (- reads standard input) and prints the site config that says the same. It recognises the kind;
--from names the one that is meant. In a file with several documents it takes the Secrets that a ClusterRelocation,
SiteConfig or ClusterInstance names from there too. Where a document describes several nodes, --node says which one
this is. Every value that was not taken over is told on standard error, with the reason. Secrets are printed: send the
output to a file that only you can read.

Kinds:
  ` + strings.Join(kinds, "\n  "),
		Example: `  touchdown site import install-config.yaml > site.yaml
  touchdown site import --from cluster-instance --node node1.example.com hub.yaml > site.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if choice.From != "" && !slices.Contains(kinds, choice.From) {
				return usage(fmt.Errorf("--from %q: use one of %s", choice.From, strings.Join(kinds, ", ")))
			}
			return runImport(cmd, args[0], choice)
		},
	}
	cmd.Flags().StringVar(&choice.From, "from", "", "`kind` of the document, instead of recognising it")
	cmd.Flags().StringVar(&choice.Node, "node", "", "`name` of the node in a document with several, or #N for the one at that place; also after CLUSTER/")
	_ = cmd.RegisterFlagCompletionFunc("from", cobra.FixedCompletions(kinds, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	return cmd
}

func runImport(cmd *cobra.Command, file string, choice site.ImportChoice) error {
	data, err := readGiven(cmd, file, maxImport)
	if err != nil {
		return err
	}
	cfg, notes, err := site.Import(data, file, choice)
	if err != nil {
		return usage(err)
	}
	for _, n := range notes {
		fmt.Fprintf(complaints(cmd), "note: %s\n", n)
	}
	if errs, _ := cfg.Validate(time.Now()); errs.Err() != nil {
		fmt.Fprintf(complaints(cmd), "note: still to be filled in or fixed:\n%v\n", errs.Err())
	}
	out, err := cfg.Marshal(false)
	if err != nil {
		return err
	}
	_, err = printed(cmd).Write(out)
	return err
}

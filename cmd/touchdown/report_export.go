package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/report"
)

// formats are those of report export.
var formats = []string{"json", "junit", "csv", "html", "text", "envelope"}

func reportExport(c *connection) *cobra.Command {
	var format, out string
	export := func(cmd *cobra.Command, args []string) error {
		if !slices.Contains(formats, format) {
			return usage(fmt.Errorf("--format %s: one of %s", format, strings.Join(formats, ", ")))
		}
		to := named{flag: "out", file: out, otherwise: "leave --out away for standard output"}
		if err := to.mayWrite(); err != nil {
			return err
		}
		t, err := source(cmd, c, args)
		if err != nil {
			return err
		}
		data, err := t.as(format)
		if err != nil {
			return err
		}
		return deliver(cmd, data, format, to)
	}
	cmd := &cobra.Command{
		Use: "export [FILE]", RunE: export, Short: "Write the report in another form", Args: cobra.MaximumNArgs(1),
		Long: `Export writes a report as json (canonical, see touchdown report schema), junit, csv (a line for each check), html (A4, to
print and to sign, with a QR code), text, or envelope (the signed report). It takes the report of this node's engine, or that in
FILE: report.signed.json or report.json. The forms html and text of report.json say that its signature was not checked. Whether a report is genuine, touchdown report verify tells.

Without --out it goes to standard output, where characters that could steer a terminal are replaced or escaped; --out writes it
unchanged.`,
		Example: "  touchdown report export --format html --out report.html\n  touchdown report export --format csv report.signed.json",
	}
	cmd.Flags().StringVar(&format, "format", "text", strings.Join(formats, ", "))
	cmd.Flags().StringVar(&out, "out", "", "write into this new file, which only you can read")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// source is the report in a file, or that of this node.
func source(cmd *cobra.Command, c *connection, args []string) (*told, error) {
	if len(args) == 1 {
		return readReport(cmd, args[0])
	}
	return fromEngine(cmd, c.client())
}

// deliver prints an exported report, or writes it into a file.
func deliver(cmd *cobra.Command, data []byte, format string, to named) error {
	switch {
	case to.file != "":
		return to.write("the report", data, 0o600)
	case format == "json" || format == "envelope":
		return printDocument(cmd, data)
	}
	return printText(cmd, string(data))
}

// as is the report in a format.
func (t *told) as(format string) ([]byte, error) {
	switch format {
	case "json":
		return t.raw, nil
	case "junit":
		return t.JUnit()
	case "csv":
		return t.CSV()
	case "text", "html":
		return t.paper(format)
	}
	if t.proof == nil {
		return nil, notSigned()
	}
	return t.proof.Signed, nil
}

func notSigned() error {
	return &problem.Problem{
		Code: "RPT-NSGN", Summary: message.T("The report is not signed."),
		Fix: message.T("A report is signed when it is made. Give the file report.signed.json, or use another format."),
	}
}

// paper is the report for people. Of JSON alone it tells nothing about a signature: nothing was checked.
func (t *told) paper(format string) ([]byte, error) {
	unchecked := t.proof == nil && t.Signer != nil
	switch {
	case format == "text" && unchecked:
		return t.UncheckedText(), nil
	case format == "text":
		return t.Text(), nil
	case unchecked:
		return t.UncheckedHTML()
	case t.proof == nil:
		return t.HTML("", "")
	}
	return t.HTML(t.proof.Digest, t.proof.Label)
}

func reportDiff(c *common) *cobra.Command {
	return withJSON(&c.format, &cobra.Command{
		Use: "diff OLD NEW", Short: "Tell what changed from one report to another", Args: cobra.ExactArgs(2),
		Long: `Diff compares two reports, signed ones or their JSON: checks whose verdict changed, values that changed, what is new and
what is gone. What became worse stands first. When the reports were made and how long the work took is not a difference.`,
		Example: "  touchdown report diff factory/report.signed.json report.signed.json",
	}, func(cmd *cobra.Command, args []string, asJSON bool) error {
		var both [2]*told
		for i, file := range args {
			t, err := readReport(cmd, file)
			if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			both[i] = t
		}
		return printChanges(cmd, report.Diff(both[0].Document, both[1].Document), asJSON)
	})
}

func printChanges(cmd *cobra.Command, changes []report.Change, asJSON bool) error {
	if asJSON {
		return printJSON(cmd, map[string]any{"changes": append([]report.Change{}, changes...)})
	}
	if len(changes) == 0 {
		return printText(cmd, "Nothing changed.\n")
	}
	var err error
	for _, change := range changes {
		err = errors.Join(err, printText(cmd, change.String()+"\n"))
	}
	return err
}

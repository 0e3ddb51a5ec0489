package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"touchdown/backend/problem"
	"touchdown/backend/report"
	"touchdown/backend/report/proof"
	"touchdown/steps/session"
)

func reportCommand(c *common) *cobra.Command {
	show := withJSON(&c.format, &cobra.Command{Use: "show", Short: "Print the hand-over report", Args: cobra.NoArgs}, func(cmd *cobra.Command, _ []string, asJSON bool) error {
		return c.export(cmd, map[bool]session.Document{true: session.ReportJSON, false: session.ReportText}[asJSON])
	})
	hosts := &cobra.Command{
		Use: "hosts", Short: "Print the lines for the hosts files of clients at a site without DNS", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.export(cmd, session.Document(report.HostsFile)) },
	}
	page := &cobra.Command{
		Use: "page", Short: "Print a page that checks signed reports in a browser, without a network", Args: cobra.NoArgs,
		Example: "  touchdown report page > check-report.html",
		RunE:    func(cmd *cobra.Command, _ []string) error { return printText(cmd, proof.Page()) },
	}
	schema := schemaCommand("a report", func() ([]byte, error) { return []byte(proof.Schema()), nil })
	return group(&cobra.Command{Use: "report", Short: "The hand-over report, its signature and its other forms"},
		show, hosts, reportBundle(&c.connection), reportVerify(c), reportCountersign(), reportExport(&c.connection), reportDiff(c), page, schema)
}

// withJSON gives a command -o, and tells it whether that is json.
func withJSON(f *format, cmd *cobra.Command, run func(cmd *cobra.Command, args []string, asJSON bool) error) *cobra.Command {
	f.outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		asJSON, err := f.json()
		if err == nil {
			err = run(cmd, args, asJSON)
		}
		return err
	}
	return cmd
}

// schemaCommand prints the JSON schema of a document.
func schemaCommand(of string, schema func() ([]byte, error)) *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON schema of " + of, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := schema()
			if err != nil {
				return err
			}
			return printDocument(cmd, text)
		},
	}
}

func printText(cmd *cobra.Command, text string) error {
	if _, err := io.WriteString(printed(cmd), text); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}

// told is a report from outside: signed, or its JSON alone.
type told struct {
	*report.Document
	raw   []byte
	proof *proof.Proof // nil: it is not signed
}

// readReport reads the file of a report.
func readReport(cmd *cobra.Command, file string) (*told, error) {
	data, err := readGiven(cmd, file, proof.MaxSigned)
	if err != nil {
		return nil, err
	}
	return parseReport(data)
}

// parseReport reads a report: what is not signed begins with another key.
func parseReport(data []byte) (*told, error) {
	p, err := proof.Open(data)
	if err == nil {
		return &told{p.Report, p.JSON, p}, nil
	}
	d, plainErr := report.Parse(data)
	if plainErr == nil {
		return &told{d, data, nil}, nil
	}
	if known, ok := errors.AsType[*problem.Problem](err); ok && known.Err != nil {
		known.Err = errors.Join(known.Err, plainErr)
	}
	return nil, err
}

// fromEngine asks the engine of this node for its report, signed where the signed one is of the same report.
func fromEngine(cmd *cobra.Command, engine session.Session) (*told, error) {
	data, err := engine.Export(cmd.Context(), session.ReportJSON)
	if err != nil {
		return nil, explainClient(err)
	}
	signed, err := engine.Export(cmd.Context(), session.Document(report.SignedFile))
	if err == nil {
		if p, err := proof.Open(signed); err == nil && bytes.Equal(p.JSON, data) {
			return &told{p.Report, p.JSON, p}, nil
		}
	} else if !errors.Is(err, session.ErrNotFound) {
		return nil, explainClient(err)
	}
	return parseReport(data)
}

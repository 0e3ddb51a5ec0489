package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"touchdown/steps/session"
)

func statusCommand(c *common) *cobra.Command {
	cmd := &cobra.Command{
		Use: "status", Short: "Print where the node and the job are", Args: cobra.NoArgs,
		Long: `Print where the node and the job are.

-o metrics prints the text format of Prometheus, for the textfile collector of a node_exporter. OpenShift's own node_exporter reads no
file of the node.`,
		Example: "  touchdown status\n  touchdown status -o metrics > /var/lib/node_exporter/touchdown.prom.new &&\n    mv /var/lib/node_exporter/touchdown.prom.new /var/lib/node_exporter/touchdown.prom",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c.output != "metrics" {
				if _, err := c.json(); err != nil {
					return usage(fmt.Errorf("-o %s: text, json or metrics", c.output))
				}
			}
			snapshot, err := c.client().Snapshot(cmd.Context())
			switch {
			case err != nil:
				return explainClient(err)
			case c.output == "json":
				return printJSON(cmd, snapshot)
			case c.output == "metrics":
				return printMetrics(cmd, snapshot)
			}
			renderSnapshot(printed(cmd), snapshot)
			return nil
		},
	}
	c.outputFlag(cmd, "text", "json", "metrics")
	return cmd
}

func answersCommand(c *connection) *cobra.Command {
	cmd := &cobra.Command{
		Use: "answers", Short: "Print the answers so far as a site config, secrets as <set>", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.export(cmd, session.Answers) },
	}
	return cmd
}

func (c *connection) export(cmd *cobra.Command, what session.Document) error {
	return explainClient(exportFrom(cmd.Context(), cmd, c.client(), what))
}

func exportFrom(ctx context.Context, cmd *cobra.Command, engine session.Session, what session.Document) error {
	data, err := engine.Export(ctx, what)
	if err != nil {
		return err
	}
	switch what {
	case session.Bundle:
		return printArchive(cmd, data)
	case session.ReportJSON:
		return printDocument(cmd, data)
	}
	if _, err := printed(cmd).Write(data); err != nil {
		return fmt.Errorf("printing %s: %w", what, err)
	}
	return nil
}

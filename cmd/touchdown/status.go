package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"touchdown/steps/engine"
)

func statusCommand(c *common) *cobra.Command {
	return withJSON(&c.format, &cobra.Command{Use: "status", Short: "Print where the node and the job are", Args: cobra.NoArgs}, func(cmd *cobra.Command, _ []string, asJSON bool) error {
		snapshot, err := c.client().Snapshot(cmd.Context())
		if err != nil {
			return explainClient(err)
		}
		if asJSON {
			return printJSON(cmd, snapshot)
		}
		renderSnapshot(printed(cmd), snapshot)
		return nil
	})
}

func answersCommand(c *connection) *cobra.Command {
	cmd := &cobra.Command{
		Use: "answers", Short: "Print the answers so far as a site config, secrets as <set>", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.export(cmd, engine.Answers) },
	}
	return cmd
}

func (c *connection) export(cmd *cobra.Command, what engine.Document) error {
	return explainClient(exportFrom(cmd.Context(), cmd, c.client(), what))
}

func exportFrom(ctx context.Context, cmd *cobra.Command, session engine.Session, what engine.Document) error {
	data, err := session.Export(ctx, what)
	if err != nil {
		return err
	}
	switch what {
	case engine.Bundle:
		return printArchive(cmd, data)
	case engine.ReportJSON:
		return printDocument(cmd, data)
	}
	if _, err := printed(cmd).Write(data); err != nil {
		return fmt.Errorf("printing %s: %w", what, err)
	}
	return nil
}

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"touchdown/steps"
	"touchdown/steps/engine"
	"touchdown/steps/schema"
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

func eventsCommand(c *common) *cobra.Command {
	var follow bool
	var from uint64
	cmd := &cobra.Command{
		Use: "events", Short: "Print what happened, and with --follow what happens", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			asJSON, err := c.json()
			if err != nil {
				return err
			}
			return c.events(cmd, follow, from, asJSON)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on until interrupted")
	cmd.Flags().Uint64Var(&from, "from", 0, "begin after the event of this number")
	c.outputFlag(cmd)
	cmd.AddCommand(schemaCommand("an event", func() ([]byte, error) { return []byte(schema.Event), nil }))
	return cmd
}

// errEnough ends a stream that has been read far enough.
var errEnough = errors.New("enough")

func (c *connection) events(cmd *cobra.Command, follow bool, from uint64, asJSON bool) error {
	session := c.client()
	snapshot, err := session.Snapshot(cmd.Context())
	if err != nil {
		return explainClient(err)
	}
	if !follow && snapshot.Seq <= from {
		return nil
	}
	err = session.Events(cmd.Context(), "", from, func(events []steps.Event) error {
		for _, e := range events {
			if err := printEvent(cmd, e, asJSON); err != nil {
				return err
			}
			if !follow && e.Seq >= snapshot.Seq {
				return errEnough
			}
		}
		return nil
	})
	if errors.Is(err, errEnough) || cmd.Context().Err() != nil {
		return nil
	}
	return explainClient(err)
}

func printEvent(cmd *cobra.Command, e steps.Event, asJSON bool) error {
	if !asJSON {
		fmt.Fprint(printed(cmd), renderEvent(e))
		return nil
	}
	return printLine(cmd, e)
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

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"touchdown/steps/event"
	"touchdown/steps/schema"
	"touchdown/steps/session"
)

func eventsCommand(c *common) *cobra.Command {
	var follow bool
	var from uint64
	cmd := &cobra.Command{
		Use: "events", Short: "Print what happened, and with --follow what happens", Args: cobra.NoArgs,
		Long: `Events prints the events that the engine keeps: those of the job, and the newest of what only consoles need. With --follow it goes on
until it is interrupted, also when the engine is started again. With -o json each line is an event; ` + "`touchdown events schema`" + ` prints
its schema. Who was cut off goes on with --from N, the seq of the last event that was read; seq rises over restarts, with gaps.
An event of the kind missed says that those up to its seq are no longer kept: ` + "`touchdown status`" + ` has what they led to.`,
		Example: "  touchdown events --follow -o json --from 4711",
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
	engine := c.client()
	snapshot, err := engine.Snapshot(cmd.Context())
	if err != nil {
		return explainClient(err)
	}
	if !follow && snapshot.Seq == from { // a higher number is of other records, which is told
		return nil
	}
	each := printing(cmd, asJSON)
	return explainClient(followed(cmd.Context(), cmd, engine, "", from, func(events []event.Event) error {
		for _, e := range events {
			if err := each(e); err != nil {
				return err
			}
			if !follow && e.Seq >= snapshot.Seq {
				return errEnough
			}
		}
		return nil
	}))
}

// followed reads the events after the one numbered from, until each returns errEnough or another error, or ctx ends, which is none. An
// engine that is started again is found again.
func followed(ctx context.Context, cmd *cobra.Command, engine session.Session, token string, from uint64, each func([]event.Event) error) error {
	for told := false; ; {
		err := engine.Events(ctx, token, from, func(events []event.Event) error {
			if len(events) > 0 {
				from, told = events[len(events)-1].Seq, false
			}
			return each(events)
		})
		if errors.Is(err, errEnough) || ctx.Err() != nil {
			return nil
		}
		if !errors.Is(err, session.ErrNoEngine) {
			return err
		}
		if !told { // a reboot takes minutes
			fmt.Fprintln(complaints(cmd), "touchdown: the engine does not answer; trying again until it does")
			told = true
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}

// saidAgain is how long a wait that goes on is not told again: long enough for a log to stay readable, short enough to show that
// the work is alive. Chosen.
const saidAgain = time.Minute

// printing returns what prints one event after the other: each as JSON, or all but a wait that was just told for a person.
func printing(cmd *cobra.Command, asJSON bool) func(event.Event) error {
	var last event.Event
	return func(e event.Event) error {
		switch {
		case asJSON:
			return printLine(cmd, e)
		case e.Kind == event.Progressed && last.Kind == event.Progressed && e.Step == last.Step && e.Time.Sub(last.Time) < saidAgain &&
			renderProgress(*whole(e).Progress) == renderProgress(*whole(last).Progress):
			return nil
		}
		last = e
		fmt.Fprint(printed(cmd), renderEvent(e))
		return nil
	}
}

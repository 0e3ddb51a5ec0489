package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"touchdown/steps/session"
	"touchdown/steps/view"
)

func undoCommand(c *common) *cobra.Command {
	f := &applyFlags{common: c}
	cmd := &cobra.Command{
		Use:   "undo",
		Short: "Put back everything that a job changed",
		Long: `Undo puts back what the job changed, last step first, and follows it to its end: the node has the identity of the
factory again, or that of its landing where a hand-over was accepted before this job. It works after a job that failed,
after one that is done, and after a person went back from it to the answers, until its hand-over is accepted. It can be
interrupted: the engine goes on.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			asJSON, err := f.json()
			if err != nil {
				return err
			}
			engine := f.client()
			if err := f.wake(cmd.Context(), complaints(cmd), engine); errors.Is(err, session.ErrNoEngine) {
				return noEngine(err)
			}
			a := &applying{flags: f, cmd: cmd, session: engine, json: asJSON}
			return explainClient(a.inControl(cmd.Context(), a.undo))
		},
	}
	cmd.Flags().BoolVar(&f.force, "force", false, "take control from another console")
	cmd.Flags().StringVar(&f.node, "node", "", "the node's host name, which unlocks a node whose records of a hand-over may have been lost")
	c.outputFlag(cmd)
	return cmd
}

// undo begins to put everything back, or goes on with it, and follows it.
func (a *applying) undo(ctx context.Context) error {
	snapshot, err := a.session.Snapshot(ctx)
	if err != nil {
		return err
	}
	if snapshot.HandedOver {
		return fmt.Errorf("%w: its hand-over was accepted, which ended undo", session.ErrLocked)
	}
	if snapshot.State != view.UndoingAll { // one that was interrupted is only watched
		if err := a.unlock(ctx, snapshot); err != nil {
			return err
		}
		if err := a.session.Do(ctx, a.token, session.Action{Verb: session.Undo}); err != nil {
			return err
		}
	}
	if err := a.follow(ctx, snapshot.Seq); err != nil {
		return err
	}
	if snapshot, err = a.session.Snapshot(ctx); err != nil {
		return err
	}
	if snapshot.State == view.IsUndone {
		return nil
	}
	return a.failed(snapshot)
}

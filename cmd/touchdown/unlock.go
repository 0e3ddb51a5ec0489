package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"touchdown/steps/session"
	"touchdown/steps/view"
)

// unlockFlag is for commands that change a node: after its landing nothing does without its name.
func (f *applyFlags) unlockFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.node, "node", "", "the node's host name, which unlocks a node that has landed")
}

// unlock lets a node that has landed be changed, where its name was given.
func (a *applying) unlock(ctx context.Context, s *view.Snapshot) error {
	switch {
	case !s.Locked:
		return nil
	case a.flags.node == "":
		return fmt.Errorf("%w; unlock it with its host name (--node NAME)", session.ErrLocked)
	}
	return a.session.Do(ctx, a.token, session.Action{Verb: session.Unlock, Value: a.flags.node})
}

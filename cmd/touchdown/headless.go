package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"touchdown/steps/session"
	"touchdown/steps/view"
)

// answers are what a headless run gives to the engine.
type answers struct {
	may  func(*view.Snapshot) error // why this node cannot take them, asked before it is touched; nil: any can
	give func(ctx context.Context, engine session.Session, token string) error
}

// applying is one headless run.
type applying struct {
	flags   *applyFlags
	answers answers
	cmd     *cobra.Command
	session session.Session
	json    bool
	token   string
}

// inControl does something with control of the engine, and gives control back.
func (a *applying) inControl(ctx context.Context, do func(context.Context) error) (err error) {
	if a.token, err = a.session.TakeControl(ctx, consoleName(), a.flags.force); err != nil {
		return err
	}
	defer func() {
		// With its own context: control is given back after an interruption too.
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer stop()
		_ = a.session.ReleaseControl(ctx, a.token) // someone may have taken it over
	}()
	return do(ctx)
}

// may asks the answers whether this node can take them.
func (a *applying) may(s *view.Snapshot) error {
	if a.answers.may == nil {
		return nil
	}
	return a.answers.may(s)
}

// unlockFlag adds --node. A node that has landed is changed only by a command that gives its host name.
func (f *applyFlags) unlockFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.node, "node", "", "the node's host name, which unlocks a node that has landed")
}

// unlock unlocks a node that has landed with the name of --node. Without one it is an error.
func (a *applying) unlock(ctx context.Context, s *view.Snapshot) error {
	switch {
	case !s.Locked:
		return nil
	case a.flags.node == "":
		return fmt.Errorf("%w; unlock it with its host name (--node NAME)", session.ErrLocked)
	}
	return a.session.Do(ctx, a.token, session.Action{Verb: session.Unlock, Value: a.flags.node})
}

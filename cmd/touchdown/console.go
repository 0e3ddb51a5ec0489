package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"touchdown/backend/problem"
	"touchdown/steps/engine"
	"touchdown/tui"
)

func (c *common) consoleCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "console",
		Short: "Open the wizard on this terminal",
		Long: `The console is a window on the engine. Any number may be open at once; one of them holds the pen. Closing
a console, or losing its line, changes nothing: the work goes on.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.console(cmd) },
	}
	c.localFlags(cmd)
	return cmd
}

func (c *common) console(cmd *cobra.Command) error {
	if !term.IsTerminal(int(os.Stdin.Fd())) || !term.IsTerminal(int(os.Stdout.Fd())) {
		return usage(errors.New("the console needs a terminal; use `touchdown apply -f FILE` without one"))
	}
	session, closeSession, err := c.session()
	if err != nil {
		return err
	}
	if _, err := session.Snapshot(cmd.Context()); errors.Is(err, engine.ErrNoEngine) {
		return errors.Join(noEngine(err), closeSession())
	}
	letGo()
	err = tui.Run(cmd.Context(), session, tui.Options{Name: consoleName(), In: os.Stdin, Out: os.Stdout})
	if errors.Is(err, tui.ErrHungUp) { // normal on a serial line; nobody is there to be told
		err = nil
	}
	return errors.Join(err, closeSession())
}

// noEngine says what to do when nothing listens on the socket.
func noEngine(err error) error {
	return &problem.Problem{
		Code: "NO-ENGNE", Summary: "No engine is running on this node.",
		Fix: "Start one with `touchdown engine` in another terminal, or add --local on a laptop.",
		Err: err,
	}
}

// explainClient turns a client's error into one that says what to do.
func explainClient(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, engine.ErrNoEngine):
		return noEngine(err)
	case errors.Is(err, engine.ErrPenHeld):
		return fmt.Errorf("%w; add --force to take it over", err)
	}
	return err
}

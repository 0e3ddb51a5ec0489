package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"touchdown/backend/host"
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
	if err := c.wake(cmd.Context(), cmd.ErrOrStderr(), session); errors.Is(err, engine.ErrNoEngine) {
		return errors.Join(noEngine(err), closeSession())
	}
	letGo()
	hangUps := make(chan os.Signal, 1)
	signal.Notify(hangUps, syscall.SIGHUP)
	defer signal.Stop(hangUps)
	err = tui.Run(cmd.Context(), session, tui.Options{Name: consoleName(), In: os.Stdin, Out: os.Stdout})
	if errors.Is(err, tui.ErrHungUp) || len(hangUps) > 0 { // normal on a serial line; nobody is there to be told
		_ = closeSession()
		return &exitError{code: exitHungUp, quiet: true, err: tui.ErrHungUp}
	}
	return errors.Join(err, closeSession())
}

const (
	// engineUnit keeps the engine of an installed node running.
	engineUnit = "touchdown-engine.service"
	// wakeLimit is how long an engine may take from its unit's start to its first answer: it reads its journal.
	wakeLimit = 15 * time.Second
)

// wake asks the engine for a snapshot. Where none answers and the node has the engine's unit, it says so and restarts it:
// nobody at a console of an installed node knows how to.
func (c *common) wake(ctx context.Context, out io.Writer, session engine.Session) error {
	_, err := session.Snapshot(ctx)
	machine := host.Open(host.Options{Root: c.hooks.root})
	if !errors.Is(err, engine.ErrNoEngine) || c.local || !machine.Exists("/etc/systemd/system/"+engineUnit) {
		return err
	}
	fmt.Fprintln(out, "The engine does not run; starting it.")
	return restart(ctx, machine, session)
}

// restart starts the engine's unit anew and waits for its first answer.
func restart(ctx context.Context, machine *host.Machine, session engine.Session) error {
	if _, err := machine.Run(ctx, "systemctl", "restart", engineUnit); err != nil {
		return errors.Join(engine.ErrNoEngine, err)
	}
	for end := time.Now().Add(wakeLimit); ; {
		_, err := session.Snapshot(ctx)
		if !errors.Is(err, engine.ErrNoEngine) || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
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

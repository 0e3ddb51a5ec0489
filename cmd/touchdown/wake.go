package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/sys/unix"

	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps/session"
)

const (
	// engineUnit keeps the engine of an installed node running.
	engineUnit = layout.EngineUnit
	// wakeAgain is how long a person reads why the engine does not run, until it is tried again.
	wakeAgain = 30 * time.Second
)

// wake asks the engine for a snapshot. Where none answers and the node has the engine's unit, it says so and waits for one that is
// starting, or starts one: nobody at a console of an installed node knows how to.
func (c *connection) wake(ctx context.Context, out io.Writer, client session.Session) error {
	_, err := client.Snapshot(ctx)
	machine := host.Open(host.Options{Root: c.hooks.root, Log: slog.New(slog.DiscardHandler)}) // the screen has lines for people
	if !errors.Is(err, session.ErrNoEngine) || !c.installed(machine) {
		return err
	}
	_, err = firstAnswer(ctx, machine, client, func(text string) { fmt.Fprintln(out, text) })
	switch {
	case errors.Is(err, errStopped):
		fmt.Fprintln(out, "The engine does not run; starting it.")
	case errors.Is(err, errSilent):
		fmt.Fprintf(out, "The engine has not answered for %.0f minutes; restarting it.\n", silentLimit.Minutes())
	default: // one that ends again and again does not become better by a restart
		return err
	}
	return restart(ctx, machine, client)
}

// installed tells whether the engine is a unit of this node.
func (c *connection) installed(machine *host.Machine) bool {
	return !c.local && machine.Exists(rhcos.Units+"/"+engineUnit)
}

// restart starts the engine's unit again and waits for its first answer.
func restart(ctx context.Context, machine *host.Machine, engine session.Session) error {
	if _, err := machine.Run(ctx, "systemctl", "restart", engineUnit); err != nil {
		return errors.Join(session.ErrNoEngine, err)
	}
	_, err := firstAnswer(ctx, machine, engine, func(string) {})
	return err
}

// wakeForPerson does the same for whoever sits at a console, where standard error is not seen. On an installed node it goes on
// trying, with the reason on the screen, until the engine answers; or the person presses Enter to leave (false, without an
// error), and gets a login.
func (c *connection) wakeForPerson(ctx context.Context, engine session.Session) (awake bool, err error) {
	machine := host.Open(host.Options{Root: c.hooks.root, Log: slog.New(slog.DiscardHandler)}) // the screen has lines for people
	for {
		err := c.wake(ctx, screen(), engine)
		switch {
		case errors.Is(err, fs.ErrPermission):
			return false, err
		case !errors.Is(err, session.ErrNoEngine):
			return true, nil // what else may be wrong, the wizard tells
		case !c.installed(machine):
			return false, noEngine(err)
		}
		var text strings.Builder
		printError(&text, &problem.Problem{
			Code: "ENG-DEAD", Summary: message.T("Touchdown's engine does not start on this node."),
			Fix: message.T("Switch the node off and on. If it comes to this again, call support and read these lines out."),
			Err: errors.New(lastWords(ctx, machine)),
		})
		fmt.Fprintf(&text, "\nIt is tried again every %.0f seconds. Press Enter to log in to this machine instead.\n", wakeAgain.Seconds())
		fmt.Fprintln(screen(), "\n"+ansi.Wordwrap(text.String(), 79, "")) // no console is narrower
		if left, err := entered(ctx, os.Stdin, wakeAgain); left || err != nil {
			return false, err
		}
	}
}

// lastWords is what the engine said before it ended, or systemd of why it cannot even begin. A problem has three lines: what,
// the cause, and what to try. A unit that is started again and again says the same each time.
func lastWords(ctx context.Context, machine *host.Machine) string {
	out, err := machine.Run(ctx, "journalctl", "--boot", "--no-pager", "--output", "cat", "--lines", "4",
		"_SYSTEMD_UNIT="+engineUnit, "+", "UNIT="+engineUnit, "PRIORITY=3")
	var lines []string
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimPrefix(strings.TrimSpace(line), "touchdown: "); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	words := strings.Join(lines, " ")
	if err != nil || words == "" {
		return "it said nothing"
	}
	return words
}

// entered waits for a line to be typed. The terminal gives whole lines only, so that no key of one that is not finished is
// taken from the wizard, should it open after all.
func entered(ctx context.Context, in *os.File, limit time.Duration) (bool, error) {
	const look = 200 * time.Millisecond
	for end := time.Now().Add(limit); time.Now().Before(end); {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		ready := []unix.PollFd{{Fd: int32(in.Fd()), Events: unix.POLLIN}}
		switch n, err := unix.Poll(ready, int(look.Milliseconds())); {
		case errors.Is(err, unix.EINTR), n == 0:
		case err != nil:
			return false, fmt.Errorf("waiting for a key: %w", err)
		default:
			if _, err := in.Read(make([]byte, 256)); err != nil { // the line was hung up
				return false, &exitError{code: exitHungUp, quiet: true, err: err}
			}
			return true, nil
		}
	}
	return false, nil
}

// noEngine says what to do when nothing listens on the socket.
func noEngine(err error) error {
	return &problem.Problem{
		Code: "ENG-LACK", Summary: message.T("No engine is running on this node."),
		Fix: message.T("On a node: `systemctl start touchdown-engine`. On a laptop: `touchdown engine` in another terminal, or apply and console with --local."),
		Err: err,
	}
}

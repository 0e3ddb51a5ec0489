package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"touchdown/backend/host"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

const (
	// silentLimit is how long one run of the engine may take to its first answer. It reads its journal, which takes less than a second on
	// an idle server; a restart of one that is only slow would make it begin again.
	silentLimit = 3 * time.Minute
	// mostRuns is how many starts of the engine's unit a console waits through. One may be another console's doing.
	mostRuns = 3
	// answerLook is how often an engine that starts is asked, and unitLook how often systemd is asked about it.
	answerLook, unitLook = 100 * time.Millisecond, time.Second
)

// Why there is no first answer to wait for. Each is a session.ErrNoEngine.
var (
	errStopped = fmt.Errorf("%w: its unit does not run", session.ErrNoEngine)
	errEnds    = fmt.Errorf("%w: it ends each time when it starts", session.ErrNoEngine)
	errSilent  = fmt.Errorf("%w: it runs and does not answer", session.ErrNoEngine)
)

// firstAnswer waits for an engine that systemd runs or starts, and tells what it waits for. The unit has no state "starting": an engine that
// runs and answers nobody yet reads its journal, or ends a wipe that a power cut has interrupted.
func firstAnswer(ctx context.Context, machine *host.Machine, client session.Session, tell func(string)) (*view.Snapshot, error) {
	w := starting{machine: machine, tell: tell}
	for {
		s, err := client.Snapshot(ctx)
		if !errors.Is(err, session.ErrNoEngine) {
			return s, err
		}
		if time.Since(w.looked) >= unitLook {
			if err := w.look(ctx); err != nil {
				return nil, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(answerLook):
		}
	}
}

// starting is an engine that does not answer yet.
type starting struct {
	machine *host.Machine
	tell    func(string)
	told    string
	run     string // systemd's name for the start that is looked at
	runs    int
	since   time.Time // when its silence began
	looked  time.Time
}

// look ends the waiting where systemd has no engine to wait for. A wipe takes as long as it takes.
func (w *starting) look(ctx context.Context) error {
	out, err := w.machine.Run(ctx, "systemctl", "show", "--property=ActiveState,InvocationID", engineUnit)
	if err != nil {
		return errors.Join(errStopped, err)
	}
	w.looked = time.Now()
	about := map[string]string{}
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		about[key] = value
	}
	switch about["ActiveState"] {
	case "active", "activating", "reloading", "deactivating":
	default:
		return errStopped
	}
	if id := about["InvocationID"]; w.runs == 0 || id != w.run {
		w.run, w.since = id, w.looked
		w.runs++
	}
	text := "The engine is starting; waiting for its first answer."
	if wipeBegun(w.machine) {
		text, w.since = "The engine first ends a wipe that was interrupted; waiting for it.", w.looked
	}
	if text != w.told {
		w.tell(text)
		w.told = text
	}
	switch {
	case w.runs > mostRuns:
		return errEnds
	case w.looked.Sub(w.since) > silentLimit:
		return errSilent
	}
	return nil
}

package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"

	"touchdown/backend/message"
	"touchdown/backend/progress"
	"touchdown/steps/event"
	"touchdown/steps/session"
)

// restarting is an engine that ends after each event, and is there again a moment later.
type restarting struct {
	session.Session
	asked []uint64
}

func (r *restarting) Events(_ context.Context, _ string, from uint64, each func([]event.Event) error) error {
	r.asked = append(r.asked, from)
	if len(r.asked)%2 == 0 { // not there yet
		return fmt.Errorf("%w: connection refused", session.ErrNoEngine)
	}
	if err := each([]event.Event{{Seq: from + 5, Kind: event.Said}}); err != nil {
		return err
	}
	return fmt.Errorf("%w: the event stream ended", session.ErrNoEngine)
}

// TestFollowingOutlivesTheEngine: who follows goes on behind the last event that was read, and is told once why nothing comes.
func TestFollowingOutlivesTheEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var complaints bytes.Buffer
		cmd := &cobra.Command{}
		cmd.SetErr(&complaints)
		engine, read := &restarting{}, 0
		err := followed(t.Context(), cmd, engine, "", 7, func(events []event.Event) error {
			if read++; read == 3 {
				return errEnough
			}
			return nil
		})
		if err != nil || !slices.Equal(engine.asked, []uint64{7, 12, 12, 17, 17}) || strings.Count(complaints.String(), "trying again") != 2 {
			t.Errorf("%v, asked for %v, told %q", err, engine.asked, complaints.String())
		}
	})
}

// TestAWaitIsToldOnce: for a person a wait that goes on is one line a minute, and again once something else was told; JSON has each event.
func TestAWaitIsToldOnce(t *testing.T) {
	begun := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	at := func(seconds int, kind event.Kind, waiting string) event.Event {
		e := event.Event{Time: begun.Add(time.Duration(seconds) * time.Second), Kind: kind, Step: "csrs", Text: message.Data("said")}
		if kind == event.Progressed {
			e.Progress = &progress.Progress{Waiting: message.Data(waiting)}
		}
		return e
	}
	all := []event.Event{
		at(0, event.Progressed, "a node"), at(1, event.Progressed, "a node"), at(59, event.Progressed, "a node"), at(60, event.Progressed, "a node"),
		at(61, event.Progressed, "a pod"), at(62, event.Said, ""), at(63, event.Progressed, "a pod"), at(64, event.Progressed, "a pod"),
	}
	for asJSON, want := range map[bool]int{false: 5, true: len(all)} {
		var out bytes.Buffer
		cmd := newRoot(hooks{})
		cmd.SetOut(&out)
		each := printing(cmd, asJSON)
		for _, e := range all {
			if err := each(e); err != nil {
				t.Fatal(err)
			}
		}
		if n := strings.Count(out.String(), "\n"); n != want {
			t.Errorf("%d lines, want %d:\n%s", n, want, out.String())
		}
	}
}

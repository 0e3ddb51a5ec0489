package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/spf13/cobra"

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

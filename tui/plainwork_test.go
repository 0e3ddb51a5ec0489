package tui

import (
	"errors"
	"slices"
	"testing"
	"time"

	"touchdown/steps/session"
	"touchdown/steps/view"
)

// TestPlainStops: the work can be stopped; nothing but the word and the node's name does it.
func TestPlainStops(t *testing.T) {
	f, p := holding(t, func(s *view.Snapshot) { s.State, s.Review = view.Reviewed, reviewView() })
	p.after(t, "To start", "sno-042")
	p.after(t, "To stop the work, type stop.", "stopp")
	p.after(t, "Wait until", "stop")
	p.printed(t, "It stops at the next safe point.")
	p.after(t, "Type sno-042", "sno-042")
	f.did(t, session.Cancel)
	if got := f.verbs(); slices.Contains(got[:len(got)-1], session.Cancel) {
		t.Errorf("did %v", got)
	}
}

// TestPlainHeartbeat: a person who reads lines hears of the work every 30 seconds at least, and until when it will take.
func TestPlainHeartbeat(t *testing.T) {
	f := newFake()
	working(&f.snap)
	p := &prompts{desk: newDesk(newLink(t.Context(), f, "ttyS0", time.Hour), Options{Name: "ttyS0", Mode: Basic, Clock: func() time.Time { return epoch }})}
	p.snap, _ = f.Snapshot(t.Context())
	wants := func(after time.Duration, want string) {
		t.Helper()
		if got := p.told.news(work{base: base{p.desk}}, epoch.Add(after)); got != want {
			t.Errorf("after %s: %q, want %q", after, got, want)
		}
	}
	wants(0, "02:13:07  Wait until the new names are served  21 of 33 operators  Waiting for operator authentication  12 operators have taken the new names.")
	wants(29*time.Second, "")
	wants(31*time.Second, "02:13:38  still at work: Wait until the new names are served; about 6 min left, done at 02:18 UTC")
	p.snap.Stages[3].Steps[2].Progress = nil
	wants(32*time.Second, "02:13:39  Wait until the new names are served  12 operators have taken the new names.")
	p.gone = errors.New("no engine")
	wants(70*time.Second, "02:14:17  the engine does not answer; still trying")
}

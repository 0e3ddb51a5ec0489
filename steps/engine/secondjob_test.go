package engine

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"touchdown/backend"
	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// countsUndos is a step that counts how often it was undone.
type countsUndos struct {
	setting
	undos atomic.Int32
}

func (c *countsUndos) Undo(context.Context, *backend.Node, steps.Report) error {
	c.undos.Add(1)
	return nil
}

// TestUndoOnALandedNodeGoesBackToTheLanding: a later job of a node whose hand-over was accepted, such as new certificates, fails and is undone.
// The node stands landed as before, locked, also after a restart; what the landing changed is not touched, and the next try begins there.
func TestUndoOnALandedNodeGoesBackToTheLanding(t *testing.T) {
	w := newWorld()
	w.cable = true
	bell := &countsUndos{setting: setting{w: w, id: "bell", want: func() string { return "rings" }}}
	w.more = []steps.Stage{{ID: "end", Title: message.T("End"), Steps: []steps.Step{bell}}}
	r := newRig(t, w)
	answers := map[string]string{"spec.clusterName": "store1", "spec.baseDomain": "example.com"}
	r.lands(t, answers)
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.HandOver}))
	again := func() {
		t.Helper()
		must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Unlock, Value: "node"}))
		must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Edit}))
		until(t, r, "the form", inState(view.Collecting))
		must(t, r.Load(t.Context(), take(t, r), answers, "file site.yaml"))
	}
	w.setFail("names", errors.New("no such luck"))
	again()
	s := reviewed(t, r, take(t, r))
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Start, Fingerprint: s.Review.Fingerprint, Unattended: true}))
	until(t, r, "the undo", inState(view.IsUndone))
	for _, opened := range []string{"", "again"} {
		if opened != "" {
			r.reopen(t)
		}
		s := until(t, r, "the undo", inState(view.IsUndone))
		if s.Life != view.LifeLanded || !s.HandedOver || opened != "" && !s.Locked {
			t.Errorf("opened %s: life %s, handed over %t, locked %t", opened, s.Life, s.HandedOver, s.Locked)
		}
	}
	if n := bell.undos.Load(); n > 0 {
		t.Errorf("a job that never came to the bell undid it %d times", n)
	}
	if err := r.Do(t.Context(), take(t, r), session.Action{Verb: session.Edit}); !errors.Is(err, session.ErrLocked) {
		t.Errorf("changed without the host name: %v", err)
	}
	w.setFail("names", nil)
	again()
	s = reviewed(t, r, take(t, r))
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Start, Fingerprint: s.Review.Fingerprint}))
	until(t, r, "the next landing", func(s *view.Snapshot) bool { return s.State == view.IsDone && s.Life == view.LifeLanded })
}

// TestSecretsOfTheNextJobOutliveARestart: the hand-over wiped those of the landing; what a person types for the next job is kept as ever.
func TestSecretsOfTheNextJobOutliveARestart(t *testing.T) {
	w := newWorld()
	w.cable = true
	r := newRig(t, w)
	r.lands(t, map[string]string{"spec.clusterName": "store1", "spec.baseDomain": "example.com"})
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.HandOver}))
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Unlock, Value: "node"}))
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Edit}))
	must(t, r.Set(t.Context(), take(t, r), "spec.pullSecret", `{"auths":{"r.example.com":{"auth":"dXNlcjpodW50ZXIyaHVudGVy"}}}`))
	r.reopen(t)
	if s := until(t, r, "the form", inState(view.Collecting)); !s.Locked || !field(s, "spec.pullSecret").SecretSet {
		t.Errorf("locked %t, the secret is kept: %t", s.Locked, field(s, "spec.pullSecret").SecretSet)
	}
}

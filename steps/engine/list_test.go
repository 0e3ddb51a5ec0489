package engine

import (
	"errors"
	"testing"

	"touchdown/backend/host/hosttest"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// TestFactoryList: on the bench line there is no site to judge, no landing to tell of, and no hand-over.
func TestFactoryList(t *testing.T) {
	r := &rig{w: newWorld(), host: hosttest.New(t), dir: t.TempDir()}
	r.w.cable = true
	o := r.options()
	o.List = view.ListFactory
	e, err := Open(o)
	must(t, err)
	defer func() { must(t, e.Close()) }()
	token := take(t, e)
	until(t, e, "the form", inState(view.Collecting))
	s := reviewed(t, e, token)
	if len(s.Review.Problems) > 0 {
		t.Fatalf("a node without a site's names has problems: %q", s.Review.Problems)
	}
	must(t, e.Do(t.Context(), token, session.Action{Verb: session.Start, Fingerprint: s.Review.Fingerprint}))
	s = until(t, e, "the end", inState(view.IsDone))
	if s.List != view.ListFactory || s.Life != view.LifeFactory {
		t.Errorf("list %q, life %q", s.List, s.Life)
	}
	if err := e.Do(t.Context(), token, session.Action{Verb: session.HandOver}); !errors.Is(err, session.ErrState) {
		t.Errorf("handed over: %v", err)
	}
}

package engine

import (
	"errors"
	"testing"

	"touchdown/backend/host/hosttest"
)

// TestFactoryList: on the bench line there is no site to judge, no landing to tell of, and no hand-over.
func TestFactoryList(t *testing.T) {
	r := &rig{w: newWorld(), host: hosttest.New(t), dir: t.TempDir()}
	r.w.cable = true
	o := r.options()
	o.List = ListFactory
	e, err := Open(o)
	must(t, err)
	defer func() { must(t, e.Close()) }()
	pen := take(t, e)
	until(t, e, "the form", inState(Collecting))
	s := reviewed(t, e, pen)
	if len(s.Review.Problems) > 0 {
		t.Fatalf("a node without a site's names has problems: %q", s.Review.Problems)
	}
	must(t, e.Do(t.Context(), pen, Action{Verb: Start, Fingerprint: s.Review.Fingerprint}))
	s = until(t, e, "the end", inState(IsDone))
	if s.List != ListFactory || s.Life != lifeFactory {
		t.Errorf("list %q, life %q", s.List, s.Life)
	}
	if err := e.Do(t.Context(), pen, Action{Verb: HandOver}); !errors.Is(err, ErrState) {
		t.Errorf("handed over: %v", err)
	}
}

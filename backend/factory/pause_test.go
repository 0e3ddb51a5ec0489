package factory_test

import (
	"errors"
	"testing"

	"touchdown/backend/factory"
	"touchdown/backend/kube"
	"touchdown/backend/layout"
	"touchdown/backend/problem"
	"touchdown/test/bench"
)

func pausing() kube.Pause {
	return kube.Pause{Pool: layout.Pool, Note: func(bool) error { return nil }}
}

// TestAPauseOfTheOwnersStays: a bake writes nothing into a pool that someone else has paused, and does not end that pause; one
// that the power cut in its own pause ends it.
func TestAPauseOfTheOwnersStays(t *testing.T) {
	_, c := open(t, bench.Options{})
	paused := func() bool {
		t.Helper()
		now, _, err := pausing().State(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	wanted, err := factory.Wanted(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := pausing().Begin(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	writes := c.Writes()
	_, err = factory.Configure(t.Context(), c, pausing(), wanted, noSave)
	if p, ok := errors.AsType[*problem.Problem](err); !ok || p.Code != "NCF-HELD" || c.Writes() != writes || !paused() {
		t.Errorf("%v, %d writes, paused %t", err, c.Writes()-writes, paused())
	}
	if changed, err := factory.Remove(t.Context(), c, pausing(), noSave); changed || err != nil || !paused() {
		t.Errorf("nothing to remove: %t, %v, paused %t", changed, err, paused())
	}
	ours := pausing()
	ours.Ours = true
	if changed, err := factory.Configure(t.Context(), c, ours, wanted, noSave); !changed || err != nil || paused() {
		t.Errorf("after a power cut: %t, %v, paused %t", changed, err, paused())
	}
	noted := errors.New("disk full")
	ours.Note = func(bool) error { return noted }
	if _, err := factory.Remove(t.Context(), c, ours, noSave); !errors.Is(err, noted) || paused() {
		t.Errorf("a pause without a note: %v, paused %t", err, paused())
	}
}

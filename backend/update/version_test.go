package update_test

import (
	"testing"

	"touchdown/backend/layout"
	"touchdown/backend/problem"
	"touchdown/backend/update"
)

// TestOlder: versions of tags and of commits behind them have an order; what has none is not older.
func TestOlder(t *testing.T) {
	order := []string{"v0.9", "v1.2", "v1.2-3-gabc", "1.2.1", "v1.2.1-10-g0123456 linux/amd64 go1.26", "v1.3", "v1.10", "v2.0.0"}
	for i, a := range order {
		for j, b := range order {
			if got := update.Older("touchdown "+a, "touchdown "+b); got != (i < j) {
				t.Errorf("%s before %s: %v", a, b, got)
			}
		}
	}
	for _, none := range []string{"", "touchdown", "touchdown dev", "touchdown 63bb2dce", "touchdown v1", "other v0.1", "touchdown v1.2-rc1", "touchdown v1.99999999999999999999"} {
		if update.Older(none, "touchdown v1.2") || update.Older("touchdown v1.2", none) {
			t.Errorf("%q has an order", none)
		}
	}
}

// TestAnOlderRelease is refused before its trial, and in a look, unless it is asked for.
func TestAnOlderRelease(t *testing.T) {
	trust, sign := signer(t)
	r, err := update.Read(release(t, "v1.3", sign), trust)
	if err != nil {
		t.Fatal(err)
	}
	b := newBox(t, "v1.4", "")
	b.ends(t, "an older one", b.change().To(t.Context(), r), "UPD-PAST", "v1.4")
	if _, err := r.Try(t.Context(), b, false); problem.From(err).Code != "UPD-PAST" || b.Exists(layout.CheckedProgram) {
		t.Errorf("a look: %v", err)
	}
	if said, err := r.Try(t.Context(), b, true); err != nil || said != "touchdown v1.3" {
		t.Errorf("a look that was asked for: %q, %v", said, err)
	}
	c := b.change()
	c.Older = true
	b.ends(t, "an older one that was asked for", c.To(t.Context(), r), "", "v1.3")
	if r, err = update.Read(release(t, "v1.3.1", sign), trust); err != nil {
		t.Fatal(err)
	}
	b.ends(t, "a newer one", b.change().To(t.Context(), r), "", "v1.3.1")
}

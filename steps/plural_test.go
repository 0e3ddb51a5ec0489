package steps

import (
	"testing"

	"touchdown/backend/images"
	"touchdown/backend/images/store"
)

// TestOneIsNoPlural: what is said of one thing is said in the singular.
func TestOneIsNoPlural(t *testing.T) {
	one := images.Seeded{LeftOut: make([]store.Dropped, 1)}
	if got := leftOut(one).Observed.String(); got != "1 is not, and was left out" {
		t.Errorf("of one: %s", got)
	}
	one.LeftOut = append(one.LeftOut, one.LeftOut[0])
	if got := leftOut(one).Observed.String(); got != "2 are not, and were left out" {
		t.Errorf("of two: %s", got)
	}
}

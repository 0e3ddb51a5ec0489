package unattended_test

import (
	"strings"
	"testing"

	"touchdown/steps/unattended"
)

// TestDecideOrderInEveryCase: an update begins where nothing at all stands against it and its countdown is over, and each reason is told.
func TestDecideOrderInEveryCase(t *testing.T) {
	why := []string{"a person stopped it", "records were lost", "work is under way", "network failed (NET-GTWY), a person has to decide", "tty1 has control"}
	bits(6, func(is func(int) bool) {
		f := unattended.OrderFacts{ID: "id", Halted: is(0), Lost: is(1), Busy: is(2), Counted: is(5)}
		if is(3) {
			f.Failed, f.Code = "network", "NET-GTWY"
		}
		if is(4) {
			f.Control = "tty1"
		}
		got, first := unattended.DecideOrder(f), -1
		for i := range why {
			if is(i) && first < 0 {
				first = i
			}
		}
		switch {
		case first >= 0:
			if got.Act != unattended.Nothing || !strings.Contains(got.Why.String(), why[first]) {
				t.Errorf("%+v: %+v", f, got)
			}
		case got.Act != map[bool]unattended.Act{false: unattended.CountDown, true: unattended.Start}[is(5)] || got.Why.String() != "":
			t.Errorf("%+v: %+v", f, got)
		}
		if got.Document != "id" {
			t.Errorf("%+v: %+v", f, got)
		}
	})
}

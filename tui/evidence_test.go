package tui

import (
	"strings"
	"testing"

	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/steps/view"
)

// TestEvidenceIsWhole: below the list there is room for a few lines of what was seen. One key away is all of it, on the smallest
// screen too, and nothing is cut.
func TestEvidenceIsWhole(t *testing.T) {
	seen := []string{"first", strings.Repeat("a long line of evidence ", 9) + "that ends here"}
	for range 30 {
		seen = append(seen, "one more answer")
	}
	seen = append(seen, "the very last")
	b := newBench(t, 80, 24, realSite, func(s *view.Snapshot) {
		list := &s.Stages[0].Steps[0].Checks
		*list = append(*list, check.Check{ID: "net-dns-1", Title: message.T("DNS server"), Status: "pass", Observed: message.T("yes"), Evidence: message.Lines(seen)})
	})
	b.press("up")
	if screen := b.screen(); strings.Contains(screen, "the very last") {
		t.Fatalf("all of it is on the page of the checks:\n%s", screen)
	}
	b.press("enter")
	all := ""
	for range 4 {
		all += b.screen()
		b.press("pgdown")
	}
	for _, want := range []string{"first", "that ends here", "the very last"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is nowhere:\n%s", want, all)
		}
	}
	if b.press("enter"); b.app.top().name() != "checks" {
		t.Errorf("Enter goes to %s", b.app.top().name())
	}
}

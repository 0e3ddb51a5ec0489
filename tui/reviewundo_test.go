package tui

import (
	"slices"
	"testing"

	"touchdown/backend/message"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// planned has the review.
func planned(s *view.Snapshot) { s.State, s.Review = view.Reviewed, reviewView() }

// TestTheReviewOffersUndo where earlier work stands, also when the plan has a problem; and not on a node that nothing has changed.
func TestTheReviewOffersUndo(t *testing.T) {
	for name, edit := range map[string]func(*view.Snapshot){
		"a plan": planned, "a problem": func(s *view.Snapshot) {
			planned(s)
			s.Review.Problems = []message.Text{message.T("Cluster name: it is missing")}
		},
	} {
		b := newBench(t, 80, 24, edit, stands)
		b.press("u")
		b.shows("Put everything back?")
		b.press("tab", "'sno-042", "enter")
		if got := b.fake.decided(); !slices.Equal(got, []session.Verb{session.Undo}) {
			t.Errorf("%s: the keys did %v:\n%s", name, got, b.screen())
		}
		b = newBench(t, 80, 24, edit)
		if b.press("u"); b.app.top().name() != "review" {
			t.Errorf("%s: there is nothing to put back, and u opens %s", name, b.app.top().name())
		}
	}
}

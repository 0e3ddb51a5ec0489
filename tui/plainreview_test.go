package tui

import (
	"slices"
	"testing"

	"touchdown/backend/message"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// TestPlainLooksAgain: who has fixed what a check is about has it looked at again from the review.
func TestPlainLooksAgain(t *testing.T) {
	f, p := holding(t, func(s *view.Snapshot) {
		s.State, s.Review = view.Reviewed, reviewView()
		s.Review.Problems = []message.Text{message.T("Clock: wrong.")}
	})
	p.printed(t, "To look at the machine again, type look.")
	p.after(t, "To start", "look")
	p.printed(t, "no time server answers")
	p.printed(t, "To start")
	if got := f.verbs(); !slices.Equal(got, []session.Verb{session.Edit, session.Inspect, session.Review}) {
		t.Errorf("did %v", got)
	}
}

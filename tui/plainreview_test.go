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

// TestPlainReviewOffersUndo where earlier work stands, and asks once more; and not on a node that nothing has changed.
func TestPlainReviewOffersUndo(t *testing.T) {
	f, p := holding(t, planned, stands)
	p.printed(t, "To put back what was changed before, type undo.")
	p.after(t, "To start", "undo")
	p.printed(t, "Put everything back?")
	p.after(t, "sno-042", "sno-042")
	f.did(t, session.Undo)
	if got := f.verbs(); !slices.Equal(got, []session.Verb{session.Undo}) {
		t.Errorf("did %v", got)
	}
	f, p = holding(t, planned)
	p.after(t, "To start", "undo")
	p.printed(t, "is not understood here")
	if got := f.verbs(); len(got) > 0 {
		t.Errorf("did %v", got)
	}
}

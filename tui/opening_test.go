package tui

import (
	"testing"

	"touchdown/steps/view"
)

// typedDomain is a snapshot of answers of which someone typed one on the second page.
func typedDomain(s *view.Snapshot) {
	f := &s.Stages[1].Steps[0].Fields[1]
	f.Value, f.Source, f.Changed = "example.com", "typed", true
}

// TestOpensWhereSomeoneTyped starts a console in the middle of the questions, as its unit does after a line dropped.
func TestOpensWhereSomeoneTyped(t *testing.T) {
	b := newBench(t, 80, 24, typedDomain)
	b.shows("[example.com")
	b.press("b")
	b.shows("Hardware check")
}

// TestMovesAgainFromTheFirstPage: after work that ended the questions are asked from the beginning.
func TestMovesAgainFromTheFirstPage(t *testing.T) {
	for name, end := range map[string]func(*view.Snapshot){"landed": finished, "put back": undone} {
		b := newBench(t, 80, 24, typedDomain)
		b.shows("[example.com")
		b.fake.change(end)
		b.refresh()
		b.fake.change(func(s *view.Snapshot) {
			s.State, s.Stages[0].Steps[0].Inspecting = view.Collecting, true
		})
		b.refresh()
		if t.Logf("%s", name); b.app.opened != "hardware" {
			t.Errorf("%s: the questions begin with %q", name, b.app.opened)
		}
	}
}

// TestTheReviewIsAskedForOnce: a key that is pressed again while the review takes its time asks for no second one.
func TestTheReviewIsAskedForOnce(t *testing.T) {
	b := newBench(t, 80, 24)
	first, again := b.app.desk.review(), b.app.desk.review()
	if first == nil || again != nil {
		t.Fatal("not once")
	}
	b.took(first())
	b.shows("Review: nothing was changed so far")
	if b.app.desk.asking {
		t.Error("still asked for")
	}
	b.press("b")
	if state := b.app.desk.state(); state != view.Collecting || b.app.desk.review() == nil {
		t.Errorf("never again after that: %s, %v", state, b.app.desk.asking)
	}
}

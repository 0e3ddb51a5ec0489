package tui

import (
	"slices"
	"testing"
	"time"

	"touchdown/steps/session"
	"touchdown/steps/view"
)

// TestAnyKeyStopsTheCountdown: whoever presses a key at the question is there; the countdown stops, once, and the page says so. A key of
// a console without control does nothing.
func TestAnyKeyStopsTheCountdown(t *testing.T) {
	for _, key := range []string{"down", "z", "2", "l", "enter"} {
		b := newBench(t, 80, 24, realSite, asking)
		b.shows("Any key stops the countdown.")
		b.press(key)
		if got := b.fake.verbs(); !slices.Equal(got, []session.Verb{session.Hold}) {
			t.Fatalf("%s: did %v", key, got)
		}
		if key == "l" {
			b.press("b")
		}
		b.press("up", "down")
		b.shows("The countdown is stopped. Without an answer the default is taken at")
		b.now = b.now.Add(2 * time.Second)
		b.press("1", "enter")
		if got := b.fake.verbs(); !slices.Equal(got, []session.Verb{session.Hold, session.Reply}) {
			t.Errorf("%s, then an answer: did %v", key, got)
		}
	}
	again := newBench(t, 80, 24, realSite, asking)
	again.press("z")
	again.fake.change(func(s *view.Snapshot) { // the last console went away and came back: the countdown goes on
		asking(s)
		s.Question.Until = s.Question.Until.Add(time.Second)
	})
	again.refresh()
	again.press("z", "z")
	if got := again.fake.verbs(); !slices.Equal(got, []session.Verb{session.Hold, session.Hold}) {
		t.Errorf("a countdown that goes on: did %v", got)
	}
	looks := fresh(t, realSite, asking)
	looks.press("down", "z")
	if got := looks.fake.verbs(); len(got) > 0 {
		t.Errorf("a console without control did %v", got)
	}
}

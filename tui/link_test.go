package tui

import (
	"testing"
	"time"

	"touchdown/test/wait"
)

// TestOneLookForAFlood: events that come while the console waits, so as not to draw too often, are seen by the look that follows, and by no
// second one at once.
func TestOneLookForAFlood(t *testing.T) {
	l := newLink(t.Context(), newFake(), "ttyS0", time.Hour)
	pausing, over := make(chan struct{}), make(chan time.Time)
	l.after = func(time.Duration) <-chan time.Time {
		close(pausing) // a second pause panics: the flood is one
		return over
	}
	event := func() {
		l.mu.Lock()
		l.waiting = true
		l.mu.Unlock()
		l.poke(nil)
	}
	l.since = time.Now()
	event()
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		l.wait()
	}()
	ctx := wait.Within(t, 5*time.Second)
	reached := func(what string, at <-chan struct{}) {
		select {
		case <-at:
		case <-ctx.Done():
			t.Fatal(what)
		}
	}
	reached("it does not pause", pausing)
	event()
	if len(l.notify) != 1 {
		t.Error("the event in the pause was not noted")
	}
	close(over)
	reached("it does not look after the pause", looked)
	if len(l.notify) > 0 {
		t.Error("the same events are looked at again")
	}
}

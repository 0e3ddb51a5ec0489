package tui

import (
	"testing"
	"time"
)

// TestOneLookForAFlood: events that come while the console waits, so as not to draw too often, are seen by the look that follows, and by no
// second one at once.
func TestOneLookForAFlood(t *testing.T) {
	const rate = 300 * time.Millisecond
	for range 20 {
		l := newLink(t.Context(), newFake(), "ttyS0", rate)
		event := func() {
			l.mu.Lock()
			l.waiting = true
			l.mu.Unlock()
			l.poke(nil)
		}
		l.since = time.Now()
		begun := l.since
		event()
		looked := make(chan struct{})
		go func() {
			defer close(looked)
			l.wait()
		}()
		for len(l.notify) > 0 { // until it waits
			time.Sleep(time.Millisecond)
		}
		event()
		if time.Since(begun) >= rate {
			<-looked
			continue // a starved machine: the event came too late to be part of the flood
		}
		<-looked
		if len(l.notify) > 0 {
			t.Error("the same events are looked at again")
		}
		return
	}
	t.Skip("the machine is too busy for events in a row")
}

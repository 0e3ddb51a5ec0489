package clock

import (
	"sync"
	"time"
)

// Watch is the time of day that a person typed, and when that was: from there on it goes on.
type Watch struct {
	now func() time.Time

	mu   sync.Mutex
	text string    // as it stands in the answers
	at   time.Time // when it was typed
	old  bool      // an earlier engine has left it, and its age is not known
}

// NewWatch starts with no time. now is the machine's clock.
func NewWatch(now func() time.Time) *Watch { return &Watch{now: now} }

// Found is told what stands in the answers that an earlier engine left, before anyone can type.
func (t *Watch) Found(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text, t.old = text, text != ""
}

// Set is told what stands in the answers now. With the same text it goes on.
func (t *Watch) Set(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if text != t.text {
		t.text, t.at, t.old = text, t.now(), false
	}
}

// Ahead is how far the clock is behind what was typed, 0 where that is not known (old); ok: a time was typed.
func (t *Watch) Ahead(now time.Time) (ahead time.Duration, old, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	typed, err := time.Parse(time.RFC3339, t.text)
	if err != nil || t.old {
		return 0, t.old, err == nil
	}
	return typed.Add(now.Sub(t.at)).Sub(now), false, true
}

package engine

import (
	"testing"
	"time"

	"touchdown/backend/message"
	"touchdown/backend/progress"
	"touchdown/steps/event"
)

// TestRate: how fast a count goes, since it counts the same; what only repeats changes nothing.
func TestRate(t *testing.T) {
	s, at := &stepState{}, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i, c := range []struct {
		after time.Duration
		p     progress.Progress
		rate  float64
		still time.Duration // since the last change
	}{
		{0, progress.Progress{Done: 100, Total: 900, Unit: "MiB"}, 0, 0},
		{10 * time.Second, progress.Progress{Done: 300, Total: 900, Unit: "MiB"}, 20, 0},
		{10 * time.Second, progress.Progress{Done: 300, Total: 900, Unit: "MiB"}, 20, 10 * time.Second},
		{10 * time.Second, progress.Progress{Done: 300, Total: 900, Unit: "MiB", Waiting: message.T("the disk")}, 200. / 30, 0},
		{time.Second, progress.Progress{Done: 5, Total: 900, Unit: "MiB"}, 0, 0},   // another file
		{time.Second, progress.Progress{Done: 7, Total: 40, Unit: "images"}, 0, 0}, // another count
		{time.Second, progress.Progress{Done: 9, Total: 40, Unit: "images"}, 2, 0},
	} {
		at = at.Add(c.after)
		s.moves(event.Event{Time: at, Progress: &c.p})
		if got := s.rate(); got != c.rate || at.Sub(s.moved) != c.still {
			t.Errorf("%d: %g a second, changed %s ago", i, got, at.Sub(s.moved))
		}
	}
}

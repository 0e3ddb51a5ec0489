package engine

import (
	"time"

	"touchdown/steps"
)

// count is where a count began.
type count struct {
	at   time.Time
	done int64
}

// moves takes a progress.
func (s *stepState) moves(e steps.Event) {
	was := s.progress
	if was == nil || *was != *e.Progress {
		s.moved = e.Time
	}
	if was == nil || was.Unit != e.Progress.Unit || was.Total != e.Progress.Total || e.Progress.Done < was.Done {
		s.counts = count{e.Time, e.Progress.Done}
	}
	s.progress = e.Progress
}

// rate is how much was done in a second since the count began, 0 where that is not known.
func (s *stepState) rate() float64 {
	took := s.moved.Sub(s.counts.at).Seconds()
	if s.progress == nil || took <= 0 {
		return 0
	}
	return float64(s.progress.Done-s.counts.done) / took
}

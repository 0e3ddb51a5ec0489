package engine

import (
	"time"

	"touchdown/backend/message"
	"touchdown/backend/report"
	"touchdown/steps/view"
)

// lasts are the times of the plans that tell one, at the pace of this node.
func (v *review) lasts(pace float64) map[string]float64 {
	all := map[string]float64{}
	for _, s := range v.Steps {
		if s.Skip.String() == "" && s.Plan.Seconds > 0 {
			all[s.Step] = s.Plan.Seconds * pace
		}
	}
	return all
}

// trust is how many seconds of finished work weigh as much as the plans do, which are of a typical server.
const trust = 120.0

// pace is how much longer this node takes than the plans say, by the steps that it has finished. A step counts for no more than
// the slowest pace: it may have waited for a person at the machine.
func (j *job) pace() float64 {
	planned, took := trust, trust
	for id, usual := range j.lasts {
		if s := j.steps[id]; s != nil && s.status == view.StepDone {
			planned += usual
			took += min(s.seconds, usual*report.Slowest)
		}
	}
	return report.Pace(took, planned)
}

// left is about how many seconds the job will still work, and what its step waits for when that takes longer than its plan said.
// It is 0 while nothing is at work, and when the job was begun by a release that told no times.
func (j *job) left(now time.Time) (left float64, late message.Text) {
	if len(j.lasts) == 0 || j.undoing || j.state != view.Working && j.state != view.InQuestion {
		return 0, message.Text{}
	}
	pace := j.pace()
	for id, usual := range j.lasts {
		if s := j.step(id); s.status == view.Pending || s.status == view.StepFailed {
			left += usual * pace
		}
	}
	if s := j.step(j.current); s.status == view.Running {
		worked := time.Duration(0)
		if !j.time.began.IsZero() { // zero: it reboots
			worked = j.time.attempt(now)
		}
		rest, over := s.rest(j.lasts[j.current]*pace, s.seconds+worked.Seconds(), now)
		left += rest
		if over && s.progress != nil {
			late = s.progress.Waiting
		}
	}
	return max(left, 1), late
}

// rest is how long the step at work still takes, and whether that is longer than its plan said. Past the plan it goes by what the
// step itself says of its wait. A stretch of time that has to pass is as long on a fast node as on any other.
func (s *stepState) rest(usual, worked float64, now time.Time) (rest float64, late bool) {
	p := s.progress
	stretch := p != nil && p.Unit == "seconds" && p.Total > 0
	if stretch {
		usual = max(usual, float64(p.Total))
	}
	rest = usual - worked
	if rest < 0 {
		rest = 0
		late = worked > 1.5*usual && usual > 0
	}
	switch {
	case p == nil:
	case rest == 0 && p.Usual > 0:
		rest = max(p.Usual-now.Sub(s.expects).Seconds(), 0)
	case stretch:
		rest = float64(max(p.Total-p.Done, 0))
	}
	return rest, late
}

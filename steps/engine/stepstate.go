package engine

import (
	"slices"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/backend/progress"
	"touchdown/steps/event"
	"touchdown/steps/view"
)

// stepState is where one step is.
type stepState struct {
	status      view.StepStatus
	skip        message.Text
	checks      []check.Check
	earlier     map[string]bool          // IDs of those that an earlier job told, and no look since; they end when the next job begins
	waivers     map[string]*check.Waiver // by check ID; each stands until its check passes or the hand-over, even while nothing reports that check
	said        []message.Text
	progress    *progress.Progress
	expects     time.Time // since when the progress tells the same usual time
	moved       time.Time // when the progress became another one
	counts      count     // what the progress began to count
	started     time.Time
	seconds     float64 // of all its attempts in this job, and of the reboots that it asked for; or of its undo
	fingerprint string
	reboots     []string // boot ids from which a reboot was asked, since the step last got further
	boots       []string // boot ids in which the step, putting it right, or its undo was begun, once for each time, since it last got further
	touched     bool     // Run has been called, so there may be something to undo
	skippedBy   string   // the console at which a person skipped it after a failure; "": nobody did in this job
}

// begin makes the step ready for a new job. Of an earlier one stays what undo and a person rely on: that the step may have changed something,
// and the waivers. The checks of the looks before the start belong to the new job.
func (s *stepState) begin() {
	looked := slices.DeleteFunc(s.checks, func(c check.Check) bool { return s.earlier[c.ID] })
	*s = stepState{status: view.Pending, touched: s.touched, waivers: s.waivers, checks: looked}
}

// begins has the step, or its undo, at work, in a boot; "" is none.
func (s *stepState) begins(e event.Event) {
	s.status, s.started, s.progress, s.moved = view.Running, e.Time, nil, e.Time
	if e.Boot != "" {
		s.boots = append(s.boots, e.Boot)
	}
}

// count is where a count began.
type count struct {
	at   time.Time
	done int64
}

// moves takes a progress.
func (s *stepState) moves(e event.Event) {
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

// setCheck replaces the check of the same ID, or adds it. A waiver stays until the check passes, or comes without the waiver: then a person
// withdrew it. told is a verdict of a step; what a person decides about a check of an earlier job leaves it one of that job.
func (s *stepState) setCheck(c check.Check, told bool) {
	if told {
		delete(s.earlier, c.ID)
	}
	switch {
	case c.Waiver != nil:
		s.waivers[c.ID] = c.Waiver
	case c.Status == check.Pass, c.Status == check.Fail, c.Status == check.Warn:
		delete(s.waivers, c.ID)
	}
	i := slices.IndexFunc(s.checks, func(old check.Check) bool { return old.ID == c.ID })
	if i < 0 {
		s.checks = append(s.checks, c)
		return
	}
	s.checks[i] = c
}

// tellsWaived tells whether a waived check is known in the same status, with the same waiver, and as one of this job.
func (s *stepState) tellsWaived(c check.Check) bool {
	return c.Waiver != nil && !s.earlier[c.ID] && slices.ContainsFunc(s.checks, func(old check.Check) bool {
		return old.ID == c.ID && old.Status == c.Status && old.Waiver != nil && *old.Waiver == *c.Waiver
	})
}

// clearCheck removes a check that no longer applies. Its waiver stays, for when the same check fails again.
func (s *stepState) clearCheck(id string) {
	s.checks = slices.DeleteFunc(s.checks, func(c check.Check) bool { return c.ID == id })
}

// forgetFailed drops what failed with answers or on an attempt that are over: what still fails is told again.
func (s *stepState) forgetFailed() {
	s.checks = slices.DeleteFunc(s.checks, func(c check.Check) bool { return c.Status == check.Fail })
}

// failing returns the checks that failed and that nobody waived.
func (s *stepState) failing() []check.Check {
	var out []check.Check
	for _, c := range s.checks {
		if c.Status == check.Fail {
			out = append(out, c)
		}
	}
	return out
}

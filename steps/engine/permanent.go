package engine

import (
	"slices"

	"touchdown/backend/message"
	"touchdown/steps/event"
	"touchdown/steps/view"
)

// permanent is what an undo leaves, by the plans.
func (v *review) permanent() (all []event.Permanent) {
	for _, s := range v.Steps {
		if s.Skip.String() != "" {
			continue
		}
		for _, text := range s.Plan.Permanent {
			all = append(all, event.Permanent{Step: s.Step, Text: text})
		}
	}
	return all
}

// stays is what an undo leaves of the steps that have begun and are not put back.
func (j *job) stays() (all []event.Permanent) {
	for _, p := range j.permanent {
		if s := j.steps[p.Step]; s != nil && s.touched {
			all = append(all, p)
		}
	}
	return all
}

// joined is one list and what only the other one has: a step that is begun again plans the same.
func joined(all, more []event.Permanent) []event.Permanent {
	for _, p := range more {
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// leaves is what an undo of the job would leave, or left.
func (j *job) leaves() (all []message.Text) {
	left := j.stays()
	if j.state == view.IsUndone { // then no step has anything to put back
		left = j.permanent
	}
	for _, p := range left {
		all = append(all, p.Text)
	}
	return all
}

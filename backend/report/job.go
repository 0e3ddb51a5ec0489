package report

import (
	"time"

	"touchdown/backend/check"
)

// Job is what the engine knows about the work; the rest of the report is looked up on node and cluster.
type Job struct {
	Kind     string // Landing (also "") or Factory
	Version  string // of Touchdown
	Serial   string
	Hostname string
	Started  time.Time
	Watched  bool // a person started it at a console, or had it go on there since the last boot
	Steps    []JobStep
	Warnings []string // plain sentences, such as the engine's notices
	Problems []string // what failed on the way and was fixed
	Medium   bool     // a medium brought the site config
}

// JobStep is a Step with its checks. Its Outcome is "done" or "skipped", and "" for one that is not over.
type JobStep struct {
	Step
	Checks []check.Check
}

// Waived reports whether a person took responsibility for a check of a step.
func (j Job) Waived(step, id string) bool {
	for _, s := range j.Steps {
		for _, c := range s.Checks {
			if s.ID == step && c.ID == id && c.Status == check.Waived {
				return true
			}
		}
	}
	return false
}

package engine

import (
	"slices"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// maxStarts is in how many boots a step, or its undo, may be begun without ending: the power may fail again and again, but a node
// that goes down each time that the same step runs must stop there, where a person can look at it.
const maxStarts = 10

// maxBegun is how often it may be begun in whatever boots. An engine that ends while its node stays up was killed, or has a mistake. It is three times
// maxStarts, so that no row of power cuts comes to it: a boot begins a step once, and a person who restarts the engine does so a few times.
const maxBegun = 3 * maxStarts

// tooOften tells that the node, or the engine, ended again and again while the step was at work. A person decides: a retry counts from its beginning.
func (s *stepState) tooOften() error {
	began := slices.Clone(s.boots)
	slices.Sort(began)
	if n := len(slices.Compact(began)); n > maxStarts {
		return &problem.Problem{
			Code: "RBT-CNT", Summary: message.F("The node went down %d times while this step was at work.", n-1),
			Fix: message.T("Look at power and cabling. Then retry, or undo to put everything back."),
		}
	}
	if n := len(s.boots); n > maxBegun {
		return &problem.Problem{
			Code: "RST-CNT", Summary: message.F("Touchdown's engine ended %d times while this step was at work.", n-1),
			Fix: message.T("Make a support bundle. Then retry, or undo to put everything back."),
		}
	}
	return nil
}

package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"touchdown/backend/check"
	"touchdown/backend/value"
	"touchdown/steps/event"
	"touchdown/steps/session"
)

// maxWaiver bounds name and reason of a waiver: they are printed in the report, a line or two.
const maxWaiver = 400

// waive notes that a person takes responsibility for a check that did not pass.
func waive(c *core, a session.Action) error {
	by, reason := strings.TrimSpace(a.By), strings.TrimSpace(a.Reason)
	if by == "" || reason == "" {
		return fmt.Errorf("%w: a waiver needs a name and a reason", session.ErrInvalid)
	}
	if len(by)+len(reason) > maxWaiver || !value.OneLine(by) || !value.OneLine(reason) {
		return fmt.Errorf("%w: name and reason of a waiver are one line each, without control characters, %d bytes together at most", session.ErrInvalid, maxWaiver)
	}
	seen, err := checkOf(c, a)
	if err != nil {
		return err
	}
	if seen.Status != check.Fail && seen.Status != check.Warn {
		return fmt.Errorf("%w: check %q did not fail", session.ErrInvalid, a.Check)
	}
	seen = waived(seen, check.Waiver{By: by, Reason: reason})
	c.draft.review = nil
	return c.recorder.emit(event.Event{Kind: event.Checked, Step: a.Step, Check: &seen, By: c.control.holder})
}

// withdrawWaiver takes a waiver back: the check counts as before, and whoever waives it again is asked for a name and a reason again. In the
// journal that is a check which did not pass while its waiver stood, and has none: no look leaves it so. An engine of the release before
// shows it as well, until its next look waives it again.
func withdrawWaiver(c *core, a session.Action) error {
	seen, err := checkOf(c, a)
	if err != nil {
		return err
	}
	if seen.Status != check.Waived || seen.Waiver == nil {
		return fmt.Errorf("%w: check %q is not waived", session.ErrInvalid, a.Check)
	}
	seen = withdrawn(seen)
	c.draft.review = nil
	return c.recorder.emit(event.Event{Kind: event.Checked, Step: a.Step, Check: &seen, By: c.control.holder})
}

// checkOf is the check that an action names.
func checkOf(c *core, a session.Action) (check.Check, error) {
	checks := c.job.step(a.Step).checks
	i := slices.IndexFunc(checks, func(seen check.Check) bool { return seen.ID == a.Check })
	if i < 0 {
		return check.Check{}, fmt.Errorf("%w: step %q has no check %q", session.ErrNotFound, a.Step, a.Check)
	}
	return checks[i], nil
}

// waived is a check that did not pass, with the waiver of a person.
func waived(c check.Check, by check.Waiver) check.Check {
	by.Was = c.Status
	c.Status, c.Waiver = check.Waived, &by
	return c
}

// withdrawn is a waived check as it counts without its waiver. What an earlier release waived may have been a warning; until the next look
// it counts as what needs more attention.
func withdrawn(c check.Check) check.Check {
	c.Status, c.Waiver = cmp.Or(c.Waiver.Was, check.Fail), nil
	return c
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"touchdown/backend/check"
	"touchdown/steps"
)

// allowed lists the states in which each verb makes sense.
func allowed(verb Verb) []State {
	idle := []State{Inspecting, Collecting, Reviewed, HasFailed, IsDone, IsUndone}
	switch verb {
	case Act, Restore, Inspect, Review:
		return []State{Inspecting, Collecting, Reviewed}
	case Start:
		return []State{Reviewed}
	case Edit:
		return []State{Reviewed, HasFailed, IsDone, IsUndone}
	case Reply:
		return []State{InQuestion}
	case Retry, Skip:
		return []State{HasFailed}
	case Waive:
		return idle
	case Undo:
		return []State{HasFailed, IsDone}
	case Cancel:
		return []State{Working, InQuestion, UndoingAll}
	case HandOver:
		return []State{IsDone}
	case Unlock:
		return idle
	case Reboot, PowerOff:
		return idle
	}
	return nil
}

// Do implements Session.
func (e *Engine) Do(ctx context.Context, pen string, a Action) error {
	states := allowed(a.Verb)
	if states == nil {
		return fmt.Errorf("%w: there is no action %q", ErrInvalid, a.Verb)
	}
	e.mu.Lock()
	err := e.mayLocked(pen, a.Verb, states)
	e.mu.Unlock()
	if err != nil {
		return err
	}
	switch a.Verb {
	case Review:
		return e.makeReview(ctx)
	case Act:
		return e.act(ctx, a)
	case Reboot:
		return e.o.Node.Host.Reboot(ctx, "asked for at a console")
	case PowerOff:
		return e.o.Node.Host.PowerOff(ctx, "asked for at a console")
	case Inspect:
		return e.round(ctx)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.mayLocked(pen, a.Verb, states); err != nil {
		return err
	}
	return e.doLocked(a)
}

// mayLocked tells whether the holder of the pen may do verb now. The caller holds e.mu.
func (e *Engine) mayLocked(pen string, verb Verb, states []State) error {
	if err := e.control.check(pen); err != nil {
		return err
	}
	if state := e.stateLocked(); !slices.Contains(states, state) {
		return errState(verb, state)
	}
	if e.lockedLocked() && verb != Unlock && verb != Reboot && verb != PowerOff {
		return fmt.Errorf("%w: unlock the node first by its host name", ErrLocked)
	}
	return nil
}

// lockedLocked tells whether the node has landed for good, or may have: nobody changes it without unlocking.
func (e *Engine) lockedLocked() bool { return (e.job.handedOver || e.job.doubtful) && !e.unlocked }

// doLocked carries out what changes the job. The caller holds e.mu.
func (e *Engine) doLocked(a Action) error {
	switch a.Verb {
	case Restore:
		return e.answered(e.draft.restore(a.Path, a.Step))
	case Start:
		return e.startLocked(a)
	case Edit:
		e.draft.review = nil
		if e.job.state != Collecting { // the job is given up; what it touched stays known for undo
			if err := e.emitLocked(steps.Event{Kind: steps.Cancelled}); err != nil {
				return err
			}
			clear(e.looked) // the work changed what was looked at
		}
		e.lookAgain()
		e.changedLocked()
		return nil
	case Reply:
		return e.replyLocked(a)
	case Retry:
		if e.job.undoing { // the state changes at once, so that a second key press does not start a second undo
			return e.startUndoLocked()
		}
		return e.againLocked()
	case Skip:
		return e.skipLocked(a)
	case Waive:
		return e.waiveLocked(a)
	case Undo:
		if e.job.handedOver {
			return fmt.Errorf("%w: the hand-over was accepted, which ended undo", ErrState)
		}
		return e.startUndoLocked()
	case Cancel:
		e.stopWork(errCancelled)
		return nil
	case HandOver:
		if e.o.List == ListFactory {
			return fmt.Errorf("%w: a node on the bench line is sealed, not handed over", ErrState)
		}
		return e.handOverLocked()
	case Unlock:
		return e.unlockLocked(a)
	}
	return fmt.Errorf("%w: there is no action %q", ErrInvalid, a.Verb)
}

// startLocked accepts the review and begins.
func (e *Engine) startLocked(a Action) error {
	if a.Fingerprint != e.draft.review.Fingerprint {
		return fmt.Errorf("%w: this is not the review that was shown last; look at it again", ErrInvalid)
	}
	if len(e.draft.review.Problems) > 0 {
		return fmt.Errorf("%w: %s", ErrInvalid, strings.Join(e.draft.review.Problems, "; "))
	}
	now := &ReviewView{}
	_, stages := e.draft.settled()
	if e.judgeChecksLocked(now, stages); len(now.Problems) > 0 {
		return fmt.Errorf("%w: this came up after the review: %s; go back and review again", ErrState, strings.Join(now.Problems, "; "))
	}
	if a.Unattended && len(e.draft.review.Warnings) > 0 && !e.draft.site.Spec.Policy.KeepGoingOnWarnings {
		return fmt.Errorf("%w: there are warnings and nobody to judge them; fix them, start at a console, or set "+
			"spec.policy.keepGoingOnWarnings: %s", ErrInvalid, strings.Join(e.draft.review.Warnings, "; "))
	}
	if !e.touchedLocked() {
		if err := e.store.wipeSaved(); err != nil { // left by an undo that could not wipe them
			return err
		}
	}
	// What a look found was put in without being written down; what is accepted is on the disk before the work begins.
	if err := e.store.saveDraft(e.draft.site); err != nil {
		return journalProblem(err)
	}
	event := steps.Event{Kind: steps.Started, Fingerprint: e.draft.review.Fingerprint, Text: e.draft.inputs()}
	if a.Unattended {
		event.By = unattended
	}
	if err := e.emitLocked(event); err != nil {
		return err
	}
	e.draft.review = nil
	e.endLooksLocked()
	e.workLocked(false)
	return nil
}

func (e *Engine) touchedLocked() bool {
	for _, s := range e.job.steps {
		if s.touched {
			return true
		}
	}
	return false
}

// againLocked runs the list again. What is right already is seen to be and left alone.
func (e *Engine) againLocked() error {
	if err := e.acceptedLocked(); err != nil {
		return err
	}
	e.job.state = Working
	e.changedLocked()
	e.workLocked(false)
	return nil
}

func (e *Engine) replyLocked(a Action) error {
	q := e.job.question
	if q == nil || q.ID != a.Question {
		return fmt.Errorf("%w: question %q is not open", ErrNotFound, a.Question)
	}
	if !slices.ContainsFunc(q.Choices, func(c steps.Choice) bool { return c.Value == a.Value }) {
		return fmt.Errorf("%w: %q is not one of the choices", ErrInvalid, a.Value)
	}
	if e.deadline != nil {
		e.deadline.Stop()
	}
	if !offer(e.answer, reply{a.Value, e.control.holder}) {
		return fmt.Errorf("%w: the question has been answered", ErrState)
	}
	return nil
}

// skipLocked leaves the failed step out and goes on.
func (e *Engine) skipLocked(a Action) error {
	if a.Step != e.job.current || a.Step == "" {
		return fmt.Errorf("%w: only the step that failed can be skipped", ErrInvalid)
	}
	if err := e.acceptedLocked(); err != nil && !e.job.undoing {
		return err
	}
	if e.job.undoing {
		return fmt.Errorf("%w: an undo cannot leave a step out", ErrState)
	}
	why := strings.TrimSpace("left out by a person. " + a.Reason)
	if err := e.emitLocked(steps.Event{Kind: steps.Skipped, Step: a.Step, Text: why, By: e.control.holder}); err != nil {
		return err
	}
	return e.againLocked()
}

// maxWaiver bounds name and reason of a waiver: they are printed in the report, a line or two.
const maxWaiver = 400

// waiveLocked notes that a person takes responsibility for a check that did not pass.
func (e *Engine) waiveLocked(a Action) error {
	by, reason := strings.TrimSpace(a.By), strings.TrimSpace(a.Reason)
	if by == "" || reason == "" {
		return fmt.Errorf("%w: a waiver needs a name and a reason", ErrInvalid)
	}
	if len(by)+len(reason) > maxWaiver || strings.ContainsFunc(by+reason, unicode.IsControl) {
		return fmt.Errorf("%w: name and reason of a waiver are one line each, %d bytes together at most", ErrInvalid, maxWaiver)
	}
	s := e.job.step(a.Step)
	i := slices.IndexFunc(s.checks, func(c steps.Check) bool { return c.ID == a.Check })
	if i < 0 {
		return fmt.Errorf("%w: step %q has no check %q", ErrNotFound, a.Step, a.Check)
	}
	c := s.checks[i]
	if c.Status != check.Fail && c.Status != check.Warn {
		return fmt.Errorf("%w: check %q did not fail", ErrInvalid, a.Check)
	}
	c.Status, c.Waiver = check.Waived, &check.Waiver{By: by, Reason: reason}
	e.draft.review = nil
	return e.emitLocked(steps.Event{Kind: steps.Checked, Step: a.Step, Check: &c, By: e.control.holder})
}

// handOverLocked ends undo: originals and secrets are wiped.
func (e *Engine) handOverLocked() error {
	if err := e.emitLocked(steps.Event{Kind: steps.Done, Text: handedOver, By: e.control.holder}); err != nil {
		return err
	}
	e.draft.site = e.draft.site.WithoutSecrets()
	return errors.Join(e.store.saveDraft(e.draft.site), e.store.wipeSaved(), e.store.wipeSecrets())
}

// unlockLocked lets a landed node be changed again, until the engine ends.
func (e *Engine) unlockLocked(a Action) error {
	if !strings.EqualFold(strings.TrimSpace(a.Value), e.hostname) {
		return fmt.Errorf("%w: type the host name %s to unlock", ErrInvalid, e.hostname)
	}
	e.unlocked = true
	e.changedLocked()
	return nil
}

// errState says that an action does not fit the state.
func errState(verb Verb, state State) error {
	return fmt.Errorf("%w: %s while %s", ErrState, verb, state)
}

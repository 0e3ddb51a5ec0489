package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"touchdown/backend/media"
	"touchdown/backend/message"
	"touchdown/backend/value"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// allowed lists the states in which each verb makes sense.
func allowed(verb session.Verb) []view.State {
	idle := []view.State{view.Inspecting, view.Collecting, view.Reviewed, view.HasFailed, view.IsDone, view.IsUndone}
	switch verb {
	case session.Act, session.Restore, session.Inspect, session.Review:
		return []view.State{view.Inspecting, view.Collecting, view.Reviewed}
	case session.Start:
		return []view.State{view.Reviewed}
	case session.Edit:
		return []view.State{view.Reviewed, view.HasFailed, view.IsDone, view.IsUndone}
	case session.Reply, session.Hold:
		return []view.State{view.InQuestion}
	case session.Retry, session.Skip:
		return []view.State{view.HasFailed}
	case session.Waive, session.Unlock, session.Reboot, session.PowerOff:
		return idle
	case session.Withdraw: // a retry would drop the check that failed, and neither it nor its waiver were in the report
		return []view.State{view.Inspecting, view.Collecting, view.Reviewed}
	case session.Undo: // with the answers only where an earlier start changed something
		return []view.State{view.Inspecting, view.Collecting, view.Reviewed, view.HasFailed, view.IsDone}
	case session.Cancel:
		return []view.State{view.Working, view.InQuestion, view.UndoingAll}
	case session.HandOver:
		return []view.State{view.IsDone}
	case session.Update:
		return []view.State{view.Inspecting, view.Collecting, view.Reviewed, view.IsDone, view.IsUndone}
	}
	return nil
}

// Do implements Session.
func (e *Engine) Do(ctx context.Context, token string, a session.Action) error {
	states := allowed(a.Verb)
	if states == nil {
		return fmt.Errorf("%w: there is no action %q", session.ErrInvalid, a.Verb)
	}
	if err := e.idle.May(ctx); err != nil {
		return err
	}
	e.mu.Lock()
	err := e.core.may(token, a.Verb, states)
	e.mu.Unlock()
	if err != nil {
		return err
	}
	switch a.Verb {
	case session.Review:
		return makeReview(ctx, e)
	case session.Act:
		return act(ctx, e, token, a)
	case session.Reboot:
		return e.o.Node.Host.Reboot(ctx, "asked for at a console")
	case session.PowerOff:
		return e.o.Node.Host.PowerOff(ctx, "asked for at a console")
	case session.Inspect:
		return lookAgain(ctx, e)
	case session.Update:
		return startUpdate(ctx, e, token, a)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.core.may(token, a.Verb, states); err != nil {
		return err
	}
	if len(e.oneGift) > 0 && (a.Verb == session.Undo || a.Verb == session.HandOver || a.Verb == session.Edit) {
		return fmt.Errorf("%w: the cluster credentials are being made; try again in a minute", session.ErrState)
	}
	if a.Verb == session.HandOver {
		if err := mayHandOver(e); err != nil {
			return err
		}
	}
	return e.core.do(a)
}

// do carries out what changes the job.
func (c *core) do(a session.Action) error {
	switch a.Verb {
	case session.Restore:
		return c.answered(c.draft.restore(a.Path, a.Step))
	case session.Start:
		return c.start(a, func() error { tellUsed(c, endStart(c)); return nil })
	case session.Edit:
		return edit(c)
	case session.Reply:
		return c.reply(a)
	case session.Hold:
		return hold(c, a)
	case session.Retry:
		if c.job.undoing { // the state changes at once, so that a second key press does not start a second undo
			return c.undo()
		}
		return c.again()
	case session.Skip:
		return c.skip(a)
	case session.Waive:
		return waive(c, a)
	case session.Withdraw:
		return withdrawWaiver(c, a)
	case session.Undo:
		if c.job.handedOver {
			return fmt.Errorf("%w: the hand-over was accepted, which ended undo", session.ErrState)
		}
		return c.undo()
	case session.Cancel:
		c.stopWork(errCancelled)
		return nil
	case session.HandOver:
		if c.o.List == view.ListFactory {
			return fmt.Errorf("%w: a node on the bench line is sealed, not handed over", session.ErrState)
		}
		return c.handOver()
	case session.Unlock:
		return c.unlock(a)
	}
	return fmt.Errorf("%w: there is no action %q", session.ErrInvalid, a.Verb)
}

// edit goes back to the answers, with everything kept.
func edit(c *core) error {
	c.draft.review = nil
	if c.job.state != view.Collecting { // the job is given up; what it touched stays known for undo
		if err := c.recorder.emit(event.Event{Kind: event.Cancelled}); err != nil {
			return err
		}
		clear(c.inspector.looked) // the work changed what was looked at
	}
	c.inspector.again()
	c.recorder.changed()
	return nil
}

// start accepts the review and begins. last is done when nothing stands against it any more, before the work is on record.
func (c *core) start(a session.Action, last func() error) error {
	if c.draft.review == nil || a.Fingerprint != c.draft.review.Fingerprint {
		return fmt.Errorf("%w: this is not the review that was shown last; look at it again", session.ErrInvalid)
	}
	if len(c.draft.review.Problems) > 0 {
		return fmt.Errorf("%w: %s", session.ErrInvalid, strings.Join(message.English(c.draft.review.Problems), "; "))
	}
	if WipeBegun(c.folder.dir) { // the next engine goes on with it, and would wipe the originals of this job
		return fmt.Errorf("%w: wiping this node was begun and has not ended: run touchdown wipe again, and see what it says", session.ErrState)
	}
	now := &review{}
	_, stages := c.draft.effective()
	if now.judgeChecks(c.job, stages); len(now.Problems) > 0 {
		return fmt.Errorf("%w: this came up after the review: %s; go back and review again", session.ErrState, strings.Join(message.English(now.Problems), "; "))
	}
	if a.Unattended && len(c.draft.review.Warnings) > 0 && !c.draft.site.Spec.Policy.KeepGoingOnWarnings {
		return fmt.Errorf("%w: there are warnings and nobody to judge them; fix them, start at a console, or set "+
			"spec.policy.keepGoingOnWarnings: %s", session.ErrInvalid, strings.Join(message.English(c.draft.review.Warnings), "; "))
	}
	if !c.job.touched() {
		if err := c.folder.wipeSaved(); err != nil { // left by an undo that could not wipe them
			return err
		}
	}
	// What a look found was put in without being written down; what is accepted is on the disk before the work begins.
	if err := c.folder.saveDraft(c.draft.site); err != nil {
		return journalProblem(err)
	}
	if err := last(); err != nil {
		return err
	}
	// The hand-over wiped the PIN from the answers. Only a document that was loaded since can mean that this site has none.
	if c.draft.site.Spec.Console.PIN != "" || c.draft.brought || !c.job.landedBefore {
		if err := c.draft.lock(c.draft.idle.Begin); err != nil {
			return err
		}
		delete(c.notices, pinNotice)
	}
	e := event.Event{
		Kind: event.Started, Fingerprint: c.draft.review.Fingerprint, Lasts: c.draft.review.lasts(cmp.Or(c.o.Pace, 1)),
		Permanent: c.draft.review.permanent(),
		Job:       &event.Job{State: string(view.Working), Inputs: c.draft.inputs()},
	}
	if a.Unattended {
		e.By = byNobody
	}
	if err := c.recorder.emit(e); err != nil {
		return err
	}
	tellUsed(c, endStart(c)) // the journal has the start: the work goes on, and noteUsed tries again
	c.draft.review = nil
	c.draft.forgetBeside()
	c.inspector.stop()
	c.work(false)
	return nil
}

// again runs the list again. What is right already is seen to be and left alone.
func (c *core) again() error {
	if err := c.accepted(); err != nil {
		return err
	}
	c.job.unattended = false // whoever retries is there to be asked, until the next boot
	c.recorder.fold(event.Event{Kind: event.Changed, Job: &event.Job{State: string(view.Working)}})
	c.recorder.changed()
	c.work(false)
	return nil
}

func (c *core) reply(a session.Action) error {
	q := c.job.question
	if q == nil || q.ID != a.Question {
		return fmt.Errorf("%w: question %q is not open", session.ErrNotFound, a.Question)
	}
	if !slices.ContainsFunc(q.Choices, func(choice steps.Choice) bool { return choice.Value == a.Value }) {
		return fmt.Errorf("%w: %q is not one of the choices", session.ErrInvalid, a.Value)
	}
	return c.question.reply(reply{a.Value, c.control.holder})
}

// hold stops the countdown of the open question. It is not journalled: after a crash the step asks again.
func hold(c *core, a session.Action) error {
	if q := c.job.question; q == nil || q.ID != a.Question {
		return fmt.Errorf("%w: question %q is not open", session.ErrNotFound, a.Question)
	}
	if c.question.hold(c.o.Node.Now()) {
		c.recorder.changed()
	}
	return nil
}

// skip leaves the failed step out and goes on.
func (c *core) skip(a session.Action) error {
	if a.Step != c.job.current || a.Step == "" {
		return fmt.Errorf("%w: only the step that failed can be skipped", session.ErrInvalid)
	}
	if err := c.accepted(); err != nil && !c.job.undoing {
		return err
	}
	if c.job.undoing {
		return fmt.Errorf("%w: an undo cannot leave a step out", session.ErrState)
	}
	if len(a.Reason) > maxWaiver || !value.OneLine(a.Reason) {
		return fmt.Errorf("%w: a reason is one line of at most %d bytes, without control characters", session.ErrInvalid, maxWaiver)
	}
	why := message.T("left out by a person.")
	if a.Reason != "" {
		why = message.F("left out by a person: %s", a.Reason)
	}
	if err := c.recorder.emit(event.Event{Kind: event.Skipped, Step: a.Step, Text: why, By: c.control.holder}); err != nil {
		return err
	}
	return c.again()
}

// handOver ends undo: originals and secrets are wiped.
func (c *core) handOver() error {
	if err := c.recorder.emit(handOverEvent(c.control.holder, c.folder.key.lasting(c.draft.site))); err != nil {
		return err
	}
	c.draft.site, c.draft.brought, c.given = handedOver(c.draft.site), false, nil
	return errors.Join(c.folder.saveDraft(c.draft.site), wipeLanded(c))
}

// wipeLanded wipes what a landing needed until its hand-over was accepted.
func wipeLanded(c *core) error {
	return errors.Join(c.folder.wipeSaved(), c.folder.wipeSecrets(), c.draft.idle.Keep(), media.Of(c.o.Node.Host).DropBaked())
}

// unlock lets a landed node be changed again, until the engine ends.
func (c *core) unlock(a session.Action) error {
	if !strings.EqualFold(strings.TrimSpace(a.Value), c.hostname) {
		return fmt.Errorf("%w: type the host name %s to unlock", session.ErrInvalid, c.hostname)
	}
	c.unlocked = true
	c.recorder.changed()
	return nil
}

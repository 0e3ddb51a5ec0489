package engine

import (
	"context"
	"fmt"

	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// leaveOut has a step that is left out put right first what it left half done, and tells whether the work goes on. The step shows as the one
// at work meanwhile; for the journal it stays left out, so that a node that goes down here begins with this again, in as many boots as a Run.
func (r *run) leaveOut(ctx context.Context, step steps.Step) bool {
	id := step.ID()
	a, half, err := halfDone(r.e, step)
	if err != nil {
		r.fail(id, err, 0)
		return false
	}
	if half.String() == "" {
		return true
	}
	if ctx.Err() != nil {
		r.stopped(ctx, id, 0, ctx.Err())
		return false
	}
	if err := r.beginLeavingOut(id); err != nil {
		r.fail(id, err, 0)
		return false
	}
	over := r.show(id)
	(&stepReport{e: r.e, step: id}).Say(message.F("The step is left out. It had left something half done, which is put right first: %s.", half))
	begin := r.e.now()
	waited, err := r.attempt(ctx, id, a.Abandon)
	if !r.went(ctx, id, (r.e.now().Sub(begin) - waited).Seconds(), err) {
		return false
	}
	over()
	return true
}

// beginLeavingOut journals the boot in which a step is put right, unless there were too many of them.
func (r *run) beginLeavingOut(id string) error {
	boot, _ := r.e.o.Node.Host.BootID() // "": a machine that does not tell counts no boots
	r.e.mu.Lock()
	s := r.e.core.job.step(id)
	begun := event.Event{Kind: event.Skipped, Step: id, Text: s.skip, By: s.skippedBy, Boot: boot}
	r.e.mu.Unlock()
	if err := r.e.emit(begun); err != nil {
		return err
	}
	return r.tooManyBoots(id)
}

// show shows a step that is left out as the one at work, until over is called. Nothing of it is for the journal.
func (r *run) show(id string) (over func()) {
	set := func(status view.StepStatus) {
		r.e.mu.Lock()
		defer r.e.mu.Unlock()
		s := r.e.core.job.step(id)
		s.status, s.progress, s.started = status, nil, r.e.now()
		r.e.core.job.current = id
		r.e.core.recorder.changed()
	}
	set(view.Running)
	return func() { set(view.StepSkip) }
}

// halfDone tells what a step left half done; "" for nothing.
func halfDone(e *Engine, step steps.Step) (a steps.Abandoner, half message.Text, err error) {
	a, is := step.(steps.Abandoner)
	if !is {
		return nil, message.Text{}, nil
	}
	if half, err = a.Half(&stepReport{e: e, step: step.ID()}); err != nil {
		err = &problem.Problem{
			Code: "HALF-RD", Summary: message.F("What this step noted cannot be read, so it is not known whether it left something half done (%s).", step.Title()),
			Fix: message.T("Look at the disk that holds the state folder, then retry."), Err: err,
		}
	}
	return a, half, err
}

// mayHandOver refuses a hand-over that would wipe the notes about something that is half done, after which nobody would put it right.
func mayHandOver(e *Engine) error {
	for _, stage := range e.core.draft.stages() {
		for _, step := range stage.Steps {
			_, half, err := halfDone(e, step)
			if err != nil {
				return err
			}
			if half.String() == "" {
				continue
			}
			return fmt.Errorf("%w: %w", session.ErrState, &problem.Problem{
				Code: "HND-HALF", Summary: message.F("The hand-over cannot be accepted yet, because a step left something half done: %s (%s).", half, step.Title()),
				Fix: message.T("Edit the answers and start again: the step then ends what it began, or puts it right where it is left out."),
			})
		}
	}
	return nil
}

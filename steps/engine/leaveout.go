package engine

import (
	"context"
	"fmt"

	"touchdown/backend"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// leaveOut leaves a step out and tells whether the work goes on. What the step left half done is put right first. That can take a reboot,
// or the power may fail: the step is at work until it is over, and is begun in as many boots as a Run.
func (r *run) leaveOut(ctx context.Context, step steps.Step, out event.Event) bool {
	id := step.ID()
	a, half, err := halfDone(r.e, step)
	if err != nil {
		r.fail(id, err, 0)
		return false
	}
	if half.String() != "" {
		if ctx.Err() != nil {
			r.stopped(ctx, id, 0, ctx.Err())
			return false
		}
		repair := func(ctx context.Context, node *backend.Node, report steps.Report) error {
			report.Say(message.F("The step is left out. It had left something half done, which is put right first: %s.", half))
			return a.Abandon(ctx, node, report)
		}
		var went bool
		if out.Seconds, went = r.begin(ctx, event.Event{Kind: event.Repairing, Step: id}, repair); !went {
			return false
		}
	}
	return r.tellLeftOut(out)
}

// tellLeftOut journals that a step is left out, unless the journal has it: a person's word is written down when it is given.
func (r *run) tellLeftOut(out event.Event) bool {
	r.e.mu.Lock()
	known := r.e.core.job.step(out.Step).status == view.StepSkip
	r.e.mu.Unlock()
	if known {
		return true
	}
	if err := r.e.emit(out); err != nil {
		r.fail(out.Step, err, 0)
		return false
	}
	return true
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

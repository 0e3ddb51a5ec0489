package engine

import (
	"context"
	"errors"
	"time"

	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps"
)

// recoverLimit ends a recovery that made no progress for so long; the consoles wait for it. A step that is stopped tells so in
// a notice, and tries again when the next engine starts. It is longer than all timeouts of backend/network's PutBack together.
const recoverLimit = 10 * time.Minute

// recover lets each step whose Run was interrupted put right what it must not leave behind. It comes before the
// first look and before any work, whatever becomes of the job.
func (e *Engine) recover() {
	defer close(e.recovered)
	e.mu.Lock()
	list := e.core.draft.stages()
	e.mu.Unlock()
	for _, stage := range list {
		for _, step := range stage.Steps {
			r, ok := step.(steps.Recoverer)
			if !ok {
				continue
			}
			e.mu.Lock()
			interrupted := e.core.job.interrupted(step.ID())
			e.mu.Unlock()
			if interrupted {
				e.recoverStep(r, &stepReport{e: e, step: step.ID()})
			}
		}
	}
}

func (e *Engine) recoverStep(r steps.Recoverer, report *stepReport) {
	ctx, dog := watchOver(e.closing, recoverLimit, context.DeadlineExceeded)
	defer dog.stop()
	report.dog = dog
	err := guard(func() error { return r.Recover(ctx, e.o.Node, report) })
	if reboot, due := errors.AsType[*steps.Reboot](err); due {
		if err = e.o.Node.Host.Reboot(ctx, reboot.Reason.String()); err == nil {
			<-ctx.Done() // nothing begins before the shutdown
			err = context.Cause(ctx)
		}
	}
	if e.closing.Err() != nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	notice := "recover " + report.step
	delete(e.core.notices, notice)
	if err != nil {
		p := problem.From(err)
		e.core.notices[notice] = message.F("%s %s", p.Summary, p.Fix)
		e.o.Node.Log.Error("what was interrupted cannot be put right", "step", report.step, "error", e.mask.Mask(err.Error()))
	}
}

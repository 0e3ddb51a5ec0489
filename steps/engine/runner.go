package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

// maxBoots is how often a step may ask for a reboot without getting further: a fourth boot would be a loop,
// and nobody is there to break it.
const maxBoots = 3

// work is a part of a step: its Run, or how it puts right what it left half done.
type work func(context.Context, *backend.Node, steps.Report) error

// errCancelled is the cause with which a person stops the work.
var errCancelled = errors.New("stopped by a person")

// run is one pass over the list, with a copy of the config that nobody else changes.
type run struct {
	e      *Engine
	cfg    *site.Config
	stages []steps.Stage
	undone func(step string) error // called when a step is put back, unless nil
	err    error                   // why the pass ended before its end
}

// work starts the work, or the undoing, in its own goroutine. It is core.work, so its caller holds e.mu.
func (e *Engine) work(undo bool) {
	ctx, stop := context.WithCancelCause(e.closing)
	e.core.stopWork = stop
	cfg, stages := e.core.draft.effective()
	r := &run{e: e, cfg: cfg, stages: stages}
	e.workers.Go(func() {
		defer stop(nil)
		<-e.recovered
		if undo {
			r.undoAll(ctx)
			return
		}
		r.all(ctx)
	})
}

// all runs the steps in order. Each is run, even one that was done before a restart: what the machine shows
// counts, not what the journal says.
func (r *run) all(ctx context.Context) {
	for _, stage := range r.stages {
		for _, step := range stage.Steps {
			if !r.step(ctx, step) {
				return
			}
		}
	}
	r.end(event.Event{Kind: event.Done})
}

// end journals the end of a pass.
func (r *run) end(e event.Event) {
	if err := r.e.emit(e); err != nil {
		r.fail("", err, 0)
	}
}

// step runs one step and tells whether the work goes on.
func (r *run) step(ctx context.Context, step steps.Step) bool {
	id := step.ID()
	if out, isOut := r.leftOut(step); isOut {
		return r.leaveOut(ctx, step, out)
	}
	if ctx.Err() != nil {
		r.stopped(ctx, id, 0, ctx.Err())
		return false
	}
	took, went := r.begin(ctx, event.Event{Kind: event.Started, Step: id, Fingerprint: r.e.folder.key.stepInputs(r.cfg, step)}, step.Run)
	return went && r.finish(id, took)
}

// begin journals that a part of a step begins, calls it, and tells how many seconds it worked and whether it ended well.
func (r *run) begin(ctx context.Context, begins event.Event, part work) (took float64, went bool) {
	id, begun := begins.Step, r.e.now()
	begins.Boot, _ = r.e.o.Node.Host.BootID() // "": a machine that does not tell counts no boots
	if err := r.e.emit(begins); err != nil {
		r.fail(id, err, 0)
		return 0, false
	}
	var waited time.Duration
	err := r.tooOften(id)
	if err == nil {
		waited, err = r.attempt(ctx, id, part)
	}
	took = (r.e.now().Sub(begun) - waited).Seconds()
	return took, r.went(ctx, id, took, err)
}

// went tells whether an attempt ended well, and else journals how it ended.
func (r *run) went(ctx context.Context, id string, took float64, err error) bool {
	reboot, reboots := errors.AsType[*steps.Reboot](err)
	switch {
	case err == nil:
		return true
	case ctx.Err() != nil:
		r.stopped(ctx, id, took, err)
	case reboots:
		r.reboot(ctx, id, reboot.Reason, took)
	default:
		r.fail(id, err, took)
	}
	return false
}

// leftOut tells whether the step is left out, as the event that says why.
func (r *run) leftOut(step steps.Step) (out event.Event, is bool) {
	var why message.Text
	if s, ok := step.(steps.Skipper); ok {
		why = s.Skip()
	}
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	s := r.e.core.job.step(step.ID())
	if s.skippedBy != "" { // by a person, who meant the whole job
		why = s.skip
	}
	return event.Event{Kind: event.Skipped, Step: step.ID(), Text: why, By: s.skippedBy}, why.String() != ""
}

// tooOften tells that the step was begun again and again, and never ended.
func (r *run) tooOften(id string) error {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	return r.e.core.job.step(id).tooOften()
}

// attempt calls a part of a step, unless a reboot that it asked for has not happened yet, and tells how long it waited for answers.
func (r *run) attempt(ctx context.Context, id string, part work) (waited time.Duration, err error) {
	r.e.mu.Lock()
	boots := slices.Clone(r.e.core.job.step(id).reboots)
	r.e.mu.Unlock()
	if boot, err := r.e.o.Node.Host.BootID(); err == nil && slices.Contains(boots, boot) {
		return 0, &steps.Reboot{Reason: message.T("the reboot that was asked for has not happened yet")}
	}
	ctx, dog := watchOver(ctx, r.cfg.Spec.Policy.Watchdog, errWatchdog)
	defer dog.stop()
	report := &stepReport{e: r.e, step: id, dog: dog}
	err = guard(func() error { return part(ctx, r.e.o.Node, report) })
	if err != nil && errors.Is(context.Cause(ctx), errWatchdog) {
		err = tooLong(r.cfg.Spec.Policy.Watchdog, err)
	}
	return report.waited, err
}

// finish ends a step that returned without an error. A check that failed and that nobody waived is a failure
// all the same.
func (r *run) finish(id string, took float64) bool {
	r.e.mu.Lock()
	failing := r.e.core.job.step(id).failing()
	r.e.mu.Unlock()
	if len(failing) > 0 {
		r.fail(id, checkProblem(failing), took)
		return false
	}
	if err := r.e.emit(event.Event{Kind: event.Done, Step: id, Seconds: took}); err != nil {
		r.fail(id, err, took)
		return false
	}
	return true
}

func checkProblem(failing []check.Check) error {
	titles := make([]message.Text, len(failing))
	for i, c := range failing {
		titles[i] = c.Title
	}
	return &problem.Problem{
		Code: view.ChecksFailed, Summary: message.F("Not everything passed: %s.", message.Join(titles, ", ")),
		Fix: message.T("Fix what the checks name and retry, or waive a check with your name and a reason."),
	}
}

// stopped ends a step whose context ended: by a person, or because the engine closes; the latter says nothing,
// so that the next engine goes on.
func (r *run) stopped(ctx context.Context, id string, took float64, err error) {
	r.err = err
	if !errors.Is(context.Cause(ctx), errCancelled) {
		return
	}
	e := event.Event{Kind: event.Cancelled, Step: id, Seconds: took, Problem: event.TroubleOf(&problem.Problem{
		Code: view.Halted, Summary: message.T("The work was stopped by a person."),
		Fix: message.T("Retry to go on from here, or undo to put everything back."),
	})}
	if err := r.e.emit(e); err != nil {
		r.fail(id, err, took)
	}
}

// fail ends a step with a problem. When not even that can be journalled, the consoles are told all the same;
// the next engine finds the step begun and runs it again.
func (r *run) fail(id string, err error, took float64) {
	r.err = err
	r.e.o.Node.Log.Error("a step failed", "step", id, "error", r.e.mask.Mask(err.Error()))
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	if id == "" {
		id = r.e.core.job.current
	}
	e := event.Event{Kind: event.Failed, Step: id, Seconds: took, Problem: event.TroubleOf(err)}
	if r.e.core.recorder.emit(e) != nil {
		r.e.core.recorder.fold(e)
		r.e.core.recorder.changed()
	}
	if r.e.core.job.unattended && r.cfg.Spec.Policy.RollbackOnFailure && !r.e.core.job.undoing {
		if err := r.e.core.undo(); err != nil { // stays failed; a person can still undo
			r.e.o.Node.Log.Error("the work cannot be undone", "error", err)
		}
		return
	}
	if problem.From(err).Correct && !r.e.core.job.unattended && !r.e.core.job.undoing {
		if err := edit(r.e.core); err != nil { // stays failed; a person can still go back
			r.e.o.Node.Log.Error("the job cannot go back to its answers", "error", err)
		}
	}
}

// reboot journals the boot id and reboots, where the policy allows it.
func (r *run) reboot(ctx context.Context, id string, reason message.Text, took float64) {
	boot, err := r.e.o.Node.Host.BootID()
	if err != nil {
		r.fail(id, fmt.Errorf("reading the boot id: %w", err), took)
		return
	}
	r.e.mu.Lock()
	boots := r.e.core.job.step(id).reboots
	r.e.mu.Unlock()
	if len(boots) >= maxBoots && !slices.Contains(boots, boot) {
		r.fail(id, &problem.Problem{
			Code: "RBT-LP", Summary: message.F("The node was rebooted %d times without getting further.", maxBoots),
			Fix: message.T("Make a support bundle, then undo."), Err: message.Failed(reason),
		}, took)
		return
	}
	if !r.cfg.Spec.Policy.AllowReboot {
		r.fail(id, &problem.Problem{
			Code: view.RebootRefused, Summary: message.T("The node must reboot to go on, and the site config does not allow it."),
			Fix: message.T("Choose reboot here and retry afterwards, or set spec.policy.allowReboot."), Err: message.Failed(reason),
		}, took)
		return
	}
	if err := r.e.emit(event.Event{Kind: event.Rebooting, Step: id, Text: reason, Boot: boot, Seconds: took}); err != nil {
		r.fail(id, err, took)
		return
	}
	err = r.e.o.Node.Host.Reboot(ctx, reason.String())
	switch {
	case err != nil && ctx.Err() != nil: // the shutdown that was asked for ends the engine too, perhaps before systemctl has its answer
		r.stopped(ctx, id, took, err)
	case err != nil:
		r.fail(id, fmt.Errorf("rebooting: %w", err), took)
	}
}

// guard turns a panic into an error, so that a step never takes the engine down.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &problem.Problem{
				Code: "ENG-BUG", Summary: message.T("Touchdown itself made a mistake in this step."),
				Fix: message.T("Retry once; if it happens again, make a support bundle and call support."),
				Err: fmt.Errorf("panic: %v\n%s", p, debug.Stack()),
			}
		}
	}()
	return f()
}

package engine

import (
	"context"
	"slices"

	"touchdown/backend"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/view"
)

// undo begins to put everything back.
func (c *core) undo() error {
	asked := c.job.state == view.Collecting
	if err := c.recorder.emit(event.Event{Kind: event.Undoing}); err != nil {
		return err
	}
	if asked { // as a start does
		c.draft.review = nil
		c.draft.forgetBeside()
		c.inspector.stop()
	}
	c.work(true)
	return nil
}

// undoAll puts back what the steps changed, last in, first out.
func (r *run) undoAll(ctx context.Context) {
	for _, stage := range r.stages {
		for _, step := range stage.Steps {
			if p, ok := step.(steps.UndoPreparer); ok && !r.putBack(ctx, step, p.PrepareUndo, false) {
				return
			}
		}
	}
	for _, stage := range slices.Backward(r.stages) {
		for _, step := range slices.Backward(stage.Steps) {
			if u, ok := step.(steps.Undoer); ok && !r.putBack(ctx, step, u.Undo, true) {
				return
			}
		}
	}
	// No step needs its originals any more. They go before the end is told: from then on a person may start the next job,
	// which saves its own. What cannot be wiped here is wiped when that job starts.
	if err := r.e.originals.wipeSaved(); err != nil {
		r.e.o.Node.Log.Error("the saved originals cannot be wiped", "error", err)
	}
	if out := r.e.o.Outbox; out != nil { // the settings of the monitor came with the first fault, so that no step alone owns them
		if err := out.Forget(); err != nil {
			r.e.o.Node.Log.Error("the monitor cannot be forgotten", "error", err)
		}
	}
	r.e.mu.Lock()
	takePINBack(r.e.core)
	r.e.mu.Unlock()
	r.end(event.Event{Kind: event.Undone})
}

// putBack calls a part of the undo of a step that has run, and tells whether the undoing goes on. The whole part ends its undo.
func (r *run) putBack(ctx context.Context, step steps.Step, part func(context.Context, *backend.Node, steps.Report) error, whole bool) bool {
	if !r.touched(step.ID()) {
		return true
	}
	id, begin := step.ID(), r.e.now()
	if ctx.Err() != nil {
		r.stopped(ctx, id, 0, ctx.Err())
		return false
	}
	begins := event.Event{Kind: event.Undoing, Step: id}
	if whole { // no record tells where a preparation ended: it is not counted
		begins.Boot, _ = r.e.o.Node.Host.BootID()
	}
	if err := r.e.emit(begins); err != nil {
		r.fail(id, err, 0)
		return false
	}
	report, err := &stepReport{e: r.e, step: id}, r.tooOften(id)
	if err == nil {
		err = guard(func() error { return part(ctx, r.e.o.Node, report) })
	}
	took := (r.e.now().Sub(begin) - report.waited).Seconds()
	if !r.went(ctx, id, took, err) {
		return false
	}
	if whole && r.undone != nil {
		err = r.undone(id)
	}
	if err == nil && whole {
		err = r.e.emit(event.Event{Kind: event.Undone, Step: id, Seconds: took})
	}
	if err != nil {
		r.fail(id, err, took)
	}
	return err == nil
}

func (r *run) touched(id string) bool {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	return r.e.core.job.step(id).touched
}

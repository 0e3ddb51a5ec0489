package engine

import (
	"context"
	"slices"

	"touchdown/steps"
)

// startUndoLocked begins to put everything back. The caller holds e.mu.
func (e *Engine) startUndoLocked() error {
	if err := e.emitLocked(steps.Event{Kind: steps.Undoing}); err != nil {
		return err
	}
	e.workLocked(true)
	return nil
}

// undoAll puts back what the steps changed, last in, first out.
func (r *run) undoAll(ctx context.Context) {
	for _, stage := range slices.Backward(r.stages) {
		for _, step := range slices.Backward(stage.Steps) {
			if !r.undo(ctx, step) {
				return
			}
		}
	}
	// No step needs its originals any more. They go before the end is told: from then on a person may start the next job,
	// which saves its own. What cannot be wiped here is wiped when that job starts.
	if err := r.e.store.wipeSaved(); err != nil {
		r.e.o.Node.Log.Error("wiping originals", "error", err)
	}
	r.end(steps.Event{Kind: steps.Undone})
}

// undo puts one step back and tells whether the undoing goes on.
func (r *run) undo(ctx context.Context, step steps.Step) bool {
	undoer, ok := step.(steps.Undoer)
	if !ok || !r.touched(step.ID()) {
		return true
	}
	id, begin := step.ID(), r.e.now()
	if ctx.Err() != nil {
		r.stopped(ctx, id, 0)
		return false
	}
	if err := r.e.emit(steps.Event{Kind: steps.Undoing, Step: id}); err != nil {
		r.fail(id, err, 0)
		return false
	}
	report := &stepReport{e: r.e, step: id}
	err := guard(func() error { return undoer.Undo(ctx, r.e.o.Node, report) })
	took := (r.e.now().Sub(begin) - report.waited).Seconds()
	if err != nil && ctx.Err() != nil {
		r.stopped(ctx, id, took)
		return false
	}
	if err == nil {
		err = r.e.emit(steps.Event{Kind: steps.Undone, Step: id, Seconds: took})
	}
	if err != nil {
		r.fail(id, err, took)
	}
	return err == nil
}

func (r *run) touched(id string) bool {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	return r.e.job.step(id).touched
}

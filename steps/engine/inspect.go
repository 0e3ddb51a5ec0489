package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/problem"
	"touchdown/steps"
)

const (
	// inspectEvery is how often the machine is looked at again while somebody fills in the form: a cable that
	// is plugged in shows within a few seconds.
	inspectEvery = 5 * time.Second
	// inspectLimit ends an inspection that hangs, so that the form never waits for it for long.
	inspectLimit = 45 * time.Second
)

// errOutdated ends a round whose answers were replaced: nobody waits for what it would find.
var errOutdated = errors.New("other answers came")

// watch looks at the machine for as long as the engine lives: once at the start, whenever it is asked to, and
// again and again while somebody fills in the form. It never looks while a job is at work.
func (e *Engine) watch() {
	<-e.recovered
	for {
		e.round()
		select {
		case <-e.closing.Done():
			return
		case <-e.look:
		case <-time.After(inspectEvery):
			if !e.watched() {
				select {
				case <-e.closing.Done():
					return
				case <-e.look:
				}
			}
		}
	}
}

// watched tells whether anybody would see what another round finds.
func (e *Engine) watched() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.attached > 0
}

// lookAgain asks the watcher for a round now.
func (e *Engine) lookAgain() {
	select {
	case e.look <- struct{}{}:
	default:
	}
}

// announceRoundLocked marks the steps that the next round lets look: a console that asks before it has begun must not take a
// stage without checks for one that has none. The caller holds e.mu.
func (e *Engine) announceRoundLocked() {
	for _, stage := range e.stages(e.site.Clone()) {
		for _, step := range stage.Steps {
			if _, ok := step.(steps.Inspector); ok {
				e.inspecting[step.ID()] = false
			}
		}
	}
}

// round lets each step look, side by side, and returns when all have. One round runs at a time.
func (e *Engine) round() {
	e.oneRound.Lock()
	defer e.oneRound.Unlock()
	ctx, stop := context.WithTimeout(e.closing, inspectLimit)
	defer stop()
	ctx, drop := context.WithCancelCause(ctx)
	defer drop(nil)
	e.mu.Lock()
	e.dropRound = drop
	if e.job.state != Collecting {
		clear(e.inspecting)
		e.mu.Unlock()
		return
	}
	cfg := e.site.Clone()
	e.announceRoundLocked()
	var wait sync.WaitGroup
	for _, stage := range e.stages(cfg) {
		for _, step := range stage.Steps {
			if i, ok := step.(steps.Inspector); ok {
				report := &stepReport{e: e, step: step.ID(), cfg: cfg}
				wait.Go(func() { e.inspectStep(ctx, step, i, report) })
			}
		}
	}
	e.mu.Unlock()
	wait.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.inspected {
		e.inspected = true
		e.changedLocked()
	}
}

func (e *Engine) inspectStep(ctx context.Context, step steps.Step, i steps.Inspector, report *stepReport) {
	err := guard(func() error { return i.Inspect(ctx, e.o.Node, report) })
	if err == nil {
		err = ctx.Err() // it was stopped, and told what it had found until then
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	told := e.inspecting[step.ID()]
	delete(e.inspecting, step.ID())
	switch {
	case e.closing.Err() != nil || errors.Is(context.Cause(ctx), errOutdated) || e.job.state != Collecting:
	case err == nil:
		report.clearUntoldLocked()
	default:
		report.checkLocked(e.notSeen(step, err))
	}
	if told {
		e.changedLocked()
	}
}

// notSeen is the check that tells why a step could not look.
func (e *Engine) notSeen(step steps.Step, err error) steps.Check {
	e.o.Node.Log.Warn("inspection", "step", step.ID(), "error", e.mask.Mask(err.Error()))
	p := problem.From(err)
	c := steps.Check{
		ID: step.ID() + "-inspect", Title: step.Title() + ": first look", Status: check.Warn, Observed: p.Summary, Fix: p.Fix,
	}
	if p.Err != nil {
		c.Evidence = []string{p.Err.Error()}
	}
	return c
}

// clearUntoldLocked takes away the checks that a complete look did not tell again: their cause is gone, and a check that
// nobody can make pass would keep the work from starting. The caller holds e.mu.
func (r *stepReport) clearUntoldLocked() {
	for _, c := range slices.Clone(r.e.job.step(r.step).checks) {
		if !r.told[c.ID] {
			r.warn(r.e.emitLocked(steps.Event{Kind: steps.Cleared, Step: r.step, Check: &steps.Check{ID: c.ID, Title: c.Title}}))
		}
	}
}

package engine

import (
	"context"
	"errors"
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
		e.mu.Unlock()
		return
	}
	cfg := e.site.Clone()
	var wait sync.WaitGroup
	for _, stage := range e.stages(cfg) {
		for _, step := range stage.Steps {
			if i, ok := step.(steps.Inspector); ok {
				e.inspecting[step.ID()] = false
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
	if e.closing.Err() != nil || errors.Is(context.Cause(ctx), errOutdated) {
		err = nil
	}
	seen := steps.Check{ID: step.ID() + "-inspect", Title: step.Title() + ": first look", Status: check.Pass}
	if err != nil {
		e.o.Node.Log.Warn("inspection", "step", step.ID(), "error", e.mask.Mask(err.Error()))
		p := problem.From(err)
		seen.Status, seen.Observed, seen.Fix = check.Warn, p.Summary, p.Fix
		if p.Err != nil {
			seen.Evidence = []string{p.Err.Error()}
		}
	}
	e.mu.Lock()
	known := e.job.step(step.ID()).waived(seen.ID) != nil || hasCheck(e.job.step(step.ID()), seen.ID)
	told := e.inspecting[step.ID()]
	delete(e.inspecting, step.ID())
	if told {
		e.changedLocked()
	}
	e.mu.Unlock()
	if err != nil || known {
		report.Check(seen)
	}
}

func hasCheck(s *stepState, id string) bool {
	for _, c := range s.checks {
		if c.ID == id {
			return true
		}
	}
	return false
}

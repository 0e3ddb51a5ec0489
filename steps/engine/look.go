package engine

import (
	"context"
	"errors"
	"slices"

	"touchdown/backend/check"
	"touchdown/backend/problem"
	"touchdown/steps"
)

// errOutdated ends a look whose answers were replaced: nobody waits for what it would find.
var errOutdated = errors.New("other answers came")

// look is one run of a step's Inspect. All but the first two is guarded by the engine's mu.
type look struct {
	step     steps.Step
	inputs   string                  // fingerprint of the answers that it is about
	drop     context.CancelCauseFunc // ends it
	told     map[string]bool         // IDs of the checks that it told
	shown    bool                    // a snapshot said that it runs, so its end has to be told too
	outdated bool                    // other answers came, or the work began: what it still tells is dropped
}

// lookOnce has a step look, and tells whether it has to look again because the answers that it reads are other ones by now.
func (e *Engine) lookOnce(id string) (again bool) {
	ctx, dog := watchOver(e.closing, inspectLimit, context.DeadlineExceeded)
	defer dog.stop()
	ctx, drop := context.WithCancelCause(ctx)
	defer drop(nil)
	report := e.beginLook(id, drop)
	if report == nil {
		return false
	}
	report.dog = dog
	err := guard(func() error { return report.look.step.(steps.Inspector).Inspect(ctx, e.o.Node, report) })
	if ctx.Err() != nil {
		err = context.Cause(ctx) // it was stopped, and told what it had found until then
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.endLookLocked(report, err)
}

// beginLook notes that a step looks at the answers as they are. It returns nil when it is not the time to look.
func (e *Engine) beginLook(id string, drop context.CancelCauseFunc) *stepReport {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.job.state != Collecting || e.closing.Err() != nil {
		return nil
	}
	list := e.inspectorsLocked()
	i := slices.IndexFunc(list, func(step steps.Step) bool { return step.ID() == id })
	if i < 0 {
		return nil
	}
	l := &look{step: list[i], inputs: e.draft.stepInputs(list[i]), drop: drop, told: map[string]bool{}}
	e.looking[id] = l
	return &stepReport{e: e, step: id, look: l}
}

func (e *Engine) endLookLocked(report *stepReport, err error) (again bool) {
	l, id := report.look, report.step
	delete(e.looking, id)
	news := l.shown
	switch {
	case e.closing.Err() != nil || e.job.state != Collecting:
	case l.outdated:
		again = true
	default:
		older := e.looked[id] != l.inputs
		if err != nil {
			report.checkLocked(e.notSeen(l.step, err))
		}
		if err == nil || older { // what was seen of other answers says nothing of these
			report.clearUntoldLocked()
		}
		e.looked[id] = l.inputs
		news = news || older
		again = e.draft.stepInputs(l.step) != l.inputs // it filled in an answer that it reads
	}
	if news {
		e.changedLocked()
	}
	return again
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
		if !r.look.told[c.ID] {
			r.warn(r.e.emitLocked(steps.Event{Kind: steps.Cleared, Step: r.step, Check: &steps.Check{ID: c.ID, Title: c.Title}}))
		}
	}
}

// inspectorsLocked are the steps that look, made for the answers as they are. The caller holds e.mu.
func (e *Engine) inspectorsLocked() []steps.Step {
	var list []steps.Step
	for _, stage := range e.draft.stages() {
		for _, step := range stage.Steps {
			if _, ok := step.(steps.Inspector); ok {
				list = append(list, step)
			}
		}
	}
	return list
}

// outdateLocked stops the looks whose answers were replaced and asks for a new one of every step that has not seen the
// answers as they are. The caller holds e.mu.
func (e *Engine) outdateLocked() {
	for _, step := range e.inspectorsLocked() {
		if l := e.looking[step.ID()]; l != nil && l.inputs != e.draft.stepInputs(step) {
			l.outdated = true
			l.drop(errOutdated)
		}
	}
	if len(e.looking) == 0 && e.staleLocked() { // a round that runs sees to it at its end
		e.lookAgain()
	}
}

// endLooksLocked stops all looks: the work begins. The caller holds e.mu.
func (e *Engine) endLooksLocked() {
	for _, l := range e.looking {
		l.outdated = true
		l.drop(errOutdated)
	}
}

// stale tells whether a step has yet to look at the answers as they are.
func (e *Engine) stale() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.staleLocked()
}

func (e *Engine) staleLocked() bool { return slices.ContainsFunc(e.inspectorsLocked(), e.dueLocked) }

// dueLocked tells whether a step has yet to look at the answers as they are. To a console it is looking: a console that asks
// before the look has begun must not take a stage without checks for one that has none. The caller holds e.mu.
func (e *Engine) dueLocked(step steps.Step) bool {
	_, looks := step.(steps.Inspector)
	return looks && e.job.state == Collecting && e.looked[step.ID()] != e.draft.stepInputs(step)
}

// staleChecksLocked are the IDs of a step's checks that are about other answers than those of now. The caller holds e.mu.
func (e *Engine) staleChecksLocked(step steps.Step) []string {
	if !e.dueLocked(step) {
		return nil
	}
	id, now := step.ID(), e.draft.stepInputs(step)
	var stale []string
	l := e.looking[id]
	for _, c := range e.job.step(id).checks {
		if l == nil || l.inputs != now || !l.told[c.ID] {
			stale = append(stale, c.ID)
		}
	}
	return stale
}

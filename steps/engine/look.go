package engine

import (
	"context"
	"errors"
	"slices"

	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

// errOutdated ends a look whose answers were replaced: nobody waits for what it would find.
var errOutdated = errors.New("other answers came")

// inspector knows which steps look at the machine now, and about which answers each has looked.
type inspector struct {
	draft    *draft
	job      *job
	recorder *recorder

	looking map[string]*look  // by step, while its Inspect runs
	looked  map[string]string // by step, the fingerprint of the answers that its last look was about
	done    bool              // the first round has ended
	wanted  chan struct{}     // asks the watcher for a round
}

// look is one run of a step's Inspect.
type look struct {
	step     steps.Step
	inputs   string                  // fingerprint of the answers that it is about
	drop     context.CancelCauseFunc // ends it
	told     map[string]bool         // IDs of the checks that it told
	shown    bool                    // a snapshot said that it runs, so its end has to be told too
	outdated bool                    // other answers came, or the work began: what it still tells is dropped
}

func newInspector(d *draft, j *job, r *recorder) *inspector {
	return &inspector{
		draft: d, job: j, recorder: r,
		looking: map[string]*look{}, looked: map[string]string{}, wanted: make(chan struct{}, 1),
	}
}

// again asks the watcher for a round now.
func (i *inspector) again() {
	select {
	case i.wanted <- struct{}{}:
	default:
	}
}

// steps are those that look, with the answers that they read. These are the effective ones: what a look found wrong with an answer that
// another one hides could be fixed by nobody, and would keep the work from starting.
func (i *inspector) steps() (list []steps.Step, cfg *site.Config) {
	cfg, stages := i.draft.effective()
	for _, stage := range stages {
		for _, step := range stage.Steps {
			if _, ok := step.(steps.Inspector); ok {
				list = append(list, step)
			}
		}
	}
	return list, cfg
}

// inputs is the fingerprint of the answers that a step reads.
func (i *inspector) inputs(cfg *site.Config, step steps.Step) string {
	return i.draft.folder.key.stepInputs(cfg, step)
}

// begin notes that a step looks at the answers as they are. It returns nil when it is not the time to look.
func (i *inspector) begin(id string, drop context.CancelCauseFunc) *look {
	if i.job.state != view.Collecting {
		return nil
	}
	list, cfg := i.steps()
	at := slices.IndexFunc(list, func(step steps.Step) bool { return step.ID() == id })
	if at < 0 {
		return nil
	}
	l := &look{step: list[at], inputs: i.inputs(cfg, list[at]), drop: drop, told: map[string]bool{}}
	i.looking[id] = l
	return l
}

// check takes what a look tells.
func (i *inspector) check(l *look, c check.Check) {
	id := l.step.ID()
	news := !l.told[c.ID] && i.looked[id] != l.inputs // the same verdict too: it is about other answers
	l.told[c.ID] = true
	i.recorder.check(id, c, news)
}

// end takes in how a look ended. It tells whether the step has to look again because the answers that it reads are other ones
// by now. What a look finds that was ended by the engine's own end, or in the middle of the work, is dropped.
func (i *inspector) end(l *look, err error, closing bool) (again bool) {
	id, news := l.step.ID(), l.shown
	delete(i.looking, id)
	switch {
	case closing || i.job.state != view.Collecting:
	case l.outdated:
		again = true
	default:
		older := i.looked[id] != l.inputs
		if err != nil {
			i.check(l, i.notSeen(l.step, err))
		}
		if err == nil || older { // what was seen of other answers says nothing of these
			i.clearUntold(l)
		}
		i.looked[id] = l.inputs
		news = news || older
		cfg, _ := i.draft.effective()
		again = i.inputs(cfg, l.step) != l.inputs // it filled in an answer that it reads
	}
	if news {
		i.recorder.changed()
	}
	return again
}

// notSeen is the check that tells why a step could not look.
func (i *inspector) notSeen(step steps.Step, err error) check.Check {
	i.recorder.log.Warn("an inspection failed", "step", step.ID(), "error", i.recorder.mask.Mask(err.Error()))
	p := problem.From(err)
	c := check.Check{
		ID: step.ID() + "-inspect", Title: message.F("%s: first look", step.Title()), Status: check.Warn, Observed: p.Summary, Fix: p.Fix,
	}
	if p.Err != nil {
		c.Evidence = []message.Text{message.Detail(p.Err)}
	}
	return c
}

// clearUntold takes away the checks that a complete look did not tell again: their cause is gone, and a check that
// nobody can make pass would keep the work from starting.
func (i *inspector) clearUntold(l *look) {
	id := l.step.ID()
	for _, c := range slices.Clone(i.job.step(id).checks) {
		if !l.told[c.ID] {
			i.recorder.warn(id, i.recorder.emit(event.Event{Kind: event.Cleared, Step: id, Check: &check.Check{ID: c.ID, Title: c.Title}}))
		}
	}
}

// outdate stops the looks whose answers were replaced and asks for a new one of every step that has not seen the
// answers as they are.
func (i *inspector) outdate() {
	list, cfg := i.steps()
	for _, step := range list {
		if l := i.looking[step.ID()]; l != nil && l.inputs != i.inputs(cfg, step) {
			l.outdated = true
			l.drop(errOutdated)
		}
	}
	if len(i.looking) == 0 && i.stale() { // a round that runs sees to it at its end
		i.again()
	}
}

// stop ends all looks: the work begins.
func (i *inspector) stop() {
	for _, l := range i.looking {
		l.outdated = true
		l.drop(errOutdated)
	}
}

// stale tells whether a step has yet to look at the answers as they are.
func (i *inspector) stale() bool {
	list, cfg := i.steps()
	return slices.ContainsFunc(list, func(step steps.Step) bool { return i.due(cfg, step) })
}

// due tells whether a step has yet to look at the answers as they are, of which cfg has the effective ones. To a console it is looking: a
// console that asks before the look has begun must not take a stage without checks for one that has none.
func (i *inspector) due(cfg *site.Config, step steps.Step) bool {
	_, looks := step.(steps.Inspector)
	return looks && i.job.state == view.Collecting && i.looked[step.ID()] != i.inputs(cfg, step)
}

// shows tells a console whether a step looks now, or has yet to.
func (i *inspector) shows(cfg *site.Config, step steps.Step) bool {
	l := i.looking[step.ID()]
	if l != nil {
		l.shown = true
	}
	return l != nil || i.due(cfg, step)
}

// staleChecks are the IDs of a step's checks that are about other answers than the current ones.
func (i *inspector) staleChecks(cfg *site.Config, step steps.Step) []string {
	if !i.due(cfg, step) {
		return nil
	}
	id, now := step.ID(), i.inputs(cfg, step)
	var stale []string
	l := i.looking[id]
	for _, c := range i.job.step(id).checks {
		if l == nil || l.inputs != now || !l.told[c.ID] {
			stale = append(stale, c.ID)
		}
	}
	return stale
}

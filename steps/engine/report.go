package engine

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/report"
	"touchdown/steps"
)

// progressPause is the least time between two progress events of a step: four a second are more than any
// screen draws.
const progressPause = 250 * time.Millisecond

// stepReport is the Report that one step gets.
type stepReport struct {
	e    *Engine
	step string
	last time.Time // of the last progress event; under e.mu
	look *look     // nil: the step works
	dog  *watchdog // nil: nobody watches

	waited time.Duration // for answers; only the step's own goroutine asks
}

var _ steps.Report = (*stepReport)(nil)

// Progress implements steps.Report. The newest is always in the Snapshot; events are thinned out.
func (r *stepReport) Progress(p steps.Progress) {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	r.dog.sees(p)
	if now := r.e.now(); now.Sub(r.last) >= progressPause {
		r.last = now
		_ = r.e.emitLocked(steps.Event{Kind: steps.Progressed, Step: r.step, Progress: &p}) // never journalled
		return
	}
	p.Waiting = r.e.mask.Mask(p.Waiting)
	r.e.job.step(r.step).progress = &p
}

// Check implements steps.Report. What a person waived stays waived until it passes.
func (r *stepReport) Check(c steps.Check) {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	if r.look != nil && !r.look.told[c.ID] {
		r.dog.wake() // a look makes progress by what it reports
	}
	if r.look == nil || !r.look.outdated && r.e.job.state == Collecting {
		r.checkLocked(c)
	}
}

func (r *stepReport) checkLocked(c steps.Check) {
	s, stale := r.e.job.step(r.step), false
	if l := r.look; l != nil {
		stale = !l.told[c.ID] && r.e.looked[r.step] != l.inputs
		l.told[c.ID] = true
	}
	if waiver := s.waivers[c.ID]; waiver != nil && (c.Status == check.Fail || c.Status == check.Warn) {
		c.Status, c.Waiver = check.Waived, waiver
	}
	for _, old := range s.checks {
		if reflect.DeepEqual(old, c) {
			if stale {
				r.e.changedLocked() // the same verdict, about the answers of now
			}
			return
		}
	}
	r.warn(r.e.emitLocked(steps.Event{Kind: steps.Checked, Step: r.step, Check: &c}))
}

// Say implements steps.Report.
func (r *stepReport) Say(format string, args ...any) {
	r.warn(r.e.emit(steps.Event{Kind: steps.Said, Step: r.step, Text: fmt.Sprintf(format, args...)}))
}

// warn logs what could not be journalled. The step's ending meets the same trouble and fails with it.
func (r *stepReport) warn(err error) {
	if err != nil {
		r.e.o.Node.Log.Error("journal", "step", r.step, "error", err)
	}
}

// Save implements steps.Report.
func (r *stepReport) Save(key string, original []byte) error {
	return r.e.store.save(r.step, key, original)
}

// Saved implements steps.Report.
func (r *stepReport) Saved(key string) ([]byte, error) { return r.e.store.saved(r.step, key) }

// Note implements steps.Report.
func (r *stepReport) Note(key string, value []byte) error {
	return r.e.store.note(r.step, key, value)
}

// Noted implements steps.Report.
func (r *stepReport) Noted(key string) ([]byte, error) { return r.e.store.saved(r.step, noteName(key)) }

// Job implements steps.Report.
func (r *stepReport) Job() report.Job {
	machine := r.e.o.notices()
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	return r.e.reportJob(machine)
}

// Suggest implements steps.Report.
func (r *stepReport) Suggest(path, value, source string) {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	if r.e.job.state != Collecting || r.look != nil && r.look.outdated {
		return
	}
	took, err := r.e.draft.suggest(path, value, source)
	if err != nil {
		r.e.o.Node.Log.Warn("suggestion refused", "path", path, "error", err)
	}
	if took {
		r.e.changedLocked()
	}
}

// Offer implements steps.Report.
func (r *stepReport) Offer(path string, choices []steps.Choice) {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	if r.e.draft.offer(path, choices) {
		r.e.changedLocked()
	}
}

// reply is an answer and who gave it.
type reply struct{ value, by string }

// Ask implements steps.Report.
func (r *stepReport) Ask(ctx context.Context, q steps.Question) (string, error) {
	if len(q.Choices) < 2 || !slices.ContainsFunc(q.Choices, func(c steps.Choice) bool { return c.Value == q.Default }) {
		panic(fmt.Sprintf("question %q needs two choices and a default among them", q.ID))
	}
	r.dog.rest() // a person may take all the time that the question gives
	defer r.dog.wake()
	asked := r.e.now()
	defer func() { r.waited += r.e.now().Sub(asked) }()
	answer, err := r.ask(q)
	if err != nil {
		return "", err
	}
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case a := <-answer:
		return a.value, r.e.emit(steps.Event{Kind: steps.Answered, Step: r.step, Text: a.value, By: a.by})
	}
}

// ask puts the question and returns where its answer arrives.
func (r *stepReport) ask(q steps.Question) (<-chan reply, error) {
	e := r.e
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.emitLocked(steps.Event{Kind: steps.Asked, Step: r.step, Question: &q}); err != nil {
		return nil, err
	}
	e.answer = make(chan reply, 1)
	policy, hasPolicy := e.policyAnswer(q)
	switch {
	case e.job.unattended, q.Deadline == 0 && e.control.watching == 0 && hasPolicy:
		e.answer <- policy
	case q.Deadline > 0:
		answer := e.answer
		e.until, e.latest = time.Now().Add(seconds(q.Deadline)), time.Now().Add(2*seconds(q.Deadline))
		e.deadline = time.AfterFunc(seconds(q.Deadline), func() { offer(answer, policy) })
	}
	return e.answer, nil
}

// policyAnswer is what the site config answers, or else the question's default.
func (e *Engine) policyAnswer(q steps.Question) (reply, bool) {
	value, given := e.draft.site.Spec.Policy.Answers[q.ID]
	if given && slices.ContainsFunc(q.Choices, func(c steps.Choice) bool { return c.Value == value }) {
		return reply{value, "policy"}, true
	}
	return reply{q.Default, "default"}, false
}

// restartDeadlineLocked gives the whole time again when the last console went away, so that a person whose line dropped can
// come back and answer. Twice the time is the most: a client that comes and goes must not hold the work. The caller holds e.mu.
func (e *Engine) restartDeadlineLocked() {
	q := e.job.question
	if q == nil || q.Until.IsZero() || e.deadline == nil {
		return
	}
	now := time.Now() // what counts is the time that passes, whatever the clock is set to meanwhile
	left := min(seconds(q.Deadline), e.latest.Sub(now))
	if left <= e.until.Sub(now) || !e.deadline.Stop() {
		return
	}
	e.deadline.Reset(left)
	e.until, q.Until = now.Add(left), e.now().Add(left)
	e.changedLocked()
}

// offer answers unless someone was faster.
func offer(answer chan reply, a reply) bool {
	select {
	case answer <- a:
		return true
	default:
		return false
	}
}

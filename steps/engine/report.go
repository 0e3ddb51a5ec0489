package engine

import (
	"strings"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/backend/progress"
	"touchdown/backend/report"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/view"
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
func (r *stepReport) Progress(p progress.Progress) {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	r.dog.sees(p)
	e := event.Event{Kind: event.Progressed, Step: r.step, Progress: &p}
	if now := r.e.now(); now.Sub(r.last) >= r.e.progressPause {
		r.last = now
		_ = r.e.core.recorder.emit(e) // never journalled
		return
	}
	r.e.core.recorder.fold(e)
}

// Check implements steps.Report. What a person waived stays waived until it passes.
func (r *stepReport) Check(c check.Check) {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	if r.look != nil && !r.look.told[c.ID] {
		r.dog.wake() // a look makes progress by what it reports
	}
	switch core := r.e.core; {
	case r.look == nil:
		core.recorder.check(r.step, c, false)
	case !r.look.outdated && core.job.state == view.Collecting:
		core.inspector.check(r.look, c)
	}
}

// Say implements steps.Report.
func (r *stepReport) Say(text message.Text) {
	e := event.Event{Kind: event.Said, Step: r.step, Text: text}
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	r.e.core.recorder.warn(r.step, r.e.core.recorder.emit(e))
}

// originals is where the steps' originals and notes are kept.
type originals interface {
	save(step, key string, original []byte) error
	note(step, key string, value []byte) error
	saved(step, key string) ([]byte, error)
	wipeSaved() error
}

// Save implements steps.Report.
func (r *stepReport) Save(key string, original []byte) error {
	return r.e.originals.save(r.step, key, original)
}

// Saved implements steps.Report.
func (r *stepReport) Saved(key string) ([]byte, error) { return r.e.originals.saved(r.step, key) }

// Note implements steps.Report.
func (r *stepReport) Note(key string, value []byte) error {
	return r.e.originals.note(r.noter(key), key, value)
}

// Noted implements steps.Report.
func (r *stepReport) Noted(key string) ([]byte, error) {
	return r.e.originals.saved(r.noter(key), noteName(key))
}

// jobNotes is where the notes are kept that all steps share, in the place of a step; their keys begin with it and a hyphen.
const jobNotes = "job"

// noter is in whose place a note is kept.
func (r *stepReport) noter(key string) string {
	if strings.HasPrefix(key, jobNotes+"-") {
		return jobNotes
	}
	return r.step
}

// Job implements steps.Report.
func (r *stepReport) Job() report.Job {
	machine := r.e.o.notices()
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	return r.e.core.reportJob(machine)
}

// Suggest implements steps.Report.
func (r *stepReport) Suggest(path, value, source string) {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	if r.e.core.job.state != view.Collecting || r.look != nil && r.look.outdated {
		return
	}
	took, err := r.e.core.draft.suggest(path, value, source)
	if err != nil {
		r.e.o.Node.Log.Warn("a value that was found is refused", "path", path, "error", err)
	}
	if took {
		r.e.core.recorder.changed()
	}
}

// Offer implements steps.Report.
func (r *stepReport) Offer(path string, choices []steps.Choice) {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	if r.e.core.draft.offer(path, choices) {
		r.e.core.recorder.changed()
	}
}

package engine

import (
	"log/slog"
	"reflect"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps/event"
	"touchdown/steps/view"
)

// recorder takes every event: it writes it into the journal, folds it into the job and publishes it. The job changes by
// nothing else.
type recorder struct {
	journal *journal
	folder  *stateFolder
	stock   *stock // while a loss is not recorded, the checksums must not tell that all is well
	job     *job
	hub     *hub
	mask    *Masker
	notices notices
	log     *slog.Logger
	now     func() time.Time
	after   func(event.Event) // Options.AfterEvent
	each    func(event.Event) // the same for every event, see Foreground

	seq uint64
}

// notices are sentences for every screen, by what they are about.
type notices map[string]message.Text

// emit journals an event, folds it into the job and publishes it.
func (r *recorder) emit(e event.Event) error {
	r.mask.event(&e)
	e.Seq, e.Time = r.seq+1, r.now()
	durable := e.Lifecycle() && r.durable(e)
	if durable {
		if err := r.journal.append(e); err != nil {
			r.notices["disk"] = problem.From(err).Summary
			return err
		}
		delete(r.notices, "disk")
	}
	r.seq = e.Seq
	r.job.apply(e)
	if durable && r.stock.known == nil && len(r.folder.losses) == 0 {
		r.folder.sums.journalled(mark{r.seq, r.job.known()}, e.Step == "" || e.Kind == event.Failed)
	}
	r.hub.publish(e)
	if r.after != nil && durable {
		r.after(e)
	}
	if r.each != nil {
		r.each(e)
	}
	return nil
}

// fold takes an event into the job alone: one that the disk refuses, or that nobody needs to read again.
func (r *recorder) fold(e event.Event) {
	r.mask.event(&e)
	e.Time = r.now()
	r.job.apply(e)
}

// changed tells the consoles that something outside the work changed.
func (r *recorder) changed() {
	_ = r.emit(event.Event{Kind: event.Changed}) // never journalled, so it cannot fail
}

// durable tells whether an event belongs to the job. What an inspection sees is seen again by the next
// one, so it stays out; a waiver is a person's decision and goes in, and so does what becomes of the waived check, but not other evidence of
// the same: each look has some. What an order did with nobody there goes in, too.
func (r *recorder) durable(e event.Event) bool {
	switch e.Kind {
	case event.Checked, event.Cleared, event.Said:
	default:
		return true
	}
	if r.job.state == view.Working || r.job.state == view.InQuestion || e.By == byOrder {
		return true
	}
	c := e.Check
	return c != nil && (c.Waiver != nil || r.job.step(e.Step).waivers[c.ID] != nil) && !r.job.step(e.Step).tellsWaived(*c)
}

// check takes a verdict of a step. What a person waived stays waived until it passes. The same verdict again is told to nobody,
// unless it is news: about other answers than before, or a check that only an earlier job has told.
func (r *recorder) check(step string, c check.Check, news bool) {
	s := r.job.step(step)
	if waiver := s.waivers[c.ID]; waiver != nil && (c.Status == check.Fail || c.Status == check.Warn) {
		c = waived(c, *waiver)
	}
	for _, old := range s.checks {
		if reflect.DeepEqual(old, c) && !s.earlier[c.ID] {
			if news {
				r.changed()
			}
			return
		}
	}
	r.warn(step, r.emit(event.Event{Kind: event.Checked, Step: step, Check: &c}))
}

// warn logs what could not be journalled. The step's ending meets the same trouble and fails with it.
func (r *recorder) warn(step string, err error) {
	if err != nil {
		r.log.Error("the journal cannot be written", "step", step, "error", err)
	}
}

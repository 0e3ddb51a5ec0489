package engine

import (
	"time"

	"touchdown/steps/event"
)

// worktime is how long a job, or its undo, was at work. What passed while it waited for people (an open question, a failure,
// a job that is done) does not count, nor does what passed while the engine did not run, unless it rebooted the node itself.
type worktime struct {
	whole    time.Duration // of the attempts that are over, and of reboots
	began    time.Time     // of the attempt under way; zero when there is none
	waited   time.Duration // for answers, within that attempt
	asked    time.Time     // of the open question
	rebooted time.Time     // when the engine asked for the reboot under way
	last     time.Time     // of the last event
	seq      uint64        // its number
}

// apply takes one event in. Endings carry how long their step worked, which a clock that was set meanwhile does not change.
func (w *worktime) apply(e event.Event) {
	if w.seq != 0 && e.Seq > w.seq+restartGap && w.rebooted.IsZero() && !w.began.IsZero() {
		w.add(w.attempt(w.last)) // the engine ended, at some moment after that event
		w.over()
	}
	w.seq = e.Seq
	switch e.Kind {
	case event.Started, event.Repairing, event.Undoing:
		if e.Step == "" {
			break
		}
		switch {
		case !w.rebooted.IsZero():
			w.add(e.Time.Sub(w.rebooted))
		case !w.began.IsZero():
			w.add(w.attempt(w.last))
		}
		w.over()
		w.began = e.Time
	case event.Asked:
		w.asked = e.Time
	case event.Answered:
		w.waited += max(0, e.Time.Sub(w.asked))
		w.asked = time.Time{}
	case event.Rebooting:
		w.add(seconds(e.Seconds))
		w.over()
		w.rebooted = e.Time
	case event.Done, event.Failed, event.Cancelled, event.Undone, event.Skipped:
		if w.rebooted.IsZero() { // else its time is counted
			w.add(seconds(e.Seconds))
		}
		w.over()
	}
	w.last = e.Time
}

// add counts time; a clock that was set back adds none.
func (w *worktime) add(d time.Duration) { w.whole += max(0, d) }

// over ends the attempt.
func (w *worktime) over() {
	w.began, w.asked, w.rebooted, w.waited = time.Time{}, time.Time{}, time.Time{}, 0
}

// attempt is how long the attempt under way has worked until now.
func (w *worktime) attempt(now time.Time) time.Duration {
	if !w.asked.IsZero() {
		now = w.asked
	}
	return max(0, now.Sub(w.began)-w.waited)
}

// until is the whole time until now.
func (w *worktime) until(now time.Time) time.Duration {
	switch {
	case !w.rebooted.IsZero():
		return w.whole + max(0, now.Sub(w.rebooted))
	case !w.began.IsZero():
		return w.whole + w.attempt(now)
	}
	return w.whole
}

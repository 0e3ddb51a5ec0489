package engine

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"touchdown/backend"
	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// TestWorkTimeCountsNoIdleTime: a question, a failure that waits for a person, a stopped engine and the time until the hand-over
// is accepted are not work. The clock of the test jumps.
func TestWorkTimeCountsNoIdleTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, newWorld())
		defer func() { _ = r.Close() }() // the last engine
		hold := make(chan struct{})
		r.w.run["names"] = func(context.Context, *backend.Node, steps.Report) error {
			time.Sleep(time.Minute)
			return nil
		}
		asking(r, 0)
		ask := r.w.run["light"]
		r.w.run["light"] = func(ctx context.Context, node *backend.Node, report steps.Report) error {
			time.Sleep(30 * time.Second)
			select {
			case <-hold: // the second attempt
				report.Say(message.T("at work"))
				time.Sleep(20 * time.Second)
				<-ctx.Done()
				return ctx.Err()
			default:
			}
			return ask(ctx, node, report)
		}
		worked := func(what string, s *view.Snapshot, want, step float64) {
			t.Helper()
			if math.Abs(s.Worked-want) > 1 {
				t.Errorf("%s: the work took %.1f s, want %.0f", what, s.Worked, want)
			}
			if got := s.Stages[1].Steps[0].Seconds; math.Abs(got-step) > 1 {
				t.Errorf("%s: the last step took %.1f s, want %.0f", what, got, step)
			}
		}
		idle := func() { time.Sleep(time.Hour) }

		r.w.setFail("light", broken())
		token := take(t, r)
		r.start(t, r, token, false)
		until(t, r, "work", func(s *view.Snapshot) bool { return s.Current == "light" })
		time.Sleep(31 * time.Second)
		until(t, r, "the question", inState(view.InQuestion))
		idle()
		worked("in the question", until(t, r, "the question", inState(view.InQuestion)), 90, 0)
		must(t, r.Do(t.Context(), token, session.Action{Verb: session.Reply, Question: "keep", Value: "yes"}))
		until(t, r, "the failure", inState(view.HasFailed))
		idle()
		worked("failed", until(t, r, "the failure", inState(view.HasFailed)), 90, 30)

		close(hold)
		token = take(t, r)
		must(t, r.Do(t.Context(), token, session.Action{Verb: session.Retry}))
		time.Sleep(110 * time.Second) // a minute, 30 s, 20 s; the last of them is lost with the engine
		must(t, r.Close())
		idle()
		r.w.mu.Lock()
		delete(r.w.fail, "light")
		delete(r.w.run, "light")
		r.w.mu.Unlock()
		r.open(t)
		time.Sleep(61 * time.Second)
		done := until(t, r, "the end", inState(view.IsDone))
		worked("landed", done, 90+90+60, 30+30)

		idle()
		token = take(t, r)
		must(t, r.Do(t.Context(), token, session.Action{Verb: session.HandOver}))
		handed := until(t, r, "the lock", func(s *view.Snapshot) bool { return s.Locked })
		worked("handed over", handed, 90+90+60, 30+30)
		if !handed.Ended.Equal(done.Ended) {
			t.Errorf("the hand-over moved the end of the work from %v to %v", done.Ended, handed.Ended)
		}
		must(t, r.Close())
		r.open(t)
		worked("after a restart", until(t, r, "the lock", func(s *view.Snapshot) bool { return s.Locked }), 90+90+60, 30+30)
	})
}

// TestWorkTime: what the journal tells at each moment.
func TestWorkTime(t *testing.T) {
	begin := time.Date(2026, time.November, 22, 8, 0, 0, 0, time.UTC)
	at := func(minutes int, kind event.Kind, step string, worked float64) event.Event {
		return event.Event{Time: begin.Add(time.Duration(minutes) * time.Minute), Kind: kind, Step: step, Seconds: worked * 60}
	}
	for _, c := range []struct {
		what   string
		events []event.Event
		now    int
		want   float64 // minutes
	}{
		{"nothing", nil, 5, 0},
		{"under way", []event.Event{at(0, event.Started, "a", 0)}, 5, 5},
		{"a question is open", []event.Event{at(0, event.Started, "a", 0), at(2, event.Asked, "a", 0)}, 50, 2},
		{"a question was answered", []event.Event{at(0, event.Started, "a", 0), at(2, event.Asked, "a", 0), at(9, event.Answered, "a", 0)}, 10, 3},
		{"a failure", []event.Event{at(0, event.Started, "a", 0), at(3, event.Failed, "a", 3)}, 50, 3},
		{"the clock was set", []event.Event{at(0, event.Started, "a", 0), at(90000, event.Done, "a", 1), at(90000, event.Started, "b", 0)}, 90001, 2},
		{"the clock was set back", []event.Event{at(0, event.Started, "a", 0), at(-90, event.Said, "a", 0)}, -80, 0},
		{"a reboot", []event.Event{at(0, event.Started, "a", 0), at(2, event.Rebooting, "a", 2), at(7, event.Started, "a", 0)}, 8, 8},
		{"a reboot under way", []event.Event{at(0, event.Started, "a", 0), at(2, event.Rebooting, "a", 2)}, 6, 6},
		{"a reboot that failed", []event.Event{at(0, event.Started, "a", 0), at(2, event.Rebooting, "a", 2), at(2, event.Failed, "a", 2)}, 60, 2},
		{"put right, then left out", []event.Event{at(0, event.Repairing, "a", 0), at(3, event.Skipped, "a", 2)}, 60, 2},
		{"put right, under way", []event.Event{at(0, event.Repairing, "a", 0)}, 5, 5},
		{"a power cut", []event.Event{at(0, event.Started, "a", 0), at(4, event.Said, "a", 0), at(60, event.Started, "a", 0)}, 61, 5},
	} {
		var w worktime
		for _, e := range c.events {
			w.apply(e)
		}
		if got := w.until(begin.Add(time.Duration(c.now) * time.Minute)).Minutes(); got != c.want {
			t.Errorf("%s: %.1f minutes of work, want %.1f", c.what, got, c.want)
		}
	}
}

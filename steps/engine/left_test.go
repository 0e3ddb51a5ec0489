package engine

import (
	"context"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"touchdown/backend"
	"touchdown/backend/message"
	"touchdown/backend/progress"
	"touchdown/backend/report"
	"touchdown/steps"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// TestTimeLeft: the plans tell how long the work takes, the node how fast it is, and what takes longer is told with its reason. A
// new engine still knows. The clock of the test jumps.
func TestTimeLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, newWorld())
		defer func() { _ = r.Close() }() // the last engine
		r.w.lasts = map[string]float64{"names": 240, "light": 100}
		slow := sync.OnceFunc(func() { time.Sleep(8 * time.Minute) }) // it finds its work done later
		r.w.run["names"] = func(context.Context, *backend.Node, steps.Report) error {
			slow()
			return nil
		}
		r.w.run["light"] = func(ctx context.Context, _ *backend.Node, report steps.Report) error {
			report.Progress(progress.Progress{Waiting: message.T("the lamp"), Usual: 600})
			<-ctx.Done()
			return ctx.Err()
		}
		left := func(what string, want float64, late string) {
			t.Helper()
			s, err := r.Snapshot(t.Context())
			must(t, err)
			if math.Abs(s.Left-want) > 1 || s.Late.String() != late {
				t.Errorf("%s: %.0f s left, late %q; want %.0f s, %q", what, s.Left, s.Late, want, late)
			}
		}
		token := take(t, r)
		r.start(t, r, token, false)
		until(t, r, "work", func(s *view.Snapshot) bool { return s.Current == "names" })
		left("at the start", 340, "")
		time.Sleep(time.Minute)
		left("after a minute", 280, "")
		time.Sleep(7 * time.Minute)
		until(t, r, "the second step", func(s *view.Snapshot) bool { return s.Current == "light" })
		// The first step took 480 s of 240: by (120+480)/(120+240) this node is slower than the plans.
		pace := 600.0 / 360
		time.Sleep(10 * time.Second)
		left("at the second step", 100*pace-10, "")
		time.Sleep(240 * time.Second)
		left("past its plan", 600-250, "the lamp")

		r.reopen(t)
		until(t, r, "work after the restart", func(s *view.Snapshot) bool {
			return s.Current == "light" && s.Left > 0 && s.Stages[1].Steps[0].Progress != nil
		})
		left("after a restart", 100*pace, "")
		must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Cancel}))
		if s := until(t, r, "the stop", inState(view.HasFailed)); s.Left != 0 {
			t.Errorf("nothing is at work, and %.0f s are left", s.Left)
		}
	})
}

// TestStretchIsNotLate: two minutes of health last two minutes on a node that is twice as fast as the plans. They are late when they begin
// again and again.
func TestStretchIsNotLate(t *testing.T) {
	for worked, want := range map[float64]bool{100: false, 170: false, 190: true} {
		s := &stepState{progress: &progress.Progress{Done: 20, Total: 120, Unit: "seconds"}}
		if rest, late := s.rest(50, worked, time.Time{}); late != want || rest != 100 {
			t.Errorf("after %.0f s: %.0f s left, late %t; want 100 s, %t", worked, rest, late, want)
		}
	}
}

// TestPaceHasBounds: a step that waited for a person, or one that found its work done, says little of the next.
func TestPaceHasBounds(t *testing.T) {
	for took, want := range map[float64]float64{300: 1, 600: 720. / 420, 1e9: 1320. / 420, 0: report.Fastest} {
		j := newJob()
		j.lasts = map[string]float64{"a": 300, "b": 60}
		j.step("a").status, j.step("a").seconds = view.StepDone, took
		if got := j.pace(); math.Abs(got-want) > 0.01 {
			t.Errorf("a step of 300 s that took %.0f s: pace %.2f, want %.2f", took, got, want)
		}
	}
}

package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"touchdown/backend"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/progress"
	"touchdown/steps"
	"touchdown/steps/session"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

// trying is a setting that leaves "tried" behind when it is interrupted.
type trying struct{ setting }

func (s *trying) Recover(ctx context.Context, _ *backend.Node, _ steps.Report) error {
	if hang := s.w.hangRecover; hang != nil {
		close(hang)
		<-ctx.Done()
		return ctx.Err()
	}
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.calls["recover"]++
	if err := s.w.fail["recover"]; err != nil {
		return err
	}
	if s.w.state[s.id] == "tried" {
		s.w.state[s.id] = "off"
	}
	return nil
}

// tryingRig has a list whose "light" is tried first.
func tryingRig(t *testing.T) *rig {
	w := newWorld()
	r := newRig(t, w)
	must(t, r.Close())
	return &rig{w: w, host: r.host, dir: r.dir}
}

func (r *rig) openTrying(t *testing.T) {
	t.Helper()
	o := r.options()
	o.Stages = func(cfg *site.Config) []steps.Stage {
		on := func() string { return "on" }
		return []steps.Stage{
			{ID: "entry", Title: message.T("Entry"), Steps: []steps.Step{&setting{w: r.w, id: "names", want: cfg.Domain}}},
			{ID: "work", Title: message.T("Work"), Steps: []steps.Step{&trying{setting{w: r.w, id: "light", want: on}}}},
		}
	}
	e, err := Open(o)
	must(t, err)
	r.Engine = e
	t.Cleanup(func() { _ = e.Close() })
}

// TestInterruptedStepRecoversFirst fails when a settings trial that a restart interrupted is still there when the
// next engine's consoles see the node, whether the job goes on automatically or waits for a person.
func TestInterruptedStepRecoversFirst(t *testing.T) {
	for _, failed := range []bool{false, true} {
		t.Run(fmt.Sprintf("failed=%v", failed), func(t *testing.T) {
			r := tryingRig(t)
			r.openTrying(t)
			hang := make(chan struct{})
			r.w.run["light"] = func(ctx context.Context, _ *backend.Node, _ steps.Report) error {
				r.w.set("light", "tried")
				close(hang)
				if failed {
					return broken()
				}
				<-ctx.Done()
				return ctx.Err()
			}
			token := take(t, r)
			r.start(t, r, token, false)
			<-hang
			if failed {
				until(t, r, "the failure", inState(view.HasFailed))
			}
			must(t, r.Close())
			before := make(chan string, 1)
			r.w.mu.Lock()
			r.w.run["light"] = func(context.Context, *backend.Node, steps.Report) error {
				before <- r.w.get("light")
				return nil
			}
			r.w.mu.Unlock()
			r.openTrying(t)
			if failed {
				until(t, r, "the light off", func(s *view.Snapshot) bool { return s.State == view.HasFailed && r.w.get("light") == "off" })
				must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Retry}))
			}
			if was := <-before; was != "off" {
				t.Errorf("Run began with the light %s", was)
			}
			until(t, r, "the end", inState(view.IsDone))
			must(t, r.Close())
			r.openTrying(t)
			until(t, r, "the end", inState(view.IsDone))
			<-r.recovered
			if n := r.w.calls["recover"]; n != 1 {
				t.Errorf("recovered %d times; a step that ended well has nothing to put right", n)
			}
		})
	}
}

func TestRecoverThatFailsIsSaid(t *testing.T) {
	r := tryingRig(t)
	r.openTrying(t)
	r.w.setFail("light", broken())
	token := take(t, r)
	r.start(t, r, token, false)
	until(t, r, "the failure", inState(view.HasFailed))
	must(t, r.Close())
	r.w.setFail("recover", broken())
	r.openTrying(t)
	until(t, r, "the notice", func(s *view.Snapshot) bool {
		return len(s.Notices) == 1 && s.Notices[0].String() == "It broke. Fix it."
	})
}

// startUnder starts with a watchdog that no site config may ask for.
func (r *rig) startUnder(t *testing.T, token string, limit time.Duration) {
	t.Helper()
	s := r.fill(t, r, token)
	r.mu.Lock()
	r.core.draft.site.Spec.Policy.Watchdog = limit
	r.mu.Unlock()
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Start, Fingerprint: s.Review.Fingerprint}))
}

func TestWatchdogEndsAStepThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, newWorld())
		defer func() { _ = r.Close() }()
		token := take(t, r)
		r.w.run["light"] = func(ctx context.Context, _ *backend.Node, _ steps.Report) error {
			<-ctx.Done()
			return ctx.Err()
		}
		r.startUnder(t, token, time.Minute)
		time.Sleep(2 * time.Minute)
		s := until(t, r, "the failure", inState(view.HasFailed))
		if s.Problem.Code != "ENG-STLL" || s.Current != "light" {
			t.Errorf("the watchdog's problem: %+v at %q", s.Problem, s.Current)
		}
	})
}

// TestWatchdogWaitsForProgress: work that goes on is not stopped however long it takes; the same progress told again is none.
func TestWatchdogWaitsForProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, newWorld())
		defer func() { _ = r.Close() }()
		token := take(t, r)
		r.w.run["light"] = func(ctx context.Context, _ *backend.Node, report steps.Report) error {
			for done := int64(1); ; done = min(done+1, 20) { // 20 minutes of work, then it hangs
				report.Progress(progress.Progress{Done: done, Total: 100})
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(time.Minute):
				}
			}
		}
		r.startUnder(t, token, 5*time.Minute)
		time.Sleep(23*time.Minute + 30*time.Second) // 19 minutes until the last progress, and most of the limit
		until(t, r, "the work", inState(view.Working))
		time.Sleep(time.Minute)
		if s := until(t, r, "the failure", inState(view.HasFailed)); s.Problem.Code != "ENG-STLL" {
			t.Errorf("the watchdog's problem: %+v", s.Problem)
		}
	})
}

func TestWatchdogRestsWhileAPersonThinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, newWorld())
		defer func() { _ = r.Close() }()
		token := take(t, r)
		r.w.run["light"] = func(ctx context.Context, _ *backend.Node, report steps.Report) error {
			_, err := report.Ask(ctx, steps.Question{
				ID: "sure", Text: message.T("Sure?"), Default: "no", Choices: []steps.Choice{{Value: "no", Label: message.T("No")}, {Value: "yes", Label: message.T("Yes")}},
			})
			return err
		}
		r.mu.Lock()
		r.core.control.watching = 1 // someone is there, so the policy does not answer
		r.mu.Unlock()
		r.startUnder(t, token, time.Minute)
		until(t, r, "the question", inState(view.InQuestion))
		time.Sleep(3 * time.Minute) // three times the watchdog's timeout: it must not have ended the step
		must(t, r.Do(t.Context(), token, session.Action{Verb: session.Reply, Question: "sure", Value: "yes"}))
		until(t, r, "the end", inState(view.IsDone))
	})
}

// TestNodeThatGoesDownAgainAndAgain fails when a step that takes the node down each time is begun for ever.
func TestNodeThatGoesDownAgainAndAgain(t *testing.T) {
	r := newRig(t, newWorld())
	begun := make(chan struct{}, 1)
	r.w.run["light"] = func(ctx context.Context, _ *backend.Node, _ steps.Report) error {
		begun <- struct{}{}
		<-ctx.Done()
		return errors.New("the power fails")
	}

	r.start(t, r, take(t, r), false)
	for boot := 1; boot <= maxStarts; boot++ {
		<-begun
		must(t, r.Close())
		r.host.Boot()
		r.open(t)
	}
	if s := until(t, r, "the failure", inState(view.HasFailed)); s.Problem.Code != "RBT-CNT" {
		t.Errorf("the problem: %+v", s.Problem)
	}
}

// TestEngineThatEndsAgainAndAgain fails when a step that takes the engine down each time is begun for ever in one boot.
func TestEngineThatEndsAgainAndAgain(t *testing.T) {
	r := newRig(t, newWorld())
	begun := make(chan struct{}, 1)
	r.w.run["light"] = func(ctx context.Context, _ *backend.Node, _ steps.Report) error {
		begun <- struct{}{}
		<-ctx.Done()
		return errors.New("the engine ends")
	}
	r.start(t, r, take(t, r), false)
	for range maxBegun {
		<-begun
		r.reopen(t)
	}
	if s := until(t, r, "the failure", inState(view.HasFailed)); s.Problem.Code != "RST-CNT" || s.Current != "light" {
		t.Errorf("at %s, the problem: %+v", s.Current, s.Problem)
	}
	r.w.mu.Lock()
	delete(r.w.run, "light")
	r.w.mu.Unlock()
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Retry}))
	until(t, r, "the end", inState(view.IsDone))
}

// TestUndoThatTakesTheNodeDown stops for a person, who may try again, and is not given up.
func TestUndoThatTakesTheNodeDown(t *testing.T) {
	for code, goesDown := range map[string]struct {
		times int
		boots bool
	}{"RBT-CNT": {maxStarts, true}, "RST-CNT": {maxBegun, false}} {
		var whole atomic.Bool
		begun := make(chan struct{}, 1)
		f := newFaulty(t, func(ctx context.Context, _ steps.Report) error {
			if whole.Load() {
				return nil
			}
			begun <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		})
		token := take(t, f)
		f.start(t, f, token, false)
		until(t, f, "the end", inState(view.IsDone))
		must(t, f.Do(t.Context(), token, session.Action{Verb: session.Undo}))
		for range goesDown.times {
			<-begun
			if goesDown.boots {
				f.host.Boot()
			}
			f.reopen(t)
		}
		for range 2 {
			if s := until(t, f, "the failure", inState(view.HasFailed)); s.Problem.Code != code || s.Current != "lamp" {
				t.Errorf("at %s, the problem: %+v", s.Current, s.Problem)
			}
			f.reopen(t)
		}
		whole.Store(true)
		must(t, f.Do(t.Context(), take(t, f), session.Action{Verb: session.Retry}))
		until(t, f, "everything back", inState(view.IsUndone))
		machineIs(t, f.rig, "factory", "off", "off")
	}
}

func TestLife(t *testing.T) {
	r := newRig(t, newWorld())
	life := func() string {
		s, err := r.Snapshot(t.Context())
		must(t, err)
		return s.Life
	}
	expect := func(want string) {
		t.Helper()
		if got := life(); got != want {
			t.Errorf("the node is %s, not %s", got, want)
		}
	}
	expect(view.LifeFactory)
	r.host.File(layout.FactoryRecord, "{}")
	expect(view.LifeBaked)
	r.host.File(layout.Armed, "")
	expect(view.LifeArmed)
	r.w.setFail("light", broken())
	token := take(t, r)
	r.start(t, r, token, false)
	until(t, r, "the failure", inState(view.HasFailed))
	expect(view.LifeLanding)
	r.w.setFail("light", nil)
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Retry}))
	until(t, r, "the end", inState(view.IsDone))
	expect(view.LifeLanded)
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Edit}))
	expect(view.LifeMoving)
	r.w.setFail("names", broken())
	r.fill(t, r, token)
	s, err := r.Snapshot(t.Context())
	must(t, err)
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Start, Fingerprint: s.Review.Fingerprint}))
	until(t, r, "the failure", inState(view.HasFailed))
	r.w.setFail("names", nil)
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Undo}))
	until(t, r, "everything back", inState(view.IsUndone))
	expect(view.LifeReturned)
}

// TestADryRunGoesOnWithNothing: the engine of a dry run refuses a job that is under way before it touches anything; an interrupted step of a
// job that ended is left to the next engine.
func TestADryRunGoesOnWithNothing(t *testing.T) {
	r := tryingRig(t)
	r.openTrying(t)
	hang := make(chan struct{})
	r.w.run["light"] = func(ctx context.Context, _ *backend.Node, _ steps.Report) error {
		r.w.set("light", "tried")
		close(hang)
		<-ctx.Done()
		return ctx.Err()
	}
	r.start(t, r, take(t, r), false)
	<-hang
	must(t, r.Close())
	path := filepath.Join(r.dir, layout.JournalFile)
	was, err := os.ReadFile(path)
	must(t, err)
	o := r.options()
	o.DryRun = true
	if e, err := Open(o); !errors.Is(err, session.ErrState) {
		t.Fatalf("a job under way: %v, %v", e, err)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(was, now) {
		t.Fatalf("the journal was written (%v):\n%s", err, now)
	}
	r.w.run["light"] = func(context.Context, *backend.Node, steps.Report) error {
		r.w.set("light", "tried")
		return broken()
	}
	r.openTrying(t)
	until(t, r, "the failure", inState(view.HasFailed))
	must(t, r.Close())
	tried := r.w.calls["recover"]
	r.dry = true
	r.openTrying(t)
	until(t, r, "the failure", inState(view.HasFailed))
	<-r.recovered
	must(t, r.Close())
	if now := r.w.calls["recover"]; now != tried || r.w.get("light") != "tried" {
		t.Errorf("a dry run recovered the step: %d times before, %d after, %s", tried, now, r.w.get("light"))
	}
}

// TestARecoveryThatNeedsAReboot: the node reboots, and nothing begins before it has.
func TestARecoveryThatNeedsAReboot(t *testing.T) {
	r := tryingRig(t)
	r.openTrying(t)
	begun := make(chan struct{})
	r.w.run["light"] = func(ctx context.Context, _ *backend.Node, _ steps.Report) error {
		close(begun)
		<-ctx.Done()
		return ctx.Err()
	}
	r.start(t, r, take(t, r), false)
	<-begun
	must(t, r.Close())
	again := false
	reboots := make(chan string, 1)
	r.host.OnFunc("systemctl reboot", func(argv []string, _ []byte) (string, error) { reboots <- argv[len(argv)-1]; return "", nil })
	r.w.mu.Lock()
	r.w.fail["recover"] = &steps.Reboot{Reason: message.T("units are enabled")}
	r.w.run["light"] = func(context.Context, *backend.Node, steps.Report) error { again = true; return nil }
	r.w.mu.Unlock()
	r.openTrying(t)
	if reason := <-reboots; reason != "--message=units are enabled" {
		t.Errorf("the reason is %q", reason)
	}
	must(t, r.Close())
	if again {
		t.Error("the work began before the reboot")
	}
	r.w.mu.Lock()
	delete(r.w.fail, "recover")
	r.w.mu.Unlock()
	r.openTrying(t)
	until(t, r, "the end", inState(view.IsDone))
}

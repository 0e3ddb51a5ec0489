package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/session"
)

// TestFirstConsoleSeesTheMachineAsItIs: on a node that boots slowly the engine has looked, and stopped looking, long before
// a console is there. The clock jumps.
func TestFirstConsoleSeesTheMachineAsItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, newWorld())
		defer r.Close()
		cable := func() check.Check {
			s, err := r.Snapshot(t.Context())
			must(t, err)
			return s.Stages[0].Steps[0].Checks[0]
		}
		time.Sleep(time.Hour)
		if c := cable(); c.Status != check.Fail {
			t.Fatalf("before: %+v", c)
		}
		r.w.mu.Lock()
		r.w.cable = true
		r.w.mu.Unlock()
		ctx, leave := context.WithCancel(t.Context())
		watching := make(chan struct{})
		go func() {
			defer close(watching)
			_ = r.Events(ctx, "", 0, func([]event.Event) error { return nil })
		}()
		time.Sleep(time.Second)
		if c := cable(); c.Status != check.Pass {
			t.Errorf("the first console is told %+v", c)
		}
		leave()
		<-watching
	})
}

// TestAtRest: once the engine has looked and nobody is there, it says so, once; while a console is open it does not, and when that has left
// it does again.
func TestAtRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{w: newWorld(), host: hosttest.New(t), dir: filepath.Join(t.TempDir(), "state")}
		o := r.options()
		var rests atomic.Int32
		o.AtRest = func() { rests.Add(1) }
		e, err := Open(o)
		must(t, err)
		defer e.Close()
		is := func(when string, want int32) {
			t.Helper()
			if n := rests.Load(); n != want {
				t.Errorf("%s the engine has come to rest %d times, want %d", when, n, want)
			}
		}
		time.Sleep(time.Minute)
		is("after its first look", 1)
		ctx, leave := context.WithCancel(t.Context())
		watching := make(chan struct{})
		go func() {
			defer close(watching)
			_ = e.Events(ctx, "", 0, func([]event.Event) error { return nil })
		}()
		time.Sleep(time.Minute)
		is("while a console is open", 1)
		leave()
		<-watching
		time.Sleep(time.Minute)
		is("without a console", 2)
	})
}

// slow takes its time to look.
type slow struct{}

func (slow) ID() string                                             { return "slow" }
func (slow) Title() message.Text                                    { return message.T("Look for long") }
func (slow) Run(context.Context, *backend.Node, steps.Report) error { return nil }

func (slow) Inspect(ctx context.Context, _ *backend.Node, _ steps.Report) error {
	select {
	case <-ctx.Done():
	case <-time.After(2 * time.Second):
	}
	return nil
}

// TestEndOfALookIsTold: a console that was told that a step looks is told when it does no longer. Consoles that were not told
// are left alone: an idle line stays silent. The clock jumps.
func TestEndOfALookIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.more = []steps.Stage{{ID: "slow", Steps: []steps.Step{slow{}}}}
		r := newRig(t, w)
		defer r.Close()
		looks := func() bool {
			s, err := r.Snapshot(t.Context())
			must(t, err)
			return s.Stages[len(s.Stages)-1].Steps[0].Inspecting
		}
		time.Sleep(time.Minute)
		var told atomic.Int64
		ctx, leave := context.WithCancel(t.Context())
		watching := make(chan struct{})
		go func() {
			defer close(watching)
			_ = r.Events(ctx, "", 0, func(events []event.Event) error { told.Add(int64(len(events))); return nil })
		}()
		time.Sleep(time.Second)
		if !looks() {
			t.Fatal("the step does not look")
		}
		before := told.Load()
		time.Sleep(1500 * time.Millisecond)
		if told.Load() == before || looks() {
			t.Errorf("%d events told of the end of the look", told.Load()-before)
		}
		before = told.Load()
		time.Sleep(time.Minute)
		if n := told.Load() - before; n > 0 {
			t.Errorf("%d events in a minute in which nothing changed", n)
		}
		leave()
		<-watching
	})
}

// probing reports a check every so often, and then hangs or ends.
type probing struct {
	checks int
	pause  time.Duration
	hangs  bool
}

func (probing) ID() string                                             { return "probing" }
func (probing) Title() message.Text                                    { return message.T("Look at many things") }
func (probing) Run(context.Context, *backend.Node, steps.Report) error { return nil }

func (p probing) Inspect(ctx context.Context, _ *backend.Node, report steps.Report) error {
	pause := func(d time.Duration) {
		select {
		case <-ctx.Done():
		case <-time.After(d):
		}
	}
	for n := range p.checks {
		pause(p.pause)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		report.Check(check.Check{ID: fmt.Sprint("probe-", n), Title: message.T("Probe"), Status: check.Pass})
	}
	if p.hangs {
		pause(24 * time.Hour)
	}
	return nil
}

// TestALookMayTakeLong: a busy machine that reports one check after another gets the time; a look that hangs is ended and told.
func TestALookMayTakeLong(t *testing.T) {
	for name, p := range map[string]probing{
		"slow":  {checks: 20, pause: inspectLimit - time.Second},
		"hangs": {checks: 3, pause: time.Second, hangs: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				w.more = []steps.Stage{{ID: "probing", Steps: []steps.Step{p}}}
				r := newRig(t, w)
				defer r.Close()
				time.Sleep(20 * inspectLimit)
				s, err := r.Snapshot(t.Context())
				must(t, err)
				var seen, warned int
				for _, c := range s.Stages[len(s.Stages)-1].Steps[0].Checks {
					if c.Status == check.Pass {
						seen++
					} else {
						warned++
					}
				}
				if want := map[bool]int{true: 1}[p.hangs]; seen != p.checks || warned != want {
					t.Errorf("%d checks and %d warnings, want %d and %d", seen, warned, p.checks, want)
				}
			})
		})
	}
}

// remembering counts how often it is told that its next look is to ask again.
type remembering struct {
	slow
	forgot *atomic.Int32
}

func (r remembering) Forget(time.Time) { r.forgot.Add(1) }

// TestLookAgainForgets: a look that a person asks for repeats nothing that was found earlier, and that of a round or of a review does. The
// clock jumps.
func TestLookAgainForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, forgot := newWorld(), &atomic.Int32{}
		w.more = []steps.Stage{{ID: "slow", Steps: []steps.Step{remembering{slow{}, forgot}}}}
		r := newRig(t, w)
		defer r.Close()
		token := take(t, r)
		ctx, leave := context.WithCancel(t.Context())
		watching := make(chan struct{})
		go func() {
			defer close(watching)
			_ = r.Events(ctx, "", 0, func([]event.Event) error { return nil })
		}()
		time.Sleep(time.Minute)
		if n := forgot.Load(); n != 0 {
			t.Errorf("the rounds of a minute forgot %d times", n)
		}
		must(t, r.Do(t.Context(), token, session.Action{Verb: session.Inspect}))
		if n := forgot.Load(); n != 1 {
			t.Errorf("a look that was asked for forgot %d times", n)
		}
		reviewed(t, r, token)
		if n := forgot.Load(); n != 1 {
			t.Errorf("with the review it forgot %d times", n)
		}
		leave()
		<-watching
	})
}

package engine

import (
	"context"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/health"
	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/view"
)

// watchingStep tells one verdict, and then another one whenever it is asked to.
type watchingStep struct {
	began, ended chan struct{}
	says         chan message.Text
	told         []health.Live // what it was told that it told before
}

func (*watchingStep) ID() string          { return "watching" }
func (*watchingStep) Title() message.Text { return message.Data("Watch") }
func (*watchingStep) Run(context.Context, *backend.Node, steps.Report) error {
	return nil
}

func (s *watchingStep) Watch(ctx context.Context, _ *backend.Node, told health.Live, tell func(health.Live, []check.Check)) {
	s.told = append(s.told, told)
	s.began <- struct{}{}
	for {
		select {
		case <-ctx.Done():
			s.ended <- struct{}{}
			return
		case text := <-s.says:
			tell(health.Live{Status: check.Fail, Checks: []check.Check{{ID: "operators", Status: check.Fail, Observed: text}}}, nil)
		}
	}
}

// TestOneWatcherForAllConsoles: the cluster is watched from when the work is done, once for however many consoles, and no longer than a
// minute after the last of them left.
func TestOneWatcherForAllConsoles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, step := newWorld(), &watchingStep{began: make(chan struct{}, 9), ended: make(chan struct{}, 9), says: make(chan message.Text)}
		w.more = []steps.Stage{{ID: "health", Title: message.Data("Health"), Steps: []steps.Step{step}}}
		r := newRig(t, w)
		defer r.Close()
		console := func() (leave func()) {
			ctx, cancel := context.WithCancel(t.Context())
			left := make(chan struct{})
			go func() {
				defer close(left)
				_ = r.Events(ctx, "", 0, func([]event.Event) error { return nil })
			}()
			return func() { cancel(); <-left }
		}
		first := console()
		synctest.Wait()
		if len(step.began) != 0 {
			t.Fatal("it watches before the work")
		}
		token := take(t, r)
		r.start(t, r, token, false)
		until(t, r, "the end", inState(view.IsDone))
		second := console()
		synctest.Wait()
		if n := len(step.began); n != 1 {
			t.Fatalf("%d watchers", n)
		}
		step.says <- message.Data("it is degraded")
		synctest.Wait()
		if s, err := r.Snapshot(t.Context()); err != nil || s.Live == nil || s.Live.Checks[0].Observed.String() != "it is degraded" {
			t.Errorf("%v, %+v", err, s.Live)
		}
		first()
		second()
		time.Sleep(liveGrace / 2)
		second = console() // in time
		time.Sleep(2 * liveGrace)
		synctest.Wait()
		if len(step.ended) != 0 {
			t.Error("it ended under the eyes of a console")
		}
		second()
		time.Sleep(liveGrace + time.Second)
		synctest.Wait()
		if s, err := r.Snapshot(t.Context()); err != nil || len(step.ended) != 1 || len(step.began) != 1 || s.Live != nil {
			t.Errorf("%v: %d began, %d ended, %+v", err, len(step.began), len(step.ended), s.Live)
		}
		must(t, r.Close())
		r.open(t)
		third := console()
		synctest.Wait()
		if n := len(step.told); n != 2 || step.told[0].Status != "" || len(step.told[1].Checks) != 1 {
			t.Errorf("the next engine told the watcher %+v", step.told)
		}
		third()
	})
}

// TestWhatChangedIsKept: over the end of the engine; what is damaged is as good as nothing, and another landing begins with nothing.
func TestWhatChangedIsKept(t *testing.T) {
	turned := health.Live{Status: check.Fail, Turns: []health.Turn{{ID: "operators", Status: check.Fail, Observed: message.Data("it is degraded")}}}
	landing := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	dir := t.TempDir()
	kept := lastLive(dir)
	kept.of(landing)
	must(t, kept.keep(turned))
	if again := lastLive(dir); len(again.Live.Turns) != 1 || again.Live.Turns[0].Observed.String() != "it is degraded" || !again.Landing.Equal(landing) {
		t.Errorf("kept was %+v", again)
	}
	other := lastLive(dir)
	if other.of(landing.Add(time.Hour)); len(other.Live.Turns) != 0 {
		t.Errorf("another landing begins with %+v", other)
	}
	data, err := readKept(kept.path)
	must(t, err)
	text := []byte(`{"landing":"2026-01-02T03:04:05Z","live":{"status":"fail","turns":[{"id":"operators","status":"fail","at":"2026-01-02T03:04:05+24:00"}]}}`)
	must(t, os.WriteFile(kept.path, append([]byte(checksum(text)+"\n"), text...), 0o600))
	if got := lastLive(dir); got.Live.Status != "" {
		t.Errorf("what cannot be written again was read: %+v", got)
	}
	for i := range data {
		bad := slices.Clone(data)
		bad[i] ^= 1
		must(t, os.WriteFile(kept.path, bad, 0o600))
		if got := lastLive(dir); got.Live.Status != "" {
			t.Fatalf("with byte %d changed it is %+v", i, got)
		}
	}
}

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"touchdown/steps/session"
	"touchdown/steps/view"
	"touchdown/test/wait"
)

// crashes reads how many runs to make, and from which seed; `make test` makes a few, `make crash` many.
func crashes(t *testing.T) (n int, seed uint64) {
	n, seed = 3, 7
	if v, err := strconv.Atoi(os.Getenv("CRASH_N")); err == nil {
		n = v
	}
	if v, err := strconv.ParseUint(os.Getenv("CRASH_SEED"), 10, 64); err == nil {
		seed = v
	}
	return n, seed
}

// cuts are the events behind which the engines of one run die, one after the other: the first from the run's own part
// of the journal, so that many runs cover all of it, and by chance up to three more, each counted from the start of the
// engine that it ends.
func cuts(random *rand.Rand, i, runs, events int) []int {
	part := max(events/max(runs, 1), 1)
	out := []int{1 + (i*events/max(runs, 1)+random.IntN(part))%events}
	for len(out) < 4 && random.IntN(2) == 0 {
		out = append(out, 1+random.IntN(events/3))
	}
	return out
}

// TestCrashAtEventBoundaries kills the engine behind an event, often more than once in a run. Each time the
// next engine must come to the end to which an undisturbed run comes.
func TestCrashAtEventBoundaries(t *testing.T) {
	t.Parallel()
	runs, seed := crashes(t)
	begin := time.Now()
	var want string
	var events int
	var kills atomic.Int64
	t.Run("undisturbed", func(t *testing.T) {
		undisturbed := newNode(t)
		undisturbed.start(0)
		undisturbed.lives()
		undisturbed.lands(shop)
		want, events = undisturbed.landed(), len(undisturbed.journal())
		t.Logf("the end of %d events:\n%s", events, want)
	})
	switch {
	case t.Failed():
		t.FailNow()
	case events == 0:
		t.Skip("the undisturbed run was skipped")
	}
	random := rand.New(rand.NewPCG(seed, 0))
	t.Run("crashed", func(t *testing.T) {
		for i := range runs {
			at := cuts(random, i, runs, events)
			t.Run(fmt.Sprintf("%02d at %v", i, at), func(t *testing.T) {
				t.Parallel()
				n := newNode(t)
				before := n.specs()
				kills.Add(n.crash(at))
				if got := n.landed(); got != want {
					t.Errorf("after kills behind events %v the cluster is\n%s\nand not\n%s", at, got, want)
				}
				if i == runs-1 {
					n.undo(before)
				}
			})
		}
	})
	t.Logf("crash: %d runs with seed %d, %d kills in %d events, %.0f s", runs, seed, kills.Load(), events, time.Since(begin).Seconds())
}

// crash runs the job with an engine that dies behind each of the events in turn, and then one that lives. It
// returns how many died.
func (n *node) crash(cuts []int) (died int64) {
	n.t.Helper()
	for _, at := range append(cuts, 0) {
		r := n.start(at)
		if !n.dies(r) {
			if at > 0 { // it may still die, behind the last event of the job or a later one: what comes next needs one that lives
				r.kill()
				n.start(0)
				n.lives()
			}
			break
		}
		died++
	}
	return died
}

// dies follows the engine to its death or to the end of the job, and tells which it was. A job that had not begun when
// an engine died is asked for again.
func (n *node) dies(r *run) bool {
	n.t.Helper()
	var asked *exec.Cmd
	client := n.client()
	died := false
	wait.Until(n.t, "the engine's death or the end of the job", func(ctx context.Context) error {
		select {
		case <-r.exited:
			died = true
			return nil
		default:
		}
		s, err := client.Snapshot(ctx)
		switch {
		case err != nil:
			return err
		case s.State == view.IsDone:
			return nil
		case s.State == view.HasFailed:
			return wait.Final(fmt.Errorf("the job failed at %s: %+v", s.Current, s.Problem))
		case s.State == view.Collecting && asked == nil:
			asked = n.command(shop, "--force")
			if err := asked.Start(); err != nil {
				n.t.Fatal(err)
			}
			n.t.Cleanup(func() {
				_ = asked.Process.Kill()
				_ = asked.Wait()
			})
		}
		return fmt.Errorf("the job is %s at %q", s.State, s.Current)
	})
	return died
}

// undo puts everything back and compares it to the byte.
func (n *node) undo(before map[string]string) {
	n.t.Helper()
	n.act(session.Action{Verb: session.Undo})
	n.is(view.IsUndone, n.ends())
	same(n.t, before, n.specs())
}

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"touchdown/steps/engine"
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
	t.Logf("%d runs with seed %d", n, seed)
	return n, seed
}

// TestCrashAtEventBoundaries kills the engine behind an event, often more than once in a run. Each time the
// next engine must come to the end to which an undisturbed run comes.
func TestCrashAtEventBoundaries(t *testing.T) {
	n, seed := crashes(t)
	random := rand.New(rand.NewPCG(seed, 0))
	calm := newNode(t)
	calm.start(0)
	calm.wait(10*time.Second, "an engine", func(*engine.Snapshot) bool { return true })
	if code, out := calm.apply(shop); code != 0 {
		t.Fatalf("the undisturbed run ended with %d:\n%s", code, out)
	}
	want, events := calm.landed(t), calm.events(t)
	t.Logf("an undisturbed run has %d events", events)
	if err := calm.cluster.Stop(); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		cuts := []int{1 + (i*events/max(n, 1)+random.IntN(max(events/max(n, 1), 1)))%events}
		for random.IntN(2) == 0 && len(cuts) < 4 {
			cuts = append(cuts, 1+random.IntN(events))
		}
		t.Run(fmt.Sprintf("%02d at %v", i, cuts), func(t *testing.T) {
			crashed := newNode(t)
			crashed.crash(cuts)
			if got := crashed.landed(t); got != want {
				t.Errorf("after kills behind events %v the cluster is\n%s\nand not\n%s", cuts, got, want)
			}
		})
	}
}

// crash runs the job with an engine that dies behind each of the events in turn, and then one that lives. An
// engine that died before the job had begun leaves it to be asked for again.
func (n *node) crash(cuts []int) {
	n.t.Helper()
	for _, at := range append(cuts, 0) {
		r := n.start(at)
		ready := func(s *engine.Snapshot) bool { return s.State != engine.Inspecting }
		if !n.died(r, func() {
			if n.wait(30*time.Second, "an engine", ready).State == engine.Collecting {
				go n.apply(shop)
			}
		}) && at > 0 {
			n.t.Logf("the job ended before event %d", at)
		}
	}
	n.wait(3*time.Minute, "the end", func(s *engine.Snapshot) bool { return s.State == engine.IsDone })
}

// events counts the events of the journal.
func (n *node) events(t *testing.T) int {
	data, err := os.ReadFile(filepath.Join(n.dir, "state", "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(data), "\n") - 1
}

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
	"testing"
	"time"

	"touchdown/test/resume"
)

// begun is a small tree in which a row has begun.
func begun(t *testing.T) (w *work, k *keys, r Row, key string) {
	t.Helper()
	t.Chdir(t.TempDir())
	plant(t)
	r = Row{Package: "backend/csr", Run: "TestX"}
	k, err := newKeys(t.Context(), packagesOf([]Row{r}))
	if err != nil {
		t.Fatal(err)
	}
	if key, err = k.of(r); err != nil {
		t.Fatal(err)
	}
	return &work{store: kept(t.TempDir())}, k, r, key
}

// TestKept: a pass is found for the same inputs only, and not once the row has failed or something was skipped. What fails beside the load of a
// hunt withdraws a pass too; what passes there is not kept.
func TestKept(t *testing.T) {
	w, k, r, key := begun(t)
	hunts := func(Result) error { return nil }
	for n, c := range []struct {
		passed  bool
		skipped []string
		ended   func(Result) error
		found   bool
	}{
		{passed: true, found: true},
		{passed: false},
		{passed: true, found: true},
		{passed: true, skipped: []string{"TestX/with_a_tool"}},
		{passed: true, found: true},
		{passed: true, ended: hunts, found: true},
		{passed: false, ended: hunts},
		{passed: false, ended: hunts},
		{passed: true, ended: hunts},
	} {
		w.ended = c.ended
		w.add(k, r, Result{Row: r.String(), Key: key, Passed: c.passed, Skipped: c.skipped, When: time.Now()})
		if _, found := w.store.find(r, key); found != c.found || w.err != nil {
			t.Errorf("after result %d, %+v: found %t: %v", n, c, found, w.err)
		}
		if _, found := w.store.find(r, "another"); found {
			t.Errorf("after result %d, %+v: found for other inputs", n, c)
		}
	}
}

// TestARowMustShowSomething: one whose program ends well without having run a test has failed, unless it is left to make.
func TestARowMustShowSomething(t *testing.T) {
	rest, quick := Row{Package: "a"}, Row{Package: "a", Quick: true}
	for _, c := range []struct {
		row    Row
		result Result
		fails  bool
	}{
		{rest, Result{Ran: 1}, false},
		{rest, Result{Ran: 1, Skipped: []string{"TestB"}}, false}, // passes, and is not kept
		{rest, Result{Skipped: []string{"TestA", "TestB"}}, true},
		{rest, Result{}, true},
		{quick, Result{Skipped: []string{"TestA"}}, false},
		{Row{Make: "lint"}, Result{}, false},
	} {
		if err := ran(c.row, c.result); (err != nil) != c.fails {
			t.Errorf("%s, %+v: %v", c.row, c.result, err)
		}
	}
}

// TestRowsRunAsInCI: what the machine lacks fails, and a hunt shuffles the tests of a row too.
func TestRowsRunAsInCI(t *testing.T) {
	w := &work{options: options{cache: t.TempDir(), order: 1}, built: map[string]*build{}}
	row := Row{Package: "test/x", Env: []string{"A=b"}}
	done := &build{}
	done.once.Do(func() {}) // it is built
	w.built[unfit.ReplaceAllString(row.Package, "-")] = done
	for _, r := range []Row{row, {Make: "lint"}} {
		cmd, err := w.command(t.Context(), r)
		if err != nil || !slices.Contains(cmd.Env, "CI=true") || slices.Contains(cmd.Args, "-test.shuffle=2") {
			t.Errorf("%s: %v %v: %v", r, cmd.Args, cmd.Env, err)
		}
	}
	w.shuffle = true
	cmd, err := w.command(t.Context(), row)
	if err != nil || !slices.Contains(cmd.Args, "-test.shuffle=2") || !slices.Contains(cmd.Env, "A=b") {
		t.Errorf("%v: %v", cmd.Args, err)
	}
}

// TestAFullDiskIsTold: the writer beside the tests does not end in silence.
func TestAFullDiskIsTold(t *testing.T) {
	name := filepath.Join(t.TempDir(), "flake.tmp")
	if err := os.Symlink("/dev/full", name); err != nil {
		t.Fatal(err)
	}
	if err := writeOver(t.Context(), name); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := writeOver(ctx, name); err != nil {
		t.Errorf("a writer that was stopped: %v", err)
	}
}

func TestCount(t *testing.T) {
	ran, left := count("=== RUN   TestA\n    --- PASS: TestA/x (0.00s)\n--- PASS: TestA (0.10s)\n--- SKIP: TestB (0.00s)\n--- FAIL: TestC (1s)\n    --- SKIP: TestC/y (0.00s)\n")
	if ran != 2 || !slices.Equal(left, []string{"TestB", "TestC/y"}) {
		t.Errorf("%d ran, skipped %v", ran, left)
	}
}

// TestTheQuickTestsAreHunted: of the packages given, those that have tests; their results are not rows of the tiers.
func TestTheQuickTestsAreHunted(t *testing.T) {
	t.Chdir("../..")
	rows := quickRows(options{match: regexp.MustCompile(""), quick: []string{"touchdown/test/tier", "touchdown/test/race", "touchdown/backend/csr"}})
	if len(rows) != 2 || rows[0].Package != "test/tier" || rows[1].id() == (Row{Package: "backend/csr"}).id() {
		t.Fatalf("%v", rows)
	}
	w := work{options: options{order: 1, number: 5}}
	if cmd := w.quickly(t.Context(), "x", rows[0]); !slices.Contains(cmd.Args, "-test.shuffle=2") || !slices.Contains(cmd.Env, "GOMAXPROCS=1") {
		t.Errorf("%v", cmd.Args)
	}
}

// TestSeedsHaveTheirOwnOrders: no order of one seed is one of the next, and each is a number that -test.shuffle takes.
func TestSeedsHaveTheirOwnOrders(t *testing.T) {
	seen := map[uint64]bool{}
	for seed := range uint64(10) {
		for number := range 10 {
			o := (&hunted{Seed: seed}).order(number)
			if seen[o] || o >= 1<<63-1 {
				t.Errorf("round %d of seed %d has order %d", number, seed, o)
			}
			seen[o] = true
		}
	}
	if again := (&hunted{Seed: 3}).order(2); !seen[again] {
		t.Error("a round has two orders")
	}
}

// TestEachHuntHasItsFile: another load or seed does not write over what failed before.
func TestEachHuntHasItsFile(t *testing.T) {
	o, seen := options{cache: "c"}, map[string]bool{}
	for _, h := range []hunted{{Load: 4, Seed: 1}, {Load: 4, Seed: 2}, {Load: 2, Seed: 1}, {Load: 41, Seed: 1}, {Load: 4, Seed: 11}} {
		for _, name := range []string{"flake", "flake-quick"} {
			seen[h.file(o, name)] = true
		}
	}
	if len(seen) != 10 {
		t.Errorf("%v", seen)
	}
}

// TestLoadThatEndsIsTold: the tests then run beside less than was asked for. One that is stopped in the end is as it should be.
func TestLoadThatEndsIsTold(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for _, c := range []struct {
		script string
		told   bool
	}{{"kill -9 $$", true}, {"exit 0", true}, {"while :; do :; done", false}} {
		ended, err := busy(ctx, c.script)
		if err != nil {
			t.Fatal(err)
		}
		if !c.told {
			stop()
		}
		if err := <-ended; (err != nil) != c.told {
			t.Errorf("%s: %v", c.script, err)
		}
	}
}

// TestAStoppedRoundGoesOn: a hunt that was stopped goes on with the rows that a round lacks, tells of what failed before, and runs again what
// rests on something else by now, in every round.
func TestAStoppedRoundGoesOn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "flake.json")
	a, b := Row{Package: "test/wait", Run: "TestFor"}, Row{Package: "test/wait", Run: "TestOther"}
	rows, made := []Row{a, b}, map[string]string{a.String(): "1", b.String(): "1"}
	first := round{Order: 7, Results: []Result{{Row: a.String(), Key: "1", Passed: true}, {Row: b.String(), Key: "1", Passed: true}}}
	second := round{Order: 8, Results: []Result{{Row: a.String(), Key: "1"}}}
	if err := resume.Save(file, &hunted{Load: 4, Seed: 7, Rounds: []round{first, second}}); err != nil {
		t.Fatal(err)
	}
	other, h := &hunted{Load: 2, Seed: 7}, &hunted{Load: 4, Seed: 7}
	if other.resume(file); len(other.Rounds) > 0 {
		t.Error("rounds beside less load count")
	}
	h.resume(file)
	h.only(map[string]string{"a row of another run": "1"})
	h.only(made)
	if left := h.Rounds[1].left(rows); len(left) != 1 || left[0].String() != b.String() || len(h.Rounds[0].left(rows)) > 0 {
		t.Errorf("the round goes on with %v", left)
	}
	if err := h.verdict(rows, 1); err != nil {
		t.Errorf("one round that passed: %v", err)
	}
	if err := h.verdict(rows, 2); err == nil || err.Error() != "there are flakes" {
		t.Errorf("a row that failed before the stop: %v", err)
	}
	made[a.String()] = "2"
	h.only(made)
	if left := h.Rounds[0].left(rows); len(left) != 1 || left[0].String() != a.String() {
		t.Errorf("after a change, the round goes on with %v", left)
	}
	if err := h.verdict(rows, 1); err == nil {
		t.Error("half a round counts as one")
	}
}

// TestWhatRanWhileFilesChangedCountsForNothing: neither as a pass, nor in a hunt, nor in the last line.
func TestWhatRanWhileFilesChangedCountsForNothing(t *testing.T) {
	w, k, r, key := begun(t)
	told := 0
	w.ended = func(Result) error { told++; return nil }
	result := Result{Row: r.String(), Key: key, Passed: true}
	if w.add(k, r, result); told != 1 || w.err != nil || summary(w.results, 1) != nil {
		t.Fatalf("told %d times, %v: %v", told, w.results, w.err)
	}
	w.results = nil
	write(t, "backend/csr/csr.go", "package csr // changed\n")
	w.add(k, r, result)
	w.ended = nil
	w.add(k, r, result)
	if _, found := w.store.find(r, key); found || told != 1 || w.err != nil || summary(w.results, 1) == nil {
		t.Errorf("told %d times, kept %t, %v: %v", told, found, w.results, w.err)
	}
}

// TestRowsRunTheProgramOfTheirSources: it is built before, and what ran while it became another one counts for nothing.
func TestRowsRunTheProgramOfTheirSources(t *testing.T) {
	t.Chdir(t.TempDir())
	plant(t)
	write(t, ".cache/bin/touchdown", "of other sources")
	write(t, "Makefile", `.PHONY: build same replace
build: ; @mkdir -p .cache/bin && cp backend/dns/dns.go .cache/bin/touchdown
same: ; @cmp backend/dns/dns.go .cache/bin/touchdown
replace: ; @echo other >.cache/bin/touchdown
`)
	for name, counts := range map[string]bool{"same": true, "replace": false} {
		results, err := runRows(t.Context(), options{cache: ".cache/bench", jobs: 1}, []Row{{Make: name}})
		if err != nil || (summary(results, 1) == nil) != counts {
			t.Errorf("make %s: %+v, %v", name, results, err)
		}
		if _, err := os.Stat(kept(".cache/bench").file(Row{Make: name})); (err == nil) != counts {
			t.Errorf("make %s is kept: %v", name, err)
		}
	}
}

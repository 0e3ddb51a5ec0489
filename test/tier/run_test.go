package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
	"testing"
	"time"
)

// TestKept: a result is found for the same inputs only, and a failure never is.
func TestKept(t *testing.T) {
	k, r := kept(t.TempDir()), Row{Package: "a", Run: "TestX"}
	put := func(key string, passed bool, skipped ...string) {
		t.Helper()
		if err := k.put(r, Result{Key: key, Passed: passed, Skipped: skipped, When: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := k.find(r, "1"); ok {
		t.Error("found before it was there")
	}
	put("1", true)
	if _, ok := k.find(r, "1"); !ok {
		t.Error("not found")
	}
	if _, ok := k.find(r, "2"); ok {
		t.Error("found for other inputs")
	}
	put("1", false)
	if _, ok := k.find(r, "1"); ok {
		t.Error("a failure was found")
	}
	put("1", true, "TestX/with_a_tool")
	if _, ok := k.find(r, "1"); ok {
		t.Error("what was skipped in part was found")
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
	w := work{options: options{order: 1}}
	if cmd := w.quickly(t.Context(), "x", rows[0]); !slices.Contains(cmd.Args, "-test.shuffle=2") || !slices.Contains(cmd.Env, "GOMAXPROCS=1") {
		t.Errorf("%v", cmd.Args)
	}
}

// TestAStoppedRoundGoesOn: a hunt that was stopped goes on with the rows that its last round lacks, and tells of what failed before.
func TestAStoppedRoundGoesOn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "flake.json")
	h := &hunted{Begun: &round{Order: 7}}
	a, b := Row{Package: "test/wait", Run: "TestFor"}, Row{Package: "test/wait", Run: "TestOther"}
	h.Begun.Results = []Result{{Row: a.String()}}
	h.Begun.Failed = []string{a.String()}
	if err := h.write(file); err != nil {
		t.Fatal(err)
	}
	var again hunted
	data, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(data, &again) != nil {
		t.Fatalf("%v: %s", err, data)
	}
	if left := again.Begun.left([]Row{a, b}); len(left) != 1 || left[0].String() != b.String() {
		t.Errorf("the round goes on with %v", left)
	}
	if err := again.verdict(0); err == nil {
		t.Error("a row that failed before the stop is not told")
	}
}

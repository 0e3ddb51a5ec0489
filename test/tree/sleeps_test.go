package tree

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ownLoops are the loops with a sleep that tests may have: by function, or by folder where all in it stand in for something.
var ownLoops = map[string]string{
	"backend/images/remote/hostile_test.go TestHostileRegistryCostsLittle": "a registry sends slowly",
	"backend/images/remote/hostile_test.go TestBlobTakesItsTime":           "a registry sends slowly",
	"backend/factory/units_test.go TestNoiseKeepsTheSpeedOfTheLine":        "noise lasts as long as agetty drops it",
	"backend/network/node_test.go otherPort":                               "what is observed is that a cable stays unchanged",
	"backend/probe/fault_test.go rest":                                     "no event says that nothing follows",
	"cmd/touchdown/main_test.go behindEvent":                               "a program of the test itself; the test has the bound",
	"steps/engine/stale_test.go TestLateLookIsDropped":                     "onLine gives it the clock of synctest",
	"test/bench/person/person.go send":                                     "a person types",
	"test/bench/operators/watch_test.go watch":                             "samples, until it is stopped",
	"test/imagestore/disk.go WaitIdle":                                     "measures when the disk is idle, and goes on all the same",
	"test/measure/memory.go atRest":                                        "measures: the least of a time",
	"test/measure/progress.go waits":                                       "measures: a step that lasts",
	"test/measure/relocation.go hears":                                     "measures how soon an address answers",
	"test/measure/screen.go until":                                         "measures how soon a text comes",
	"test/measure/screen.go quiet":                                         "measures when nothing comes any more",
	"test/measure/screen.go costs":                                         "measures what a key costs",
	"tui/monkey_test.go watch":                                             "samples processor time, by which a hang is judged",
	"tui/pty_test.go play":                                                 "a program of the test itself plays the engine",
	"tui/pty_test.go measured":                                             "what is observed is that nothing happens",
	"tui/pty_test.go split":                                                "the gap between two keys is what is tested",
	"test/bench/controlplane":                                              "stands in for a cluster",
	"test/bench/kernel/guest":                                              "is init of a virtual machine; qemu.go has the bound",
	"test/bench/machineconfig/podman":                                      "stands in for podman",
	"test/bench/node/crictl":                                               "stands in for crictl",
	"test/bench/site/line.go":                                              "stands in for a slow line",
	"test/wait":                                                            "is how tests wait",
}

// sleepingLoops are the functions of a file with a loop that sleeps. Those that use synctest have a clock that waits for them, and what a
// loop only defines does not run in it.
func sleepingLoops(file *ast.File) (all []string) {
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil || calls(f.Body, "synctest", "Test", true) {
			continue
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.ForStmt, *ast.RangeStmt:
				if calls(n, "time", "Sleep", false) && !slices.Contains(all, f.Name.Name) {
					all = append(all, f.Name.Name)
				}
			}
			return true
		})
	}
	return all
}

// calls tells whether something calls of.name, within functions that it defines only if inside.
func calls(within ast.Node, of, name string, inside bool) (found bool) {
	ast.Inspect(within, func(n ast.Node) bool {
		if _, function := n.(*ast.FuncLit); function && !inside {
			return false
		}
		if call, ok := n.(*ast.CallExpr); ok {
			is, from := selected(call.Fun)
			found = found || is == name && from == of
		}
		return !found
	})
	return found
}

// testFiles shows each file of tests, and of what only tests use.
func testFiles(t *testing.T, show func(name string, file *ast.File)) {
	t.Helper()
	for _, top := range []string{"assets", "backend", "cmd", "steps", "test", "tui"} {
		err := filepath.WalkDir(filepath.Join("../..", top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || top != "test" && !strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return fmt.Errorf("parsing: %w", err)
			}
			name, err := filepath.Rel("../..", path)
			if err != nil {
				return fmt.Errorf("naming: %w", err)
			}
			show(name, file)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestTestsWaitByWait: a loop of a test's own has no diagnosis, and often no bound or one that a busy machine misses.
func TestTestsWaitByWait(t *testing.T) {
	used := map[string]bool{}
	testFiles(t, func(name string, file *ast.File) {
		for _, in := range sleepingLoops(file) {
			at := name + " " + in
			for known := range ownLoops {
				if known == at || strings.HasPrefix(name+"/", known+"/") {
					used[known] = true
					at = ""
				}
			}
			if at != "" {
				t.Errorf("%s sleeps in a loop: wait with test/wait instead", at)
			}
		}
	})
	for known := range ownLoops {
		if !used[known] && known != "test/wait" {
			t.Errorf("%s has no loop that sleeps any more: take it out of the list", known)
		}
	}
}

// TestSleepingLoopsAreFound in whatever part of a loop the sleep stands.
func TestSleepingLoopsAreFound(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", `package x
func post() { for ; ; time.Sleep(1) {} }
func body() { for range 3 { if x { time.Sleep(1) } } }
func goes() { go func() { for { time.Sleep(1) } }() }
func once() { time.Sleep(1); for range 3 { f() } }
func defines() { for range 3 { f(func() { time.Sleep(1) }) } }
func fake() { synctest.Test(t, func(t *testing.T) { for { time.Sleep(1) } }) }
`, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := sleepingLoops(file); !slices.Equal(got, []string{"post", "body", "goes"}) {
		t.Errorf("found %q", got)
	}
}

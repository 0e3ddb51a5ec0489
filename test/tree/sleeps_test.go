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

// ownLoops are the loops by the clock that tests may have: by function, or by folder where all in it stand in for something.
var ownLoops = map[string]string{
	"backend/images/remote/hostile_test.go TestHostileRegistryCostsLittle": "a registry sends slowly",
	"backend/images/remote/hostile_test.go TestBlobTakesItsTime":           "a registry sends slowly",
	"backend/factory/units_test.go TestNoiseKeepsTheSpeedOfTheLine":        "noise lasts as long as agetty drops it",
	"backend/network/node_test.go otherPort":                               "what is observed is that a cable stays unchanged",
	"backend/network/power_test.go TestUnkeptSettingsArePutBack":           "the moment of the power cut is drawn",
	"backend/probe/fault_test.go rest":                                     "no event says that nothing follows",
	"cmd/touchdown/main_test.go behindEvent":                               "a program of the test itself; the test has the bound",
	"cmd/touchdown/replace_test.go watchingAPI":                            "watches until it is stopped; the time is that of a certificate",
	"steps/engine/stale_test.go TestLateLookIsDropped":                     "onLine gives it the clock of synctest",
	"test/bench/person/person.go send":                                     "a person types",
	"test/bench/node/run.go Finish":                                        "sends a signal until the command ends",
	"test/bench/operators/routerpod_test.go begin":                         "plays the kubelet, which probes; its context is the bound",
	"test/bench/operators/routerpod_test.go end":                           "plays the kubelet, which ends a pod; its context is the bound",
	"test/bench/operators/start_test.go run":                               "plays the kubelet, which starts an operator again",
	"test/bench/operators/watch_test.go watch":                             "samples, until it is stopped",
	"test/e2e/seeded/crash_test.go until":                                  "the moment of the fault is drawn",
	"test/e2e/seeded/wrong_disk_test.go vanishes":                          "looks closely for a moment; the end of the command ends it",
	"test/imagestore/disk.go WaitIdle":                                     "measures when the disk is idle, and goes on all the same",
	"test/measure/memory.go atRest":                                        "measures: the least of a time",
	"test/measure/progress.go waits":                                       "measures: a step that lasts",
	"test/measure/relocation.go hears":                                     "measures how soon an address answers",
	"test/measure/screen.go until":                                         "measures how soon a text comes",
	"test/measure/screen.go quiet":                                         "measures when nothing comes any more",
	"test/measure/screen.go costs":                                         "measures what a key costs",
	"test/tier/choose.go lock":                                             "no test: it waits for another run, however long that takes",
	"tui/monkey_test.go watch":                                             "samples processor time, by which a hang is judged",
	"tui/pty_test.go play":                                                 "a program of the test itself plays the engine",
	"tui/pty_test.go measured":                                             "what is observed is that nothing happens",
	"tui/pty_test.go split":                                                "the gap between two keys is what is tested",
	"test/bench/controlplane":                                              "stands in for a cluster",
	"test/bench/kernel/guest":                                              "is init of a virtual machine; qemu.go has the bound",
	"test/bench/machineconfig/podman":                                      "stands in for podman",
	"test/bench/node/crictl":                                               "stands in for crictl",
	"test/bench/site/lldp.go":                                              "stands in for a switch",
	"test/bench/site/ra.go":                                                "stands in for a router",
	"test/bench/site/line.go":                                              "stands in for a slow line",
	"test/wait":                                                            "is how tests wait",
}

// sleepingLoops are the functions of a file with a loop that waits by the clock: it sleeps, it asks for a moment of a timer, or it ends at a
// time. Those that use synctest have a clock that waits for them, and what a loop only defines does not run in it.
func sleepingLoops(file *ast.File) (all []string) {
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil || calls(f.Body, "synctest", "Test", true) {
			continue
		}
		timers := timersOf(f.Body)
		ast.Inspect(f.Body, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.ForStmt, *ast.RangeStmt:
				if byTheClock(n, timers) && !slices.Contains(all, f.Name.Name) {
					all = append(all, f.Name.Name)
				}
			}
			return true
		})
	}
	return all
}

// timersOf are the variables of a function that are timers, or their channels.
func timersOf(body ast.Node) (all []string) {
	ast.Inspect(body, func(n ast.Node) bool {
		assigned, ok := n.(*ast.AssignStmt)
		if !ok || len(assigned.Lhs) != len(assigned.Rhs) {
			return true
		}
		for i, value := range assigned.Rhs {
			if name, ok := assigned.Lhs[i].(*ast.Ident); ok && timer(value) {
				all = append(all, name.Name)
			}
		}
		return true
	})
	return all
}

// timer tells whether something is a new timer. One that runs for the time of test/wait is the bound of a wait.
func timer(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	name, from := selected(call.Fun)
	return from == "time" && slices.Contains([]string{"After", "Tick", "NewTimer", "NewTicker"}, name) && !calls(call, "wait", "Timeout", false)
}

// byTheClock tells whether a loop waits by the clock, in what it runs itself.
func byTheClock(loop ast.Node, timers []string) (found bool) {
	ast.Inspect(loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ForStmt:
			found = found || atATime(n.Cond)
		case *ast.IfStmt:
			found = found || atATime(n.Cond) && leaves(n.Body)
		case *ast.RangeStmt:
			found = found || fromATimer(n.X, timers)
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW && fromATimer(n.X, timers)
		case *ast.CallExpr:
			name, from := selected(n.Fun)
			found = found || from == "time" && name == "Sleep"
		}
		return !found
	})
	return found
}

// fromATimer tells whether a channel is that of a timer.
func fromATimer(channel ast.Expr, timers []string) bool {
	if field, ok := channel.(*ast.SelectorExpr); ok && field.Sel.Name == "C" {
		channel = field.X
	}
	name, ok := channel.(*ast.Ident)
	return timer(channel) || ok && slices.Contains(timers, name.Name)
}

// atATime tells whether a condition compares the time with another one.
func atATime(condition ast.Expr) (found bool) {
	if condition == nil {
		return false
	}
	ast.Inspect(condition, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			method, ok := n.Fun.(*ast.SelectorExpr)
			found = found || ok && slices.Contains([]string{"Before", "After", "Compare"}, method.Sel.Name) && calls(n, "time", "Now", false)
		case *ast.BinaryExpr:
			found = found || slices.Contains([]token.Token{token.LSS, token.GTR, token.LEQ, token.GEQ}, n.Op) &&
				(calls(n, "time", "Since", false) || calls(n, "time", "Until", false))
		}
		return !found
	})
	return found
}

// leaves tells whether a block goes to another place of a loop, out of it, or ends the test.
func leaves(block ast.Node) (found bool) {
	ast.Inspect(block, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt, *ast.BranchStmt:
			found = true
		case *ast.CallExpr:
			method, ok := n.Fun.(*ast.SelectorExpr)
			found = found || ok && slices.Contains([]string{"Fatal", "Fatalf", "FailNow"}, method.Sel.Name)
		}
		return !found
	})
	return found
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
				t.Errorf("%s waits by the clock in a loop: wait with test/wait instead", at)
			}
		}
	})
	for known := range ownLoops {
		if !used[known] && known != "test/wait" {
			t.Errorf("%s has no loop that waits by the clock any more: take it out of the list", known)
		}
	}
}

// TestSleepingLoopsAreFound in whatever part of a loop the wait stands.
func TestSleepingLoopsAreFound(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", `package x
func post() { for ; ; time.Sleep(1) {} }
func body() { for range 3 { if x { time.Sleep(1) } } }
func goes() { go func() { for { time.Sleep(1) } }() }
func once() { time.Sleep(1); for range 3 { f() } }
func defines() { for range 3 { f(func() { time.Sleep(1) }) } }
func fake() { synctest.Test(t, func(t *testing.T) { for { time.Sleep(1) } }) }
func after() { for { select { case <-time.After(1): case <-ctx.Done(): } } }
func bounded() { for { select { case <-time.After(wait.Timeout(1)): case <-ctx.Done(): } } }
func tick() { every := time.Tick(1); for { <-every } }
func ticker() { every := time.NewTicker(1); for { select { case <-every.C: default: } } }
func ranges() { for range time.Tick(1) { f() } }
func ends() { for end := time.Now().Add(wait.Timeout(1)); time.Now().Before(end); { f() } }
func until() { for { if end.Before(time.Now()) { break } } }
func gives() { for { if time.Since(began) > time.Minute { t.Fatal("late") } } }
func old() { for range 3 { if time.Since(made) > time.Minute { f() } } }
func since() { for time.Since(began) < time.Minute { f() } }
func measures() { for range 3 { took = time.Since(began) } }
func channel() { for range 3 { select { case <-done: case <-away.C: } } }
`, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := sleepingLoops(file); !slices.Equal(got, []string{"post", "body", "goes", "after", "tick", "ticker", "ranges", "ends", "until", "gives", "since"}) {
		t.Errorf("found %q", got)
	}
}

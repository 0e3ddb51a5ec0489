package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ways are the ways in which a test comes to be slow, and tests that only look like it.
var ways = map[string]string{
	"pkg/a_test.go": `package pkg

import (
	"other"
	"testing"
	"touchdown/backend/pretend"
	"touchdown/test/plain"
	"touchdown/test/rig"
	"touchdown/test/wait"
	short "touchdown/test/race"
)

type node struct{ t *testing.T }
func (n node) start() { boot(n.t) }

type lamp struct{}
func (lamp) start() {}

var table = []func(*testing.T){boot}

func boot(t *testing.T) { wait.Slow(t) }
func give() any { return node{} }
func circle(n int) { if n > 0 { circle(n-1) } }

func TestItself(t *testing.T) { wait.Slow(t) }
func TestByAFunction(t *testing.T) { boot(t) }
func TestByAMethod(t *testing.T) { node{t}.start() }
func TestByAnInterface(t *testing.T) { give().(interface{ start() }).start() }
func TestByATable(t *testing.T) { for _, f := range table { t.Run("", func(t *testing.T) { f(t) }) } }
func TestByAnotherPackage(t *testing.T) { rig.New(t) }
func TestByAPackageOfAPackage(t *testing.T) { plain.Far(t) }
func TestShorter(t *testing.T) { if testing.Short() { return } }
func TestShorterUnderTheDetector(t *testing.T) { if short.On { return } }
func TestByAHelperOfTheProduct(t *testing.T) { pretend.New(t) }
func TestByAnUnknownValue(t *testing.T) { other.Value.(node).start() }
func TestInBoth(t *testing.T) {}
func FuzzSlow(f *testing.F) { wait.Slow(f) }

func TestQuick(t *testing.T) { lamp{}.start(); circle(3); wait.Until(t) }
func FuzzQuick(f *testing.F) {}
func ExampleNode() {}
func TestMain(m *testing.M) {}
`,
	"pkg/b_test.go":           "package pkg_test\n\nimport (\"testing\"; \"touchdown/test/rig\")\n\nfunc help(t *testing.T) { rig.New(t) }\nfunc TestFromOutside(t *testing.T) { help(t) }\nfunc TestQuickFromOutside(t *testing.T) {}\nfunc TestInBoth(t *testing.T) { help(t) }\n",
	"test/rig/rig.go":         "package rig\n\nimport (\"testing\"; \"touchdown/test/wait\")\n\nfunc New(t testing.TB) { wait.Slow(t) }\n",
	"test/rig/rig_test.go":    "package rig\n",
	"test/plain/plain.go":     "package plain\n\nimport (\"testing\"; \"touchdown/test/rig\")\n\nfunc Far(t testing.TB) { rig.New(t) }\n",
	"backend/pretend/p.go":    "package pretend\n\nimport (\"testing\"; \"touchdown/test/rig\")\n\nfunc New(t testing.TB) { rig.New(t) }\n",
	"test/wait/never_read.go": "no Go",
}

func TestQuickTests(t *testing.T) {
	dir := t.TempDir()
	for name, text := range ways {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	quick, err := quickTests(dir, "pkg")
	if want := []string{"ExampleNode", "FuzzQuick", "TestQuick", "TestQuickFromOutside"}; err != nil || !slices.Equal(quick, want) {
		t.Errorf("%q, %v; want %q", quick, err, want)
	}
	early := filepath.Join(dir, "pkg", "early_test.go")
	if err := os.WriteFile(early, []byte("package pkg\n\nimport \"testing\"\n\nvar long bool\n\nfunc init() { long = !testing.Short() }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if quick, err := quickTests(dir, "pkg"); len(quick) > 0 || err != nil {
		t.Errorf("with an init that asks for -short: %q, %v", quick, err)
	}
	if _, err := quickTests(dir, "other"); err == nil {
		t.Error("a package that is not there has tests")
	}
	if err := os.WriteFile(filepath.Join(dir, "pkg", "c_test.go"), []byte("package"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := quickTests(dir, "pkg"); err == nil || !strings.Contains(err.Error(), "c_test.go") {
		t.Errorf("a file that is not Go: %v", err)
	}
}

// TestARowRunsWhatTheQuickTestsDoNot: the others of a package are its slow tests that have no row; below test nothing is left out.
func TestARowRunsWhatTheQuickTestsDoNot(t *testing.T) {
	out, err := Row{Package: "backend/login"}.leftOut(root, table)
	if err != nil || !strings.Contains(out, "TestHash|") || strings.Contains(out, "TestKubeconfigOnARealAPI") {
		t.Errorf("left out of backend/login: %q, %v", out, err)
	}
	if out, err := (Row{Package: "steps"}).leftOut(root, table); err != nil || !strings.HasPrefix(out, "^(TestALandingKeepsWhatTheOwnerServes|TestANodeComesBackFromLongStorage|") {
		t.Errorf("left out of steps: %q, %v", out, err)
	}
	if out, err := (Row{Package: "test/e2e/walk", Run: "TestWalk"}).leftOut(root, table); out != "" || err != nil {
		t.Errorf("left out of one test: %q, %v", out, err)
	}
	if out, err := (Row{Package: "test/bench/kernel"}).leftOut(root, table); err != nil || strings.Contains(out, "TestTags") {
		t.Errorf("left out of test/bench/kernel: %q, %v", out, err)
	}
}

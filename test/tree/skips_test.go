package tree

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// ownSkips are the tests that may skip themselves, in CI too, by function.
var ownSkips = map[string]string{
	"backend/report/proof/page_test.go TestPageInABrowser":   "a browser is too large for CI; TestPage runs the script of the page there",
	"backend/network/reason_test.go FuzzReason":              "an input that the fuzzer made says nothing",
	"steps/site/netsecret_test.go FuzzNetworkConfig":         "an input that the fuzzer made says nothing",
	"cmd/touchdown/crash_test.go TestCrashAtEventBoundaries": "the run that it compares with was skipped, which fails in CI",
	"test/e2e/crash_test.go TestCrash":                       "the run that it compares with was skipped, which fails in CI",
}

// skips are the functions of a file that skip a test, or that ask whether they run in CI.
func skips(file *ast.File) (all []string) {
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if (skip(n) || asksForCI(n)) && !slices.Contains(all, f.Name.Name) {
				all = append(all, f.Name.Name)
			}
			return true
		})
	}
	return all
}

// skip tells whether something skips a test. The Skip of a step returns a reason, which its caller uses.
func skip(n ast.Node) bool {
	statement, ok := n.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := statement.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	called, ok := call.Fun.(*ast.SelectorExpr)
	return ok && slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, called.Sel.Name)
}

func asksForCI(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return false
	}
	name, from := selected(call.Fun)
	of, ok := call.Args[0].(*ast.BasicLit)
	return ok && from == "os" && (name == "Getenv" || name == "LookupEnv") && of.Value == `"CI"`
}

// TestTestsSkipByWait: go test says "ok" of a package whose tests were skipped, so a plain skip hides from CI that nothing was tested.
func TestTestsSkipByWait(t *testing.T) {
	used := map[string]bool{}
	testFiles(t, func(name string, file *ast.File) {
		if strings.HasPrefix(name, "test/wait/") {
			return
		}
		for _, in := range skips(file) {
			at := name + " " + in
			used[at] = true
			if ownSkips[at] == "" {
				t.Errorf("%s calls Skip, or asks for CI: end a test that cannot run here with wait.Unable, which fails in CI, and a slow one with wait.Slow", at)
			}
		}
	})
	for known := range ownSkips {
		if !used[known] {
			t.Errorf("%s does not skip any more: take it out of the list", known)
		}
	}
}

// TestSkipsAreFound in whatever function of a test they stand.
func TestSkipsAreFound(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", `package x
func plain(t *testing.T) { if x { t.Skip("no") } }
func formatted() { b.t.Skipf("%d", 1) }
func now(t testing.TB) { t.Run("", func(t *testing.T) { t.SkipNow() }) }
func asks() bool { return os.Getenv("CI") == "true" }
func other() string { return os.Getenv("HOME") }
func ofAStep() { if s.Skip().String() != "" { f() }; why = s.Skip() }
func right(t *testing.T) { wait.Unable(t, "no") }
`, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := skips(file); !slices.Equal(got, []string{"plain", "formatted", "now", "asks"}) {
		t.Errorf("found %q", got)
	}
}

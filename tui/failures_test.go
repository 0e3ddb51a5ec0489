package tui

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"touchdown/backend/message"
	"touchdown/steps/event"
	"touchdown/steps/view"
)

// phoned is a code that a person can read over a telephone: a hyphen, by which this test finds it, and none of 0, O, 1 and I.
var phoned = regexp.MustCompile(`^[A-HJ-NP-Z]{2,5}-[A-HJ-NP-Z2-9]{1,5}$`)

// coded is how a code looks in the source where nothing else tells that it is one.
var coded = regexp.MustCompile(`^[A-Z]{2,5}-[A-Z0-9]{1,6}$`)

// failures are the codes that the program can give, with the sentences that stand beside each in the source.
func failures(t *testing.T) map[string][]string {
	t.Helper()
	files, consts, found := map[string]*ast.File{}, map[string]map[string]string{}, map[string][]string{}
	for _, folder := range []string{"backend", "steps", "cmd", "tui"} {
		err := filepath.WalkDir(filepath.Join("..", folder), func(name string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
				files[name], err = parser.ParseFile(token.NewFileSet(), name, nil, 0)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, file := range files {
		dir := filepath.Dir(name)
		if consts[dir] == nil {
			consts[dir] = map[string]string{}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 && coded.MatchString(literal(v.Values[0])) {
				code := literal(v.Values[0])
				consts[dir][v.Names[0].Name] = code
				if _, there := found[code]; !there {
					found[code] = nil // known, with no text yet
				}
			}
			return true
		})
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		ast.Inspect(files[name], func(n ast.Node) bool {
			if code := codeOf(n, consts[filepath.Dir(name)]); code != "" {
				if texts := textsIn(n); len(texts) > len(found[code]) {
					found[code] = texts
				} else {
					found[code] = slices.Clip(found[code])
				}
			}
			return true
		})
	}
	return found
}

// codeOf is the code that a node gives to a failure, or "".
func codeOf(n ast.Node, consts map[string]string) string {
	value := func(e ast.Expr) string {
		if id, ok := e.(*ast.Ident); ok {
			return consts[id.Name]
		}
		return literal(e)
	}
	var all []ast.Expr
	switch n := n.(type) {
	case *ast.CompositeLit:
		for _, e := range n.Elts {
			if pair, ok := e.(*ast.KeyValueExpr); ok {
				if id, ok := pair.Key.(*ast.Ident); ok && id.Name == "Code" {
					return value(pair.Value)
				}
			}
		}
		if len(n.Elts) > 2 && len(textsIn(n)) > 0 {
			all = n.Elts[:1]
		}
	case *ast.CallExpr:
		all = n.Args
	case *ast.AssignStmt:
		all = n.Rhs
	}
	for _, e := range all {
		if code := value(e); coded.MatchString(code) {
			return code
		}
	}
	return ""
}

func literal(e ast.Expr) string {
	if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		s, _ := strconv.Unquote(lit.Value)
		return s
	}
	return ""
}

// textsIn are the texts for a person in a node.
func textsIn(n ast.Node) (all []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && len(call.Args) > 0 {
			if fun, ok := call.Fun.(*ast.SelectorExpr); ok && (fun.Sel.Name == "T" || fun.Sel.Name == "F") && literal(call.Args[0]) != "" {
				all = append(all, literal(call.Args[0]))
			}
		}
		return true
	})
	return all
}

// fixture is what one failure says.
type fixture struct{ code, what, fix string }

// fixtures are those of testdata/failures.txt: a code, what failed and what to try, each on its line, then an empty one.
func fixtures(t *testing.T) (all []fixture) {
	t.Helper()
	data, err := os.ReadFile("testdata/failures.txt")
	if err != nil {
		t.Fatal(err)
	}
	for block := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n\n") {
		lines := strings.Split(block, "\n")
		if len(lines) != 3 {
			t.Fatalf("not three lines: %q", block)
		}
		all = append(all, fixture{lines[0], lines[1], lines[2]})
	}
	return all
}

// TestEachFailureHasAFixture: every code of the source is in testdata/failures.txt, with the sentences that the source has, and no other.
func TestEachFailureHasAFixture(t *testing.T) {
	codes := failures(t)
	had := map[string]bool{}
	for _, f := range fixtures(t) {
		had[f.code] = true
		texts, is := codes[f.code]
		if !is {
			t.Errorf("nothing gives the code %s any more", f.code)
		}
		says := func(text string) bool { return text == f.what || text == f.fix }
		if len(texts) > 0 && !slices.ContainsFunc(texts, says) || len(texts) > 1 && (!slices.Contains(texts, f.what) || !slices.Contains(texts, f.fix)) {
			t.Errorf("%s does not say what its fixture has: %q", f.code, texts)
		}
	}
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		if !had[code] {
			t.Errorf("no fixture in testdata/failures.txt:\n%s\n%s", code, strings.Join(codes[code], "\n"))
		}
	}
}

// unspaced is a text without blanks and line breaks: a page wraps it.
func unspaced(s string) string { return strings.Join(strings.Fields(s), "") }

// TestEachFailureHasAPage: what failed and why, what is safe, ways on and a code for the telephone stand on the page of each failure.
func TestEachFailureHasAPage(t *testing.T) {
	argument := regexp.MustCompile(`%(\[\d\])?[sdvqw]`)
	b := newBench(t, 80, 24, failed)
	for _, f := range fixtures(t) {
		if !phoned.MatchString(f.code) || len(f.code) > 8 {
			t.Errorf("%s cannot be read over a telephone", f.code)
		}
		what, fix := argument.ReplaceAllString(f.what, "store0042"), argument.ReplaceAllString(f.fix, "store0042")
		b.fake.change(func(s *view.Snapshot) {
			failed(s)
			s.Problem = &event.Trouble{Code: f.code, Summary: message.Data(what), Fix: message.Data(fix)}
		})
		b.refresh()
		title, safe := "FAILED", texts["problem.safe"]
		switch f.code {
		case view.RecordsLost:
			title, safe = texts["lost.title"], texts["lost.safe"]
		case view.Halted:
			title = "STOPPED"
		}
		page := unspaced(b.screen())
		for _, want := range []string{what, "Try: " + fix, "Code to read over the phone: " + f.code, safe, title} {
			if !strings.Contains(page, unspaced(want)) {
				t.Errorf("%s: the page lacks %q:\n%s", f.code, want, b.screen())
			}
		}
		ways := 0
		for _, button := range buttonsOf(b.app.top()) {
			if button.careful {
				ways++
			}
		}
		if ways < 2 {
			t.Errorf("%s: %d ways on", f.code, ways)
		}
	}
}

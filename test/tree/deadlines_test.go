package tree

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// deadlines is the list of what the program ends, or begins, by the clock.
const deadlines = "../deadlines.md"

// timed are the functions that make something happen by the clock, and which of their arguments says when.
var timed = map[string]int{
	"context.WithTimeout": 1, "context.WithTimeoutCause": 1, "context.WithDeadline": 1, "context.WithDeadlineCause": 1,
	"time.After": 0, "time.NewTimer": 0, "time.AfterFunc": 0,
}

// untimed are types with a field Limit that is not a time.
var untimed = []string{"metav1.ListOptions"}

// deadline is a place in the program: its file, the declared function or name around it, and the expression that says when.
type deadline struct{ file, in, when string }

func (d deadline) String() string { return fmt.Sprintf("`%s` `%s` `%s`", d.file, d.in, d.when) }

// deadlinesOf are those of a file: calls, the end of a loop that is counted from now, and what a library or a wait of the cluster is given as its limit.
func deadlinesOf(name string, files *token.FileSet, file *ast.File) (all []deadline) {
	for _, d := range file.Decls {
		in := "the file"
		if f, ok := d.(*ast.FuncDecl); ok {
			in = f.Name.Name
		}
		found := func(when ast.Expr) {
			var text bytes.Buffer
			_ = printer.Fprint(&text, files, when)
			if d := (deadline{name, in, text.String()}); !slices.Contains(all, d) {
				all = append(all, d)
			}
		}
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				name, of := selected(n.Fun)
				if at, ok := timed[of+"."+name]; ok && len(n.Args) > at {
					found(n.Args[at])
				}
				if fromNow(n) {
					found(n.Args[0])
				}
			case *ast.CompositeLit:
				if name, of := selected(n.Type); n.Type == nil || slices.Contains(untimed, of+"."+name) {
					return true
				}
				for _, e := range n.Elts {
					if kv, ok := e.(*ast.KeyValueExpr); ok && isLimit(kv.Key) {
						found(kv.Value)
					}
				}
			}
			return true
		})
	}
	return all
}

// fromNow tells time.Now().Add(x).
func fromNow(call *ast.CallExpr) bool {
	add, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || add.Sel.Name != "Add" || len(call.Args) != 1 {
		return false
	}
	now, ok := add.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	name, of := selected(now.Fun)
	return of == "time" && name == "Now"
}

func isLimit(key ast.Expr) bool {
	name, ok := key.(*ast.Ident)
	return ok && (name.Name == "Limit" || strings.HasSuffix(name.Name, "Timeout"))
}

// rowsOf reads the table: the place, how long, and why that is right.
func rowsOf(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(deadlines)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		place := strings.TrimSpace(cells[0])
		if len(cells) != 3 || strings.TrimSpace(cells[1]) == "" || len(strings.TrimSpace(cells[2])) < 15 {
			t.Errorf("a row wants a place, a length and a reason: %s", line)
			continue
		}
		if _, twice := all[place]; twice {
			t.Errorf("there are two rows of %s", place)
		}
		all[place] = strings.TrimSpace(cells[2])
	}
	return all
}

// TestEachDeadlineHasItsReason: whatever the program ends by the clock stands in the list, with why a machine that gives it little processor time
// does not come to a wrong verdict by it. Tools that only tests import are not the program.
func TestEachDeadlineHasItsReason(t *testing.T) {
	rows, found := rowsOf(t), map[string]bool{}
	for _, top := range product {
		err := filepath.WalkDir(filepath.Join("../..", top), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && strings.HasSuffix(d.Name(), "test"):
				return fs.SkipDir
			case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, 0)
			if err != nil {
				return fmt.Errorf("parsing: %w", err)
			}
			name, err := filepath.Rel("../..", path)
			if err != nil {
				return fmt.Errorf("naming: %w", err)
			}
			for _, d := range deadlinesOf(name, files, file) {
				found[d.String()] = true
				if rows[d.String()] == "" {
					t.Errorf("not in %s: | %s | length | why |", filepath.Base(deadlines), d)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for place := range rows {
		if !found[place] {
			t.Errorf("in %s, and not in the program: %s", filepath.Base(deadlines), place)
		}
	}
}

// TestDeadlinesAreFound in whatever way they stand.
func TestDeadlinesAreFound(t *testing.T) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "x.go", `package x
func f() {
	ctx, stop := context.WithTimeout(ctx, 3 * time.Second)
	for end := time.Now().Add(limit); ; { <-time.After(pause) }
	go func() { c := &http.Client{Timeout: short} }()
	w := kube.Wait{What: x, Limit: long}
	_ = metav1.ListOptions{Limit: 5}
	_ = time.Now().Sub(x)
	time.AfterFunc(0, g)
}
var later = time.NewTimer(some)`, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range deadlinesOf("x.go", files, file) {
		got = append(got, d.in+" "+d.when)
	}
	if want := []string{"f 3 * time.Second", "f limit", "f pause", "f short", "f long", "f 0", "the file some"}; !slices.Equal(got, want) {
		t.Errorf("found %q\nwant  %q", got, want)
	}
}

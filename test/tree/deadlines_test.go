package tree

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/printer"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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

// ages are the files, and functions of files, whose lengths are ages, settings that are judged, or words for a person. They end nothing.
var ages = map[string]string{
	"backend/certs/":                            "the life of a certificate",
	"backend/csr/":                              "the age of a request",
	"backend/hardware/burnin/judge.go":          "words",
	"backend/hardware/latency.go judge":         "what the disk took",
	"backend/health/certs.go":                   "the life of a certificate",
	"backend/images/pull.go pulling":            "words",
	"backend/login/kubeconfig.go NewKubeconfig": "the life of a certificate",
	"backend/login/signer.go":                   "the life of a certificate",
	"backend/probe/ntp.go judgeSources":         "how far clocks are apart",
	"backend/probe/registry.go judgeChain":      "how far clocks are apart",
	"steps/clock.go":                            "how far clocks are apart",
	"steps/credentials.go judgeOwn":             "the life of a certificate",
	"steps/engine/answers.go lock":              "a setting",
	"steps/site/":                               "settings",
}

// sayers are the functions and methods that make words, a setting or a rounder time of a length.
var sayers = []string{"Round", "Truncate", "Errorf", "Sprintf", "DurationVar", "Or"}

// setting is the length in an argument for another program.
var setting = regexp.MustCompile(`--(timeout|wait|max-time|on-active)\b|(Timeout\w*|RuntimeMax)Sec=`)

// untimed are types with a field Limit that is not a time.
var untimed = []string{"metav1.ListOptions"}

// deadline is a place in the program: its file, the declared function or name around it, and the expression that says when.
type deadline struct{ file, in, when string }

func (d deadline) String() string { return fmt.Sprintf("`%s` `%s` `%s`", d.file, d.in, d.when) }

// deadlinesOf are those of a file: lengths that a function is given, that the time passed is held against, and that a library or a wait of the
// cluster is given as its limit; and arguments of other programs.
func (p *program) deadlinesOf(name string, file *ast.File) (all []deadline) {
	for _, d := range file.Decls {
		in := "the file"
		if f, ok := d.(*ast.FuncDecl); ok {
			in = f.Name.Name
		}
		known := p.measured(d)
		ast.Inspect(d, func(n ast.Node) bool {
			for _, when := range p.timesIn(n, known) {
				var text bytes.Buffer
				_ = printer.Fprint(&text, p.files, when)
				if d := (deadline{name, in, text.String()}); !slices.Contains(all, d) {
					all = append(all, d)
				}
			}
			return true
		})
	}
	return all
}

// ageOf is the exception under which a place falls; "" for none.
func ageOf(d deadline) string {
	for of := range ages {
		file, in, function := strings.Cut(of, " ")
		if d.file == file && (!function || d.in == in) || strings.HasSuffix(file, "/") && strings.HasPrefix(d.file, file) {
			return of
		}
	}
	return ""
}

// timesIn are the expressions of a node that say when.
func (p *program) timesIn(n ast.Node, known map[types.Object]bool) (all []ast.Expr) {
	switch n := n.(type) {
	case *ast.CallExpr:
		name, of := selected(n.Fun)
		if at, ok := timed[of+"."+name]; ok && len(n.Args) > at {
			return []ast.Expr{n.Args[at]}
		}
		if fromNow(n) {
			return n.Args
		}
		return p.handed(n)
	case *ast.BinaryExpr:
		if length := p.compared(n, known); length != nil {
			return []ast.Expr{length}
		}
	case *ast.BasicLit:
		if n.Kind == token.STRING && setting.MatchString(n.Value) {
			return []ast.Expr{n}
		}
	case *ast.CompositeLit:
		if name, of := selected(n.Type); n.Type == nil || slices.Contains(untimed, of+"."+name) {
			return nil
		}
		for _, e := range n.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok && isLimit(kv.Key) {
				all = append(all, kv.Value)
			}
		}
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

// goDeadlines are those of the program. Tools that only tests import are not the program.
func goDeadlines() (all []deadline, err error) {
	p, err := newProgram()
	if err != nil {
		return nil, err
	}
	for _, top := range product {
		err := filepath.WalkDir(filepath.Join("../..", top), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case !d.IsDir():
				return nil
			case strings.HasSuffix(d.Name(), "test"):
				return fs.SkipDir
			}
			folder := strings.TrimPrefix(filepath.ToSlash(path), "../../")
			_, err = p.Import("touchdown/" + folder)
			for _, file := range p.sources[folder] {
				name := strings.TrimPrefix(filepath.ToSlash(p.files.Position(file.Pos()).Filename), "../../")
				all = append(all, p.deadlinesOf(name, file)...)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// TestEachDeadlineHasItsReason: whatever the program ends by the clock stands in the list, with why a machine that gives it little processor time
// does not come to a wrong verdict by it.
func TestEachDeadlineHasItsReason(t *testing.T) {
	all, err := unitDeadlines()
	if err != nil {
		t.Fatal(err)
	}
	ofGo, err := goDeadlines()
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, ofGo...)
	rows, found, used := rowsOf(t), map[string]bool{}, map[string]bool{}
	for _, d := range all {
		if of := ageOf(d); of != "" {
			used[of] = true
			continue
		}
		found[d.String()] = true
		if rows[d.String()] == "" {
			t.Errorf("not in %s: | %s | length | why |", filepath.Base(deadlines), d)
		}
	}
	for of := range ages {
		if !used[of] {
			t.Errorf("the exception of %s is for nothing: take it out of the list", of)
		}
	}
	for place := range rows {
		if !found[place] {
			t.Errorf("in %s, and not in the program: %s", filepath.Base(deadlines), place)
		}
	}
}

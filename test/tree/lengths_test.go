package tree

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// program is the type-checked source of the product, with the packages time and context. Of other packages nothing is known.
type program struct {
	files    *token.FileSet
	standard types.Importer
	read     map[string]*types.Package
	sources  map[string][]*ast.File // by folder
	types.Info
}

func newProgram() (*program, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output() // a test that is built with -trimpath does not know it
	if err != nil {
		return nil, fmt.Errorf("asking for the folder of Go: %w", err)
	}
	build.Default.GOROOT = strings.TrimSpace(string(root))
	files := token.NewFileSet()
	return &program{
		files: files, standard: importer.ForCompiler(files, "source", nil), read: map[string]*types.Package{}, sources: map[string][]*ast.File{},
		Info: types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}},
	}, nil
}

// Import reads a package of the product.
func (p *program) Import(path string) (*types.Package, error) {
	if path == "time" || path == "context" {
		return p.standard.Import(path)
	}
	folder, ours := strings.CutPrefix(path, "touchdown/")
	if !ours {
		return nil, errors.New("not read")
	}
	if known := p.read[path]; known != nil {
		return known, nil
	}
	names, err := filepath.Glob(filepath.Join("../..", folder, "*.go"))
	if err != nil {
		return nil, fmt.Errorf("listing: %w", err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(p.files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("parsing: %w", err)
		}
		p.sources[folder] = append(p.sources[folder], file)
	}
	return p.check(path, p.sources[folder]), nil
}

// check finds out the types of a package. The errors are those of the packages that are not known.
func (p *program) check(path string, files []*ast.File) *types.Package {
	config := types.Config{Importer: p, Error: func(error) {}}
	p.read[path], _ = config.Check(path, p.files, files, &p.Info)
	return p.read[path]
}

func isLength(t types.Type) bool { return t != nil && t.String() == "time.Duration" }

// named tells whether a length has a name or a number in the program: a constant, a variable of the package or a field. What a function
// got as an argument has its name at the caller, and what another function returns has it there.
func (p *program) named(length ast.Expr) (is bool) {
	ast.Inspect(length, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			t := p.Types[n.Fun]
			name, of := selected(n.Fun)
			return t.IsBuiltin() || t.IsType() || of == "cmp" && name == "Or"
		case *ast.Ident:
			switch o := p.Uses[n].(type) {
			case *types.Const:
				is = true
			case *types.Var:
				is = is || o.IsField() || o.Pkg() != nil && o.Parent() == o.Pkg().Scope()
			}
		}
		return !is
	})
	return is
}

// handed are the arguments of a call that are lengths, as the function declares them.
func (p *program) handed(call *ast.CallExpr) (all []ast.Expr) {
	of, ok := p.TypeOf(call.Fun).(*types.Signature)
	if name, _ := selected(call.Fun); !ok || p.Types[call.Fun].IsBuiltin() || slices.Contains(sayers, name) {
		return nil
	}
	for i, arg := range call.Args {
		if i < of.Params().Len() && isLength(of.Params().At(i).Type()) && p.named(arg) {
			all = append(all, arg)
		}
	}
	return all
}

// measured are the variables of a function that hold how much time has passed.
func (p *program) measured(within ast.Node) map[types.Object]bool {
	all := map[types.Object]bool{}
	ast.Inspect(within, func(n ast.Node) bool {
		set, ok := n.(*ast.AssignStmt)
		if !ok || len(set.Lhs) != len(set.Rhs) {
			return true
		}
		for i, to := range set.Lhs {
			if name, ok := to.(*ast.Ident); ok && p.passed(set.Rhs[i], all) {
				all[p.ObjectOf(name)] = true
			}
		}
		return true
	})
	return all
}

// passed tells whether an expression is how much time has passed: it asks time for it, or a function of the product that does.
func (p *program) passed(e ast.Expr, known map[types.Object]bool) bool {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return p.passed(e.X, known)
	case *ast.BinaryExpr:
		return p.passed(e.X, known) || p.passed(e.Y, known)
	case *ast.Ident:
		return known[p.Uses[e]]
	case *ast.CallExpr:
		if t := p.Types[e.Fun]; t.IsBuiltin() || t.IsType() || !isLength(p.TypeOf(e)) {
			return t.IsBuiltin() && slices.ContainsFunc(e.Args, func(a ast.Expr) bool { return p.passed(a, known) })
		}
		if of, ok := e.Fun.(*ast.SelectorExpr); ok && isLength(p.TypeOf(of.X)) { // Abs, Round
			return p.passed(of.X, known)
		}
		return true
	}
	return false
}

// compared is the length that a comparison holds against the time that has passed, nil for other comparisons and for one with 0.
func (p *program) compared(n *ast.BinaryExpr, known map[types.Object]bool) ast.Expr {
	order := []token.Token{token.LSS, token.LEQ, token.GTR, token.GEQ}
	if !slices.Contains(order, n.Op) || !isLength(p.TypeOf(n.X)) || !isLength(p.TypeOf(n.Y)) {
		return nil
	}
	length := n.Y
	switch left, right := p.passed(n.X, known), p.passed(n.Y, known); {
	case left == right:
		return nil
	case right:
		length = n.X
	}
	if v := p.Types[length].Value; v != nil && v.ExactString() == "0" {
		return nil
	}
	return length
}

// TestDeadlinesAreFound in whatever way they stand.
func TestDeadlinesAreFound(t *testing.T) {
	p, err := newProgram()
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(p.files, "x.go", `package x

import ("context"; "time")

const limit = time.Second

type settings struct { Poll, For time.Duration }

func await(time.Duration) {}
func say(string, any) {}
func short(d time.Duration) time.Duration { return d }

func f(ctx context.Context, pause time.Duration, s settings, began, made time.Time) {
	ctx, stop := context.WithTimeout(ctx, 3 * time.Second)
	for end := time.Now().Add(pause); ; { <-time.After(pause) }
	go func() { c := &http.Client{Timeout: short} }()
	w := kube.Wait{What: x, Limit: long}
	_ = metav1.ListOptions{Limit: 5}
	time.AfterFunc(0, g)
	await(limit + 1)
	await(s.Poll)
	await(min(pause, limit))
	await(pause)
	say("", limit)
	await(short(pause).Round(time.Minute))
	if time.Since(began) >= pause || s.For <= made.Sub(began).Abs() || time.Until(made) > 0 || pause < limit { return }
	took := time.Since(began)
	_ = took > 2 * limit
	_ = made.After(began.Add(4 * time.Second))
	run("ovs-vsctl", "--timeout=5")
}

var later = time.NewTimer(limit)`, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	p.check("x", []*ast.File{file})
	var got []string
	for _, d := range p.deadlinesOf("x.go", file) {
		got = append(got, d.in+" "+d.when)
	}
	want := []string{
		"f 3 * time.Second", "f pause", "f short", "f long", "f 0", "f limit + 1", "f s.Poll", "f min(pause, limit)", "f s.For", "f 2 * limit",
		"f 4 * time.Second", `f "--timeout=5"`, "the file limit",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %q\nwant  %q", got, want)
	}
}

package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// module is the import path of the repository.
const module = "touchdown"

// marks are the names by which a test does more in a row than among the quick ones: the test may be left out there, or be shorter.
// Where another package of the tests uses one of them, source.leads finds it.
var marks = map[string]string{module + "/test/wait": "Slow", "testing": "Short", module + "/test/race": "On"}

// aTest is a test of a package.
type aTest struct {
	name  string
	doc   string // its comment, in one line
	quick bool   // does the same with -short as without
}

// testsOf are the tests of a package. One is quick where nothing that it reaches, as far as it can be told, asks for anything that -short or
// the race detector changes. Who uses a type is taken to call each of its methods, so that a test counts as a slow one rather than as a quick
// one.
func testsOf(root, pkg string) ([]aTest, error) {
	s := &source{root: root, fset: token.NewFileSet()}
	g, err := s.graph(pkg, true)
	if err != nil {
		return nil, err
	}
	var all []aTest
	always := false // something that runs before each test asks for it
	twice := map[string]bool{}
	for d, is := range g.funcs {
		if !is {
			continue
		}
		slow := g.reaches(d, map[decl]bool{})
		test := strings.HasPrefix(d.name, "Test") || strings.HasPrefix(d.name, "Fuzz") || strings.HasPrefix(d.name, "Example")
		switch {
		case d.name == "init" || d.name == "TestMain":
			always = always || slow
		case test:
			all = append(all, aTest{d.name, strings.Join(strings.Fields(g.docs[d]), " "), !slow})
			twice[d.name] = twice[d.name] || slow // of a package and of its tests from outside
		}
	}
	for i, t := range all {
		all[i].quick = t.quick && !always && !twice[t.name]
	}
	slices.SortFunc(all, func(a, b aTest) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

// quickTests are the names of a package's quick tests.
func quickTests(root, pkg string) (quick []string, err error) {
	all, err := testsOf(root, pkg)
	for _, t := range all {
		if t.quick {
			quick = append(quick, t.name)
		}
	}
	return quick, err
}

// decl is something that a package declares at its top level: a function, a method, a variable or a type.
type decl struct {
	name string
	at   token.Pos
}

// graph is what each declaration of a package uses of the others.
type graph struct {
	fset   *token.FileSet
	uses   map[decl][]decl
	marked map[decl]bool
	docs   map[decl]string
	funcs  map[decl]bool // functions, without methods
}

// inTest tells whether something stands in a file of tests, which nothing outside of them can use.
func (g *graph) inTest(at token.Pos) bool {
	return strings.HasSuffix(g.fset.Position(at).Filename, "_test.go")
}

// reaches tells whether a declaration uses a mark, or another one that does.
func (g *graph) reaches(d decl, seen map[decl]bool) bool {
	if g.marked[d] {
		return true
	}
	seen[d] = true
	return slices.ContainsFunc(g.uses[d], func(used decl) bool { return !seen[used] && g.reaches(used, seen) })
}

// source reads the repository's packages.
type source struct {
	root string
	fset *token.FileSet
}

// elsewhere is an importer without packages: of what is imported, only the name is looked at.
type elsewhere struct{}

func (elsewhere) Import(string) (*types.Package, error) { return nil, errors.New("not read") }

func (s *source) graph(pkg string, tests bool) (*graph, error) {
	names, err := filepath.Glob(filepath.Join(s.root, pkg, "*.go"))
	if err != nil {
		return nil, err
	}
	g := &graph{fset: s.fset, uses: map[decl][]decl{}, marked: map[decl]bool{}, docs: map[decl]string{}, funcs: map[decl]bool{}}
	of := map[string][]*ast.File{} // a package, and that of its tests from outside
	for _, name := range names {
		if !tests && strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(s.fset, name, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return nil, fmt.Errorf("reading the tests: %w", err)
		}
		of[f.Name.Name] = append(of[f.Name.Name], f)
	}
	if len(of) == 0 {
		return nil, fmt.Errorf("no Go file in %s", pkg)
	}
	for _, files := range of {
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
		check := types.Config{Importer: elsewhere{}, Error: func(error) {}}
		p, _ := check.Check(pkg, s.fset, files, info) // its errors are those of the packages that were not read
		for _, f := range files {
			imports, err := s.marksOf(f)
			if err != nil {
				return nil, err
			}
			for d, node := range declarations(f) {
				g.add(d, node, p, info, imports)
			}
		}
	}
	return g, nil
}

// add takes in a declaration and what stands in it.
func (g *graph) add(d decl, node ast.Node, p *types.Package, info *types.Info, imports map[string]string) {
	g.uses[d] = append(g.uses[d], methodsOf(d, p)...)
	if f, ok := node.(*ast.FuncDecl); ok {
		g.docs[d], g.funcs[d] = f.Doc.Text(), f.Recv == nil
	}
	of := map[ast.Expr]bool{} // names that belong to what stands before their dot, and names of fields
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			of[n.Sel] = true
			if x, ok := n.X.(*ast.Ident); ok {
				mark := imports[x.Name]
				g.marked[d] = g.marked[d] || mark == n.Sel.Name || mark == "*"
			}
		case *ast.KeyValueExpr:
			of[n.Key] = true
		case *ast.Ident:
			o := info.Uses[n]
			if _, made := info.Defs[n]; o == nil && !made && !of[n] { // in an expression with an unknown type
				o = p.Scope().Lookup(n.Name)
			}
			if o != nil && (g.inTest(d.at) || !g.inTest(o.Pos())) {
				g.uses[d] = append(g.uses[d], decl{o.Name(), o.Pos()})
			}
		}
		return true
	})
}

// methodsOf are the methods of a type.
func methodsOf(d decl, p *types.Package) (all []decl) {
	o := p.Scope().Lookup(d.name)
	if o == nil || o.Pos() != d.at {
		return nil
	}
	if t, ok := o.Type().(*types.Named); ok {
		for m := range t.Methods() {
			all = append(all, decl{m.Name(), m.Pos()})
		}
	}
	return all
}

// declarations are a file's top declarations.
func declarations(f *ast.File) map[decl]ast.Node {
	all := map[decl]ast.Node{}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			all[decl{d.Name.Name, d.Name.Pos()}] = d
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						all[decl{name.Name, name.Pos()}] = spec
					}
				case *ast.TypeSpec:
					all[decl{spec.Name.Name, spec.Name.Pos()}] = spec
				}
			}
		}
	}
	return all
}

// marksOf are the names under which a file knows packages that lead to a mark, with the name in them that does; "*" is any.
func (s *source) marksOf(f *ast.File) (map[string]string, error) {
	of := map[string]string{}
	for _, spec := range f.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("reading an import: %w", err)
		}
		name := path.Base(imported)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		leads, err := s.leads(imported)
		switch {
		case err != nil:
			return nil, err
		case marks[imported] != "":
			of[name] = marks[imported]
		case leads:
			of[name] = "*"
		}
	}
	return of, nil
}

// leading remembers leads for the whole run, in which no source changes: by root and import path.
var leading sync.Map

// leads tells whether a package, such as one of helpers, has anything that reaches a mark.
func (s *source) leads(imported string) (leads bool, err error) {
	pkg, ours := strings.CutPrefix(imported, module+"/")
	if !ours || marks[imported] != "" {
		return false, nil
	}
	key := [2]string{s.root, imported}
	if known, ok := leading.Load(key); ok {
		return known.(bool), nil
	}
	g, err := s.graph(pkg, false)
	if err != nil {
		return false, err
	}
	for _, marked := range g.marked {
		leads = leads || marked
	}
	leading.Store(key, leads)
	return leads, nil
}

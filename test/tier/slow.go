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
	s := &source{root: root, fset: token.NewFileSet(), slow: map[string]bool{}}
	g, err := s.graph(pkg, true)
	if err != nil {
		return nil, err
	}
	var all []aTest
	for d := range g.uses {
		test := strings.HasPrefix(d.name, "Test") || strings.HasPrefix(d.name, "Fuzz") || strings.HasPrefix(d.name, "Example")
		if test && d.name != "TestMain" {
			all = append(all, aTest{d.name, strings.Join(strings.Fields(g.docs[d]), " "), !g.reaches(d, map[decl]bool{})})
		}
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
	uses   map[decl][]decl
	marked map[decl]bool
	docs   map[decl]string
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
	slow map[string]bool // by import path: whether a package of the tests leads to a mark
}

// elsewhere is an importer without packages: of what is imported, only the name is looked at.
type elsewhere struct{}

func (elsewhere) Import(string) (*types.Package, error) { return nil, errors.New("not read") }

func (s *source) graph(pkg string, tests bool) (*graph, error) {
	names, err := filepath.Glob(filepath.Join(s.root, pkg, "*.go"))
	if err != nil {
		return nil, err
	}
	g := &graph{uses: map[decl][]decl{}, marked: map[decl]bool{}, docs: map[decl]string{}}
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
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
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
		g.docs[d] = f.Doc.Text()
	}
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				mark := imports[x.Name]
				g.marked[d] = g.marked[d] || mark == n.Sel.Name || mark == "*"
			}
		case *ast.Ident:
			if o := info.Uses[n]; o != nil {
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

// leads tells whether a package of the tests has anything that reaches a mark.
func (s *source) leads(imported string) (bool, error) {
	pkg, ours := strings.CutPrefix(imported, module+"/test/")
	if known, ok := s.slow[imported]; ok || !ours || marks[imported] != "" {
		return known, nil
	}
	g, err := s.graph(filepath.Join("test", pkg), false)
	if err != nil {
		return false, err
	}
	for d := range g.marked {
		s.slow[imported] = s.slow[imported] || g.marked[d]
	}
	return s.slow[imported], nil
}

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// decls are the declarations of several packages: for each, the names from its package and from the bench that it uses, and whether it uses
// the built program.
type decls struct {
	names map[string][]string // by "package.name"
	uses  map[string]bool
	read  map[string]bool // packages
}

// add reads a package with its tests, and the packages below test that it imports. A name stands for every declaration of this name, methods
// among them: too many are found rather than too few.
func (d *decls) add(t *testing.T, pkg string) {
	t.Helper()
	if d.read[pkg] {
		return
	}
	d.read[pkg] = true
	files, err := filepath.Glob(filepath.Join(root, pkg, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		imported := map[string]string{}
		for _, i := range file.Imports {
			path, _ := strconv.Unquote(i.Path.Value)
			path, ours := strings.CutPrefix(path, "touchdown/test/")
			if !ours {
				continue
			}
			as := filepath.Base(path)
			if i.Name != nil {
				as = i.Name.Name
			}
			imported[as] = "test/" + path
			d.add(t, "test/"+path)
		}
		for _, decl := range file.Decls {
			for _, name := range declared(decl) {
				d.look(pkg+"."+name, pkg, decl, imported)
			}
		}
	}
}

func declared(decl ast.Decl) (names []string) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		return []string{decl.Name.Name}
	case *ast.GenDecl:
		for _, s := range decl.Specs {
			if v, ok := s.(*ast.ValueSpec); ok {
				for _, n := range v.Names {
					names = append(names, n.Name)
				}
			}
		}
	}
	return names
}

func (d *decls) look(name, pkg string, decl ast.Decl, imported map[string]string) {
	var texts []string
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			d.names[name] = append(d.names[name], pkg+"."+n.Name)
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && imported[x.Name] != "" {
				d.names[name] = append(d.names[name], imported[x.Name]+"."+n.Sel.Name)
			}
		case *ast.CallExpr: // of a node
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Program" && len(n.Args) == 0 {
				d.uses[name] = true
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				text, _ := strconv.Unquote(n.Value)
				texts = append(texts, text)
			}
		}
		return true
	})
	if strings.Contains(strings.Join(texts, "/"), ".cache/bin/touchdown") {
		d.uses[name] = true
	}
}

// reach tells which declaration that uses the built program a name leads to.
func (d *decls) reach(name string, seen map[string]bool) string {
	if seen[name] {
		return ""
	}
	seen[name] = true
	if d.uses[name] {
		return name
	}
	for _, next := range d.names[name] {
		if found := d.reach(next, seen); found != "" {
			return found
		}
	}
	return ""
}

// TestRowsThatUseTheProgramHaveItInTheirKey: a test that lays the built program into a node or a guest, directly or by what it
// calls, is run again when the program changes.
func TestRowsThatUseTheProgramHaveItInTheirKey(t *testing.T) {
	found := 0
	for _, r := range table {
		if r.Make != "" {
			continue
		}
		d := &decls{map[string][]string{}, map[string]bool{}, map[string]bool{}}
		d.add(t, r.Package)
		for _, name := range r.tests(t) {
			used := d.reach(r.Package+"."+name, map[string]bool{})
			if used == "" {
				continue
			}
			found++
			if !r.usesProgram() {
				t.Errorf("%s: %s uses the built program (%s), which is not in the row's key", r, name, used)
			}
		}
	}
	if found < 30 {
		t.Errorf("%d tests use the program: this test looks past them", found)
	}
}

// tests are the row's tests by name.
func (r Row) tests(t *testing.T) []string {
	t.Helper()
	if r.Run != "" {
		return []string{r.Run}
	}
	return slices.DeleteFunc(tests(t, filepath.Join(root, r.Package)), func(name string) bool {
		return slices.ContainsFunc(table, func(o Row) bool { return o.Package == r.Package && o.Run == name })
	})
}

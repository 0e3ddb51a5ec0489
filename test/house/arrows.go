package main

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
)

// arrows are which files of a package use what another one of it declares. A method counts for the file that it stands in.
type arrows map[string]map[string]bool

// foreign is an importer without packages: what a file uses of another package is not an arrow.
type foreign struct{}

func (foreign) Import(string) (*types.Package, error) { return nil, errors.New("not read") }

// drawn reads the files of a package, without its tests.
func drawn(dir string) (arrows, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	check := types.Config{Importer: foreign{}, Error: func(error) {}}
	p, _ := check.Check(dir, fset, files, info) // its errors are those of the packages that were not read
	found := arrows{}
	name := func(at token.Pos) string { return filepath.Base(fset.Position(at).Filename) }
	for id, o := range info.Uses {
		if o.Pkg() != p || !o.Pos().IsValid() {
			continue
		}
		from, to := name(id.Pos()), name(o.Pos())
		if found[from] == nil {
			found[from] = map[string]bool{}
		}
		if from != to {
			found[from][to] = true
		}
	}
	return found, nil
}

// up are the files that no order brings below what uses them: each of them is in a circle, or uses one.
func (a arrows) up() []string {
	rest := map[string]bool{}
	for file := range a {
		rest[file] = true
	}
	for before := -1; before != len(rest); {
		before = len(rest)
		for file := range rest {
			if !usesAny(a[file], rest) {
				delete(rest, file)
			}
		}
	}
	var out []string
	for file := range rest {
		out = append(out, file)
	}
	slices.Sort(out)
	return out
}

func usesAny(uses, of map[string]bool) bool {
	for file := range uses {
		if of[file] {
			return true
		}
	}
	return false
}

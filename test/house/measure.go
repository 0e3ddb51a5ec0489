package main

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// product are the top-level folders whose code is measured: what goes into the program.
var product = []string{"assets", "backend", "cmd", "iso-overlay", "steps", "tui"}

// sized is something that has a length or a count, and where it is.
type sized struct {
	Where string
	Size  int
}

// house is what was measured.
type house struct {
	Files     []sized // lines of each file
	Functions []sized // lines of each function
	Exported  []sized // exported names of each package at its top level, without methods
	Methods   []sized // methods of each type
	Twins     []sized // pairs of places that share six or more lines, with the lines that they share
}

// measure reads the product below root, without its tests.
func measure(root string) (*house, error) {
	h := &house{}
	exported, methods := map[string]int{}, map[string]int{}
	files := token.NewFileSet()
	var texts []text
	for _, top := range product {
		err := filepath.WalkDir(filepath.Join(root, top), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(files, name, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, name)
			if err != nil {
				return err
			}
			h.Files = append(h.Files, sized{rel, files.File(file.Pos()).LineCount()})
			for _, decl := range file.Decls {
				h.count(files, rel, decl, exported, methods)
			}
			one, err := shape(rel, name)
			texts = append(texts, one)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	h.Exported, h.Methods, h.Twins = listed(exported), listed(methods), twins(texts)
	for _, all := range [][]sized{h.Files, h.Functions, h.Exported, h.Methods, h.Twins} {
		slices.SortStableFunc(all, func(a, b sized) int { return cmp.Or(b.Size-a.Size, strings.Compare(a.Where, b.Where)) })
	}
	return h, nil
}

// count adds one declaration to what it counts for.
func (h *house) count(files *token.FileSet, rel string, decl ast.Decl, exported, methods map[string]int) {
	folder := path.Dir(rel)
	add := func(names ...*ast.Ident) {
		for _, n := range names {
			if n.IsExported() {
				exported[folder]++
			}
		}
	}
	switch d := decl.(type) {
	case *ast.FuncDecl:
		lines := files.Position(d.End()).Line - files.Position(d.Pos()).Line + 1
		h.Functions = append(h.Functions, sized{rel + " " + d.Name.Name, lines})
		if d.Recv == nil {
			add(d.Name)
			return
		}
		methods[folder+"."+receiver(d.Recv.List[0].Type)]++
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				add(s.Name)
			case *ast.ValueSpec:
				add(s.Names...)
			}
		}
	}
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}

func listed(counts map[string]int) []sized {
	var all []sized
	for where, n := range counts {
		all = append(all, sized{where, n})
	}
	return all
}

// spread returns the median, the size that 90 % do not exceed, and the largest. The list runs from the largest down.
func spread(all []sized) [3]int {
	if len(all) == 0 {
		return [3]int{}
	}
	return [3]int{all[len(all)/2].Size, all[len(all)/10].Size, all[0].Size}
}

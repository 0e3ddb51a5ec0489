package steps

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"touchdown/steps/site"
)

const sitePath = "touchdown/steps/site"

// sources are the type-checked files of steps and of its site configs. What they use of other packages is not known, and reads none
// of the site config: the backend does not know it.
type sources struct {
	site, steps *types.Package
	uses        map[types.Object]map[types.Object]bool // of each function, the functions and fields that it uses
}

func (s *sources) Import(path string) (*types.Package, error) {
	if path == sitePath {
		return s.site, nil
	}
	return nil, errors.New("not read")
}

// read type-checks the package in dir. The errors are those of the packages that are not known.
func (s *sources) read(t *testing.T, path, dir string) *types.Package {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	check := types.Config{Importer: s, Error: func(error) {}}
	p, _ := check.Check(path, fset, files, info)
	for _, file := range files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			used := map[types.Object]bool{}
			ast.Inspect(f.Body, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && info.Uses[id] != nil {
					used[info.Uses[id]] = true
				}
				return true
			})
			s.uses[info.Defs[f.Name]] = used
		}
	}
	return p
}

// leaves are the fields of the site config that a step's methods lead to, without those that only have parts.
func (s *sources) leaves(step string) map[types.Object]bool {
	found, seen := map[types.Object]bool{}, map[types.Object]bool{}
	var follow func(types.Object)
	follow = func(o types.Object) {
		if seen[o] {
			return
		}
		seen[o] = true
		if f, ok := o.(*types.Func); ok && f.Pkg() == s.site && slices.Contains([]string{"Clone", "Get", "Paths", "Set", "SetFrom", "setAnswer"}, f.Name()) {
			return // these take any path: whoever calls them has the paths of its fields
		}
		if f, ok := o.(*types.Var); ok && f.IsField() && f.Pkg() == s.site && s.parts(f.Type()) == nil {
			found[f] = true
		}
		for used := range s.uses[o] {
			follow(used)
		}
	}
	methods := types.NewMethodSet(types.NewPointer(s.steps.Scope().Lookup(step).Type()))
	for _, name := range []string{"Inspect", "Plan", "Run", "Skip"} {
		if m := methods.Lookup(s.steps, name); m != nil {
			follow(m.Obj())
		}
	}
	return found
}

// parts are the parts of a struct of the site config, nil for anything else.
func (s *sources) parts(of types.Type) *types.Struct {
	named, ok := of.(*types.Named)
	if !ok || named.Obj().Pkg() != s.site {
		return nil
	}
	parts, _ := named.Underlying().(*types.Struct)
	return parts
}

// named are the fields at and below a path of the site config.
func (s *sources) named(t *testing.T, path string) map[types.Object]bool {
	t.Helper()
	of := s.site.Scope().Lookup("Config").Type()
	var at *types.Var
	for name := range strings.SplitSeq(path, ".") {
		if at = s.part(of, name); at == nil {
			t.Fatalf("the site config has no %s: %s", path, name)
		}
		of = at.Type()
	}
	all := s.below(of)
	all[at] = true
	return all
}

// part is the field of that name in a document, among those of the structs that it takes in whole too; nil where there is none.
func (s *sources) part(of types.Type, name string) *types.Var {
	parts := s.parts(of)
	if parts == nil {
		return nil
	}
	for i := range parts.NumFields() {
		f := parts.Field(i)
		key, _, _ := strings.Cut(reflect.StructTag(parts.Tag(i)).Get("yaml"), ",")
		if key == name {
			return f
		}
		if f.Embedded() {
			if in := s.part(f.Type(), name); in != nil {
				return in
			}
		}
	}
	return nil
}

// below are the fields of a type and of its parts.
func (s *sources) below(of types.Type) map[types.Object]bool {
	all := map[types.Object]bool{}
	switch list := of.(type) {
	case *types.Slice:
		of = list.Elem()
	case *types.Pointer:
		of = list.Elem()
	}
	if parts := s.parts(of); parts != nil {
		for f := range parts.Fields() {
			all[f] = true
			maps.Copy(all, s.below(f.Type()))
		}
	}
	return all
}

// TestReadsAreWhatIsUsed: what a step names to be read is what its code uses, followed through the functions of steps and of the site
// config, and nothing else.
func TestReadsAreWhatIsUsed(t *testing.T) {
	s := &sources{uses: map[types.Object]map[types.Object]bool{}}
	s.site = s.read(t, sitePath, "site")
	s.steps = s.read(t, "touchdown/steps", ".")
	config, readers := s.below(s.site.Scope().Lookup("Spec").Type()), 0
	for _, stage := range Site(site.New(), Wiring{NodeNet: &NodeNetwork{}}) {
		for _, step := range stage.Steps {
			name := strings.TrimPrefix(fmt.Sprintf("%T", step), "*steps.")
			used, told := s.leaves(name), map[types.Object]bool{}
			if name == "Hardware" { // where it sends what is broken: no look depends on that, and a disk test need not begin again
				for _, path := range (*deliver)(nil).Reads() {
					maps.Copy(told, s.named(t, path))
				}
			}
			for _, f := range FieldsOf(step) {
				if !f.Beside && f.Repeats == "" {
					for o := range s.named(t, f.Path) {
						told[o] = true
					}
				}
			}
			if r, ok := step.(Reader); ok {
				readers++
				for _, path := range r.Reads() {
					all := s.named(t, path)
					idle := true
					for o := range all {
						told[o] = true
						idle = idle && !used[o]
					}
					if idle {
						t.Errorf("%s names %s and does not use it", name, path)
					}
				}
			}
			var missing []string
			for o := range used {
				if config[o] && !told[o] {
					missing = append(missing, s.where(o))
				}
			}
			if slices.Sort(missing); missing != nil {
				t.Errorf("%s uses %s and does not name it", name, strings.Join(missing, ", "))
			}
		}
	}
	if readers < 10 {
		t.Errorf("only %d steps name what they read", readers)
	}
}

// where is a field with the struct that it is in.
func (s *sources) where(field types.Object) string {
	for _, name := range s.site.Scope().Names() {
		if parts := s.parts(s.site.Scope().Lookup(name).Type()); parts != nil {
			for f := range parts.Fields() {
				if f == field {
					return name + "." + f.Name()
				}
			}
		}
	}
	return field.Name()
}

package tui

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// flow is what the program puts into what, in all packages that were read. Those of others are not read.
type flow struct {
	files    *token.FileSet
	info     *types.Info
	packages map[string]*types.Package
	alone    bool          // what a package imports is not read
	phrases  bool          // a word alone is not English
	folders  [][]*ast.File // the files of each package
	parsed   []*ast.File
	into     map[types.Object][]ast.Expr // variables, fields and parameters, by what is put into them
	from     map[types.Object][]ast.Expr // functions, by what they return
	seen     map[ast.Expr]bool
	found    map[token.Pos]string
}

func newFlow() *flow {
	return &flow{
		files: token.NewFileSet(), packages: map[string]*types.Package{},
		info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}},
		into: map[types.Object][]ast.Expr{}, from: map[types.Object][]ast.Expr{}, seen: map[ast.Expr]bool{}, found: map[token.Pos]string{},
	}
}

var _ types.Importer = (*flow)(nil)

// Import implements types.Importer for the packages of the repository.
func (f *flow) Import(name string) (*types.Package, error) {
	folder, ours := strings.CutPrefix(name, "touchdown/")
	if !ours || f.alone {
		return nothing{}.Import(name)
	}
	if p, known := f.packages[name]; known {
		return p, nil
	}
	parsed, err := parser.ParseDir(f.files, filepath.Join("..", folder), func(i fs.FileInfo) bool { return !strings.HasSuffix(i.Name(), "_test.go") }, 0)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	var list []*ast.File
	for _, p := range parsed {
		list = slices.AppendSeq(list, maps.Values(p.Files))
	}
	return f.check(name, list), nil
}

// check adds a package.
func (f *flow) check(name string, list []*ast.File) *types.Package {
	config := types.Config{Importer: f, Error: func(error) {}}
	p, _ := config.Check(name, f.files, list, f.info) // what is missing is what was not imported
	f.packages[name], f.parsed, f.folders = p, append(f.parsed, list...), append(f.folders, list)
	return p
}

// words are the English strings that get into arguments of message.F and message.Data, each with its place.
func (f *flow) words() (all []string) {
	for _, file := range f.parsed {
		ast.Inspect(file, f.read)
		ast.Inspect(file, f.label)
	}
	for _, file := range f.parsed {
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				switch types.ExprString(call.Fun) {
				case "message.F":
					f.all(call.Args[1:])
				case "message.Data":
					f.all(call.Args)
				}
			}
			return true
		})
	}
	for _, at := range slices.Sorted(maps.Keys(f.found)) {
		all = append(all, fmt.Sprintf("%s: %q becomes part of a message untranslated", f.files.Position(at), f.found[at]))
	}
	return all
}

// read notes what a statement puts where.
func (f *flow) read(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, to := range n.Lhs {
			f.put(f.object(to), n.Rhs[min(i, len(n.Rhs)-1)])
		}
	case *ast.ValueSpec:
		for i, to := range n.Names {
			if len(n.Values) > 0 {
				f.put(f.object(to), n.Values[min(i, len(n.Values)-1)])
			}
		}
	case *ast.RangeStmt:
		if n.Value != nil {
			f.put(f.object(n.Value), n.X)
		}
	case *ast.CompositeLit:
		f.fields(n)
	case *ast.CallExpr:
		f.parameters(n)
	case *ast.FuncDecl:
		if n.Body != nil {
			ast.Inspect(n.Body, func(inner ast.Node) bool {
				if r, ok := inner.(*ast.ReturnStmt); ok {
					f.from[f.info.Defs[n.Name]] = append(f.from[f.info.Defs[n.Name]], r.Results...)
				}
				_, function := inner.(*ast.FuncLit)
				return !function
			})
		}
	}
	return true
}

func (f *flow) put(to types.Object, what ast.Expr) {
	if to != nil {
		f.into[to] = append(f.into[to], what)
	}
}

func (f *flow) fields(n *ast.CompositeLit) {
	is := f.info.Types[n].Type
	if is == nil {
		return
	}
	if p, ok := is.Underlying().(*types.Pointer); ok {
		is = p.Elem()
	}
	of, ok := is.Underlying().(*types.Struct)
	if !ok {
		return
	}
	for i, e := range n.Elts {
		pair, named := e.(*ast.KeyValueExpr)
		for at := range of.NumFields() {
			if named && of.Field(at).Name() == types.ExprString(pair.Key) {
				f.put(of.Field(at), pair.Value)
			} else if !named && at == i {
				f.put(of.Field(at), e)
			}
		}
	}
}

func (f *flow) parameters(n *ast.CallExpr) {
	to := f.object(n.Fun)
	if to == nil {
		return
	}
	if is, ok := to.Type().(*types.Signature); ok && is.Params().Len() > 0 {
		for i, arg := range n.Args {
			f.put(is.Params().At(min(i, is.Params().Len()-1)), arg)
		}
	}
}

// object is the variable, field or function that an expression names, or a part of which it is.
func (f *flow) object(e ast.Expr) types.Object {
	switch e := e.(type) {
	case *ast.Ident:
		if o := f.info.Uses[e]; o != nil {
			return o
		}
		return f.info.Defs[e]
	case *ast.SelectorExpr:
		if s := f.info.Selections[e]; s != nil {
			return s.Obj()
		}
	case *ast.IndexExpr:
		return f.object(e.X)
	}
	return nil
}

// passing are the functions of other packages that hand their arguments on.
var passing = regexp.MustCompile(`^(fmt\.Sprintf?|strings\.(Join|Trim\w*)|cmp\.Or|append|string|slices\.\w+|maps\.\w+)$`)

// follow goes from an expression to all strings that it may be.
func (f *flow) follow(e ast.Expr) {
	if f.seen[e] {
		return
	}
	f.seen[e] = true
	if v := f.info.Types[e].Value; v != nil && v.Kind() == constant.String {
		if isEnglish(constant.StringVal(v), f.phrases) && !inEnglish.MatchString(f.files.Position(e.Pos()).Filename) {
			f.found[e.Pos()] = constant.StringVal(v)
		}
		return
	}
	switch e := e.(type) {
	case *ast.Ident, *ast.SelectorExpr:
		f.all(f.into[f.object(e)])
	case *ast.IndexExpr:
		f.follow(e.X)
	case *ast.SliceExpr:
		f.follow(e.X)
	case *ast.BinaryExpr:
		f.all([]ast.Expr{e.X, e.Y})
	case *ast.ParenExpr:
		f.follow(e.X)
	case *ast.KeyValueExpr:
		f.follow(e.Value)
	case *ast.CompositeLit:
		f.all(e.Elts)
	case *ast.CallExpr:
		if name := types.ExprString(e.Fun); f.loses(e) {
			f.found[e.Pos()] = name + "()"
		} else if passing.MatchString(name) {
			f.all(e.Args)
		} else if !strings.HasPrefix(name, "message.") && name != "t" { // the console's own texts have been translated
			f.all(f.from[f.object(e.Fun)])
		}
	}
}

func (f *flow) all(list []ast.Expr) {
	for _, e := range list {
		f.follow(e)
	}
}

// loses tells whether a call makes a string of an error or of a text, which no language can translate any more.
func (f *flow) loses(e *ast.CallExpr) bool {
	method, ok := e.Fun.(*ast.SelectorExpr)
	if !ok || len(e.Args) > 0 {
		return false
	}
	of := f.info.Types[method.X].Type
	return method.Sel.Name == "Error" || method.Sel.Name == "String" && of != nil && strings.HasSuffix(of.String(), "message.Text")
}

// label leaves out what a language calls a technical message.
func (f *flow) label(n ast.Node) bool {
	if call, ok := n.(*ast.CallExpr); ok && strings.HasSuffix(types.ExprString(call.Fun), "Verbatim") {
		for _, arg := range call.Args {
			f.seen[arg] = true
		}
	}
	return true
}

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
	"testing"
)

// TestArgumentsHaveNoWords: no argument of message.F is an English string of the program, which no language could translate. It follows an
// argument through the package: variables, fields, parameters and results.
func TestArgumentsHaveNoWords(t *testing.T) {
	for _, root := range []string{"../backend", "../cmd", "../steps", "."} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() || d.Name() == "testdata" {
				return err
			}
			files := token.NewFileSet()
			parsed, err := parser.ParseDir(files, path, func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0)
			if err != nil {
				return fmt.Errorf("reading %s: %w", path, err)
			}
			for _, p := range parsed {
				for _, found := range wordsInArguments(files, slices.Collect(maps.Values(p.Files))) {
					t.Error(found)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestWordsAreFound: what TestArgumentsHaveNoWords finds.
func TestWordsAreFound(t *testing.T) {
	for argument, want := range map[string]int{
		`"no cable"`: 1, `"%d kB"`: 0, `"crictl rmi"`: 0, `why`: 1, `s.why`: 1, `told(1)`: 2, `list`: 1, `say("it is gone")`: 1, `fmt.Sprint("of ", n)`: 1, `message.T("no cable")`: 0,
		`map[bool]string{true: "it is"}[a]`: 1, `names["a key"]`: 0, `strings.Join(all, " and ")`: 1, `"somewhere"`: 1, `"overlay"`: 0, `m.Get("a key")`: 0,
	} {
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, "sample.go", `package p
			type form struct{ why string }
			func told(n int) string { if n > 0 { return "so it is" }; return "or not" }
			func say(what string) string { return what }
			func f(s form, n int) {
				s.why = "it was so"
				why := "it is " + s.name
				var list []string
				list = append(list, "this one")
				_ = message.F("%s", `+argument+`)
			}`, 0)
		if err != nil {
			t.Fatal(err)
		}
		if found := wordsInArguments(files, []*ast.File{parsed}); len(found) != want {
			t.Errorf("%s: found %q", argument, found)
		}
	}
}

// noWords are the words that every language has as they are: names of resources, settings, keys and values of the site config.
var noWords = strings.Fields(`
	address apps authentication authentications autoconf broadcast client configmaps console consoles data dhcp disabled downloads etcd gateway
	ingress inline interfaces keep kind kubeapiservers kubecontrollermanagers machineconfigpools nmstate openshiftapiservers order overlay
	replace retail routes search secrets server sno spec static touchdown uid vdu warning`)

// others are phrases of other programs and places that are written as a machine has them.
var others = []string{
	"crictl rmi", "missing field ", "Invalid YAML string: ", // nmstate's
	"(not a URL)", "document ", "the desired state", ".(a key that is not shown)", // places in documents
	"in the node",             // a volume's name
	"none", "unknown", "down", // of the inventory; the sentences about them have messages
}

// inEnglish are files whose texts are written onto media for people at other computers, in English as reports are.
var inEnglish = regexp.MustCompile(`steps/engine/(leave|overwritten)\.go`)

// sentenceWord is a string with a word beside a blank, or one that is a word alone.
var sentenceWord = regexp.MustCompile(` [a-z]{2,}|[a-z]{2,} |^[a-z]{3,}$`)

// unitVerb is a verb of a format with the unitVerb of its number.
var unitVerb = regexp.MustCompile(`%[.0-9]*[a-zA-Z] ?(kB|MB|GB|KiB|MiB|GiB|ms|s|min|h|C|%%)?( |$)`)

func isEnglish(text string) bool {
	return !slices.Contains(noWords, text) && !slices.Contains(others, text) && sentenceWord.MatchString(unitVerb.ReplaceAllString(text, ""))
}

// flow is what a package puts into what.
type flow struct {
	files *token.FileSet
	info  *types.Info
	into  map[types.Object][]ast.Expr // variables, fields and parameters, by what is put into them
	from  map[types.Object][]ast.Expr // functions, by what they return
	seen  map[ast.Expr]bool
	found map[token.Pos]string
}

// wordsInArguments are the English strings that get into arguments of message.F.
func wordsInArguments(files *token.FileSet, list []*ast.File) []string {
	f := &flow{
		files: files,
		info:  &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}},
		into:  map[types.Object][]ast.Expr{}, from: map[types.Object][]ast.Expr{}, seen: map[ast.Expr]bool{}, found: map[token.Pos]string{},
	}
	config := types.Config{Importer: nothing{}, Error: func(error) {}}
	_, _ = config.Check("p", files, list, f.info) // what is missing is what was not imported
	for _, file := range list {
		ast.Inspect(file, f.read)
	}
	for _, file := range list {
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && types.ExprString(call.Fun) == "message.F" {
				for _, arg := range call.Args[1:] {
					f.follow(arg)
				}
			}
			return true
		})
	}
	var all []string
	for _, at := range slices.Sorted(maps.Keys(f.found)) {
		all = append(all, fmt.Sprintf("%s: %q is an argument of message.F: no language can translate it", files.Position(at), f.found[at]))
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
		if isEnglish(constant.StringVal(v)) && !inEnglish.MatchString(f.files.Position(e.Pos()).Filename) {
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
		if name := types.ExprString(e.Fun); passing.MatchString(name) {
			f.all(e.Args)
		} else if !strings.HasPrefix(name, "message.") {
			f.all(f.from[f.object(e.Fun)])
		}
	}
}

func (f *flow) all(list []ast.Expr) {
	for _, e := range list {
		f.follow(e)
	}
}

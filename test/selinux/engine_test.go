package selinux_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var placed = regexp.MustCompile(`^/(bin|boot|dev|etc|home|media|mnt|opt|root|run|sbin|tmp|usr|var)(/|$)`)

// paths are the absolute paths that the program's source names, with the file that does.
func paths(t *testing.T) map[string]string {
	t.Helper()
	found, rhcos := map[string]string{}, constants(t, "../../backend/layout/rhcos/rhcos.go")
	for _, dir := range []string{"backend", "steps", "cmd", "tui"} {
		err := filepath.WalkDir(filepath.Join("../..", dir), func(file string, d fs.DirEntry, err error) error {
			helper := strings.Contains(file, "hosttest") || strings.Contains(file, "critest") || strings.HasSuffix(file, "_test.go")
			if err != nil || d.IsDir() || filepath.Ext(file) != ".go" || helper {
				return err
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				return err
			}
			if parsed.Name.Name == "rhcos" {
				return nil // what is made of its names counts, where that is done
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				e, ok := n.(ast.Expr)
				if !ok {
					return true
				}
				s, whole := text(e, rhcos, nil)
				if whole && placed.MatchString(s) && !strings.ContainsAny(s, " \n") {
					found[s] = file
				}
				return !whole
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// constants are the texts to which a file gives names.
func constants(t *testing.T, file string) map[string]string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for range 3 { // a name that is made of a later one
		ast.Inspect(parsed, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
				if s, whole := text(v.Values[0], nil, all); whole {
					all[v.Names[0].Name] = s
				}
			}
			return true
		})
	}
	if len(all) < 10 {
		t.Fatalf("%s has only %d texts", file, len(all))
	}
	return all
}

// text is what an expression says that is made of literals and of names: those of the layout of the system, or those of the same file.
func text(e ast.Expr, rhcos, own map[string]string) (s string, whole bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, e.Kind == token.STRING && err == nil
	case *ast.Ident:
		s, whole = own[e.Name]
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok && x.Name == "rhcos" {
			s, whole = rhcos[e.Sel.Name]
		}
	case *ast.BinaryExpr:
		a, one := text(e.X, rhcos, own)
		b, other := text(e.Y, rhcos, own)
		return a + b, one && other && e.Op == token.ADD
	}
	return s, whole
}

// TestTheEnginesPathsAreKnown: uses.txt says of every path in the program's source what is done with it. The engine itself may
// do nearly everything; who else reads what it writes may not.
func TestTheEnginesPathsAreKnown(t *testing.T) {
	uses := readUses(t)
	for name, file := range paths(t) {
		fixed, _, _ := strings.Cut(name, "*")
		known := slices.ContainsFunc(uses, func(u use) bool {
			return u.who == "engine" && (strings.TrimRight(u.what, "/=@") == strings.TrimRight(name, "/") || fixed != name && strings.HasPrefix(u.what, fixed))
		})
		if !known {
			t.Errorf("%s names %s, of which uses.txt does not say what the engine does with it", file, name)
		}
	}
}

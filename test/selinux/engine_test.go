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
	found := map[string]string{}
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
			ast.Inspect(parsed, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if s, err := strconv.Unquote(lit.Value); err == nil && placed.MatchString(s) && !strings.ContainsAny(s, " \n") {
						found[s] = file
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
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

package tree

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layouts are the packages that name paths of the node for all others.
var layouts = []string{"touchdown/backend/layout", "touchdown/backend/layout/rhcos"}

// nodePath is a path of the node's own files. What the kernel shows below /sys and /proc is named where it is read.
var nodePath = regexp.MustCompile(`^/(etc|run|usr|opt|var/lib)/[^ ]+$`)

// TestOnePlaceForEachPath: a path of the node stands in one package; one that several need stands in a layout, and what lies below it
// begins with its name.
func TestOnePlaceForEachPath(t *testing.T) {
	var shared []string
	places := map[string][]string{} // by path, the packages that have it
	for _, p := range packages(t) {
		if strings.HasPrefix(p.ImportPath, "touchdown/test") || strings.HasSuffix(p.ImportPath, "test") {
			continue
		}
		for _, path := range pathsOf(t, p) {
			if slices.Contains(layouts, p.ImportPath) {
				shared = append(shared, path)
			} else if !slices.Contains(places[path], p.ImportPath) {
				places[path] = append(places[path], p.ImportPath)
			}
		}
	}
	if len(shared) < 10 {
		t.Fatalf("only %d paths in the layouts", len(shared))
	}
	for path, in := range places {
		if len(in) > 1 {
			t.Errorf("%s stands in %s: name it in a layout", path, strings.Join(in, " and "))
		}
		for _, known := range shared {
			if path == known || strings.HasPrefix(path, known+"/") {
				t.Errorf("%s has %s: begin it with the layout's name of %s", in[0], path, known)
			}
		}
	}
}

// pathsOf are the paths of the node among the strings of a package.
func pathsOf(t *testing.T, p listed) (paths []string) {
	t.Helper()
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			if text, err := strconv.Unquote(lit.Value); err == nil && nodePath.MatchString(text) {
				paths = append(paths, strings.TrimSuffix(text, "/"))
			}
			return true
		})
	}
	return paths
}

package tree

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// writers are the packages that make, change or remove files without host.Machine, and where. None of them names a file of the node:
// each gets its folder, file or device from whoever calls it.
var writers = map[string]string{
	"touchdown/backend/host":              "the node, below its root",
	"touchdown/backend/hardware":          "a folder for a snapshot that is played again",
	"touchdown/backend/hardware/burnin":   "its own process",
	"touchdown/backend/hardware/order":    "opens a file that a person names",
	"touchdown/backend/images":            "the image store",
	"touchdown/backend/images/layerstore": "the image store",
	"touchdown/backend/images/store":      "the image store",
	"touchdown/backend/images/wanted":     "reads the image store",
	"touchdown/backend/ledger":            "the factory's ledger, on the factory's machine",
	"touchdown/backend/media":             "a stick, or the file of one",
	"touchdown/backend/media/iso":         "an image that a person names",
	"touchdown/backend/report":            "the state folder",
	"touchdown/steps/aside":               "the state folder",
	"touchdown/steps/engine":              "the state folder",
	"touchdown/steps/idle":                "the state folder",
	"touchdown/steps/site":                "reads a folder that a person names",
	"touchdown/steps/transcript":          "the state folder",
	"touchdown/steps/wire":                "the engine's socket",
	"touchdown/tui":                       "a console's notes, and a bundle that is asked for",
	"touchdown/cmd/touchdown":             "files that a person names, and the state folder",
}

// changing are the functions of os that can make, change or remove a file.
var changing = strings.Fields("Chmod Chown Chtimes Create CreateTemp Lchown Link Mkdir MkdirAll MkdirTemp OpenFile OpenRoot Remove RemoveAll Rename Symlink Truncate WriteFile")

// fixed are the paths that such a call may name itself.
var fixed = []string{
	`"/proc/self/oom_score_adj"`, // the process
	`"/var/tmp"`,                 // which everyone may use
}

// TestOnlyHostChangesTheNode: the node's own files are changed through host.Machine, so that every step runs against a folder too.
func TestOnlyHostChangesTheNode(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range packages(t) {
		if strings.HasPrefix(p.ImportPath, "touchdown/test") || strings.HasSuffix(p.ImportPath, "test") {
			continue
		}
		for _, name := range p.GoFiles {
			path := filepath.Join(p.Dir, name)
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, call := range changes(file) {
				seen[p.ImportPath] = true
				if writers[p.ImportPath] == "" {
					t.Errorf("%s changes files by os.%s: use host.Machine", path, call.name)
				}
				if call.path != "" && p.ImportPath != "touchdown/backend/host" && !slices.Contains(fixed, call.path) {
					t.Errorf("%s names a file of the node itself: %s", path, call.path)
				}
			}
		}
	}
	for path := range writers {
		if !seen[path] {
			t.Errorf("%s changes no files any more: take it out of the list", path)
		}
	}
}

// change is a call of a function of os, and the path that it names where that is written in it.
type change struct{ name, path string }

// changes are the calls of a file that can change another one.
func changes(file *ast.File) (all []change) {
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		name, of := selected(call.Fun)
		if of != "os" || !slices.Contains(changing, name) {
			return true
		}
		c := change{name: name}
		for _, arg := range call.Args {
			switch arg := arg.(type) {
			case *ast.BasicLit:
				if strings.HasPrefix(arg.Value, `"/`) {
					c.path = arg.Value
				}
			case *ast.SelectorExpr:
				if constant, of := selected(arg); of == "layout" {
					c.path = "layout." + constant
				}
			}
		}
		all = append(all, c)
		return true
	})
	return all
}

// selected splits pkg.Name.
func selected(e ast.Expr) (name, of string) {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	x, _ := s.X.(*ast.Ident)
	if x == nil {
		return s.Sel.Name, ""
	}
	return s.Sel.Name, x.Name
}

// TestChangesAreFound in whatever way they stand.
func TestChangesAreFound(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", `package x
func f(dir string) {
	_ = os.WriteFile("/etc/hosts", nil, 0)
	defer func() { go os.Remove(layout.Program) }()
	x := os.MkdirAll(dir, 0)
	m.WriteFile("/etc/hosts")
	os.ReadFile("/etc/hosts")
}`, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []change{{"WriteFile", `"/etc/hosts"`}, {"Remove", "layout.Program"}, {"MkdirAll", ""}}
	if got := changes(file); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

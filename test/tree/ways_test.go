package tree

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// writers are the packages that make, change or remove files without host.Machine, and where. None of them names a file of the node:
// each gets its folder, file or device from whoever calls it.
var writers = map[string]string{
	"touchdown/backend/host":              "the node, below its root",
	"touchdown/backend/envelope":          "opens a file that a person names",
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

// changing are the functions that can make, change or remove a file. What opens one counts too where it can make it (unix.Open), or
// where it gives a folder in which all that can be done (OpenRoot).
var changing = map[string][]string{
	"os": strings.Fields("Chmod Chown Chtimes Create CreateTemp Lchown Link Mkdir MkdirAll MkdirTemp OpenFile OpenRoot Remove RemoveAll Rename Symlink Truncate WriteFile"),
	"unix": strings.Fields("Chmod Chown Creat Fchmodat Fchownat Lchown Link Linkat Lsetxattr Mkdir Mkdirat Mkfifo Mknod Mknodat Mount MoveMount Open Openat Openat2 " +
		"Rename Renameat Renameat2 Rmdir Setxattr Symlink Symlinkat Truncate Unlink Unlinkat Unmount UtimesNanoAt"),
}

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
					t.Errorf("%s changes files by %s: use host.Machine", path, call.name)
				}
				for _, named := range call.paths {
					if p.ImportPath != "touchdown/backend/host" && !slices.Contains(fixed, named) {
						t.Errorf("%s names a file of the node itself: %s", path, named)
					}
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

// change is a call that can change a file, and the paths of the node that its arguments name.
type change struct {
	name  string
	paths []string
}

// changes are the calls of a file that can change another one.
func changes(file *ast.File) (all []change) {
	assigned := assignments(file)
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		name, of := selected(call.Fun)
		if of == "syscall" {
			of = "unix"
		}
		if !slices.Contains(changing[of], name) {
			return true
		}
		c := change{name: of + "." + name}
		for _, arg := range call.Args {
			c.paths = append(c.paths, named(arg, assigned, 0)...)
		}
		all = append(all, c)
		return true
	})
	return all
}

// assignments are what the variables and constants of a file are set to. Names are not told apart by their scope: that finds too much
// rather than too little.
func assignments(file *ast.File) map[string][]ast.Expr {
	all := map[string][]ast.Expr{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				if name, ok := to.(*ast.Ident); ok && len(n.Lhs) == len(n.Rhs) {
					all[name.Name] = append(all[name.Name], n.Rhs[i])
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if i < len(n.Values) {
					all[name.Name] = append(all[name.Name], n.Values[i])
				}
			}
		}
		return true
	})
	return all
}

// named are the paths of the node in an expression: what is written in it, what backend/layout and its rhcos call it, and what a variable of the same
// file was set to. An argument that another call makes counts where that call joins paths; m.Path(layout.X) is below the machine's root.
func named(e ast.Expr, assigned map[string][]ast.Expr, depth int) (paths []string) {
	if depth > 4 { // x = x + "y"
		return nil
	}
	switch e := e.(type) {
	case *ast.BasicLit:
		if strings.HasPrefix(e.Value, `"/`) && e.Value != `"/"` {
			paths = append(paths, e.Value)
		}
	case *ast.SelectorExpr:
		if constant, of := selected(e); isLayout(of) {
			paths = append(paths, of+"."+constant)
		}
	case *ast.Ident:
		for _, value := range assigned[e.Name] {
			paths = append(paths, named(value, assigned, depth+1)...)
		}
	case *ast.BinaryExpr:
		paths = named(e.X, assigned, depth) // "x" + "/y" is not a path from the root
	case *ast.ParenExpr:
		paths = named(e.X, assigned, depth)
	case *ast.CallExpr:
		name, of := selected(e.Fun)
		joins := of == "filepath" || of == "path" || of == "fmt" && name == "Sprintf" || isLayout(of)
		if isLayout(of) {
			paths = append(paths, of+"."+name)
		}
		if joins && len(e.Args) > 0 {
			paths = append(paths, named(e.Args[0], assigned, depth)...) // what follows is below it
		}
	}
	return paths
}

// isLayout tells whether a package names files of the node.
func isLayout(of string) bool { return of == "layout" || of == "rhcos" }

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
const units = "/etc/systemd/system"
func f(dir string) {
	_ = os.WriteFile("/etc/hosts", nil, 0)
	defer func() { go os.Remove(layout.Program) }()
	x := os.MkdirAll(filepath.Join(dir, "/etc"), 0)
	os.Rename(filepath.Join(dir, "new"), filepath.Join("/etc", "hosts"))
	unix.Unlinkat(0, "/etc/hosts", 0)
	syscall.Rename(layout.Folder(dir), units+"/x.service")
	to := filepath.Join(units, "x.service")
	os.Remove(to)
	os.Remove(m.Path(layout.Program))
	os.Remove(rhcos.Storage)
	m.WriteFile("/etc/hosts")
	os.ReadFile("/etc/hosts")
}`, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []change{
		{"os.WriteFile", []string{`"/etc/hosts"`}},
		{"os.Remove", []string{"layout.Program"}},
		{"os.MkdirAll", nil},
		{"os.Rename", []string{`"/etc"`}},
		{"unix.Unlinkat", []string{`"/etc/hosts"`}},
		{"unix.Rename", []string{"layout.Folder", `"/etc/systemd/system"`}},
		{"os.Remove", []string{`"/etc/systemd/system"`}},
		{"os.Remove", nil},
		{"os.Remove", []string{"rhcos.Storage"}},
	}
	if got := changes(file); !reflect.DeepEqual(got, want) {
		t.Errorf("found %v\nwant  %v", got, want)
	}
}

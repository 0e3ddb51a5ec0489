// Package tree holds the whole tree to its rules.
package tree

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"touchdown/test/wait"
)

// listed is what `go list -json` tells of a package.
type listed struct {
	ImportPath, Dir, Doc string
	Imports              []string
	TestImports          []string
	XTestImports         []string
	GoFiles              []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Doc,Imports,TestImports,XTestImports,GoFiles", "touchdown/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for decoder := json.NewDecoder(strings.NewReader(string(out))); decoder.More(); {
		var p listed
		if err := decoder.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 10 {
		t.Fatalf("only %d packages listed", len(all))
	}
	return all
}

// engine is the package of the engine. Whoever talks to one needs steps/session and steps/view, and steps/wire over the socket.
const engine = "touchdown/steps/engine"

// read are the values that people read. Whoever shows them may import them.
var read = []string{"touchdown/backend/check", "touchdown/backend/problem", "touchdown/backend/progress"}

// facade is the package that commands, steps and consoles import of its tree: what lies below it is its own.
const facade = "touchdown/backend/images"

func under(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

// behind tells whether an import passes the facade by.
func behind(from, to string) bool {
	if !under(to, facade) || to == facade {
		return false
	}
	return under(from, "touchdown/cmd") || under(from, "touchdown/steps") || under(from, "touchdown/tui")
}

// may tells whether a package of the house may import another one. The order is cmd, tui, steps, backend.
func may(from, to string) bool {
	switch {
	case behind(from, to):
		return false
	case under(from, "touchdown/test"), to == "touchdown/backend/message":
		return true
	case under(from, "touchdown/cmd"):
		return under(to, "touchdown/tui") || under(to, "touchdown/steps") || under(to, "touchdown/backend")
	case under(from, "touchdown/tui"):
		return under(to, "touchdown/tui") || under(to, "touchdown/steps") && to != engine || slices.Contains(read, to)
	case from == "touchdown/steps/site":
		return under(to, "touchdown/steps/site") || to == "touchdown/backend/value" || to == "touchdown/backend/netconfig"
	case under(from, "touchdown/steps"):
		return under(to, "touchdown/steps") || under(to, "touchdown/backend")
	case from == "touchdown/backend":
		return to == "touchdown/backend/host" || to == "touchdown/backend/kube"
	case under(from, "touchdown/backend"):
		if concern(from) == concern(to) {
			return true
		}
		return slices.Contains([]string{
			"touchdown/backend/host", "touchdown/backend/kube", "touchdown/backend/problem",
			"touchdown/backend/check", "touchdown/backend/envelope", "touchdown/backend/progress", "touchdown/backend/layout", "touchdown/backend/layout/rhcos", "touchdown/backend/value", "touchdown/backend/netconfig", "touchdown/assets",
		}, to)
	}
	return false
}

// concern is the package of the backend that a path belongs to: a large one has packages below it.
func concern(path string) string {
	name, _ := strings.CutPrefix(path, "touchdown/backend/")
	name, _, _ = strings.Cut(name, "/")
	return name
}

func TestImportsRunOneWay(t *testing.T) {
	for _, p := range packages(t) {
		for _, i := range p.Imports {
			if strings.HasPrefix(i, "touchdown/") && !may(p.ImportPath, i) {
				t.Errorf("%s imports %s", p.ImportPath, i)
			}
		}
		for _, i := range slices.Concat(p.TestImports, p.XTestImports) {
			if behind(p.ImportPath, i) && !strings.HasSuffix(i, "test") { // critest is a CRI-O for tests
				t.Errorf("a test of %s imports %s", p.ImportPath, i)
			}
		}
	}
}

// TestClientsNeedNoEngine: the console, and what it and the commands speak to an engine with, hold no engine, whatever they import.
// Of the commands only those do that run one, or what it leaves on the disk.
func TestClientsNeedNoEngine(t *testing.T) {
	imports := map[string][]string{}
	for _, p := range packages(t) {
		imports[p.ImportPath] = p.Imports
		if p.ImportPath != "touchdown/cmd/touchdown" {
			continue
		}
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			has := slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == strconv.Quote(engine) })
			if may := slices.Contains([]string{"benchline.go", "engine.go", "factory_returned.go", "install.go", "wipe.go"}, name); has != may {
				t.Errorf("%s imports the engine: %t, want %t", name, has, may)
			}
		}
	}
	var reach func(from string, by []string)
	seen := map[string]bool{}
	reach = func(from string, by []string) {
		if from == engine {
			t.Errorf("an engine is reached by %s", strings.Join(by, " -> "))
		}
		if seen[from] {
			return
		}
		seen[from] = true
		for _, to := range imports[from] {
			reach(to, append(slices.Clip(by), to))
		}
	}
	for _, client := range []string{"touchdown/tui", "touchdown/steps/wire"} {
		if len(imports[client]) == 0 {
			t.Fatalf("there is no package %s", client)
		}
		reach(client, []string{client})
	}
}

func TestOneWayOut(t *testing.T) {
	only := map[string]string{
		"os/exec":                        "touchdown/backend/host",
		"k8s.io/client-go/":              "touchdown/backend/kube",
		"github.com/openshift/client-go": "touchdown/backend/kube",
		"charm.land/":                    "touchdown/tui",
		"text/template":                  "nobody", // a program that has it keeps every method of every type: a third of its size
		"html/template":                  "nobody",
	}
	for _, p := range packages(t) {
		if strings.HasPrefix(p.ImportPath, "touchdown/test") {
			continue
		}
		for _, i := range p.Imports {
			for prefix, owner := range only {
				if strings.HasPrefix(i, prefix) && p.ImportPath != owner {
					t.Errorf("%s imports %s, which only %s may", p.ImportPath, i, owner)
				}
			}
		}
	}
}

func TestEveryPackageSaysItsJob(t *testing.T) {
	for _, p := range packages(t) {
		if len(p.GoFiles) > 0 && p.Doc == "" {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}

// TestHouseRules reads every file: no init, exported names documented, no file too long to read.
func TestHouseRules(t *testing.T) {
	for _, p := range packages(t) {
		for _, name := range p.GoFiles {
			path := filepath.Join(p.Dir, name)
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if lines := files.File(file.Pos()).LineCount(); lines > maxLines {
				t.Errorf("%s/%s has %d lines; is it one thing?", p.ImportPath, name, lines)
			}
			for _, d := range file.Decls {
				checkDecl(t, p.ImportPath+"/"+name, d)
			}
			if p.ImportPath == "touchdown/steps" && name != "originals.go" {
				checkSaved(t, files, file)
			}
		}
	}
}

// maxLines is where a file is looked at again; style asks for 80 to 200, and again at 300.
const maxLines = 320

func checkDecl(t *testing.T, where string, d ast.Decl) {
	t.Helper()
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.Name == "init" && d.Recv == nil {
			t.Errorf("%s has an init function", where)
		}
		if d.Name.IsExported() && d.Doc == nil && (d.Recv == nil || exportedType(d.Recv.List[0].Type)) {
			t.Errorf("%s: %s has no comment", where, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
				t.Errorf("%s: type %s has no comment", where, s.Name.Name)
			}
		}
	}
}

// checkSaved keeps the steps to the readers of originals.go, which tell what was never saved from what cannot be read.
func checkSaved(t *testing.T, files *token.FileSet, file *ast.File) {
	t.Helper()
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && (s.Sel.Name == "Saved" || s.Sel.Name == "Noted") {
			t.Errorf("%s: use savedAt and notedAt", files.Position(s.Pos()))
		}
		return true
	})
}

func exportedType(e ast.Expr) bool {
	if s, ok := e.(*ast.StarExpr); ok {
		e = s.X
	}
	i, ok := e.(*ast.Ident)
	return ok && i.IsExported()
}

// TestTopLevel: the tree's first level is what the README's map shows, and nothing else that someone left there.
func TestTopLevel(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "git", "-C", "../..", "ls-files").Output()
	if err != nil {
		t.Fatal(err) // CI checks it out
	}
	known := strings.Fields(".ci .gitignore .golangci.yml LICENSE CONTRIBUTING.md Makefile README.md assets backend cmd go.mod go.sum iso-overlay steps test tui")
	for file := range strings.Lines(string(out)) {
		if name, _, _ := strings.Cut(strings.TrimSpace(file), "/"); !slices.Contains(known, name) {
			t.Errorf("%s is not part of the tree", name)
		}
	}
}

// TestNothingOfThisMachine keeps the paths of a developer's machine out of the tree.
func TestNothingOfThisMachine(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("git", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		wait.Unable(t, "this is not a checkout: %v", err)
	}
	for _, name := range strings.Split(strings.TrimRight(string(out), "\x00"), "\x00") {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err == nil && strings.Contains(string(data), root+"/") {
			t.Errorf("%s names a path of this machine", name)
		}
	}
}

// TestEachRuleHasItsTests holds the table of what never happens to the tests that it names.
func TestEachRuleHasItsTests(t *testing.T) {
	const top = "../.."
	text, err := os.ReadFile(filepath.Join(top, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "| rule | held by |")
	table, _, _ = strings.Cut(table, "\n\n")
	rules := 0
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		if len(cells) != 4 || strings.HasPrefix(cells[1], "-") {
			continue
		}
		rules++
		if !strings.HasPrefix(strings.TrimSpace(cells[1]), fmt.Sprintf("%d. ", rules)) {
			t.Errorf("rule %d is %s", rules, cells[1])
		}
		for held := range strings.SplitSeq(cells[2], ";") {
			folder, names, _ := strings.Cut(strings.TrimSpace(held), " ")
			for name := range strings.SplitSeq(names, ", ") {
				if !hasTest(t, filepath.Join(top, strings.Trim(folder, "`")), name) {
					t.Errorf("rule %d: there is no %s in %s", rules, name, folder)
				}
			}
		}
	}
	if !found || rules != 9 {
		t.Errorf("%d rules in the table, want 9", rules)
	}
}

func hasTest(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		source, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(source), "\nfunc "+name+"(t *testing.T)")
	})
}

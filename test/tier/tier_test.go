package main

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write test/README.md")

const root = "../.."

func TestReadme(t *testing.T) {
	file := filepath.Join(root, "test", "README.md")
	want, err := readme(root)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil || string(have) != want {
		t.Errorf("test/README.md is not what the table says: make golden writes it (%v)", err)
	}
	if i := strings.Index(want, " |  |\n"); i > 0 {
		t.Errorf("a slow test does not say in its comment what it shows: %s", want[strings.LastIndex(want[:i], "\n")+1:i])
	}
}

// needs finds what puts a test into the table: it marks itself as slow, or starts a cluster or a node.
var needs = regexp.MustCompile(`\b(wait\.Slow|bench\.Start|benchnode\.Start|node\.Start|landing\.(Start|Launch)|node\.(New|Launch|Installed|Factory|Stocked))\(`)

// halves finds tests that are shorter with -short or the race detector, as the quick tests run.
var halves = regexp.MustCompile(`\b(testing\.Short\(\)|race\.On\b)`)

// TestEveryPackageHasARow: a package with tests that -short leaves out is in the table, with a row for what has no other; and so is a test that is
// shorter among the quick ones.
func TestEveryPackageHasARow(t *testing.T) {
	for _, dir := range sources {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && (d.Name() == "controlplane" || d.Name() == "tier") {
				return filepath.SkipDir
			}
			if !strings.HasSuffix(path, "_test.go") {
				return nil
			}
			pkg, err := filepath.Rel(root, filepath.Dir(path))
			if err != nil {
				return err
			}
			if slices.ContainsFunc(table, func(r Row) bool { return r.Package == pkg && r.Run == "" }) {
				return nil
			}
			for _, name := range inNeed(t, pkg, path) {
				if !slices.ContainsFunc(table, func(r Row) bool { return r.Package == pkg && r.Run == name }) {
					t.Errorf("%s has no row for %s, nor one for the rest of the package", pkg, name)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// inNeed are the tests that a file puts into the table: all of its package, or its own that are shorter among the quick ones.
func inNeed(t *testing.T, pkg, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if needs.Match(text) {
		return tests(t, filepath.Dir(file))
	}
	if !halves.Match(text) {
		return nil
	}
	quick, err := quickTests(root, pkg)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(testsIn(t, file), func(name string) bool { return slices.Contains(quick, name) })
}

// TestEveryRowHasItsTest: a row names a test that is there, once per environment, and says what it proves.
func TestEveryRowHasItsTest(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range table {
		if seen[r.id()] {
			t.Errorf("%s stands twice", r)
		}
		seen[r.id()] = true
		if r.Make != "" {
			continue
		}
		if r.Run != "" && !slices.Contains(tests(t, filepath.Join(root, r.Package)), r.Run) {
			t.Errorf("%s: there is no such test", r)
		}
		if r.Proves == "" || r.Seconds <= 0 {
			t.Errorf("%s does not say what it proves, or how long it takes", r)
		}
	}
}

// tests are the names of a package's tests.
func tests(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return testsIn(t, files...)
}

func testsIn(t *testing.T, files ...string) (all []string) {
	t.Helper()
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") && f.Name.Name != "TestMain" {
				all = append(all, f.Name.Name)
			}
		}
	}
	return all
}

// write writes a file, and the folders above it.
func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// plant makes a small tree of everything that keys are made of.
func plant(t *testing.T) {
	t.Helper()
	write(t, "go.mod", "module touchdown\n")
	for _, name := range []string{
		"go.sum", "Makefile", "test/bench/x.mk", "iso-overlay/unit", "assets/a", "backend/network/libnmstate/lib.rs", "test/sites/s.yaml",
		"steps/s", "tui/t", ".golangci.yml",
	} {
		write(t, name, "")
	}
	write(t, "cmd/touchdown/main.go", "package main\n\nimport _ \"touchdown/backend/dns\"\n\nfunc main() {}\n")
	write(t, "backend/dns/dns.go", "package dns\n")
	write(t, "backend/csr/csr.go", "package csr\n")
	write(t, "backend/csr/csr_test.go", "package csr\n")
	write(t, "backend/other/other.go", "package other\n")
}

func keyOf(t *testing.T, r Row) string {
	t.Helper()
	k, err := newKeys(t.Context(), packagesOf([]Row{r}))
	if err != nil {
		t.Fatal(err)
	}
	key, err := k.of(r)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestKeys: what a test rests on changes its key, what it does not rest on does not.
func TestKeys(t *testing.T) {
	t.Chdir(t.TempDir())
	plant(t)
	row := Row{Package: "backend/csr", Run: "TestX", Program: true}
	key := func() string {
		t.Helper()
		return keyOf(t, row)
	}
	before := key()
	if key() != before {
		t.Fatal("the same tree has two keys")
	}
	for _, c := range []struct {
		name, text string
		changes    bool
	}{
		{"backend/csr/testdata/seed", "x", true},
		{"backend/csr/csr_test.go", "package csr // changed\n", true},
		{"backend/dns/dns.go", "package dns // changed\n", true}, // a part of the program
		{"test/bench/node/x.sh", "x", true},
		{"iso-overlay/unit", "x", true},
		{"backend/other/other.go", "package other // changed\n", false},
		{"README.md", "x", false},
	} {
		write(t, c.name, c.text)
		after := key()
		if (after != before) != c.changes {
			t.Errorf("with another %s the key changes: %t, want %t", c.name, after != before, c.changes)
		}
		before = after
	}
	row.Env = []string{"A=b"}
	if key() == before {
		t.Error("another environment, the same key")
	}
	row.Program, row.Boots = false, true
	before = key()
	write(t, "backend/dns/dns.go", "package dns // changed again\n")
	if key() != before {
		t.Error("on a node without the program, the key changes with the program")
	}
	write(t, "test/bench/node/x.sh", "y")
	if key() == before {
		t.Error("another bench, the same key")
	}
	row = onNodes("backend/csr") // what make crash and make cuts keep their landings for
	before = key()
	write(t, "backend/dns/dns.go", "package dns // and again\n")
	if key() == before {
		t.Error("with the program on a node, the key does not change with the program")
	}
}

// TestKeysOfMake: a target of make may use anything, the settings of the linters among it.
func TestKeysOfMake(t *testing.T) {
	t.Chdir(t.TempDir())
	plant(t)
	row := Row{Make: "lint"}
	for _, name := range []string{".golangci.yml", "tui/t", "backend/other/other.go"} {
		before := keyOf(t, row)
		write(t, name, "package other // changed")
		if keyOf(t, row) == before {
			t.Errorf("with another %s, the key of make lint does not change", name)
		}
	}
}

func TestChosen(t *testing.T) {
	o := options{tier: "test", match: regexp.MustCompile("")}
	rows, err := chosen(o)
	if err != nil || slices.ContainsFunc(rows, func(r Row) bool { return r.Tier != Test }) {
		t.Fatalf("%v, %v", rows, err)
	}
	o.tier = "all"
	all := slices.DeleteFunc(slices.Clone(table), func(r Row) bool { return r.Tier == Real || r.Tier == Own })
	if rows, err = chosen(o); err != nil || len(rows) != len(all) {
		t.Errorf("%d rows of %d: %v", len(rows), len(all), err)
	}
	o.tier = "some"
	if _, err = chosen(o); err == nil {
		t.Error("an unknown tier is accepted")
	}
}

func TestInProcess(t *testing.T) {
	got := inProcess([]Row{
		{Package: "a", Tier: Test},
		{Package: "a", Run: "TestSlow", Tier: All},
		{Package: "b", Run: "TestNode", Tier: Test, Boots: true},
		{Package: "b", Tier: Test},
		{Package: "c", Run: "TestX", Tier: Test},
		{Package: "c", Tier: Test},
		{Package: "d", Run: "TestY", Tier: Test},
		{Package: "d", Tier: Test, Boots: true},
		{Make: "lint", Tier: All},
	})
	if want := []string{"-skip=^(TestSlow|TestNode)$", "./a", "./b", "./c"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

package made_test

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"touchdown/steps"
	"touchdown/test/bench/made"
)

const root = "../../.."

func sources(t *testing.T, p made.Parts) []string {
	t.Helper()
	all, err := p.Sources(root)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestABakeIsMadeFromItsSteps: each step of the bake, and what it calls of the program's backend, is among what the disk is made from.
func TestABakeIsMadeFromItsSteps(t *testing.T) {
	all := sources(t, made.Baked)
	files, err := filepath.Glob(filepath.Join(root, "steps", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"Images"} // the seeding
	for _, stage := range steps.Bake("", "", steps.BakeOptions{Arm: true}) {
		for _, s := range stage.Steps {
			names = append(names, reflect.TypeOf(s).Elem().Name())
		}
	}
	if len(names) < 7 {
		t.Fatalf("the bake has the steps %v", names)
	}
	for _, name := range names {
		method := regexp.MustCompile(`(?m)^func \(\w* ?\*?` + name + `\) (ID|Run|Undo|Plan)\(`)
		found := false
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !method.Match(text) {
				continue
			}
			found = true
			below, _ := filepath.Rel(root, file)
			if !slices.Contains(all, below) {
				t.Errorf("the bake's step %s is in %s, which is not in made.Baked", name, below)
			}
		}
		if !found {
			t.Errorf("no file has the step %s", name)
		}
	}
	for _, name := range all {
		if filepath.Dir(name) == "steps" {
			calls(t, all, name)
		}
	}
}

// calls holds that the packages of the backend that a file imports take part.
func calls(t *testing.T, all []string, name string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range parsed.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		path, ours := strings.CutPrefix(path, "touchdown/")
		if ours && strings.HasPrefix(path, "backend") && !slices.ContainsFunc(all, func(f string) bool { return filepath.Dir(f) == path }) {
			t.Errorf("%s imports %s, which is not in made.Baked", name, path)
		}
	}
}

// TestDisksAreMadeFromLittle: what changes every few minutes of a day's work makes no disk again.
func TestDisksAreMadeFromLittle(t *testing.T) {
	for _, p := range []made.Parts{made.Installed, made.Stocked, made.Baked} {
		for _, name := range sources(t, p) {
			if strings.HasPrefix(name, "tui/") || strings.HasPrefix(name, "steps/site/") || strings.HasPrefix(name, "backend/report/") || strings.HasSuffix(name, "_test.go") {
				t.Errorf("a disk is made again when %s changes", name)
			}
		}
	}
}

// TestAnotherContentIsAnotherKey: of a package, of one that it imports, and of what they embed.
func TestAnotherContentIsAnotherKey(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("backend/a/a.go", "package a\n\nimport _ \"touchdown/backend/b\"\n")
	write("backend/b/b.go", "package b\n\nimport _ \"embed\"\n\n//go:embed all:texts\nvar s string\n")
	write("backend/b/texts/t.txt", "t")
	write("backend/c/c.go", "package c\n")
	write("steps/bake.go", "package steps\n")
	p := made.Parts{Packages: []string{"backend/a"}, Files: []string{"steps/bake*.go"}}
	key := func() string {
		t.Helper()
		k, err := p.Key(dir)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	before := key()
	for _, c := range []struct {
		name, text string
		changes    bool
	}{
		{"backend/b/b.go", "package b // changed\n\nimport _ \"embed\"\n\n//go:embed all:texts\nvar s string\n", true},
		{"backend/b/texts/t.txt", "u", true},
		{"steps/bakearm.go", "package steps\n", true},
		{"backend/a/a_test.go", "package a\n", false},
		{"steps/bake_test.go", "package steps\n", false},
		{"backend/c/c.go", "package c // changed\n", false},
	} {
		write(c.name, c.text)
		after := key()
		if (after != before) != c.changes {
			t.Errorf("with another %s the key changes: %t, want %t", c.name, after != before, c.changes)
		}
		before = after
	}
	root, err := p.Key(dir, "root-1", "layer-1")
	if other, err2 := p.Key(dir, "root-2", "layer-1"); err != nil || err2 != nil || other == root || root == before {
		t.Errorf("with another root: %s and %s, %v, %v", root, other, err, err2)
	}
	p.Files = append(p.Files, "steps/gone.go")
	if _, err := p.Key(dir); err == nil {
		t.Error("a file that is gone takes part")
	}
}

package tree

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

// imported is what `go list -deps -test -json` tells of a package, of this module or of others.
type imported struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
	Module                             *struct{ Path string }
}

// ofTheBench tells whether a package is part of the bench, or of what runs on it only.
func ofTheBench(path string) bool {
	for _, root := range []string{"bench", "demo", "e2e", "measure"} {
		if path = strings.TrimPrefix(path, "touchdown/test/"); path == root || strings.HasPrefix(path, root+"/") {
			return true
		}
	}
	return false
}

// needed are the modules that the program and its own tests need, the bench left out.
func needed(all map[string]imported) map[string]bool {
	modules, seen := map[string]bool{}, map[string]bool{}
	var visit func(paths []string)
	visit = func(paths []string) {
		for _, path := range paths {
			p, known := all[path]
			if !known || seen[path] || ofTheBench(path) {
				continue
			}
			seen[path] = true
			if p.Module != nil {
				modules[p.Module.Path] = true
			}
			visit(p.Imports)
		}
	}
	for path, p := range all {
		if strings.HasPrefix(path, "touchdown/") && !ofTheBench(path) {
			visit([]string{path})
			visit(p.TestImports)
			visit(p.XTestImports)
		}
	}
	return modules
}

// TestTheBenchRequiresNothing: go.mod requires no module directly that only the bench needs. What the bench alone needs belongs
// into a module of the bench.
func TestTheBenchRequiresNothing(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "-test", "-json=ImportPath,Imports,TestImports,XTestImports,Module", "touchdown/...")
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	all := map[string]imported{}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); decoder.More(); {
		var p imported
		if err := decoder.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
	}
	if out, err = exec.Command("go", "mod", "edit", "-json", "../../go.mod").Output(); err != nil {
		t.Fatalf("go mod edit: %v", err)
	}
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatal(err)
	}
	modules, direct := needed(all), 0
	for _, r := range mod.Require {
		if r.Indirect {
			continue
		}
		direct++
		if !modules[r.Path] {
			t.Errorf("go.mod requires %s, which only the bench needs", r.Path)
		}
	}
	if direct < 10 {
		t.Errorf("only %d modules are required directly", direct)
	}
}

// TestNeeded: what a package of the bench imports does not count, not even where a test of the program imports that package.
func TestNeeded(t *testing.T) {
	module := func(path string) *struct{ Path string } { return &struct{ Path string }{path} }
	got := needed(map[string]imported{
		"touchdown/backend/a":       {Imports: []string{"one/x"}, XTestImports: []string{"touchdown/test/bench/site", "three"}},
		"touchdown/test/bench/site": {Imports: []string{"four"}},
		"touchdown/test/e2e":        {TestImports: []string{"five"}},
		"one/x":                     {Module: module("one"), Imports: []string{"two"}},
		"two":                       {Module: module("two")},
		"three":                     {Module: module("three")},
		"four":                      {Module: module("four")},
		"five":                      {Module: module("five")},
	})
	for path, want := range map[string]bool{"one": true, "two": true, "three": true, "four": false, "five": false} {
		if got[path] != want {
			t.Errorf("%s is needed: %t, want %t", path, got[path], want)
		}
	}
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHouse holds the product's code to the limits.
func TestHouse(t *testing.T) {
	h, err := measure("../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Files) < 300 || len(h.Functions) < 2000 {
		t.Fatalf("only %d files and %d functions were measured", len(h.Files), len(h.Functions))
	}
	for _, c := range []struct {
		what  string
		all   []sized
		limit [3]int
	}{{"files", h.Files, fileLimit}, {"functions", h.Functions, functionLimit}} {
		for i, s := range spread(c.all) {
			if s > c.limit[i] {
				t.Errorf("%s: %s have %d lines, limit %d; the largest is %s", []string{"median", "90 %", "most"}[i], c.what, s, c.limit[i], c.all[0].Where)
			}
		}
	}
	held := func(what string, all []sized, limit int) {
		for _, s := range all {
			if s.Size > max(limit, larger[s.Where]) {
				t.Errorf("%s has %d %s, limit %d", s.Where, s.Size, what, max(limit, larger[s.Where]))
			}
			if allowed, above := larger[s.Where]; above && s.Size <= limit {
				t.Errorf("%s has %d %s: its row in larger (%d) can go", s.Where, s.Size, what, allowed)
			}
		}
	}
	held("exported names", h.Exported, exportedLimit)
	held("methods", h.Methods, methodLimit)
	if len(h.Twins) > twinLimit {
		t.Errorf("%d pairs of files share lines of one shape, limit %d; the longest is %v", len(h.Twins), twinLimit, h.Twins[0])
	}
}

// TestTwinsAreSeen: two functions that differ in names and values alone are a pair, and one line less of them is none.
func TestTwinsAreSeen(t *testing.T) {
	dir := t.TempDir()
	body := strings.Repeat("\tif n := other(1, \"x\", n); n > 2 { return 3 }\n", window)
	read := func(name, body string) text {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("package x\nfunc f() int {\n"+body+"}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		one, err := shape(name, path)
		if err != nil {
			t.Fatal(err)
		}
		return one
	}
	a := read("a.go", body)
	if pairs := twins([]text{a, read("b.go", strings.ReplaceAll(body, "other", "another"))}); len(pairs) != 1 || pairs[0].Size < window {
		t.Errorf("%v", pairs)
	}
	if pairs := twins([]text{a, read("c.go", strings.Replace(body, "n > 2", "n > 2 && n < 9", 1))}); len(pairs) != 0 {
		t.Errorf("%v", pairs)
	}
}

// TestNoArrowUp: the files of a package have an order in which each uses only those before it.
func TestNoArrowUp(t *testing.T) {
	for _, dir := range ordered {
		found, err := drawn(filepath.Join("../..", dir))
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for _, to := range found {
			count += len(to)
		}
		if count < 100 {
			t.Errorf("%s: only %d arrows were seen", dir, count)
		}
		if up := found.up(); len(up) > 0 {
			t.Errorf("%s: files that use each other, or use such files: %v", dir, up)
		}
	}
}

// TestArrowsAreSeen: two files that use each other are seen, through a field, a method and a function.
func TestArrowsAreSeen(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.go": "package x\nimport \"strings\"\ntype one struct{ n strings.Builder; m int }\n",
		"b.go": "package x\nfunc two(o one) int { return o.m }\n",
		"c.go": "package x\nfunc (o one) three() int { return two(o) }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := drawn(dir)
	if err != nil || len(found.up()) != 0 || !found["b.go"]["a.go"] || !found["c.go"]["b.go"] {
		t.Fatalf("%v, %v, %v", found, found.up(), err)
	}
	if err := os.WriteFile(filepath.Join(dir, "b.go"), []byte("package x\nfunc two(o one) int { return o.three() }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if found, err = drawn(dir); err != nil || len(found.up()) != 2 {
		t.Errorf("%v, %v, %v", found, found.up(), err)
	}
}

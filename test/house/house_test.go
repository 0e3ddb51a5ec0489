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

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// target is a line of a makefile that `make help` prints.
var target = regexp.MustCompile(`(?m)^([a-z-]+):.*## (.*)$`)

// targets are those of `make help`, with what it says of them.
func targets(t *testing.T) map[string]string {
	t.Helper()
	files := []string{"../../Makefile"}
	for _, in := range []string{"../../assets/release", "..", "../cover", "../bench/*", "../e2e"} { // as the Makefile includes them
		found, err := filepath.Glob(filepath.Join(in, "*.mk"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	all := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range target.FindAllStringSubmatch(string(text), -1) {
			all[m[1]] = m[2]
		}
	}
	return all
}

// TestRowsOfMake: a row names a target that there is, and every target that measures has a row, so that `make test-all` shows that it runs.
func TestRowsOfMake(t *testing.T) {
	all := targets(t)
	var rows []string
	for _, r := range table {
		if r.Make == "" {
			continue
		}
		name := strings.Fields(r.Make)[0]
		rows = append(rows, name)
		if _, there := all[name]; !there {
			t.Errorf("the row %q: make has no such target", r.Make)
		}
	}
	part := []string{"bench-pulls", "bench-relocation"} // of bench-images and of bench
	for name, says := range all {
		if strings.HasPrefix(says, "measure") && !slices.Contains(rows, name) && !slices.Contains(part, name) {
			t.Errorf("make %s measures, and no row runs it", name)
		}
	}
	if len(all) < 30 {
		t.Errorf("only %d targets were found", len(all))
	}
}

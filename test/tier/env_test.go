package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	asks     = regexp.MustCompile(`\bos\.(?:Getenv|LookupEnv)\((?:"(\w+)"|(\w+)|\w+\.(\w+))\)`)
	constant = regexp.MustCompile(`\b(\w+)\s+= "([A-Z][A-Z0-9_]+)"`)
	number   = regexp.MustCompile(`\bnumber\("(\w+)", `)
)

// common are the variables that programs ask for wherever they run.
var common = []string{"CI", "GORACE", "HOME", "LANG", "LC_ALL", "LC_MESSAGES", "NO_COLOR", "PATH", "TERM"}

// asked are the variables that the Go files of a tree ask for, by the names of their constants where need be.
func asked(t *testing.T, dirs []string) (names []string) {
	t.Helper()
	constants := map[string][]string{}
	var all strings.Builder
	for _, dir := range dirs {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.Contains(path, "/test/tier/") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range constant.FindAllStringSubmatch(string(text), -1) {
				constants[m[1]] = append(constants[m[1]], m[2])
			}
			all.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range asks.FindAllStringSubmatch(all.String(), -1) {
		if m[1] != "" {
			names = append(names, m[1])
		}
		names = append(names, constants[m[2]+m[3]]...)
	}
	for _, m := range number.FindAllStringSubmatch(all.String(), -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// TestNothingStraysIntoARow: what a test asks its environment for is left out of that of the rows, but for what they set.
func TestNothingStraysIntoARow(t *testing.T) {
	names := asked(t, sources)
	for _, name := range names {
		if !slices.Contains(common, name) && !stray.MatchString(name+"=") {
			t.Errorf("a test asks for %s, which is neither in a row's key nor left out of its environment", name)
		}
	}
	if len(names) < 30 || !slices.Contains(names, "CRASH_CUTS") || !slices.Contains(names, "TOUCHDOWN_ROUNDS") || !slices.Contains(names, "WRONG_N") {
		t.Errorf("only %q are found", names)
	}
}

// TestARowHasWhatItSets, of what its tests ask for, and nothing that was set elsewhere.
func TestARowHasWhatItSets(t *testing.T) {
	t.Setenv("BENCH_NETWORKMANAGER", "1.42")
	t.Setenv("CRASH_N", "1000")
	row := Row{Package: "test/x", Env: []string{"CRASH_N=3"}}
	w := &work{options: options{cache: t.TempDir()}, built: map[string]*build{}}
	done := &build{}
	done.once.Do(func() {}) // it is built
	w.built[unfit.ReplaceAllString(row.Package, "-")] = done
	var got [][]string
	for _, r := range []Row{row, {Make: "lint"}} {
		cmd, err := w.command(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, cmd.Env)
	}
	for n, env := range append(got, w.quickly(t.Context(), "x", row).Env) {
		for _, set := range []string{"BENCH_NETWORKMANAGER=1.42", "CRASH_N=1000"} {
			if slices.Contains(env, set) {
				t.Errorf("row %d gets %s, which it does not set", n, set)
			}
		}
	}
	if !slices.Contains(got[0], "CRASH_N=3") {
		t.Error("a row lacks what it sets")
	}
}

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const unitProfile = `mode: set
touchdown/backend/dns/dns.go:1.1,2.2 3 1
touchdown/backend/dns/dns.go:3.1,4.2 1 0
touchdown/steps/run.go:1.1,2.2 2 0
touchdown/backend/dns/dns.go:3.1,4.2 1 0
`

const benchProfile = `mode: set
touchdown/steps/run.go:1.1,2.2 2 1
touchdown/tui/app.go:1.1,2.2 4 1
`

func profile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "profile")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestTable(t *testing.T) {
	var table table
	for _, c := range []struct{ name, text string }{{"unit", unitProfile}, {"bench", benchProfile}} {
		if err := table.add(c.name, profile(t, c.text)); err != nil {
			t.Fatal(err)
		}
	}
	const want = `package      statements  unit     bench
backend/dns  4           75.0 %   75.0 %
steps        2           0.0 %    100.0 %
tui          4           0.0 %    100.0 %
all          10          30.0 %   90.0 %
`
	if got := table.text(); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	out := filepath.Join(t.TempDir(), "cover.json")
	if err := table.write(out); err != nil {
		t.Fatal(err)
	}
	var read struct {
		Packages map[string]figures `json:"packages"`
	}
	data, err := os.ReadFile(out)
	if err == nil {
		err = json.Unmarshal(data, &read)
	}
	if f := read.Packages["backend/dns"]; err != nil || f.Statements != 4 || f.Reached[1] != 3 {
		t.Errorf("%v, %s", err, data)
	}
}

// TestWholeNamesThemAll: a file that the runner, the journal or its reader has a part in is covered whole, wherever it is split off to.
func TestWholeNamesThemAll(t *testing.T) {
	files, err := filepath.Glob("../../steps/engine/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	part := regexp.MustCompile(`(?m)^func \(\w+ \*(run|journal|reading|recorder|hub)\) `)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := "steps/engine/" + filepath.Base(file)
		if part.Match(data) && !strings.HasSuffix(name, "_test.go") && !slices.Contains(mustBeWhole, name) {
			t.Errorf("%s is not in the list of what must be covered whole", name)
		}
	}
}

func TestWhole(t *testing.T) {
	file := profile(t, unitProfile)
	err := checkWhole(file, []string{"backend/dns/dns.go", "steps/gone.go"})
	const want = "backend/dns/dns.go:3: no test reaches lines 3 to 4\nsteps/gone.go is not in the profile"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := checkWhole(profile(t, benchProfile), []string{"tui/app.go"}); err != nil {
		t.Error(err)
	}
}

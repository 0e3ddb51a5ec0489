package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// part stands in for the script that runs a part of the build: it writes down the name of the part, edits a source in the middle of the build
// where it is asked to, and leaves an empty program.
const part = `#!/bin/sh
echo "$1" >>built
while [ "$1" != -o ]; do shift; done
if [ -e edit ]; then sleep 0.02; cp edit "$(cat edit)"; rm edit; sleep 0.02; fi
: >"$2"
`

// TestABuildIsOfItsSources: programs are built again when a source or the way they are built changes, a source is gone, or one was edited
// during the build; and else they are not.
func TestABuildIsOfItsSources(t *testing.T) {
	text, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	first := time.Now().Add(-time.Minute)
	for name, text := range map[string]string{
		"Makefile": string(text), "part": part, "go.mod": "", "go.sum": "", "test/demo/faults.txt": "",
		".cache/libnmstate/libnmstate.a": "", "backend/network/libnmstate/src/lib.rs": "",
		"cmd/main.go": "", "cmd/gone.go": "", "test/bench/controlplane/main.go": "", "test/bench/controlplane/gone.go": "",
	} {
		write(t, name, text)
		if err := os.Chtimes(name, first, first); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod("part", 0o700); err != nil {
		t.Fatal(err)
	}
	programs := []string{".cache/bin/touchdown", ".cache/bench/bin/controlplane"}
	made := func(when, want string) {
		t.Helper()
		_ = os.Remove("built")
		cmd := exec.CommandContext(t.Context(), "make", append([]string{"-s", "-j1", "PART=./part"}, programs...)...)
		cmd.Env = append(os.Environ(), "MAKEFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", when, err, out)
		}
		built, _ := os.ReadFile("built")
		if got := strings.Join(strings.Fields(string(built)), " "); got != want {
			t.Errorf("%s, make builds %q, want %q", when, got, want)
		}
	}
	made("at first", "touchdown controlplane")
	made("where nothing changed", "")
	write(t, "Makefile", string(text)+"\n")
	made("with another Makefile", "touchdown controlplane")
	for _, name := range []string{"cmd/gone.go", "test/bench/controlplane/gone.go"} {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	made("without two sources", "touchdown controlplane")
	write(t, "cmd/main.go", "edited")
	write(t, "edit", "cmd/main.go")
	made("with an edited source", "touchdown")
	made("after an edit during the build", "touchdown")
	made("where nothing changed since", "")
}

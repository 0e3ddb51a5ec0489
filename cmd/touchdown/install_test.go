package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUninstallAfterTheUnitsAreGone: an uninstall that was cut off has taken the engine's unit away, so that no engine answers any more. The
// next one goes on; with the unit there it asks why no engine answers.
func TestUninstallAfterTheUnitsAreGone(t *testing.T) {
	root := t.TempDir()
	t.Setenv("TOUCHDOWN_STATE", filepath.Join(root, "state"))
	lay := func(name, text string) {
		t.Helper()
		file := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	lay("run/systemd/system/x", "")
	lay("var/lib/touchdown/installed.json", `{"/usr/local/bin/touchdown": ["a"]}`)
	lay("usr/local/bin/touchdown", "the program")
	lay("state/journal.jsonl", "{}\n")
	run := func() (int, string) {
		t.Helper()
		var said bytes.Buffer
		command := newRoot(hooks{root: root})
		command.SetOut(&said)
		command.SetErr(&said)
		code := execute(t.Context(), command, []string{"uninstall", "--socket", filepath.Join(root, "none.sock")})
		return code, said.String()
	}
	lay("etc/systemd/system/touchdown-engine.service", "")
	if code, said := run(); code != exitFailed || !strings.Contains(said, "HND-DUMB") {
		t.Errorf("with an engine that does not answer: %d\n%s", code, said)
	}
	if err := os.Remove(filepath.Join(root, "etc/systemd/system/touchdown-engine.service")); err != nil {
		t.Fatal(err)
	}
	// No program runs below another root: it came past the question to the engine, to systemd.
	if code, said := run(); code != exitFailed || strings.Contains(said, "HND-") || !strings.Contains(said, "daemon-reload") {
		t.Errorf("without the engine's unit: %d\n%s", code, said)
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInventory prints a machine, keeps a snapshot of it, and prints that.
func TestInventory(t *testing.T) {
	machine, dir := t.TempDir(), t.TempDir()
	for path, content := range map[string]string{
		"proc/meminfo": "MemTotal: 32000000 kB\n", "sys/class/dmi/id/product_name": "Edge\x1b[2J 100\n", "proc/sys/kernel/hostname": "edge-17\n",
	} {
		file := filepath.Join(machine, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(root string, want int, args ...string) (out, said string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		cmd := newRoot(hooks{root: root})
		cmd.SetOut(&stdout)
		cmd.SetErr(&stderr)
		if code := execute(t.Context(), cmd, append([]string{"inventory"}, args...)); code != want {
			t.Fatalf("%v ended with %d: %s%s", args, code, stdout.String(), stderr.String())
		}
		return stdout.String(), stderr.String()
	}
	snapshot := filepath.Join(dir, "edge-17.tar.gz")
	text, said := run(machine, exitOK, "--snapshot", snapshot)
	if !strings.HasPrefix(text, "Machine       Edge[2J 100\n  name        edge-17\n") || !strings.Contains(said, snapshot) {
		t.Errorf("it printed\n%s\nand said %q", text, said)
	}
	if info, err := os.Stat(snapshot); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the snapshot: %v, %v", info, err)
	}
	replayed, _ := run(dir, exitOK, "--replay", snapshot)
	if !strings.Contains(replayed, "  name        edge-17\n") || strings.Count(replayed, "\n") < strings.Count(text, "\n")-2 {
		t.Errorf("replayed:\n%s", replayed)
	}
	document, _ := run(dir, exitOK, "--replay", snapshot, "-o", "json")
	var d struct {
		Hostname string                `json:"hostname"`
		Memory   map[string]any        `json:"memory"`
		Vendor   struct{ Name string } `json:"system_vendor"`
		Errors   map[string]string     `json:"errors"`
	}
	if err := json.Unmarshal([]byte(document), &d); err != nil || d.Hostname != "edge-17" || d.Memory["usable_bytes"] == nil || len(d.Errors) == 0 {
		t.Errorf("%v in\n%s", err, document)
	}

	if err := os.Truncate(snapshot, 200); err != nil {
		t.Fatal(err)
	}
	if _, said := run(dir, exitFailed, "--replay", snapshot); !strings.Contains(said, "PRT-SNAP  The snapshot cannot be replayed.") || !strings.Contains(said, "ends in the middle") {
		t.Errorf("a truncated snapshot: %s", said)
	}
	for _, args := range [][]string{{"--replay", snapshot, "--snapshot", snapshot}, {"--replay", filepath.Join(dir, "none")}, {"-o", "yaml"}} {
		run(dir, exitUsage, args...)
	}
	run(dir, exitFailed, "--snapshot", filepath.Join(dir, "no", "such", "folder"))
}

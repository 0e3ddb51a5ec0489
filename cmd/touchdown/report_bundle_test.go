package main

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend/layout"
	"touchdown/backend/support"
	kinds "touchdown/test/secrets"
)

// TestReadSummary: the record of a serial line becomes the archive again; a damaged one is told.
func TestReadSummary(t *testing.T) {
	file := filepath.Join(t.TempDir(), "console.log")
	archive := strings.Repeat("an archive ", 100)
	text, err := support.Serial([]byte(archive), "")
	if err != nil {
		t.Fatal(err)
	}
	record := "$ touchdown report bundle --serial\r\n" + strings.ReplaceAll(string(text), "\n", "\r\n")
	for text, want := range map[string]string{record: "", strings.Replace(record, "00003 ", "0x003 ", 1): "1 of 25 lines are missing or damaged; print them again with touchdown report bundle --serial=3 within"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, complaints := ran(t, "report", "bundle", "--read", file)
		if want == "" && (code != 0 || out != archive) || want != "" && (code != 1 || out != "" || !strings.Contains(complaints, want)) {
			t.Errorf("%d, %d bytes, %s", code, len(out), complaints)
		}
	}
	if code, _, _ := ran(t, "report", "bundle", "--read", file, "--serial"); code != 2 {
		t.Errorf("--read and --serial: %d", code)
	}
}

// TestBundleWithoutAnEngine: a node whose engine does not start and which has no cluster gives what it can, without a secret, and nothing
// is written to its state folder.
func TestBundleWithoutAnEngine(t *testing.T) {
	state := t.TempDir()
	var all strings.Builder
	all.WriteString(kinds.Kinds[kinds.CutKey] + "\n")
	for name, text := range kinds.Kinds {
		if name == kinds.CutKey {
			continue
		}
		all.WriteString(text + "\nan ordinary line\n")
	}
	if err := os.WriteFile(filepath.Join(state, "engine.log"), []byte(all.String()), 0o400); err != nil {
		t.Fatal(err)
	}
	for folder, text := range map[string]string{"2026-11-26": "an earlier return", "2026-11-26-10": "why it came back"} {
		file := filepath.Join(state, layout.ReturnedFolder, folder, layout.JournalFile)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text+"\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TOUCHDOWN_STATE", state)
	code, out, said := ran(t, "report", "bundle")
	if code != 0 || !strings.Contains(said, "No engine answers") {
		t.Fatalf("%d, %s", code, said)
	}
	plain, err := gzip.NewReader(strings.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(plain)
	if err != nil || !strings.Contains(string(text), "engine.log") || !strings.Contains(string(text), "an ordinary line") || !strings.Contains(string(text), "touchdown-bundle/node/") {
		t.Errorf("%.2000s, %v", text, err)
	}
	if !strings.Contains(string(text), "touchdown-bundle/returned/2026-11-26-10/journal.jsonl") || !strings.Contains(string(text), "why it came back") || strings.Contains(string(text), "an earlier return") {
		t.Errorf("the records of the last return: %.2000s", text)
	}
	if kinds.Leak(string(text)) {
		t.Error("it has a secret")
	}
	if files, err := os.ReadDir(state); err != nil || len(files) != 2 {
		t.Errorf("it wrote: %v, %v", files, err)
	}
	for _, way := range []string{"--stick", "--serial"} {
		if code, out, said := ran(t, "report", "bundle", way, "--socket", filepath.Join(state, "no.sock")); code == 0 || out != "" {
			t.Errorf("%s: %d, %q, %s", way, code, out, said)
		}
	}
}

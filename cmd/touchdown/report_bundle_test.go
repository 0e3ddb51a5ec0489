package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend/support"
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

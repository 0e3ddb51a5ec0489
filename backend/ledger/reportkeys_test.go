package ledger

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestReportKeys: each key with which a machine was sealed counts for it alone; a ledger that has two meanings, or is none, is refused.
func TestReportKeys(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ledger.jsonl")
	prepare(t, file)
	if keys, err := ReportKeys(file, "SN1"); err != nil || len(keys) != 0 {
		t.Errorf("an empty ledger: %v, %v", keys, err)
	}
	without, first, second, other := node(1), node(1), node(1), node(2)
	first.ReportKey, second.ReportKey, other.ReportKey = "one", "two", "three"
	for _, e := range []Entry{without, first, first, second, other} {
		if err := Enter(file, e); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(file)
	if err != nil || strings.Count(string(whole), "\n") != 4 {
		t.Fatalf("%s %v", whole, err)
	}
	for serial, want := range map[string][]string{"SN1": {"one", "two"}, "SN2": {"three"}, "SN3": nil, "sn1": nil, "": nil} {
		if keys, err := ReportKeys(file, serial); err != nil || !slices.Equal(keys, want) {
			t.Errorf("%q: %v, %v", serial, keys, err)
		}
	}
	whole = []byte(loose(string(whole))) // so that only the line before it is wrong
	line := strings.SplitAfter(string(whole), "\n")[1]
	for name, text := range map[string]string{
		"a key twice":       strings.Replace(line, `"reportKey":"one"`, `"reportKey":"one","ReportKey":"evil"`, 1),
		"nonsense":          "nonsense\n",
		"another format":    strings.Replace(line, `"format":1`, `"format":2`, 1),
		"a line of 128 KiB": strings.Repeat("x", 128<<10) + "\n",
		"a list":            "[1]\n",
	} {
		if err := os.WriteFile(file, []byte(text+string(whole)), 0o600); err != nil {
			t.Fatal(err)
		}
		if keys, err := ReportKeys(file, "SN1"); code(err) != "FAC-LEDG" || len(keys) > 0 {
			t.Errorf("%s: %v, %v", name, keys, err)
		}
	}
	if err := os.WriteFile(file, append(whole, `{"format":1,"sealed":"2026`...), 0o600); err != nil {
		t.Fatal(err)
	}
	if keys, err := ReportKeys(file, "SN1"); err != nil || len(keys) != 2 {
		t.Errorf("a stick that was pulled: %v, %v", keys, err)
	}
	for _, path := range []string{file + ".none", filepath.Dir(file)} {
		if _, err := ReportKeys(path, "SN1"); code(err) != "FAC-LEDG" {
			t.Errorf("%s: %v", path, err)
		}
	}
}

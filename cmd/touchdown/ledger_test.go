package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend/ledger"
)

// TestLedgerVerify: a whole ledger passes, a changed one fails, with what to do.
func TestLedgerVerify(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ledger.jsonl")
	if _, err := ledger.Prepare(file); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		if err := ledger.Enter(file, ledger.Entry{Serial: fmt.Sprint("SN", n), ClusterID: fmt.Sprint("c", n)}); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, out, _ := ran(t, "ledger", "verify", file, "-o", "json")
	var c ledger.Chain
	if err := json.Unmarshal([]byte(out), &c); err != nil || c.Lines != 3 || len(c.Digest) != 64 {
		t.Fatalf("%+v, %v in %s", c, err, out)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	for _, test := range []struct {
		text string
		code int
		want string
		args []string
	}{
		{string(whole), 0, "lines:      3\nsha256:     " + c.Digest + "\n", nil},
		{string(whole), 0, "begins with the 3 lines", []string{"--since", c.Digest}},
		{string(whole), 2, "64 hexadecimal digits", []string{"--since", "yesterday"}},
		{lines[0] + lines[1], 0, "lines:      2", nil},
		{lines[0] + lines[1], 1, "FAC-LCUT", []string{"--since", c.Digest}},
		{lines[1] + lines[2], 1, "FAC-LCHN  The ledger " + file + " was changed before its line 1", nil},
		{lines[0] + lines[2], 1, "line 2", nil},
		{`{"format":1,"sealed":"2026-11-24T09:00:00Z","clusterID":"c","keys":{}}` + "\n", 0, "1 without the digest", nil},
		{"{}\n", 1, "FAC-LEDG", nil},
	} {
		if err := os.WriteFile(file, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, complaints := ran(t, append([]string{"ledger", "verify", file}, test.args...)...)
		if code != test.code || !strings.Contains(out+complaints, test.want) {
			t.Errorf("%q of %q: %d\n%s%s", test.args, test.text, code, out, complaints)
		}
	}
}

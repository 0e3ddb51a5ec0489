package ledger

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/backend/host"
)

// machine is the machine of a node of the tests, without its cluster.
func machine(t *testing.T, serial string) *host.Machine {
	t.Helper()
	m := host.Open(host.Options{Root: t.TempDir()})
	if err := m.WriteFile("/sys/class/dmi/id/product_serial", []byte(serial+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestReturn: a return is a line behind the others, in their chain, once for each seal. The node that is sealed again gets a new line, though
// it is what it was; a copy of it is still found, and its report key still counts.
func TestReturn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ledger.jsonl")
	prepare(t, file)
	sealed := node(1)
	sealed.MACs, sealed.ReportKey = nil, "key of 1"
	for _, e := range []Entry{node(0), sealed} {
		if err := Enter(file, e); err != nil {
			t.Fatal(err)
		}
	}
	back := time.Date(2027, 2, 3, 4, 5, 6, 0, time.UTC)
	returns := func(want int) {
		t.Helper()
		known, err := Return(file, machine(t, "SN1"), back)
		if lines := linesOf(t, file); err != nil || !known || len(lines) != want || !strings.Contains(lines[want-1], `"returned":"2027-02-03T04:05:06Z"`) {
			t.Fatalf("%t, %v\n%s", known, err, strings.Join(lines, ""))
		}
	}
	returns(3)
	returns(3) // a power cut came behind it
	if clashes, err := Find(file, Entry{Serial: "SN9", ClusterID: "cluster-1"}); err != nil || len(clashes) != 2 {
		t.Errorf("a copy: %v, %v", clashes, err)
	}
	if keys, err := ReportKeys(file, "SN1"); err != nil || len(keys) != 1 || keys[0] != "key of 1" {
		t.Errorf("%q, %v", keys, err)
	}
	for range 2 {
		if err := Enter(file, sealed); err != nil {
			t.Fatal(err)
		}
	}
	if lines := linesOf(t, file); len(lines) != 4 || strings.Contains(lines[3], "returned") {
		t.Errorf("sealed again:\n%s", strings.Join(lines, ""))
	}
	returns(5)
	if c, err := Verify(file, ""); err != nil || c.Lines != 5 || c.Unchained != 0 {
		t.Errorf("%+v, %v", c, err)
	}
	if known, err := Return(file, machine(t, "SN7"), back); known || err != nil || len(linesOf(t, file)) != 5 {
		t.Errorf("a machine that is not in it: %t, %v", known, err)
	}
	if _, err := Return(file+".gone", machine(t, "SN1"), back); code(err) != "FAC-LEDG" {
		t.Errorf("a ledger that is not there: %v", err)
	}
}

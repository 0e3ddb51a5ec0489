package ledger

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/backend/envelope"
)

// sealedWith is node 1 with a key, and a ledger that has it.
func sealedWith(t *testing.T, file string) (Entry, envelope.SigningKey) {
	t.Helper()
	key, err := envelope.NewSigningKey()
	if err != nil {
		t.Fatal(err)
	}
	e := node(1)
	e.MACs, e.ReportKey = nil, key.Public().String()
	if err := Enter(file, e); err != nil {
		t.Fatal(err)
	}
	return e, key
}

// TestAWipedNodeIsEntered: once, as its last line with the time of the wipe. Sealed again it is not a copy of itself, gets a line, and its
// earlier statement counts no more; another machine with its identity is a copy as before.
func TestAWipedNodeIsEntered(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ledger.jsonl")
	prepare(t, file)
	e, key := sealedWith(t, file)
	says, err := WipedNow(machine(t, "SN1"), "v9", time.Date(2027, 2, 3, 4, 5, 6, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	signed, err := says.Sign(key)
	if err != nil {
		t.Fatal(err)
	}
	for _, first := range []bool{true, false} {
		w, added, err := EnterWiped(file, signed)
		if lines := linesOf(t, file); err != nil || added != first || w.Serial != "SN1" || len(lines) != 2 || !strings.Contains(lines[1], `"wiped":"2027-02-03T04:05:06Z"`) || !strings.Contains(lines[1], e.ClusterID) {
			t.Fatalf("%+v, %t, %v\n%s", w, added, err, strings.Join(lines, ""))
		}
	}
	if clashes, err := Find(file, Entry{Serial: "SN9", ClusterID: e.ClusterID}); err != nil || len(clashes) == 0 {
		t.Errorf("a copy: %v, %v", clashes, err)
	}
	again, _ := sealedWith(t, file)
	if lines := linesOf(t, file); len(lines) != 3 || strings.Contains(lines[2], "wiped") {
		t.Errorf("sealed again:\n%s", strings.Join(lines, ""))
	}
	if _, _, err := EnterWiped(file, signed); code(err) != "FAC-WSGN" {
		t.Errorf("the statement of the wipe before: %v", err)
	}
	if known, err := Return(file, machine(t, "SN1"), time.Now()); err != nil || !known {
		t.Error(known, err)
	}
	if keys, err := ReportKeys(file, "SN1"); err != nil || len(keys) != 2 || keys[1] != again.ReportKey {
		t.Errorf("%q, %v", keys, err)
	}
	if c, err := Verify(file, ""); err != nil || c.Lines != 4 || c.Unchained != 0 {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestAForgedStatementIsRefused: of a machine that the ledger does not know, of another key, with one byte changed, and what is not a statement.
func TestAForgedStatementIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ledger.jsonl")
	prepare(t, file)
	_, key := sealedWith(t, file)
	other, err := envelope.NewSigningKey()
	if err != nil {
		t.Fatal(err)
	}
	refused := func(want string, signed []byte) {
		t.Helper()
		before := linesOf(t, file)
		if _, added, err := EnterWiped(file, signed); added || code(err) != want {
			t.Errorf("%t, %v, want %s", added, err, want)
		}
		if now := linesOf(t, file); len(now) != len(before) {
			t.Errorf("the ledger has %d lines", len(now))
		}
	}
	of := func(serial string, key envelope.SigningKey) []byte {
		says, err := WipedNow(machine(t, serial), "v9", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		signed, err := says.Sign(key)
		if err != nil {
			t.Fatal(err)
		}
		return signed
	}
	refused("FAC-WELS", of("SN7", key))
	refused("FAC-WSGN", of("SN1", other))
	genuine := of("SN1", key)
	for at := range genuine {
		changed := bytes.Clone(genuine)
		changed[at] ^= 1
		if _, added, err := EnterWiped(file, changed); added || err == nil {
			t.Fatalf("byte %d changed: added", at)
		}
	}
	report, err := key.Envelope("application/vnd.in-toto+json", []byte(`{"statement":1,"serial":"SN1"}`))
	if err != nil {
		t.Fatal(err)
	}
	refused("FAC-WFRM", report)
	refused("FAC-WFRM", []byte("no statement"))
	refused("FAC-WFRM", nil)
}

package ledger

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"touchdown/backend/problem"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// node is the n-th node of a factory that installs each on its own.
func node(n int) Entry {
	return Entry{
		Format: format, Sealed: noon, Serial: fmt.Sprint("SN", n), MACs: []string{fmt.Sprintf("52:54:00:00:00:%02x", n)},
		ClusterID: fmt.Sprint("cluster-", n), Keys: map[string]string{"the CA key router-ca": fmt.Sprint("a", n), "the SSH host key rsa": fmt.Sprint("b", n)},
		MediaKey: fmt.Sprint("age1of", n),
	}
}

func code(err error) string {
	if err == nil {
		return ""
	}
	return problem.From(err).Code
}

// TestCopiesAreFound: one thing in common with another machine is enough; the machine itself, sealed again, is not a copy.
func TestCopiesAreFound(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ledger.jsonl")
	prepare(t, file)
	if clashes, err := Find(file, node(1)); err != nil || len(clashes) > 0 {
		t.Errorf("no nodes yet: %v, %v", clashes, err)
	}
	for n := range 3 {
		if err := Enter(file, node(n)); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		change func(*Entry)
		shares []string
	}{
		"another node":      {func(*Entry) {}, nil},
		"the cluster":       {func(e *Entry) { e.ClusterID = "cluster-1" }, []string{"the cluster id"}},
		"a CA":              {func(e *Entry) { e.Keys["the CA key router-ca"] = "a1" }, []string{"the CA key router-ca"}},
		"a key moved":       {func(e *Entry) { e.Keys["the SSH host key rsa"] = "a1" }, []string{"the SSH host key rsa"}},
		"a copied disk":     {func(e *Entry) { e.ClusterID, e.Keys = node(1).ClusterID, node(1).Keys }, []string{"the cluster id", "the CA key router-ca", "the SSH host key rsa"}},
		"the key for media": {func(e *Entry) { e.MediaKey = "age1of1" }, []string{"the key for site media"}},
		"nothing known":     {func(e *Entry) { e.ClusterID, e.Keys, e.MediaKey = "", nil, "" }, nil},
		"itself, again":     {func(e *Entry) { *e = node(1) }, nil},
		"itself, new board": {func(e *Entry) { *e = node(1); e.Serial = "" }, nil},
		"a common address":  {func(e *Entry) { *e = node(1); e.Serial = "SN9" }, []string{"the cluster id", "the key for site media", "the CA key router-ca", "the SSH host key rsa"}},
		"a serial twice":    {func(e *Entry) { *e = node(1); e.MACs = []string{"52:54:00:00:01:00"} }, []string{"the cluster id", "the key for site media", "the CA key router-ca", "the SSH host key rsa"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := node(9)
			test.change(&e)
			clashes, err := Find(file, e)
			if err != nil || (len(clashes) > 0) != (test.shares != nil) {
				t.Fatalf("%v, %v", clashes, err)
			}
			if test.shares == nil {
				return
			}
			if fmt.Sprint(clashes[0].Shared) != fmt.Sprint(test.shares) || clashes[0].Other.Serial != "SN1" {
				t.Errorf("%+v", clashes[0])
			}
			before, _ := os.ReadFile(file)
			err = Enter(file, e)
			if code(err) != "FAC-TWN" || !strings.Contains(problem.From(err).Summary.String(), "SN SN1, sealed on 2026-11-23") {
				t.Errorf("a copy is entered: %v", err)
			}
			if after, _ := os.ReadFile(file); string(after) != string(before) {
				t.Error("the ledger was changed")
			}
		})
	}
	before, _ := os.ReadFile(file)
	if err := Enter(file, node(1)); err != nil {
		t.Error(err)
	}
	if after, _ := os.ReadFile(file); string(after) != string(before) || strings.Count(string(after), "\n") != 3 {
		t.Error("a node that is in it is entered again")
	}
	sealedFor := node(2)
	sealedFor.MediaKey = "age1other"
	if err := Enter(file, sealedFor); err != nil {
		t.Error(err)
	}
	if after, _ := os.ReadFile(file); !strings.Contains(string(after), `"mediaKey":"age1other"`) {
		t.Error("the node's new key for media is not in it")
	}
	byTwo := sealedFor
	byTwo.Seal = Seal{SealedBy: "Ben", SecondPerson: "Anna", SecondKey: "key of Anna"}
	for _, e := range []Entry{byTwo, byTwo, sealedFor} { // sealed again, at last by one: the last line has to say so
		if err := Enter(file, e); err != nil {
			t.Error(err)
		}
	}
	after, _ := os.ReadFile(file)
	lines := strings.Split(strings.TrimSpace(string(after)), "\n")
	if n := len(lines); n != 6 || !strings.Contains(lines[4], `"sealedBy":"Ben","secondPerson":"Anna","secondKey":"key of Anna"`) || strings.Contains(lines[5], "Anna") {
		t.Errorf("who sealed it:\n%s", after)
	}
	shared := node(9)
	shared.ClusterID, shared.Shared = "cluster-1", "a spare for node 1"
	if err := Enter(file, shared); err != nil {
		t.Errorf("with a reason: %v", err)
	}
	third := node(10)
	third.ClusterID = "cluster-1"
	if clashes, err := Find(file, third); err != nil || len(clashes) != 2 {
		t.Errorf("%v, %v", clashes, err)
	}
}

// prepare makes a new ledger.
func prepare(t *testing.T, file string) {
	t.Helper()
	if made, err := Prepare(file); err != nil || !made {
		t.Fatalf("%t, %v", made, err)
	}
}

// TestAMissingLedger: only Prepare makes one. For the others a file that is gone is a volume that is not mounted.
func TestAMissingLedger(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "ledger.jsonl")
	_, err := Find(file, node(1))
	for what, err := range map[string]error{"found": err, "entered": Enter(file, node(1))} {
		if p := problem.From(err); p.Code != "FAC-LEDG" || !strings.Contains(p.Fix.String(), "mount that again") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("it was made: %v, %v", left, err)
	}
	if _, err := Prepare(filepath.Join(folder, "gone/ledger")); code(err) != "FAC-LEDG" {
		t.Errorf("a folder that is not there: %v", err)
	}
	prepare(t, file)
	if made, err := Prepare(file); made || err != nil {
		t.Errorf("again: %t, %v", made, err)
	}
}

// TestTwoCopiesAtOnce: of copies that are sealed at the same time one is entered.
func TestTwoCopiesAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ledger.jsonl")
	prepare(t, file)
	var all sync.WaitGroup
	refused := make(chan string, 20)
	for n := range 20 {
		all.Go(func() {
			e := node(n)
			e.ClusterID = "one"
			refused <- code(Enter(file, e))
		})
	}
	all.Wait()
	close(refused)
	count := map[string]int{}
	for c := range refused {
		count[c]++
	}
	if count[""] != 1 || count["FAC-TWN"] != 19 {
		t.Errorf("%v", count)
	}
}

// TestDamagedLedgers: a line that was torn at the end is given up; what else is wrong is told, and nothing is written.
func TestDamagedLedgers(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "ledger.jsonl")
	prepare(t, file)
	if err := Enter(file, node(1)); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(good)
	copied := node(2)
	copied.ClusterID = "cluster-1"
	for name, test := range map[string]struct{ content, code string }{
		"whole":                {text, "FAC-TWN"},
		"empty lines":          {"\n\n" + text + "\r\n", "FAC-TWN"},
		"no line end":          {strings.TrimSpace(text), "FAC-TWN"},
		"torn":                 {text + text[:40], "FAC-TWN"},
		"torn early":           {text + text[:12], "FAC-TWN"},
		"only a torn one":      {text[:40], ""},
		"a pull secret":        {`{"auths":{"quay.io":{"auth":"eDp5"}}}`, "FAC-LEDG"},
		"half a pull secret":   {`{"auths":{"quay.io":{"au`, "FAC-LEDG"},
		"a word":               {"hello", "FAC-LEDG"},
		"a later last line":    {text + `{"format":2,"sealed":"2027-01-01T00:00:00Z"}`, "FAC-LEDG"},
		"a later torn line":    {text + `{"format":2,"sealed":"2027-01-0`, "FAC-LEDG"},
		"zeros at the end":     {text + "\x00\x00\x00", "FAC-LEDG"},
		"empty":                {"", ""},
		"damaged in between":   {"{\n" + text, "FAC-LEDG"},
		"no objects":           {"[]\n" + text, "FAC-LEDG"},
		"of a later release":   {`{"format":2}` + "\n", "FAC-LEDG"},
		"without a format":     {"{}\n", "FAC-LEDG"},
		"a line of a mebibyte": {strings.Repeat(" ", 1<<20) + "\n", "FAC-LEDG"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(file, []byte(test.content), 0o600); err != nil {
				t.Fatal(err)
			}
			err := Enter(file, copied)
			if code(err) != test.code {
				t.Fatalf("%v", err)
			}
			if now, _ := os.ReadFile(file); err != nil && string(now) != test.content {
				t.Error("the ledger was changed")
			}
			if made, err := Prepare(file); made || code(err) == "FAC-LEDG" != (test.code == "FAC-LEDG") {
				t.Errorf("prepared: %t, %v", made, err)
			}
			if err != nil {
				return
			}
			if err := Enter(file, node(3)); err != nil {
				t.Errorf("after it: %v", err)
			}
			if again := code(Enter(file, func() Entry { e := node(4); e.ClusterID = "cluster-1"; return e }())); again != "FAC-TWN" {
				t.Errorf("what was entered is not found: %q", again)
			}
		})
	}
	if err := os.WriteFile(file, []byte(strings.TrimSpace(text)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Enter(file, node(5)); err != nil {
		t.Fatal(err)
	}
	if now, _ := os.ReadFile(file); strings.Count(string(now), "\n") != 2 {
		t.Errorf("two entries on one line:\n%s", now)
	}
	if err := Enter(folder, node(5)); code(err) != "FAC-LEDG" {
		t.Errorf("a folder: %v", err)
	}
	if _, err := Find(folder, node(5)); code(err) != "FAC-LEDG" {
		t.Errorf("a folder: %v", err)
	}
	if err := Enter(filepath.Join(folder, "gone/ledger"), node(5)); code(err) != "FAC-LEDG" {
		t.Errorf("a volume that is not there: %v", err)
	}
}

// FuzzFind: whatever lies in a ledger, it is read or refused.
func FuzzFind(f *testing.F) {
	f.Add([]byte(`{"format":1,"clusterID":"cluster-1","keys":{"x":"a1"}}`))
	f.Add([]byte("{\n[]\n\x00"))
	f.Fuzz(func(t *testing.T, content []byte) {
		file := filepath.Join(t.TempDir(), "l")
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Find(file, node(1)); err != nil {
			return
		}
		e := node(1)
		e.Shared = "whatever is in it"
		if err := Enter(file, e); err != nil {
			t.Fatal(err)
		}
		if _, err := Find(file, e); err != nil {
			t.Errorf("what was entered made it unreadable: %v", err)
		}
	})
}

package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"touchdown/backend/problem"
)

// chained writes a ledger of nodes 0 to 4, and returns its file and its lines.
func chained(t *testing.T) (file string, lines []string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "ledger.jsonl")
	prepare(t, file)
	for n := range 5 {
		if err := Enter(file, node(n)); err != nil {
			t.Fatal(err)
		}
	}
	return file, linesOf(t, file)
}

func linesOf(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
}

func put(t *testing.T, file string, lines ...string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
}

// loose is a line as an earlier release wrote it.
func loose(line string) string {
	return regexp.MustCompile(`,"before":"[0-9a-f]{64}"`).ReplaceAllString(line, "")
}

// TestTheChainHolds: each line has the SHA-256 of those before it, which sha256sum finds too; line ends of other systems, empty
// lines and a torn last line are not a change.
func TestTheChainHolds(t *testing.T) {
	file, lines := chained(t)
	sum := sha256.Sum256([]byte(strings.Join(lines[:3], "")))
	if !strings.Contains(lines[3], `"before":"`+hex.EncodeToString(sum[:])+`"`) {
		t.Errorf("line 4 does not have the digest of the first three: %s", lines[3])
	}
	c, err := Verify(file, "")
	if err != nil || c.Lines != 5 || c.Unchained != 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	for name, text := range map[string][]string{
		"of Windows": {strings.ReplaceAll(strings.Join(lines, ""), "\n", "\r\n")}, "empty lines": {"\n", strings.Join(lines, "\n")},
		"torn": append(append([]string{}, lines...), "\n", lines[0][:40]),
	} {
		put(t, file, text...)
		if again, err := Verify(file, ""); err != nil || again != c {
			t.Errorf("%s: %+v, %v", name, again, err)
		}
		if err := Enter(file, node(7)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if again, err := Verify(file, c.Digest); err != nil || again.Lines != 6 || again.Since != 5 {
			t.Errorf("%s, and a line more: %+v, %v", name, again, err)
		}
	}
}

// TestAChangedLedgerIsTold: a line that was removed, moved, inserted or edited, to whoever reads the ledger.
func TestAChangedLedgerIsTold(t *testing.T) {
	file, lines := chained(t)
	forged := strings.Replace(lines[1], `"clusterID":"cluster-1"`, `"clusterID":"cluster-9"`, 1)
	for name, text := range map[string][]string{
		"cut at the start":     lines[1:],
		"cut between":          {lines[0], lines[1], lines[3], lines[4]},
		"two swapped":          {lines[0], lines[2], lines[1], lines[3], lines[4]},
		"the last two swapped": {lines[0], lines[1], lines[2], lines[4], "\n", lines[3]},
		"forged":               {lines[0], forged, lines[2], lines[3], lines[4]},
		"forged, digest off":   {lines[0], loose(forged), lines[2], lines[3], lines[4]},
		"inserted":             {lines[0], loose(forged), lines[1], lines[2], lines[3], lines[4]},
		"twice":                {lines[0], lines[1], lines[1], lines[2], lines[3], lines[4]},
		"no digest":            {lines[0], strings.Replace(lines[1], `"before":"`, `"before":"0`, 1)},
	} {
		put(t, file, text...)
		_, verified := Verify(file, "")
		_, searched := Find(file, node(6))
		_, asked := ReportKeys(file, "SN1")
		for who, err := range map[string]error{"Verify": verified, "Find": searched, "ReportKeys": asked, "Enter": Enter(file, node(6))} {
			if code(err) != "FAC-LCHN" || problem.From(err).Fix.String() == "" {
				t.Errorf("%s: %s: %v", name, who, err)
			}
		}
		if now := strings.Join(linesOf(t, file), ""); now != strings.TrimSuffix(strings.Join(text, ""), "\n") {
			t.Errorf("%s: the ledger was written", name)
		}
	}
}

// TestACutEndIsTold: to whoever noted the digest.
func TestACutEndIsTold(t *testing.T) {
	file, lines := chained(t)
	whole, err := Verify(file, "")
	if err != nil {
		t.Fatal(err)
	}
	put(t, file, lines[:3]...)
	first, err := Verify(file, "")
	if err != nil || first.Lines != 3 {
		t.Fatalf("%+v, %v", first, err)
	}
	if _, err := Verify(file, whole.Digest); code(err) != "FAC-LCUT" {
		t.Errorf("%v", err)
	}
	put(t, file, lines...)
	if c, err := Verify(file, first.Digest); err != nil || c.Since != 3 || c.Lines != 5 {
		t.Errorf("a ledger that grew: %+v, %v", c, err)
	}
	put(t, file)
	if c, err := Verify(file, hex.EncodeToString(sha256.New().Sum(nil))); err != nil || c.Lines != 0 {
		t.Errorf("an empty one that was empty: %+v, %v", c, err)
	}
}

// TestALedgerOfAnEarlierRelease: it is read, told as one, and covered by the lines that follow.
func TestALedgerOfAnEarlierRelease(t *testing.T) {
	file, lines := chained(t)
	put(t, file, loose(lines[0]), loose(lines[1]))
	if c, err := Verify(file, ""); err != nil || c.Lines != 2 || c.Unchained != 2 {
		t.Errorf("%+v, %v", c, err)
	}
	if err := Enter(file, node(5)); err != nil {
		t.Fatal(err)
	}
	mixed := linesOf(t, file)
	if c, err := Verify(file, ""); err != nil || c.Lines != 3 || c.Unchained != 2 {
		t.Errorf("%+v, %v", c, err)
	}
	put(t, file, mixed[1], mixed[2])
	if _, err := Verify(file, ""); code(err) != "FAC-LCHN" {
		t.Errorf("its first line was cut: %v", err)
	}
	put(t, file, mixed[0], mixed[1], mixed[2], "\n", loose(lines[4])) // an earlier release sealed a node again
	if c, err := Verify(file, ""); err != nil || c.Unchained != 3 {
		t.Errorf("%+v, %v", c, err)
	}
	for _, serial := range []string{"SN0", "SN5", "SN4"} {
		if _, err := ReportKeys(file, serial); err != nil {
			t.Errorf("%s: %v", serial, err)
		}
	}
}

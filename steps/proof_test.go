package steps

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/factory"
	"touchdown/backend/layout"
	"touchdown/backend/ledger"
	"touchdown/backend/problem"
	"touchdown/backend/report"
	"touchdown/backend/report/proof"
)

// reported writes a report of this node into a folder, as the hand-over and the bench line do.
func reported(t *testing.T, node *backend.Node, dir, warning string, made time.Time) (*keptReport, *proof.Proof) {
	t.Helper()
	r := newKept()
	key := reportKey(node, r)
	d := report.New(report.Job{Serial: node.Host.Serial(), Hostname: "node", Warnings: []string{warning}}, report.Facts{}, made)
	unsigned, err := keepReport(node, dir, d, key, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if unsigned.String() != "" {
		t.Errorf("it says: %s", unsigned)
	}
	text, err := os.ReadFile(filepath.Join(dir, report.SignedFile))
	if err != nil {
		return r, nil
	}
	p, err := proof.Open(text)
	if err != nil {
		t.Fatal(err)
	}
	return r, p
}

// TestReportsAreSignedAndChained: from the factory over the landing to a second one each report names the one before it, and the
// factory's ledger vouches for all. A node with the disk of this one is known by its report key, too.
func TestReportsAreSignedAndChained(t *testing.T) {
	ca, hostKey := keyPair(t)
	node := shipped(t, "SN01", "one", ca, hostKey)
	bench, landed := node.Host.Path(layout.FactoryState), node.Host.Path(layout.State)
	noon := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	_, first := reported(t, node, bench, "first", noon)
	_, second := reported(t, node, landed, "second", noon.Add(time.Hour))
	_, again := reported(t, node, landed, "second", noon.Add(2*time.Hour)) // a power cut came behind the report
	_, third := reported(t, node, landed, "third", noon.Add(3*time.Hour))
	if first == nil || second == nil || third == nil || first.Report.Previous != nil {
		t.Fatalf("%v %v %v", first, second, third)
	}
	if err := second.Follows(first); err != nil {
		t.Error(err)
	}
	if again.Digest != second.Digest {
		t.Error("a repeated hand-over wrote another report")
	}
	if err := third.Follows(second); err != nil {
		t.Error(err)
	}
	if kept, err := os.ReadFile(filepath.Join(landed, report.FollowedFile)); err != nil || string(kept) != string(second.Signed) {
		t.Errorf("the report before the last one is lost: %v", err)
	}
	chainedOverAReturn(t, node, third, noon.Add(4*time.Hour))

	file := filepath.Join(t.TempDir(), "ledger.jsonl")
	if _, err := ledger.Prepare(file); err != nil {
		t.Fatal(err)
	}
	seal := func(node *backend.Node) error {
		if err := (ledger.Choice{File: file, Stay: factory.Stay(node.Host)}).Keep(node.Host); err != nil {
			t.Fatal(err)
		}
		return (&Seal{}).Run(t.Context(), node, newKept())
	}
	if err := seal(node); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*proof.Proof{first, second, third} {
		keys, err := ledger.ReportKeys(file, p.Report.Node.Serial)
		if err != nil || len(keys) != 1 {
			t.Fatalf("%v, %v", keys, err)
		}
		if err := p.Enrolled("SN01", keys); err != nil {
			t.Error(err)
		}
	}
	if text, err := os.ReadFile(file); err != nil || strings.Contains(string(text), "PRIVATE") {
		t.Errorf("%s %v", text, err)
	}
	otherCA, otherKey := keyPair(t)
	copied := shipped(t, "SN02", "two", otherCA, otherKey)
	for _, name := range []string{layout.ReportKey, layout.ReportPublic} {
		data, err := node.Host.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := copied.Host.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if p := problem.From(seal(copied)); p.Code != "FAC-TWN" || !strings.Contains(p.Summary.String(), "the report key") {
		t.Errorf("a node with the key of another one: %v", p)
	}
}

// chainedOverAReturn: the reports of a site are set aside when the node comes back for repair, and the bench line's next one names the last
// of them.
func chainedOverAReturn(t *testing.T, node *backend.Node, last *proof.Proof, made time.Time) {
	t.Helper()
	setAside(t, node)
	_, next := reported(t, node, node.Host.Path(layout.FactoryState), "repaired", made)
	if err := next.Follows(last); err != nil {
		t.Errorf("after a return: %v", err)
	}
}

// setAside moves the last report of the site away.
func setAside(t *testing.T, node *backend.Node) {
	t.Helper()
	landed, aside := node.Host.Path(layout.State), node.Host.Path(layout.Returned+"/2026-11-24")
	if err := os.MkdirAll(aside, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{report.JSONFile, report.TextFile, report.JUnitFile, report.HostsFile, report.Sums, report.SignedFile} {
		if err := os.Rename(filepath.Join(landed, name), filepath.Join(aside, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReportsAreChainedOverAClockThatWasSetBack: the factory's clock was four years ahead. Each report names the one before it all the same,
// so that none seems to be left out.
func TestReportsAreChainedOverAClockThatWasSetBack(t *testing.T) {
	ca, hostKey := keyPair(t)
	node := shipped(t, "SN01", "one", ca, hostKey)
	landed, noon := node.Host.Path(layout.State), time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	_, last := reported(t, node, node.Host.Path(layout.FactoryState), "first", noon.AddDate(4, 0, 0))
	for n, warning := range []string{"second", "third", "fourth"} {
		_, next := reported(t, node, landed, warning, noon.Add(-time.Duration(n)*time.Hour))
		if err := next.Follows(last); err != nil {
			t.Errorf("the %s report: %v", warning, err)
		}
		last = next
	}
	chainedOverAReturn(t, node, last, noon.AddDate(-1, 0, 0))
}

// TestTheNextReportNamesOneWithoutASignature: the node came back, and its next report had no key. The one after that names it, and not the
// last one with a signature; but not for a time that is still to come.
func TestTheNextReportNamesOneWithoutASignature(t *testing.T) {
	ca, hostKey := keyPair(t)
	noon := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	for made, named := range map[time.Time]bool{noon.Add(4 * time.Hour): true, noon.Add(-time.Hour): false, noon.AddDate(4, 0, 0): false} {
		node := shipped(t, "SN01", "one", ca, hostKey)
		landed := node.Host.Path(layout.State)
		_, first := reported(t, node, landed, "first", noon)
		_, second := reported(t, node, landed, "second", noon.Add(time.Hour))
		if err := second.Follows(first); err != nil {
			t.Fatal(err)
		}
		setAside(t, node)
		bare := report.New(report.Job{Serial: "SN01", Hostname: "node"}, report.Facts{}, made)
		if _, err := keepReport(node, landed, bare, nil, time.Time{}); err != nil {
			t.Fatal(err)
		}
		unsigned, _ := (report.Folder{Dir: landed}).Last("SN01")
		_, next := reported(t, node, landed, "third", noon.Add(5*time.Hour))
		if got := next.Report.Previous; got == nil || named && *got != *unsigned || !named && next.Follows(second) != nil {
			t.Errorf("behind one without a signature of %s the next report names %v", made, got)
		}
	}
}

// TestAReportWithoutASignature: a key that cannot be used ends no landing. A check tells it, and the report is written.
func TestAReportWithoutASignature(t *testing.T) {
	ca, hostKey := keyPair(t)
	node := shipped(t, "SN01", "one", ca, hostKey)
	dir := node.Host.Path(layout.State)
	if err := node.Host.WriteFile(layout.ReportKey, []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, p := reported(t, node, dir, "one", time.Now())
	if c := r.checks["report-signature"]; p != nil || c.Status != check.Warn || !strings.Contains(c.Observed.String(), "not signed") || c.Fix.String() == "" {
		t.Errorf("%v, %+v", p, c)
	}
	d, err := (report.Folder{Dir: dir}).Open()
	if err != nil || d.Signer != nil || d.Previous != nil {
		t.Errorf("%+v, %v", d, err)
	}
	// With a key that works the report is signed when it is written the next time.
	if err := node.Host.Remove(layout.ReportKey); err != nil {
		t.Fatal(err)
	}
	if r, p := reported(t, node, dir, "one", time.Now()); p == nil || len(r.checks) > 0 {
		t.Errorf("%v, %+v", p, r.checks)
	}
}

// TestAReportThatCannotBeSigned is too large for that; it is written, and a sentence says so.
func TestAReportThatCannotBeSigned(t *testing.T) {
	ca, hostKey := keyPair(t)
	node := shipped(t, "SN01", "one", ca, hostKey)
	dir := t.TempDir()
	d := report.New(report.Job{Serial: "SN01", Warnings: []string{strings.Repeat("long ", report.MaxJSON/5)}}, report.Facts{}, time.Now())
	unsigned, err := keepReport(node, dir, d, reportKey(node, newKept()), time.Time{})
	if err != nil || !strings.Contains(unsigned.String(), "not signed") {
		t.Errorf("%q, %v", unsigned, err)
	}
	if d, err := (report.Folder{Dir: dir}).Open(); err != nil || d.Signer != nil {
		t.Errorf("%v, %v", d, err)
	}
}

package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io/fs"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/host"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/report"
)

var update = flag.Bool("update", false, "write the golden files again")

var made = time.Date(2026, time.November, 21, 12, 34, 56, 789, time.UTC)

func job() report.Job {
	step := func(id, title, outcome, why string, seconds float64, checks ...check.Check) report.JobStep {
		return report.JobStep{Step: report.Step{ID: id, Title: title, Outcome: outcome, Why: why, Seconds: seconds}, Checks: checks}
	}
	return report.Job{
		Version: "v0.1.0", Serial: "SN-4711", Hostname: "node1", Started: made.Add(-time.Hour),
		Steps: []report.JobStep{
			step("hardware", "Check the hardware", "done", "", 1.4,
				check.Check{ID: "hw-cpu", Title: message.T("Processor threads (vCPU)"), Status: check.Pass, Observed: message.T("16 threads on 8 cores, Xeon D\u20112183IT")},
				check.Check{
					ID: "hw-tpm", Title: message.T("Security chip (TPM)"), Status: check.Waived, Observed: message.T("none"), Expected: message.T("2.0"),
					Waiver: &check.Waiver{By: "J. Müller", Reason: "ordered without"},
				}),
			step("cluster-names", "Move the cluster's names", "done", "", 612.7),
			step("seed-images", "Seed the image store", "skipped", "no images on the stick", 0),
			step("health", "Verify the cluster's health", "done", "", 133,
				check.Check{
					ID: "operators-optional", Title: message.T("Services that need the Internet (ClusterOperators)"), Status: check.Warn, Expected: message.T("well, or the site is offline"),
					Observed: message.T("insights is degraded: Unable to report: unable to build request to connect to Insights server: Post \"https://console.redhat.com/api/ingress/v1/upload\": dial tcp: lookup console.redhat.com: no such host"),
					Evidence: []message.Text{message.Data("insights is degraded")},
				},
				check.Check{ID: "hw-rtc", Title: message.T("Hardware clock"), Status: check.Skip, Observed: message.T("not checked: no such file")}),
			step("hand-over", "Write the hand-over report", "", "", 0),
		},
		Problems: []string{"NET-GW: the gateway did not answer at first; the cable was in the wrong port."},
		Medium:   true,
	}
}

func facts() report.Facts {
	return report.Facts{
		Model: "Acme Edge 100", Internal: "192.168.127.10", Writes: 23,
		Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.10"), netip.MustParseAddr("2001:db8::10")},
		Servers:   []netip.Addr{netip.MustParseAddr("192.0.2.53")},
		Names: []string{
			"api.edge1.plant-with-a-rather-long-name.customer.example.org", "till.apps.edge1.example.org",
			"console-openshift-console.apps.edge1.plant-with-a-rather-long-name.customer.example.org",
		},
		Cluster: report.Cluster{ID: "0a1b2c3d-0000-4000-8000-000000000001", Version: "4.18.12", OldDomain: "sno.factory.example", NewDomain: "edge1.plant-with-a-rather-long-name.customer.example.org"},
		URLs: report.URLs{
			Console: "https://console-openshift-console.apps.edge1.plant-with-a-rather-long-name.customer.example.org",
			API:     "https://api.edge1.plant-with-a-rather-long-name.customer.example.org:6443",
		},
		Certificates: []report.Certificate{{
			Use: "API", Name: "api.edge1.example.org", Issuer: "loadbalancer-serving-signer", NotAfter: made.AddDate(10, 0, 0),
			SHA256: "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0",
		}},
		Gaps: []string{"The certificate of console.example could not be checked."},
	}
}

func TestGolden(t *testing.T) {
	d := report.New(job(), facts(), made)
	text := d.Text()
	raw, err := d.JSON()
	if err != nil {
		t.Fatal(err)
	}
	junit, err := d.JUnit()
	if err != nil {
		t.Fatal(err)
	}
	without := facts()
	without.Servers = nil
	alone := report.New(job(), without, made)
	for name, got := range map[string][]byte{
		"report.txt.golden": text, "report.json.golden": raw, "report.junit.xml.golden": junit,
		"no-dns.txt.golden": alone.Text(), "hosts.txt.golden": alone.HostsText(),
	} {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs (%v), have:\n%s", path, err, got)
		}
	}
}

// TestFactoryReport: on the bench line nothing has landed, and nobody has to make DNS records.
func TestFactoryReport(t *testing.T) {
	j := job()
	j.Kind = report.Factory
	d := report.New(j, facts(), made)
	text := string(d.Text())
	if strings.Contains(d.Verdict+text, "landed") || strings.Contains(text, "DNS RECORDS") || !strings.Contains(text, "FACTORY REPORT") {
		t.Errorf("%s\n%s", d.Verdict, text)
	}
}

// TestJUnitCounts: what failed, was skipped or waived is what a reader of the XML sees; a hostile text does not break it.
func TestJUnitCounts(t *testing.T) {
	j := report.Job{Hostname: "n", Steps: []report.JobStep{{Step: report.Step{ID: "s", Outcome: "done", Seconds: 1.5}, Checks: []check.Check{
		{ID: "a", Title: message.T("A"), Status: check.Pass, Observed: message.T("<&\x00]]>")},
		{ID: "b", Title: message.T("B"), Status: check.Fail, Observed: message.T("bad"), Fix: message.T("fix")},
		{ID: "c", Title: message.T("C"), Status: check.Skip, Observed: message.T("not here")},
		{ID: "d", Title: message.T("D"), Status: check.Waived, Waiver: &check.Waiver{By: "me", Reason: "why"}},
		{ID: "e", Title: message.T("E"), Status: check.Warn, Observed: message.T("hm")},
	}}}}
	raw, err := report.New(j, report.Facts{}, made).JUnit()
	if err != nil {
		t.Fatal(err)
	}
	var back struct {
		Suites []struct {
			Tests    int     `xml:"tests,attr"`
			Failures int     `xml:"failures,attr"`
			Skipped  int     `xml:"skipped,attr"`
			Time     float64 `xml:"time,attr"`
			Cases    []struct {
				Out string `xml:"system-out"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(raw, &back); err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	s := back.Suites[0]
	if len(back.Suites) != 1 || s.Tests != 5 || s.Failures != 1 || s.Skipped != 1 || s.Time != 1.5 {
		t.Errorf("%+v", back)
	}
	if !strings.Contains(s.Cases[3].Out, "waived by me: why") || !strings.Contains(s.Cases[4].Out, "warn: hm") {
		t.Errorf("%+v", s.Cases)
	}
}

func TestTextFitsEveryConsole(t *testing.T) {
	d := report.New(job(), facts(), made)
	d.Node.Hostname = strings.Repeat("x", 200)
	d.Node.Model = "Modèle “spécial” … \x1b[31m"
	text := d.Text()
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if len(line) > 76 || strings.TrimRight(line, " ") != line {
			t.Errorf("%d columns, or blanks at the end: %q", len(line), line)
		}
		for _, r := range line {
			if r < ' ' || r > '~' {
				t.Errorf("%q is not plain ASCII in %q", r, line)
			}
		}
	}
}

func TestEmptyReportIsReadable(t *testing.T) {
	text := report.New(report.Job{}, report.Facts{}, made).Text()
	if !strings.Contains(string(text), "CHECKS: none") {
		t.Errorf("text is %q", text)
	}
}

func TestJSONHasSortedKeysAndComesBack(t *testing.T) {
	raw, err := report.New(job(), facts(), made).JSON()
	if err != nil {
		t.Fatal(err)
	}
	var back report.Document
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	again, err := back.JSON()
	if err != nil || !bytes.Equal(raw, again) {
		t.Errorf("read and written again it differs (%v)", err)
	}
	if strings.Contains(string(raw), ": null") {
		t.Error("a list is null")
	}
}

func TestSaveAndOpen(t *testing.T) {
	s := report.Folder{Dir: t.TempDir()}
	if err := s.Save(report.New(job(), facts(), made)); err != nil {
		t.Fatal(err)
	}
	before := contents(t, s.Dir)
	d, err := s.Open()
	if err != nil || d.Node.Serial != "SN-4711" {
		t.Fatalf("opened %+v (%v)", d, err)
	}
	// The same hand-over an hour later: not a byte changes.
	if err := s.Save(report.New(job(), facts(), made.Add(time.Hour))); err != nil {
		t.Fatal(err)
	}
	if contents(t, s.Dir) != before {
		t.Error("a repeated hand-over changed the report")
	}
	for _, name := range []string{report.TextFile, report.JSONFile, report.JUnitFile, report.Sums} {
		if st, err := os.Stat(filepath.Join(s.Dir, name)); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v, want mode 0600", name, st, err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "sha256sum", "-c", report.Sums)
	cmd.Dir = s.Dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("sha256sum says %s (%v)", out, err)
	}
	if err := os.WriteFile(filepath.Join(s.Dir, report.TextFile), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a changed report opens: %v", err)
	}
	if err := s.Save(report.New(job(), facts(), made)); err != nil || contents(t, s.Dir) != before {
		t.Errorf("a changed report is not made good (%v)", err)
	}
}

func contents(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all += e.Name() + "\n" + string(b)
	}
	return all
}

func TestFullDiskLeavesNothingBehind(t *testing.T) {
	m := hosttest.New(t)
	s := report.Folder{Dir: "/var/lib/touchdown", Write: func(files ...host.File) error { return m.WriteFiles(files...) }}
	for _, room := range []int{0, 100, 4000, 6100} {
		m.Fill(room)
		err := s.Save(report.New(job(), facts(), made))
		if p := problem.From(err); p.Code != "RPT-FULL" || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("with room for %d bytes: %v, want RPT-FULL", room, err)
		}
		all, _ := m.Glob("/var/lib/touchdown/*")
		hidden, _ := m.Glob("/var/lib/touchdown/.*")
		if len(all)+len(hidden) != 0 {
			t.Errorf("with room for %d bytes: left behind %v %v", room, all, hidden)
		}
	}
}

func TestVerdict(t *testing.T) {
	for want, c := range map[string]check.Check{
		"landed":                     {Status: check.Pass},
		"landed, with warnings":      {Status: check.Warn},
		"NOT landed: a check failed": {Status: check.Fail},
		"landed, 1 waived":           {Status: check.Waived, Waiver: &check.Waiver{By: "x", Reason: "y"}},
	} {
		j := report.Job{Steps: []report.JobStep{{Checks: []check.Check{c}}}}
		if got := report.New(j, report.Facts{}, made).Verdict; got != want {
			t.Errorf("verdict is %q, want %q", got, want)
		}
	}
}

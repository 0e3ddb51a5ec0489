package report_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/backend/report"
)

// TestSignedFileIsKept: it is written with the report, made good where it was damaged, and kept when another report follows.
func TestSignedFileIsKept(t *testing.T) {
	sign := func(raw []byte) ([]byte, error) { return append([]byte("signed: "), raw...), nil }
	s := report.Folder{Dir: t.TempDir(), Sign: sign}
	read := func(name string) string {
		data, _ := os.ReadFile(filepath.Join(s.Dir, name))
		return string(data)
	}
	if err := s.Save(report.New(job(), facts(), made)); err != nil {
		t.Fatal(err)
	}
	first := read(report.SignedFile)
	if first != "signed: "+read(report.JSONFile) || read(report.FollowedFile) != "" {
		t.Errorf("%q", first)
	}
	if err := os.WriteFile(filepath.Join(s.Dir, report.SignedFile), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(report.New(job(), facts(), made.Add(time.Hour))); err != nil || read(report.SignedFile) != first || read(report.FollowedFile) != "" {
		t.Errorf("a damaged one is not made good: %v", err)
	}
	next := report.New(job(), facts(), made.Add(time.Hour))
	next.Warnings = append(next.Warnings, "another one")
	last := func(serial string) *report.Previous {
		last, _ := s.Last(serial)
		return last
	}
	next.Previous = last("SN-4711")
	if next.Previous == nil || last("SN-1") != nil || last("") != nil {
		t.Fatalf("the last report is %+v", next.Previous)
	}
	if err := s.Save(next); err != nil || read(report.FollowedFile) != first || read(report.SignedFile) == first {
		t.Errorf("the one before is lost: %v", err)
	}
	whole := contents(t, s.Dir)
	s.Sign = func([]byte) ([]byte, error) { return nil, errors.New("no") }
	next = report.New(job(), facts(), made)
	next.Warnings = nil
	if err := s.Save(next); err == nil || contents(t, s.Dir) != whole {
		t.Errorf("a part of it was written: %v", err)
	}
}

// TestWhatTwoSignedStays: a report with a second signature stays to the byte where only the work took longer since, as after a power cut. One
// that tells something else, or whose signatures are damaged, takes its place with the node's signature alone.
func TestWhatTwoSignedStays(t *testing.T) {
	extends := func(have, signed []byte) bool { return string(have) == string(signed)+"and Anna" }
	for name, c := range map[string]struct {
		file    func(signed string) string
		changes func(*report.Document)
		stays   bool
	}{
		"as it was":             {func(s string) string { return s + "and Anna" }, func(*report.Document) {}, true},
		"it took longer":        {func(s string) string { return s + "and Anna" }, func(d *report.Document) { d.Steps[0].Seconds++; d.APIWrites++ }, true},
		"a warning more":        {func(s string) string { return s + "and Anna" }, func(d *report.Document) { d.Warnings = append(d.Warnings, "new") }, false},
		"a step less":           {func(s string) string { return s + "and Anna" }, func(d *report.Document) { d.Steps = d.Steps[1:] }, false},
		"signed by one, longer": {func(s string) string { return s }, func(d *report.Document) { d.Steps[0].Seconds++ }, false},
		"damaged":               {func(s string) string { return s + "and Ann" }, func(*report.Document) {}, false},
	} {
		s := report.Folder{Dir: t.TempDir(), Sign: func(raw []byte) ([]byte, error) { return append([]byte("signed: "), raw...), nil }, Extends: extends}
		if err := s.Save(report.New(job(), facts(), made)); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(s.Dir, report.SignedFile)
		signed, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.KeepSigned([]byte(c.file(string(signed)))); err != nil {
			t.Fatal(err)
		}
		before := contents(t, s.Dir)
		next := report.New(job(), facts(), made.Add(time.Hour))
		c.changes(next)
		if err := s.Save(next); err != nil {
			t.Fatal(err)
		}
		now, err := os.ReadFile(path)
		if err != nil || (contents(t, s.Dir) == before) != c.stays || strings.HasSuffix(string(now), "and Anna") != c.stays {
			t.Errorf("%s: stays %t is wrong: %v\n%s", name, !c.stays, err, now)
		}
	}
}

// TestAnUnsignedReportHasNoEnvelopeOfAnother: the signed report of the last landing stays, but not in the place of this one's.
func TestAnUnsignedReportHasNoEnvelopeOfAnother(t *testing.T) {
	s := report.Folder{Dir: t.TempDir(), Sign: func(raw []byte) ([]byte, error) { return append([]byte("signed: "), raw...), nil }}
	if err := s.Save(report.New(job(), facts(), made)); err != nil {
		t.Fatal(err)
	}
	signed, followed := filepath.Join(s.Dir, report.SignedFile), filepath.Join(s.Dir, report.FollowedFile)
	first, err := os.ReadFile(signed)
	if err != nil {
		t.Fatal(err)
	}
	s.Sign = nil
	next := report.New(job(), facts(), made.Add(time.Hour))
	next.Warnings = append(next.Warnings, "another one")
	for _, when := range []string{"written", "written again after a power cut before the move"} {
		if err := s.Save(next); err != nil {
			t.Fatal(err)
		}
		_, gone := os.Stat(signed)
		kept, err := os.ReadFile(followed)
		if !errors.Is(gone, os.ErrNotExist) || err != nil || !bytes.Equal(kept, first) {
			t.Errorf("%s: %v, %v, %q", when, gone, err, kept)
		}
		if err := os.Rename(followed, signed); err != nil {
			t.Fatal(err)
		}
	}
}

// TestParse: a report from outside is read only as it was written, and what a later release adds is left out.
func TestParse(t *testing.T) {
	good, err := report.New(job(), facts(), made).JSON()
	if err != nil {
		t.Fatal(err)
	}
	for change, fine := range map[string]bool{
		`|`: true, `"apiWrites": 23,|"aLater": {"thing": 1},` + "\n  " + `"apiWrites": 23,`: false,
		`{` + "\n  " + `"apiWrites"|{` + "\n  " + `"aLater": 1,` + "\n  " + `"apiWrites"`: true,
		`"apiWrites": 23|"apiWrites": 23,` + "\n  " + `"apiWrites": 23`:                   false,
		`"apiWrites": 23|"apiWrites":  23`:                                                false,
		`"apiWrites": 23|"apiWrites": 1e999`:                                              false,
		`"kind": "landing"|"kind": "crash"`:                                               false,
		`"status": "pass"|"status": "best"`:                                               false,
		`v1alpha1|v2`:                                                                     false,
	} {
		from, to, _ := strings.Cut(change, "|")
		text := bytes.Replace(good, []byte(from), []byte(to), 1)
		if _, err := report.Parse(text); (err == nil) != fine {
			t.Errorf("%q: %v", change, err)
		}
	}
	for name, text := range map[string][]byte{
		"nothing": nil, "cut": good[:len(good)-2], "twice": append(bytes.Clone(good), good...), "huge": bytes.Repeat([]byte(" "), report.MaxJSON+1),
		"deep": []byte(strings.Repeat(`{"a":`, 1<<18)), "an invalid character": bytes.Replace(good, []byte("Acme"), []byte("A\xffe"), 1),
	} {
		if _, err := report.Parse(text); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}

// hostileTexts is a report whose texts try to be more than text.
func hostileTexts() *report.Document {
	const text = `</td></style><script>alert(1)</script><img src=x onerror="alert(1)">&lt;b>' " ` + "\u202egnp.exe\u0000\u001b[2J\nCHECKS: 99 passed"
	c := check.Check{ID: text, Title: message.Data(text), Status: check.Waived, Observed: message.Data(text), Expected: message.Data(text), Waiver: &check.Waiver{By: text, Reason: text}}
	j := report.Job{
		Version: text, Serial: text, Hostname: text, Warnings: []string{text}, Problems: []string{text},
		Steps: []report.JobStep{{Step: report.Step{ID: text, Title: text, Outcome: "done", Why: text}, Checks: []check.Check{c}}},
	}
	f := facts()
	f.Model, f.Cluster.ID, f.URLs.Console, f.Certificates[0].Name = text, text, "javascript:"+text, text
	d := report.New(j, f, made)
	d.Signer = &report.Signer{KeyID: text, PublicKey: "MCowBQYDK2VwAyEA" + strings.Repeat("A", 43) + "="}
	d.Previous = &report.Previous{SHA256: text, Kind: text}
	return d
}

// TestHTMLHoldsTextsAlone: whatever a report says, the page has only the elements that the code writes, loads nothing and runs
// nothing.
func TestHTMLHoldsTextsAlone(t *testing.T) {
	page, err := hostileTexts().HTML("0f", "touchdown-report:1?serial=<script>")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, name := range strings.Fields("html head meta title style body h1 h2 div p table tr th td ul li pre svg path") {
		known[name] = true
	}
	counts := map[string]int{}
	for z := html.NewTokenizer(bytes.NewReader(page)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		token := z.Token()
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		counts[token.Data]++
		if !known[token.Data] {
			t.Errorf("the page has an element %s", token.Data)
		}
		for _, a := range token.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "src" || a.Key == "href" || a.Key == "style" {
				t.Errorf("the page has %s=%q", a.Key, a.Val)
			}
		}
	}
	if counts["svg"] != 1 || counts["pre"] != 1 || counts["style"] != 1 || counts["table"] != 3 {
		t.Errorf("the page has %v", counts)
	}
	for _, bad := range []string{"\u202e", "\x00", "\x1b"} {
		if bytes.Contains(page, []byte(bad)) {
			t.Errorf("the page has %q", bad)
		}
	}
}

// TestHostileTextsForgeNoLines: in the CSV and among changes each text stays in its place.
func TestHostileTextsForgeNoLines(t *testing.T) {
	d := hostileTexts()
	table, err := d.CSV()
	if err != nil || bytes.Count(table, []byte("\n")) != 2 {
		t.Errorf("%v\n%s", err, table)
	}
	for _, change := range report.Diff(report.New(job(), facts(), made), d) {
		if strings.ContainsAny(change.String(), "\n\r\x1b\x00") {
			t.Errorf("%q", change)
		}
	}
	d.Signer.PublicKey = "$(reboot)"
	if lines := d.Commands(); lines != nil || bytes.Contains(d.Text(), []byte("reboot")) {
		t.Errorf("the commands are %q", lines)
	}
	for text := range map[string]bool{"=1+1": true, "+1": true, "-1": true, "@x": true} {
		d.Node.Hostname = text
		if table, err := d.CSV(); err != nil || !bytes.Contains(table, []byte(",'"+text+",")) {
			t.Errorf("%v\n%s", err, table)
		}
	}
}

// TestHostileTextsAreNoFormulas: no cell is one, also where a spreadsheet separates by semicolons or tabs. Texts stay readable.
func TestHostileTextsAreNoFormulas(t *testing.T) {
	for text, want := range map[string]string{
		"a;=cmd|' /C calc'!A0": "a;'=cmd|' /C calc'!A0", "a; \"=1+1\"": "a; \"'=1+1\"", "a;;+1;-1 ; @x": "a;;'+1;'-1 ; '@x", "a\t=1": "a =1",
		"sw-7; port 4": "sw-7; port 4", "CN=a; CN=b": "CN=a; CN=b", "1 + 1 = 2": "1 + 1 = 2", "-5;a": "'-5;a",
	} {
		d := report.New(job(), facts(), made)
		d.Checks[0].Observed = message.Data(text)
		table, err := d.CSV()
		if err != nil {
			t.Fatal(err)
		}
		if rows, err := csv.NewReader(bytes.NewReader(table)).ReadAll(); err != nil || rows[1][8] != want {
			t.Errorf("%q became %q (%v), want %q", text, rows[1][8], err, want)
		}
		for _, separator := range ";\t" {
			cut := csv.NewReader(bytes.NewReader(table))
			cut.Comma, cut.LazyQuotes, cut.FieldsPerRecord = separator, true, -1
			rows, err := cut.ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range slices.Concat(rows...) {
				if c = strings.TrimLeft(c, " \""); c != "" && strings.Contains("=+-@", c[:1]) {
					t.Errorf("%q, separated by %q, has the formula %q", text, separator, c)
				}
			}
		}
	}
}

// TestDiff names what changed, the worst first.
func TestDiff(t *testing.T) {
	from, to := report.New(job(), facts(), made), report.New(job(), facts(), made.Add(time.Hour))
	if changes := report.Diff(from, to); len(changes) != 0 {
		t.Errorf("%v", changes)
	}
	to.Checks[0].Status, to.Checks[2].Status = check.Fail, check.Pass
	to.Checks[1].Observed = message.Data("a TPM 1.2")
	to.Checks = append(to.Checks[:3], report.Check{Step: "network", Check: check.Check{ID: "gateway", Title: message.T("Gateway"), Status: check.Pass}})
	to.Node.Model, to.NameServers, to.Warnings = "Other", []string{"192.0.2.54"}, nil
	to.Certificates[0].SHA256 = strings.Repeat("ab", 32)
	var lines []string
	for _, change := range report.Diff(from, to) {
		lines = append(lines, change.String())
	}
	want := `Worse: the check hw-cpu of hardware (Processor threads (vCPU)) was pass: 16 threads on 8 cores, Xeon D` + "\u2011" + `2183IT, is now fail: 16 threads on 8 cores, Xeon D` + "\u2011" + `2183IT
Gone: the check hw-rtc of health (Hardware clock): skip: not checked: no such file
Gone: a name server: 192.0.2.53
Gone: a warning: The certificate of console.example could not be checked.
New: the check gateway of network (Gateway): pass
New: a name server: 192.0.2.54
Better: the check operators-optional of health (Services that need the Internet (ClusterOperators)) was warn: `
	got := strings.Join(lines, "\n")
	if !strings.HasPrefix(got, want) || !strings.Contains(got, "Changed: the check hw-tpm of hardware (Security chip (TPM)) was waived: none (waived by J. M\u00fcller: ordered without), is now waived: a TPM 1.2") ||
		!strings.Contains(got, "Changed: the model was Acme Edge 100, is now Other") || !strings.Contains(got, "Changed: the certificate of API for api.edge1.example.org was SHA-256 0f1e2d3c4b5a6978..., valid until 2036-11-21, is now SHA-256 abababababababab...") {
		t.Errorf("%s", got)
	}
}

// TestTheTimeOfDayIsNoDifference: the checks of the two clocks see another time in each report. Only another verdict, or another waiver, is
// one.
func TestTheTimeOfDayIsNoDifference(t *testing.T) {
	at := func(clock, rtc string) *report.Document {
		d := report.New(job(), facts(), made)
		for _, c := range []check.Check{
			{ID: "hw-clock", Title: message.T("System clock"), Status: check.Pass, Observed: message.Data(clock)},
			{ID: "hw-rtc", Title: message.T("Hardware clock"), Status: check.Pass, Observed: message.Data(rtc)},
		} {
			d.Checks = append(d.Checks, report.Check{Step: "hardware", Check: c})
		}
		return d
	}
	from, to := at("2026-11-21 02:13 UTC", "2026-11-21 02:13:05 UTC, 0s off"), at("2026-11-28 17:00 UTC", "2026-11-28 17:00:00 UTC, 1s off")
	if changes := report.Diff(from, to); len(changes) != 0 {
		t.Errorf("%v", changes)
	}
	to.Checks[len(to.Checks)-1].Status = check.Warn
	if changes := report.Diff(from, to); len(changes) != 1 || !strings.HasPrefix(changes[0].String(), "Worse: the check hw-rtc") {
		t.Errorf("%v", changes)
	}
	to = at("2026-11-28 17:00 UTC", "")
	clock := &to.Checks[len(to.Checks)-2].Check
	clock.Status, clock.Waiver = check.Waived, &check.Waiver{By: "J", Reason: "r"}
	from.Checks[len(from.Checks)-2].Check = *clock
	from.Checks[len(from.Checks)-2].Waiver = &check.Waiver{By: "K", Reason: "r"}
	if changes := report.Diff(from, to); len(changes) != 1 || !strings.Contains(changes[0].String(), "waived by K") {
		t.Errorf("%v", changes)
	}
}

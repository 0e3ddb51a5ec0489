package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/envelope"
	"touchdown/backend/message"
	"touchdown/backend/report"
	"touchdown/backend/report/proof"
	"touchdown/steps/session"
	"touchdown/steps/wire"
	"touchdown/test/wait"
)

// plantedReport is a report all of whose texts are planted.
func plantedReport() *report.Document {
	d := &report.Document{}
	plant(reflect.ValueOf(d).Elem(), 8)
	d.Schema, d.Kind, d.Checks[0].Status, d.Signer = report.Schema, report.Landing, check.Fail, nil
	return d
}

// hostileReport writes reports all of whose texts would steer a terminal: as JSON, another one as .2, and signed as .signed.
func hostileReport(dir string) string {
	file := filepath.Join(dir, "report.json")
	key, err := envelope.NewSigningKey()
	if err != nil {
		panic(err)
	}
	first, second, signed := plantedReport(), plantedReport(), plantedReport()
	second.Node.Model, second.Checks[0].ID = planted+planted, planted+"2"
	sign := proof.Sign(signed, key)
	for name, d := range map[string]*report.Document{file: first, file + ".2": second, file + ".signed": signed} {
		raw, err := d.JSON()
		if err == nil && d == signed {
			raw, err = sign(raw)
		}
		if err != nil {
			panic(err)
		}
		if err := os.WriteFile(name, raw, 0o600); err != nil {
			panic(err)
		}
	}
	return file
}

// siteReport is a report of a machine with this serial number.
func siteReport(serial string, status check.Status) *report.Document {
	return report.New(report.Job{Version: "v1", Serial: serial, Hostname: "node1", Steps: []report.JobStep{{
		Step:   report.Step{ID: "hardware", Title: "Check the hardware", Outcome: "done", Seconds: 1},
		Checks: []check.Check{{ID: "hw-memory", Title: message.T("Memory"), Status: status, Observed: message.T("=64 GiB")}},
	}}}, report.Facts{Model: "Acme", Cluster: report.Cluster{ID: "c", Version: "4.18.12"}}, time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC))
}

// write signs a report into a file, and returns what it is.
func write(t *testing.T, file string, d *report.Document, key envelope.SigningKey) *proof.Proof {
	t.Helper()
	sign := proof.Sign(d, key)
	raw, err := d.JSON()
	if err != nil {
		t.Fatal(err)
	}
	text, err := sign(raw)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := proof.Open(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ran runs a command line.
func ran(t *testing.T, args ...string) (code int, out, complaints string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	root := newRoot(hooks{root: t.TempDir()})
	root.SetOut(&stdout)
	root.SetErr(&stderr)
	code = execute(t.Context(), root, append(args, "--socket", filepath.Join(t.TempDir(), "none")))
	return code, stdout.String(), stderr.String()
}

// TestReportVerify: only a key that someone vouches for makes a report genuine.
func TestReportVerify(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	put := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(in(name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	key, err := envelope.NewSigningKey()
	if err != nil {
		t.Fatal(err)
	}
	thief, err := envelope.NewSigningKey()
	if err != nil {
		t.Fatal(err)
	}
	first := write(t, in("factory.json"), siteReport("SN-1", check.Pass), key)
	next := siteReport("SN-1", check.Warn)
	next.Previous = &report.Previous{SHA256: first.Digest, Kind: first.Report.Kind, Made: first.Report.Made}
	p := write(t, in("landing.json"), next, key)
	write(t, in("forged.json"), siteReport("SN-1", check.Pass), thief)
	write(t, in("other.json"), siteReport("SN-2", check.Pass), key)
	put("changed.json", bytes.Replace(p.Signed, []byte(`"sig":"`), []byte(`"sig":"A`), 1))
	put("label.txt", []byte(p.Label+"\n"))
	put("bad-label.txt", []byte(strings.Replace(p.Label, "SN-1", "SN-2", 1)))
	put("node.pub", p.Key.PEM())
	put("revoked", []byte(key.ID()+" stolen\n"))
	put("other-revoked", []byte(thief.ID()+"\n"))
	put("plain.json", p.JSON)
	line := func(serial string, k envelope.SigningKey) string {
		return `{"format":1,"sealed":"2026-11-24T09:00:00Z","serial":"` + serial + `","clusterID":"c","keys":{},"reportKey":"` + k.Public().String() + "\"}\n"
	}
	put("ledger.jsonl", []byte(line("SN-0", thief)+line("SN-1", key)+`{"format":1,"sealed":"20`))
	put("replaced.jsonl", []byte(line("SN-1", key)+line("SN-1", thief)))
	put("restored.jsonl", []byte(line("SN-1", key)+line("SN-1", thief)+line("SN-1", key)))
	put("twice.jsonl", []byte(strings.Replace(line("SN-1", key), `"serial"`, `"Serial":"SN-9","serial"`, 1)))
	ledger := []string{"--ledger", in("ledger.jsonl")}
	for _, c := range []struct {
		code int
		want string // in what it prints
		args []string
	}{
		{0, "the one that", append([]string{in("landing.json")}, ledger...)},
		{0, "verdict:    landed, with warnings", append([]string{in("label.txt")}, ledger...)},
		{0, "the one that", []string{in("landing.json"), "--key", in("node.pub")}},
		{0, "which is the report in", []string{in("landing.json"), "--key", in("node.pub"), "--previous", in("factory.json")}},
		{1, "RPT-NAME", []string{in("landing.json")}},
		{1, "RPT-NAME", []string{in("label.txt")}},
		{1, "RPT-UKEY", append([]string{in("forged.json")}, ledger...)},
		{1, "RPT-UKEY", []string{in("forged.json"), "--key", in("node.pub")}},
		{1, "RPT-UKEY", []string{in("landing.json"), "--key", in("node.pub"), "--revoked", in("revoked")}},
		{1, "on the list of revoked keys", append([]string{in("landing.json"), "--revoked", in("revoked")}, ledger...)},
		{1, "on the list of revoked keys", append([]string{in("label.txt"), "--revoked", in("revoked")}, ledger...)},
		{0, "the one that", append([]string{in("landing.json"), "--revoked", in("other-revoked")}, ledger...)},
		{0, "an earlier key of this serial number", []string{in("landing.json"), "--ledger", in("replaced.jsonl")}},
		{0, "the one that", []string{in("landing.json"), "--ledger", in("restored.jsonl")}},
		{2, "--revoked goes with", []string{in("landing.json"), "--revoked", in("revoked")}},
		{2, "--revoked", append([]string{in("landing.json"), "--revoked", in("none")}, ledger...)},
		{2, "revoked keys", append([]string{in("landing.json"), "--revoked", in("node.pub")}, ledger...)},
		{1, "RPT-ULED", append([]string{in("other.json")}, ledger...)},
		{1, "RPT-SHPE", append([]string{in("changed.json")}, ledger...)},
		{1, "RPT-BSGN", append([]string{in("bad-label.txt")}, ledger...)},
		{1, "RPT-SHPE", append([]string{in("plain.json")}, ledger...)},
		{1, "RPT-PREV", []string{in("factory.json"), "--key", in("node.pub"), "--previous", in("landing.json")}},
		{1, "FAC-LEDG", []string{in("landing.json"), "--ledger", in("twice.jsonl")}},
		{1, "FAC-LEDG", []string{in("landing.json"), "--ledger", dir}},
		{2, "is not a regular file", []string{dir}},
		{2, "--key", []string{in("landing.json"), "--key", in("none")}},
		{2, "--previous", []string{in("label.txt"), "--key", in("node.pub"), "--previous", in("factory.json")}},
	} {
		code, out, complaints := ran(t, append([]string{"report", "verify"}, c.args...)...)
		if code != c.code || !strings.Contains(out+complaints, c.want) {
			t.Errorf("%q ended with %d, want %d and %q:\n%s%s", c.args, code, c.code, c.want, out, complaints)
		}
		if earlier := strings.Contains(out, "an earlier key"); earlier != strings.HasPrefix(c.want, "an earlier key") {
			t.Errorf("%q says\n%s", c.args, out)
		}
		if strings.Contains(out, "the one that") != (code == 0) {
			t.Errorf("%q ended with %d and says\n%s", c.args, code, out)
		}
	}
	_, out, _ := ran(t, append([]string{"report", "verify", in("landing.json"), "-o", "json"}, ledger...)...)
	var is verdictOf
	if err := json.Unmarshal([]byte(out), &is); err != nil || is.Digest != p.Digest || is.Previous != first.Digest || is.KeyID != key.ID() || is.Vouched == "" {
		t.Errorf("%s %v", out, err)
	}
}

// TestReportExport: each form comes out of the signed file and of the JSON alone; --out writes it to the byte.
func TestReportExport(t *testing.T) {
	dir := t.TempDir()
	key, err := envelope.NewSigningKey()
	if err != nil {
		t.Fatal(err)
	}
	file, plain := filepath.Join(dir, "report.signed.json"), filepath.Join(dir, "report.json")
	p := write(t, file, siteReport("SN-1", check.Warn), key)
	if err := os.WriteFile(plain, p.JSON, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, format := range formats {
		out := filepath.Join(dir, "out."+format)
		code, printed, complaints := ran(t, "report", "export", "--format", format, file)
		if again, _, _ := ran(t, "report", "export", "--format", format, "--out", out, file); code != 0 || again != 0 {
			t.Errorf("%s: %d and %d\n%s", format, code, again, complaints)
		}
		written, err := os.ReadFile(out)
		if err != nil || string(written) != printed || printed == "" {
			t.Errorf("%s: %v, %d bytes written, %d printed", format, err, len(written), len(printed))
		}
		want := 0
		if format == "envelope" {
			want = 1
		}
		if code, _, complaints := ran(t, "report", "export", "--format", format, plain); code != want || want == 1 && !strings.Contains(complaints, "RPT-NSGN") {
			t.Errorf("%s of the JSON alone: %d\n%s", format, code, complaints)
		}
		switch format {
		case "json":
			sameBytes(t, format, written, p.JSON)
		case "envelope":
			sameBytes(t, format, written, p.Signed)
		case "csv":
			rows, err := csv.NewReader(bytes.NewReader(written)).ReadAll()
			if err != nil || len(rows) != 2 || rows[1][0] != "SN-1" || rows[1][8] != "'=64 GiB" {
				t.Errorf("%q, %v", rows, err)
			}
		case "html":
			if !strings.Contains(printed, "<svg") || !strings.Contains(printed, p.Digest) {
				t.Error("the page has no code or no digest")
			}
		}
	}
	changed := bytes.Replace(p.JSON, []byte(`"status": "warn"`), []byte(`"status": "pass"`), 1)
	for name, raw := range map[string][]byte{"as it was signed": p.JSON, "with another verdict": changed} {
		if err := os.WriteFile(plain, raw, 0o600); err != nil || bytes.Equal(raw, p.JSON) != (name == "as it was signed") {
			t.Fatal(name, err)
		}
		for _, format := range []string{"html", "text"} {
			code, printed, complaints := ran(t, "report", "export", "--format", format, plain)
			if code != 0 || !strings.Contains(strings.Join(strings.Fields(printed), " "), "its signature was not checked") {
				t.Errorf("%s, %s: %d\n%s%s", name, format, code, printed, complaints)
			}
			for _, claim := range []string{key.ID(), "QR code", "SHA-256 of the report", "HOW TO CHECK", "openssl", "not signed"} {
				if strings.Contains(printed, claim) {
					t.Errorf("%s, %s: it says %s", name, format, claim)
				}
			}
		}
	}
	if code, _, complaints := ran(t, "report", "export"); code != 1 || !strings.Contains(complaints, "ENG-LACK") {
		t.Errorf("without an engine: %d\n%s", code, complaints)
	}
}

func sameBytes(t *testing.T, what string, have, want []byte) {
	t.Helper()
	if !bytes.Equal(have, want) {
		t.Errorf("%s differs:\n%s", what, have)
	}
}

// TestReportDiff: what became worse is told in plain words, and nothing is told of twice the same.
func TestReportDiff(t *testing.T) {
	dir := t.TempDir()
	key, err := envelope.NewSigningKey()
	if err != nil {
		t.Fatal(err)
	}
	from, to := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	write(t, from, siteReport("SN-1", check.Pass), key)
	write(t, to, siteReport("SN-1", check.Fail), key)
	code, out, _ := ran(t, "report", "diff", from, to)
	if want := "Worse: the check hw-memory of hardware (Memory) was pass: =64 GiB, is now fail: =64 GiB\nChanged: the verdict was landed, is now NOT landed: a check failed\n"; code != 0 || out != want {
		t.Errorf("%d\n%s", code, out)
	}
	if _, out, _ := ran(t, "report", "diff", from, from); out != "Nothing changed.\n" {
		t.Error(out)
	}
	if _, out, _ := ran(t, "report", "diff", from, from, "-o", "json"); strings.Join(strings.Fields(out), "") != `{"changes":[]}` {
		t.Error(out)
	}
}

// reporter is an engine that has a report, and a signed one.
type reporter struct {
	hostile
	json, signed []byte // signed is nil for an engine of an earlier release
}

func (r reporter) Export(_ context.Context, what session.Document) ([]byte, error) {
	switch {
	case what == session.ReportJSON:
		return r.json, nil
	case what == session.Document(report.SignedFile) && r.signed != nil:
		return r.signed, nil
	}
	return nil, session.ErrNotFound
}

// TestReportOfTheEngine: export takes the signed report of this node's engine, when it is that of its report, and else the JSON.
func TestReportOfTheEngine(t *testing.T) {
	key, err := envelope.NewSigningKey()
	if err != nil {
		t.Fatal(err)
	}
	p := write(t, filepath.Join(t.TempDir(), "a"), siteReport("SN-1", check.Warn), key)
	old := write(t, filepath.Join(t.TempDir(), "b"), siteReport("SN-1", check.Pass), key)
	for name, c := range map[string]struct {
		signed []byte
		code   int
	}{"signed": {p.Signed, 0}, "not signed": {nil, 1}, "the signed one of an earlier report": {old.Signed, 1}, "damaged": {p.Signed[:100], 1}} {
		socket := filepath.Join(t.TempDir(), "s")
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- wire.Serve(ctx, reporter{json: p.JSON, signed: c.signed}, socket) }()
		listens(t, socket)
		for format, want := range map[string]int{"envelope": c.code, "json": 0} {
			var out, complaints bytes.Buffer
			root := newRoot(hooks{root: t.TempDir()})
			root.SetOut(&out)
			root.SetErr(&complaints)
			code := execute(t.Context(), root, []string{"report", "export", "--format", format, "--socket", socket})
			text := map[string]string{"envelope": string(p.Signed), "json": string(p.JSON)}[format]
			if code != want || code == 0 && out.String() != text || code == 1 && !strings.Contains(complaints.String(), "RPT-NSGN") {
				t.Errorf("%s, %s: %d\n%s%s", name, format, code, out.String(), complaints.String())
			}
		}
		stop()
		<-served
	}
}

// listens waits until an engine takes calls. Its socket is in the folder a moment earlier, and refuses them.
func listens(t *testing.T, socket string) {
	t.Helper()
	wait.Until(t, "the engine's socket", func() error {
		c, err := net.Dial("unix", socket)
		if err == nil {
			err = c.Close()
		}
		return err
	})
}

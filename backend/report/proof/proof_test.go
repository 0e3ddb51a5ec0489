package proof_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/envelope"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/report"
	"touchdown/backend/report/proof"
	"touchdown/test/race"
	"touchdown/test/wait"
)

var made = time.Date(2026, time.November, 21, 12, 34, 56, 0, time.UTC)

// document is a report as the code makes it.
func document() *report.Document {
	checks := []check.Check{
		{ID: "hw-cpu", Title: message.T("Processor threads (vCPU)"), Status: check.Pass, Observed: message.T("16 threads"), Expected: message.T("8"), Source: message.Data("OpenShift 4.18"), Evidence: []message.Text{message.Data("model name: x")}},
		{ID: "hw-tpm", Title: message.T("Security chip (TPM)"), Status: check.Waived, Observed: message.T("none"), Waiver: &check.Waiver{By: "J. M\u00fcller", Reason: "ordered <b>without</b>"}},
		{ID: "hw-rtc", Title: message.T("Hardware clock"), Status: check.Skip, Fix: message.T("look at it")},
	}
	return report.New(report.Job{
		Version: "v0.1.0", Serial: "SN-4711", Hostname: "node1", Warnings: []string{"One warning."}, Problems: []string{"NET-GW: the cable."},
		Steps: []report.JobStep{{Step: report.Step{ID: "hardware", Title: "Check the hardware", Outcome: "done", Seconds: 1.4}, Checks: checks}},
	}, report.Facts{
		Model: "Acme Edge 100", Internal: "192.168.127.10", Writes: 23, Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.10")},
		Cluster:      report.Cluster{ID: "0a1b2c3d", Version: "4.18.12", OldDomain: "sno.factory.example", NewDomain: "edge1.example.org"},
		Certificates: []report.Certificate{{Use: "API", Name: "api.edge1.example.org", Issuer: "x", SHA256: strings.Repeat("0f", 32), NotAfter: made}},
	}, made)
}

func newKey() (envelope.SigningKey, error) { return envelope.NewSigningKey() }

func key(t *testing.T) envelope.SigningKey {
	t.Helper()
	k, err := newKey()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func jsonOf(t *testing.T, d *report.Document) []byte {
	t.Helper()
	raw, err := d.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// signed signs a document, and opens what came of it.
func signed(t *testing.T, d *report.Document, k envelope.SigningKey) *proof.Proof {
	t.Helper()
	sign := proof.Sign(d, k)
	text, err := sign(jsonOf(t, d))
	if err != nil {
		t.Fatal(err)
	}
	p, err := proof.Open(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func code(err error) string {
	if err == nil {
		return ""
	}
	return problem.From(err).Code
}

// TestSignedReport: what was signed comes back to the byte, says what in-toto expects, and convinces whoever trusts its key alone.
func TestSignedReport(t *testing.T) {
	k := key(t)
	d := document()
	p := signed(t, d, k)
	if !bytes.Equal(p.JSON, jsonOf(t, d)) || p.Digest != report.Digest(p.JSON) || p.Key.ID() != k.ID() || p.Report.Verdict != "landed, with warnings, 1 waived" {
		t.Errorf("%+v", p)
	}
	var e struct{ Payload []byte }
	if err := json.Unmarshal(p.Signed, &e); err != nil {
		t.Fatal(err)
	}
	var s struct {
		Type    string `json:"_type"`
		Subject []struct {
			Digest  map[string]string
			Content []byte
		}
		PredicateType string
		Predicate     map[string]any
	}
	if err := json.Unmarshal(e.Payload, &s); err != nil {
		t.Fatal(err)
	}
	if s.Type != "https://in-toto.io/Statement/v1" || s.PredicateType != "https://in-toto.io/attestation/test-result/v0.1" || len(s.Subject) != 1 ||
		s.Subject[0].Digest["sha256"] != p.Digest || !bytes.Equal(s.Subject[0].Content, p.JSON) || s.Predicate["result"] != "WARNED" {
		t.Errorf("%+v", s)
	}
	trust, err := envelope.ParseTrust(k.Public().PEM(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Trusted(trust); err != nil {
		t.Error(err)
	}
	if err := p.Enrolled("SN-4711", []string{"other", k.Public().String()}); err != nil {
		t.Error(err)
	}
	other := signed(t, document(), key(t)) // whoever has any key can sign anything
	for name, err := range map[string]error{
		"RPT-UKEY": other.Trusted(trust), "RPT-UKEY in the ledger": other.Enrolled("SN-4711", []string{k.Public().String()}), "RPT-ULED": other.Enrolled("SN-4711", nil),
	} {
		if want, _, _ := strings.Cut(name, " "); code(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	revoked, err := envelope.ParseTrust(k.Public().PEM(), []byte(k.ID()))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Trusted(revoked); code(err) != "RPT-UKEY" {
		t.Errorf("a revoked key: %v", err)
	}
}

// TestEveryByte changes every byte of a signed report twice: a bit of it, and in one of the ways that are easily overlooked. All are refused.
func TestEveryByte(t *testing.T) {
	p := signed(t, document(), key(t))
	changed := bytes.Clone(p.Signed)
	tried := 0
	for i, was := range p.Signed {
		if race.On && i%5 > 0 { // all of it is one goroutine's
			continue
		}
		for _, b := range []byte{was ^ 1, []byte{was ^ 0x20, was ^ 0x80, ' ', '\n', '=', 'A', 0}[i%7]} {
			if b == was {
				continue
			}
			changed[i] = b
			tried++
			if _, err := proof.Open(changed); err == nil {
				t.Fatalf("byte %d: %q instead of %q is not noticed", i, b, was)
			}
		}
		changed[i] = was
	}
	for name, text := range map[string][]byte{
		"cut": p.Signed[:len(p.Signed)-1], "longer": append(bytes.Clone(p.Signed), '\n'), "twice": append(bytes.Clone(p.Signed), p.Signed...), "nothing": nil,
	} {
		if _, err := proof.Open(text); err == nil {
			t.Errorf("%s: it is not noticed", name)
		}
	}
	if _, err := proof.Open(changed); err != nil {
		t.Errorf("the report itself: %v", err)
	}
	t.Logf("%d changes of %d bytes", tried, len(p.Signed))
}

// TestEveryByteOfALabel is the same for what a QR code holds.
func TestEveryByteOfALabel(t *testing.T) {
	p := signed(t, document(), key(t))
	l, err := proof.ReadLabel(p.Label)
	if err != nil || l.Serial != "SN-4711" || l.Digest != p.Digest || l.KeyID != p.Key.ID() || l.Verdict != p.Report.Verdict || !l.Made.Equal(made) {
		t.Fatalf("%+v, %v", l, err)
	}
	for i := range p.Label {
		for _, b := range []byte{p.Label[i] ^ 1, p.Label[i] ^ 0x20, '%', '+', '&', 'A'} {
			if b == p.Label[i] {
				continue
			}
			if _, err := proof.ReadLabel(p.Label[:i] + string(rune(b)) + p.Label[i+1:]); err == nil {
				t.Fatalf("byte %d: %q instead of %q is not noticed", i, b, p.Label[i])
			}
		}
	}
	if _, err := proof.ReadLabel(p.Label + "\n"); err == nil {
		t.Error("something behind it is not noticed")
	}
}

// forge signs a statement about a report that says something else, as a node's owner could.
func forge(t *testing.T, k envelope.SigningKey, from, to string) []byte {
	t.Helper()
	p := signed(t, document(), k)
	var e struct{ Payload []byte }
	if err := json.Unmarshal(p.Signed, &e); err != nil {
		t.Fatal(err)
	}
	payload := strings.Replace(string(e.Payload), from, to, 1)
	if payload == string(e.Payload) {
		t.Fatalf("%s is not in the statement", from)
	}
	text, err := k.Envelope("application/vnd.in-toto+json", []byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestStatementsThatLie: even with a good signature, a statement says only what its report says, and says it once.
func TestStatementsThatLie(t *testing.T) {
	k := key(t)
	raw := base64.StdEncoding.EncodeToString(signed(t, document(), k).JSON)
	for name, change := range map[string][2]string{
		"the result":     {`"result": "WARNED"`, `"result": "PASSED"`},
		"a check":        {`"hardware/hw-tpm"`, `"hardware/hw-tpm2"`},
		"the verdict":    {`"verdict": "landed, with warnings, 1 waived"`, `"verdict": "landed"`},
		"the serial":     {`"serial": "SN-4711"`, `"serial": "SN-4712"`},
		"the digest":     {`"sha256": "`, `"sha256": "0`},
		"the type":       {`"https://in-toto.io/Statement/v1"`, `"https://in-toto.io/Statement/v2"`},
		"a key twice":    {`"result": "WARNED"`, `"result": "WARNED", "result": "WARNED"`},
		"another case":   {`"result": "WARNED"`, `"Result": "PASSED", "result": "WARNED"`},
		"the report":     {raw, base64.StdEncoding.EncodeToString([]byte("{}\n"))},
		"another label":  {`"label": "touchdown-report`, `"label": "touchdown-export`},
		"another order":  {`"_type"`, `"__type"`},
		"not canonical":  {`": "`, `":  "`},
		"another's word": {`"content": "`, `"content": "AAAA`},
	} {
		if _, err := proof.Open(forge(t, k, change[0], change[1])); err == nil {
			t.Errorf("%s is not noticed", name)
		}
	}
	text := forge(t, k, `"result": "WARNED"`, `"result": "WARNED",`+"\n    \"ticket\": \"<script>\"")
	if _, err := proof.Open(text); err != nil {
		t.Errorf("what a later release adds: %v", err)
	}
}

// TestChain: each report names the one before it.
func TestChain(t *testing.T) {
	k := key(t)
	first := signed(t, document(), k)
	next := document()
	next.Previous = &report.Previous{SHA256: first.Digest, Kind: first.Report.Kind, Made: first.Report.Made}
	second := signed(t, next, k)
	if err := second.Follows(first); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{"the first": first.Follows(second), "itself": second.Follows(second), "another": second.Follows(signed(t, document(), key(t)))} {
		if code(err) != "RPT-PREV" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOpenSSL runs the commands that the report prints, with the openssl of this machine, in an empty folder.
func TestOpenSSL(t *testing.T) {
	wait.Program(t, "openssl")
	p := signed(t, document(), key(t))
	run := func(text []byte) (string, string) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, report.SignedFile), text, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", commands(t, string(p.Report.Text())))
		cmd.Dir = dir
		out, _ := cmd.CombinedOutput() // the last command of a pipe says nothing of the others
		checked, _ := os.ReadFile(filepath.Join(dir, "report.checked.json"))
		return string(out), string(checked)
	}
	both, err := p.Countersign(key(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range [][]byte{p.Signed, both} {
		if out, checked := run(text); !strings.Contains(out, "Signature Verified Successfully") || checked != string(p.JSON) {
			t.Errorf("%s\n%s", out, checked)
		}
	}
	other := signed(t, document(), key(t))
	i := bytes.Index(p.Signed, []byte(`"payload":"`)) + 1000
	changed := bytes.Clone(p.Signed)
	changed[i] = 'A' + (changed[i]+1)%26
	for name, text := range map[string][]byte{"another key": other.Signed, "a changed byte": changed} {
		if out, _ := run(text); strings.Contains(out, "Verified Successfully") || out == "" {
			t.Errorf("%s: openssl says %q", name, out)
		}
	}
}

// commands takes the commands out of a printed report, as a person copies them.
func commands(t *testing.T, text string) string {
	t.Helper()
	from, to := strings.Index(text, "    K="), strings.Index(text, "  Then report.checked.json")
	if from < 0 || to < from {
		t.Fatalf("no commands in\n%s", text)
	}
	return text[from:to]
}

// TestNodeKey: it is made once, belongs to root alone, and a damaged one is not replaced.
func TestNodeKey(t *testing.T) {
	m := hosttest.New(t)
	k, err := proof.NodeKey(m.Machine)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{layout.ReportKey, layout.ReportPublic} {
		if info, err := os.Stat(m.Path(file)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", file, info, err)
		}
	}
	if err := m.WriteFile(layout.ReportPublic, []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := proof.NodeKey(m.Machine)
	if err != nil || again.ID() != k.ID() {
		t.Errorf("%s and %s, %v", k.ID(), again.ID(), err)
	}
	if public, err := m.ReadFile(layout.ReportPublic); err != nil || !bytes.Equal(public, k.Public().PEM()) {
		t.Errorf("%s, %v", public, err)
	}
	private, err := m.ReadFile(layout.ReportKey)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.WriteFile(layout.ReportKey, private[:40], 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = proof.NodeKey(m.Machine)
	if code(err) != "RPT-KEY" || strings.Contains(problem.From(err).Error(), string(private[28:40])) {
		t.Errorf("a damaged key: %v", err)
	}
}

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"touchdown/backend/check"
	"touchdown/backend/envelope"
	"touchdown/test/wait"
)

// newPair makes a person's key and its two files.
func newPair(t *testing.T, name string) envelope.SigningKey {
	t.Helper()
	key, err := envelope.NewSigningKey()
	if err != nil {
		t.Fatal(err)
	}
	private, public, err := key.Files()
	if err == nil {
		err = writePair(name, private, public)
	}
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestFourEyes: a report that two people have to stand behind passes only with the signatures of both.
func TestFourEyes(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	node, anna := newPair(t, in("node")), newPair(t, in("anna"))
	newPair(t, in("ben"))
	write(t, in("report.json"), siteReport("SN-1", check.Pass), node)
	write(t, in("other.json"), siteReport("SN-1", check.Warn), node)
	for _, c := range []struct{ file, out, key string }{{"report.json", "both.json", "anna.key"}, {"other.json", "other-both.json", "anna.key"}} {
		code, out, complaints := ran(t, "report", "countersign", in(c.file), "--key", in(c.key), "--out", in(c.out))
		if code != 0 || !strings.Contains(out, "signed by key "+node.ID()+", and now by key "+anna.ID()) {
			t.Fatalf("%d %s%s", code, out, complaints)
		}
	}
	both, err := os.ReadFile(in("both.json"))
	if err != nil {
		t.Fatal(err)
	}
	edited := func(name string, edit func(e *dsse.Envelope)) {
		var e dsse.Envelope
		if err := json.Unmarshal(both, &e); err != nil {
			t.Fatal(err)
		}
		edit(&e)
		text, err := json.Marshal(e)
		if err == nil {
			err = os.WriteFile(in(name), append(text, '\n'), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var other dsse.Envelope
	text, err := os.ReadFile(in("other-both.json"))
	if err == nil {
		err = json.Unmarshal(text, &other)
	}
	if err != nil {
		t.Fatal(err)
	}
	edited("moved.json", func(e *dsse.Envelope) { e.Signatures[1] = other.Signatures[1] })
	edited("swapped.json", func(e *dsse.Envelope) { e.Signatures[0], e.Signatures[1] = e.Signatures[1], e.Signatures[0] })
	edited("twice.json", func(e *dsse.Envelope) { e.Signatures[1] = e.Signatures[0] })
	edited("three.json", func(e *dsse.Envelope) { e.Signatures = append(e.Signatures, other.Signatures[1]) })
	if err := os.WriteFile(in("revoked"), []byte(anna.ID()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	second := []string{"--key", in("node.pub"), "--second-key", in("anna.pub")}
	for _, c := range []struct {
		code int
		file string
		want string
		args []string
	}{
		{0, "both.json", "and by:     key " + anna.ID() + "; the one that", second},
		{0, "both.json", "not checked; give --second-key", second[:2]},
		{1, "report.json", "RPT-SCND", second},
		{1, "both.json", "RPT-2KEY", []string{"--key", in("node.pub"), "--second-key", in("ben.pub")}},
		{1, "both.json", "RPT-UKEY", []string{"--key", in("ben.pub"), "--second-key", in("anna.pub")}},
		{1, "both.json", "RPT-2KEY", append([]string{"--revoked", in("revoked")}, second...)},
		{1, "moved.json", "RPT-2SGN", second},
		{1, "swapped.json", "RPT-SHPE", second},
		{1, "twice.json", "RPT-SHPE", second},
		{1, "three.json", "RPT-SHPE", second},
	} {
		code, out, complaints := ran(t, append([]string{"report", "verify", in(c.file)}, c.args...)...)
		if code != c.code || !strings.Contains(out+complaints, c.want) {
			t.Errorf("%s %q: %d, not %d with %q\n%s%s", c.file, c.args, code, c.code, c.want, out, complaints)
		}
	}
	for args, want := range map[string]string{
		in("both.json") + " --key " + in("ben.key") + " --out " + in("x"):           "RPT-SCND",
		in("report.json") + " --key " + in("node.key") + " --out " + in("x"):        "RPT-SCND",
		in("report.json") + " --key " + in("ben.key") + " --out " + in("both.json"): "is there already",
		in("report.json") + " --key " + in("ben.key"):                               "--out is missing",
		in("report.json") + " --out " + in("x"):                                     "--key is missing",
	} {
		if code, out, complaints := ran(t, append([]string{"report", "countersign"}, strings.Fields(args)...)...); code == 0 || !strings.Contains(complaints, want) {
			t.Errorf("%s: %d %s%s", args, code, out, complaints)
		}
	}
	if _, err := os.Stat(in("x")); err == nil {
		t.Error("a refused signature was written")
	}
}

// TestASecondSignatureByOpenSSL: whoever has no Touchdown checks it as the first one.
func TestASecondSignatureByOpenSSL(t *testing.T) {
	openssl := wait.Program(t, "openssl")
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	newPair(t, in("anna"))
	p := write(t, in("report.json"), siteReport("SN-1", check.Pass), newPair(t, in("node")))
	if code, _, complaints := ran(t, "report", "countersign", in("report.json"), "--key", in("anna.key"), "--out", in("both.json")); code != 0 {
		t.Fatal(complaints)
	}
	text, err := os.ReadFile(in("both.json"))
	if err != nil {
		t.Fatal(err)
	}
	var e dsse.Envelope
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatal(err)
	}
	payload, err := e.DecodeB64Payload()
	if err != nil || !bytes.Contains(payload, []byte(p.Digest)) {
		t.Fatal(err)
	}
	for i, person := range []string{"node", "anna"} {
		signature, err := base64.StdEncoding.DecodeString(e.Signatures[i].Sig)
		if err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string][]byte{"pae": dsse.PAE(e.PayloadType, payload), "sig": signature} {
			if err := os.WriteFile(in(name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.CommandContext(t.Context(), openssl, "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", person+".pub", "-in", "pae", "-sigfile", "sig")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", person, err, out)
		}
	}
}

package envelope

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"touchdown/backend/problem"
	"touchdown/test/wait"
)

const config = "kind: SiteConfig\nspec: {pullSecret: planted-secret}\n"

func newKey(t testing.TB) (SigningKey, []byte) {
	t.Helper()
	key, err := NewSigningKey()
	if err != nil {
		t.Fatal(err)
	}
	_, public, err := key.Files()
	if err != nil {
		t.Fatal(err)
	}
	return key, public
}

func trust(t testing.TB, revoked string, keys ...[]byte) *Trust {
	t.Helper()
	all, err := ParseTrust(bytes.Join(keys, nil), []byte(revoked))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// signed returns an envelope for serial SN1 that was sealed with a lock.
func signed(t testing.TB, key SigningKey, lock Lock, edit func(*Document)) []byte {
	t.Helper()
	d := New("SN1")
	if err := d.Seal([]byte(config), lock); err != nil {
		t.Fatal(err)
	}
	if edit != nil {
		edit(&d)
	}
	text, err := Sign(d, key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// refused wants a problem with a code, and with a way on.
func refused(t *testing.T, what string, err error, code string) {
	t.Helper()
	p := problem.From(err)
	if err == nil || p.Code != code || p.Summary.String() == "" || p.Fix.String() == "" {
		t.Errorf("%s: want %s, got %v", what, code, err)
	}
	if strings.Contains(fmt.Sprint(err, p.Fix), "planted-secret") {
		t.Errorf("%s: the error has a secret: %v", what, err)
	}
}

func TestASignedDocumentComesBack(t *testing.T) {
	key, public := newKey(t)
	private, recipient, err := NewNodeKey()
	if err != nil {
		t.Fatal(err)
	}
	node, err := NodeLock(recipient)
	if err != nil {
		t.Fatal(err)
	}
	generated, passphrase, err := GeneratedLock()
	if err != nil {
		t.Fatal(err)
	}
	for kind, c := range map[Sealing]struct {
		lock   Lock
		secret string
	}{NotSealed: {Lock{}, ""}, ForNode: {node, private}, WithPassphrase: {generated, passphrase}} {
		text := signed(t, key, c.lock, nil)
		if bytes.Contains(text, []byte("planted-secret")) || kind != NotSealed && strings.Contains(unpacked(t, text), "planted-secret") {
			t.Errorf("%s: a sealed secret can be read", kind)
		}
		d, signer, err := Verify(text, trust(t, "", public))
		if err != nil || signer != key.ID() || d.Sealed != kind {
			t.Fatalf("%s: %v %s %v", kind, d, signer, err)
		}
		if err := d.For("sn1", []string{"other"}); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if got, err := d.Unseal(c.secret + "\n"); err != nil || string(got) != config {
			t.Errorf("%s: %q, %v", kind, got, err)
		}
	}
}

// unpacked is the payload of an envelope with the site config as text.
func unpacked(t *testing.T, text []byte) string {
	t.Helper()
	d, err := Open(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(d.Site)
}

// changed edits an envelope behind its signature.
func changed(t *testing.T, text []byte, edit func(*dsse.Envelope)) []byte {
	t.Helper()
	var e dsse.Envelope
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatal(err)
	}
	edit(&e)
	out, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestWhatIsRefused: each way to cheat has its own answer.
func TestWhatIsRefused(t *testing.T) {
	key, public := newKey(t)
	other, otherPublic := newKey(t)
	text := signed(t, key, Lock{}, nil)
	payload := func(e *dsse.Envelope, from, to string) {
		raw, _ := base64.StdEncoding.DecodeString(e.Payload)
		e.Payload = base64.StdEncoding.EncodeToString(bytes.Replace(raw, []byte(from), []byte(to), 1))
	}
	for what, c := range map[string]struct {
		code  string
		text  []byte
		trust *Trust
	}{
		"no signature":      {"MED-NSGN", changed(t, text, func(e *dsse.Envelope) { e.Signatures = nil }), trust(t, "", public)},
		"unknown key":       {"MED-UKEY", text, trust(t, "", otherPublic)},
		"revoked key":       {"MED-RVKD", text, trust(t, "# lost\n"+key.ID()+" laptop stolen\n", public, otherPublic)},
		"other serial":      {"MED-BSGN", changed(t, text, func(e *dsse.Envelope) { payload(e, "SN1", "SN2") }), trust(t, "", public)},
		"other type":        {"MED-SHPE", changed(t, text, func(e *dsse.Envelope) { e.PayloadType = "text/plain" }), trust(t, "", public)},
		"other's signature": {"MED-BSGN", changed(t, signed(t, other, Lock{}, nil), func(e *dsse.Envelope) { e.Signatures[0].KeyID = key.ID() }), trust(t, "", public)},
		"forged and known": {"MED-BSGN", changed(t, text, func(e *dsse.Envelope) {
			e.Signatures[0].Sig = "AAAA"
			e.Signatures = append(e.Signatures, dsse.Signature{KeyID: "x"})
		}), trust(t, "", public)},
		"signatures":    {"MED-SHPE", changed(t, text, func(e *dsse.Envelope) { e.Signatures = make([]dsse.Signature, 5) }), trust(t, "", public)},
		"no JSON":       {"MED-SHPE", []byte("kind: SiteConfig"), trust(t, "", public)},
		"two documents": {"MED-SHPE", append(bytes.Clone(text), text...), trust(t, "", public)},
		"too large":     {"MED-SHPE", bytes.Repeat([]byte(" "), maxEnvelope+1), trust(t, "", public)},
	} {
		_, _, err := Verify(c.text, c.trust)
		refused(t, what, err, c.code)
	}
	both := changed(t, text, func(e *dsse.Envelope) {
		e.Signatures = append([]dsse.Signature{{KeyID: "0123456789abcdef", Sig: "AAAA"}}, e.Signatures...)
	})
	if _, signer, err := Verify(both, trust(t, "", public)); err != nil || signer != key.ID() {
		t.Errorf("a second, unknown signature: %v", err)
	}
}

func TestWhomADocumentIsFor(t *testing.T) {
	one, any := New("SN1"), New("")
	refused(t, "another machine", one.For("SN2", nil), "MED-SER")
	refused(t, "no serial", one.For("", nil), "MED-SER")
	refused(t, "used", one.For("SN1", []string{"a", one.ID}), "MED-USED")
	refused(t, "used on any", any.For("SN2", []string{any.ID}), "MED-USED")
	if err := any.For("", nil); err != nil {
		t.Error(err)
	}
	if one.ID == any.ID {
		t.Error("two documents have one id")
	}
}

func TestDocumentsThatAreNotSigned(t *testing.T) {
	key, _ := newKey(t)
	for what, edit := range map[string]func(*Document){
		"schema":                 func(d *Document) { d.Schema = "x" },
		"id":                     func(d *Document) { d.ID = "short" },
		"id with a path":         func(d *Document) { d.ID = "../../../../../../etc/passwd" },
		"no serial":              func(d *Document) { d.Serial = "" },
		"both":                   func(d *Document) { d.AnySerial = true },
		"serial with a slash":    func(d *Document) { d.Serial = "a/b" },
		"serial of no machine":   func(d *Document) { d.Serial = "To be filled by O.E.M." },
		"unattended for any":     func(d *Document) { d.Serial, d.AnySerial, d.Unattended = "", true, true },
		"unattended, passphrase": func(d *Document) { d.Unattended, d.Sealed = true, WithPassphrase },
		"sealing":                func(d *Document) { d.Sealed = "rot13" },
		"empty":                  func(d *Document) { d.Site = nil },
		"too large":              func(d *Document) { d.Site = make([]byte, maxSite+1) },
		"revoked":                func(d *Document) { d.Revoked = []string{"x"} },
	} {
		d := New("SN1")
		d.Site = []byte(config)
		edit(&d)
		if _, err := Sign(d, key); err == nil {
			t.Errorf("%s: it was signed", what)
		}
	}
}

func TestSealsThatDoNotOpen(t *testing.T) {
	lock, _, err := GeneratedLock()
	if err != nil {
		t.Fatal(err)
	}
	private, recipient, _ := NewNodeKey()
	otherPrivate, _, _ := NewNodeKey()
	node, _ := NodeLock(recipient)
	sealed := func(lock Lock) *Document {
		d := New("SN1")
		if err := d.Seal([]byte(config), lock); err != nil {
			t.Fatal(err)
		}
		return &d
	}
	for _, c := range []struct {
		what, secret, code string
		d                  *Document
	}{
		{"no passphrase", "", "MED-PASS", sealed(lock)},
		{"wrong passphrase", "AAAAA-BBBBB-CCCCC-DDDDD", "MED-PASS", sealed(lock)},
		{"another node's key", otherPrivate, "MED-NKEY", sealed(node)},
		{"no key", "planted-secret", "MED-NKEY", sealed(node)},
	} {
		_, err := c.d.Unseal(c.secret)
		refused(t, c.what, err, c.code)
	}
	// More work than Touchdown accepts is refused before it is done, however long it would take.
	hard := sealed(lock)
	hard.Site = bytes.Replace(hard.Site, []byte(fmt.Sprintf(" %d\n", generatedWork)), []byte(fmt.Sprintf(" %d\n", maxWork+1)), 1)
	_, err = hard.Unseal("AAAAA-BBBBB-CCCCC-DDDDD")
	refused(t, "too much work", err, "MED-SEAL")
	d := sealed(node)
	d.Site = d.Site[:len(d.Site)-1]
	_, err = d.Unseal(private)
	refused(t, "cut", err, "MED-SEAL")
	for _, secret := range []string{"short", ""} {
		if _, err := PassphraseLock(secret); err == nil {
			t.Errorf("%q is a passphrase", secret)
		}
	}
	if _, err := NodeLock("age1x"); err == nil {
		t.Error("age1x is a public key")
	}
}

// TestOpenSSLSigns: make release signs its check sums by openssl, with a key of touchdown media keygen --release.
func TestOpenSSLSigns(t *testing.T) {
	openssl := wait.Program(t, "openssl")
	key, _ := newKey(t)
	private, public, err := key.Files()
	if err != nil {
		t.Fatal(err)
	}
	private, public = ForReleases(private), ForReleases(public)
	dir := t.TempDir()
	for name, data := range map[string][]byte{"key": private, "pub": public, "SUMS": []byte("00  touchdown\n"), "changed": []byte("01  touchdown\n")} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) error {
		cmd := exec.CommandContext(t.Context(), openssl, append([]string{"pkeyutl", "-rawin"}, args...)...)
		cmd.Dir = dir
		return cmd.Run()
	}
	if err := run("-sign", "-inkey", "key", "-in", "SUMS", "-out", "sig"); err != nil {
		t.Fatal(err)
	}
	if err := run("-verify", "-pubin", "-inkey", "pub", "-in", "SUMS", "-sigfile", "sig"); err != nil {
		t.Error(err)
	}
	if run("-verify", "-pubin", "-inkey", "pub", "-in", "changed", "-sigfile", "sig") == nil {
		t.Error("changed check sums are signed")
	}
}

// TestOpenSSLAgrees: someone without Touchdown can check a medium.
func TestOpenSSLAgrees(t *testing.T) {
	openssl := wait.Program(t, "openssl")
	key, public := newKey(t)
	var e dsse.Envelope
	if err := json.Unmarshal(signed(t, key, Lock{}, nil), &e); err != nil {
		t.Fatal(err)
	}
	payload, _ := e.DecodeB64Payload()
	signature, _ := base64.StdEncoding.DecodeString(e.Signatures[0].Sig)
	dir := t.TempDir()
	for name, data := range map[string][]byte{"key": public, "pae": dsse.PAE(payloadType, payload), "sig": signature} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), openssl, "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", "key", "-in", "pae", "-sigfile", "sig")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestKeysComeBack(t *testing.T) {
	key, public := newKey(t)
	private, _, err := key.Files()
	if err != nil {
		t.Fatal(err)
	}
	if back, err := ParseSigningKey(private); err != nil || back.ID() != key.ID() {
		t.Errorf("%v, %v", back, err)
	}
	for what, text := range map[string][]byte{"nothing": nil, "public": public, "text": []byte("x")} {
		if _, err := ParseSigningKey(text); err == nil {
			t.Errorf("%s is a signing key", what)
		}
	}
	for what, text := range map[string]string{"nothing": "", "private": string(private), "text": string(public) + "x", "a damaged one first": strings.Replace(string(public), "\n", "\n!", 1) + string(public)} {
		if _, err := ParseTrust([]byte(text), nil); err == nil {
			t.Errorf("%s is trusted", what)
		}
	}
	if _, err := ParseTrust(public, []byte("nonsense")); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Error(err)
	}
}

// TestAKeyHasOneUse: a key for releases is none for media, and the other way round, in a file of several too.
func TestAKeyHasOneUse(t *testing.T) {
	key, medium := newKey(t)
	private, _, err := key.Files()
	if err != nil {
		t.Fatal(err)
	}
	_, other := newKey(t)
	release, second := ForReleases(medium), ForReleases(other)
	for name, c := range map[string]struct {
		keys            []byte
		media, releases bool
	}{
		"media":                     {medium, true, false},
		"two for media":             {append(bytes.Clone(medium), other...), true, false},
		"media with a remark":       {append([]byte("the factory's\n"), medium...), true, false},
		"release":                   {release, false, true},
		"two for releases":          {append(bytes.Clone(release), second...), false, true},
		"release, from Windows":     {bytes.ReplaceAll(release, []byte("\n"), []byte("\r\n")), false, true},
		"a remark before and after": {append([]byte("ours\nTouchdown key for releases\nof 2026\n"), medium...), false, true},
		"release before media":      {append(bytes.Clone(release), other...), false, false},
		"media before release":      {append(bytes.Clone(medium), second...), false, false},
		"a mark behind":             {append(bytes.Clone(medium), "Touchdown key for releases\n"...), false, false},
	} {
		_, asMedia := ParseTrust(c.keys, nil)
		_, asRelease := ParseReleaseTrust(c.keys, nil)
		if (asMedia == nil) != c.media || (asRelease == nil) != c.releases {
			t.Errorf("%s: for media: %v, for releases: %v", name, asMedia, asRelease)
		}
	}
	if _, err := ParseSigningKey(ForReleases(private)); err == nil || !strings.Contains(err.Error(), "for releases") {
		t.Errorf("a key for releases signs media: %v", err)
	}
}

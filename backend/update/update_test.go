package update_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend/envelope"
	"touchdown/backend/layout"
	"touchdown/backend/problem"
	"touchdown/backend/update"
)

// signer is a key as `touchdown media keygen --release` makes it, in the hands of a node, and what it signs as openssl does.
func signer(t *testing.T) (keys update.Keys, sign func([]byte) []byte) {
	t.Helper()
	key, err := envelope.NewSigningKey()
	if err != nil {
		t.Fatal(err)
	}
	private, public, err := key.Files()
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(private)
	secret, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if keys.Releases, err = envelope.ParseReleaseTrust(envelope.ForReleases(public), nil); err != nil {
		t.Fatal(err)
	}
	return keys, func(data []byte) []byte { return ed25519.Sign(secret.(ed25519.PrivateKey), data) }
}

// release makes the folder of one.
func release(t *testing.T, program string, sign func([]byte) []byte) string {
	t.Helper()
	sum := sha256.Sum256([]byte(program))
	sums := strings.Repeat("0", 64) + "  schemas/touchdown\n" + hex.EncodeToString(sum[:]) + "  touchdown\n"
	dir := t.TempDir()
	put(t, dir, "touchdown", program)
	put(t, dir, "SHA256SUMS", sums)
	put(t, dir, "SHA256SUMS.sig", string(sign([]byte(sums))))
	return dir
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestOnlyWhatIsSignedIsRead: each file changed, missing, exchanged or led elsewhere.
func TestOnlyWhatIsSignedIsRead(t *testing.T) {
	trust, sign := signer(t)
	_, other := signer(t)
	outside := filepath.Join(t.TempDir(), "outside")
	put(t, filepath.Dir(outside), "outside", "two")
	for name, c := range map[string]struct {
		spoil func(dir string)
		code  string
	}{
		"whole":             {func(string) {}, ""},
		"program changed":   {func(dir string) { put(t, dir, "touchdown", "twp") }, "UPD-SUM"},
		"program cut":       {func(dir string) { put(t, dir, "touchdown", "tw") }, "UPD-SUM"},
		"program away":      {func(dir string) { _ = os.Remove(filepath.Join(dir, "touchdown")) }, "UPD-READ"},
		"sums away":         {func(dir string) { _ = os.Remove(filepath.Join(dir, "SHA256SUMS")) }, "UPD-READ"},
		"signature away":    {func(dir string) { _ = os.Remove(filepath.Join(dir, "SHA256SUMS.sig")) }, "UPD-READ"},
		"signature empty":   {func(dir string) { put(t, dir, "SHA256SUMS.sig", "") }, "UPD-SGN"},
		"signature changed": {func(dir string) { put(t, dir, "SHA256SUMS.sig", strings.Repeat("x", 64)) }, "UPD-SGN"},
		"signature large":   {func(dir string) { put(t, dir, "SHA256SUMS.sig", strings.Repeat("x", 2<<10)) }, "UPD-READ"},
		"sums changed": {func(dir string) {
			text, _ := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
			put(t, dir, "SHA256SUMS", string(text)+"\n")
		}, "UPD-SGN"},
		"another signer": {func(dir string) {
			text, _ := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
			put(t, dir, "SHA256SUMS.sig", string(other(text)))
		}, "UPD-SGN"},
		"program twice": {func(dir string) {
			text, _ := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
			put(t, dir, "SHA256SUMS", string(text)+string(text))
			put(t, dir, "SHA256SUMS.sig", string(sign([]byte(string(text)+string(text)))))
		}, "UPD-SUM"},
		"no program in sums": {func(dir string) {
			put(t, dir, "SHA256SUMS", "\n")
			put(t, dir, "SHA256SUMS.sig", string(sign([]byte("\n"))))
		}, "UPD-SUM"},
		"a link outside": {func(dir string) {
			_ = os.Remove(filepath.Join(dir, "touchdown"))
			_ = os.Symlink(outside, filepath.Join(dir, "touchdown"))
		}, "UPD-READ"},
		"a folder": {func(dir string) {
			_ = os.Remove(filepath.Join(dir, "touchdown"))
			_ = os.Mkdir(filepath.Join(dir, "touchdown"), 0o700)
		}, "UPD-READ"},
	} {
		dir := release(t, "two", sign)
		c.spoil(dir)
		_, err := update.Read(dir, trust)
		if c.code == "" && err != nil || c.code != "" && problem.From(err).Code != c.code {
			t.Errorf("%s: %v, want %q", name, err, c.code)
		}
	}
}

// TestWhoseReleasesAreTaken: of a key for releases, and of one for media by no means.
func TestWhoseReleasesAreTaken(t *testing.T) {
	keys, sign := signer(t)
	id, public := keys.Releases.IDs()[0], publicOf(t, keys.Releases)
	revoked, err := envelope.ParseReleaseTrust(envelope.ForReleases(public), []byte(id+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	medium, err := envelope.ParseTrust(public, nil)
	if err != nil {
		t.Fatal(err)
	}
	other, _ := signer(t)
	for name, c := range map[string]struct {
		keys update.Keys
		code string
	}{
		"for releases":                           {keys, ""},
		"revoked":                                {update.Keys{Releases: revoked}, "UPD-SGN"},
		"for media":                              {update.Keys{Media: medium}, "UPD-MKEY"},
		"for media, beside another for releases": {update.Keys{Media: medium, Releases: other.Releases}, "UPD-MKEY"},
		"for both":                               {update.Keys{Media: medium, Releases: keys.Releases}, "UPD-MKEY"},
		"none":                                   {update.Keys{}, "UPD-NKEY"},
	} {
		_, err := update.Read(release(t, "two", sign), c.keys)
		if c.code == "" && err != nil || c.code != "" && problem.From(err).Code != c.code {
			t.Errorf("%s: %v, want %q", name, err, c.code)
		}
		if c.code == "UPD-MKEY" && !strings.Contains(err.Error(), id) {
			t.Errorf("%s: the key is not named: %v", name, err)
		}
	}
}

func publicOf(t *testing.T, trust *envelope.Trust) []byte {
	t.Helper()
	key, ok := trust.Key(trust.IDs()[0])
	if !ok {
		t.Fatal("no key")
	}
	return key.PEM()
}

// TestForthAndBack: the program before stays, is put back, and the other one stays then. Without an engine there is nothing to try.
func TestForthAndBack(t *testing.T) {
	trust, sign := signer(t)
	b := newBox(t, "one", "")
	if err := b.change().Back(t.Context()); problem.From(err).Code != "UPD-FRST" {
		t.Errorf("back from the first: %v", err)
	}
	r, err := update.Read(release(t, "two", sign), trust)
	if err != nil {
		t.Fatal(err)
	}
	is := func(when, program, previous string) {
		t.Helper()
		if got := b.Content(layout.Program); got != program || b.Content(layout.PreviousProgram) != previous || r.Is(b) != (program == "two") {
			t.Errorf("%s: %q, before it %q", when, got, b.Content(layout.PreviousProgram))
		}
	}
	if said, err := r.Try(t.Context(), b, false); err != nil || said != "touchdown two" {
		t.Errorf("tried: %q, %v", said, err)
	}
	is("after a look", "one", "")
	for _, b.engine = range []bool{true, false} {
		b.ends(t, "update", b.change().To(t.Context(), r), "", "two")
		is("after the update", "two", "one")
		if err := b.change().Back(t.Context()); err != nil {
			t.Error(err)
		}
		is("back", "one", "two")
		if err := b.change().Back(t.Context()); err != nil {
			t.Error(err)
		}
		is("and forth", "two", "one")
		b.File(layout.Program, "one")
		b.running = "two"
	}
}

// TestAFullDisk: wherever the room ends, the node has one of the two programs, whole, its engine, and can go on.
func TestAFullDisk(t *testing.T) {
	trust, sign := signer(t)
	one, two := strings.Repeat("1", 1000), strings.Repeat("2", 1000)
	r, err := update.Read(release(t, two, sign), trust)
	if err != nil {
		t.Fatal(err)
	}
	full := 0
	for room := 0; room <= 3500; room += 100 {
		b := newBox(t, one, "")
		b.Fill(room)
		err := b.change().To(t.Context(), r)
		got := b.Content(layout.Program)
		if got != one && got != two || (err == nil) != (got == two) || b.running != got {
			t.Errorf("room for %d bytes: %v, %.10q", room, err, got)
		}
		if err != nil {
			full++
		}
		b.Fill(-1)
		b.ends(t, "with room again", b.change().To(t.Context(), r), "", two)
	}
	if full < 25 || full > 35 {
		t.Errorf("the disk was full %d times", full)
	}
}

package update_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend/envelope"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/layout"
	"touchdown/backend/problem"
	"touchdown/backend/update"
)

// signer is a key as `touchdown media keygen` makes it, and what it signs as openssl does.
func signer(t *testing.T) (trust *envelope.Trust, sign func([]byte) []byte) {
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
	if trust, err = envelope.ParseTrust(public, nil); err != nil {
		t.Fatal(err)
	}
	return trust, func(data []byte) []byte { return ed25519.Sign(secret.(ed25519.PrivateKey), data) }
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
	revoked, err := envelope.ParseTrust(publicOf(t, trust), []byte(trust.IDs()[0]+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := update.Read(release(t, "two", sign), revoked); problem.From(err).Code != "UPD-SGN" {
		t.Errorf("signed with a revoked key: %v", err)
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

// TestForthAndBack: the program before stays, is put back, and the other one stays then.
func TestForthAndBack(t *testing.T) {
	trust, sign := signer(t)
	m := hosttest.New(t)
	m.File(layout.Program, "one")
	if err := update.Back(m.Machine); problem.From(err).Code != "UPD-FRST" {
		t.Errorf("back from the first: %v", err)
	}
	r, err := update.Read(release(t, "two", sign), trust)
	if err != nil {
		t.Fatal(err)
	}
	is := func(when, program, previous string) {
		t.Helper()
		if got := m.Content(layout.Program); got != program || m.Content(layout.PreviousProgram) != previous || m.Exists(layout.Program+".new") {
			t.Errorf("%s: %q, before it %q", when, got, m.Content(layout.PreviousProgram))
		}
	}
	m.On(layout.Program+".new version", "", errors.New("exec format error"))
	if _, err := r.Try(t.Context(), m.Machine); problem.From(err).Code != "UPD-STRT" {
		t.Errorf("a program that does not start: %v", err)
	}
	is("after a failed try", "one", "")
	m.OnFunc(layout.Program+".new version", func([]string, []byte) (string, error) { return m.Content(layout.Program + ".new"), nil })
	if said, err := r.Try(context.Background(), m.Machine); err != nil || said != "two" {
		t.Errorf("tried: %q, %v", said, err)
	}
	if err := r.Install(m.Machine); err != nil || !r.Is(m.Machine) {
		t.Errorf("installed: %v", err)
	}
	is("after the update", "two", "one")
	if err := update.Back(m.Machine); err != nil {
		t.Error(err)
	}
	is("back", "one", "two")
	if err := update.Back(m.Machine); err != nil {
		t.Error(err)
	}
	is("and forth", "two", "one")
}

// TestAFullDisk: wherever the room ends, the node has one of the two programs, whole, and can go on.
func TestAFullDisk(t *testing.T) {
	trust, sign := signer(t)
	one, two := strings.Repeat("1", 100), strings.Repeat("2", 100)
	r, err := update.Read(release(t, two, sign), trust)
	if err != nil {
		t.Fatal(err)
	}
	for room := 0; room <= 200; room += 10 {
		m := hosttest.New(t)
		m.File(layout.Program, one)
		m.Fill(room)
		err := r.Install(m.Machine)
		if got := m.Content(layout.Program); got != one && got != two || (err == nil) != (got == two) {
			t.Errorf("room for %d bytes: %v, %.10q", room, err, got)
		}
		m.Fill(-1)
		if err := r.Install(m.Machine); err != nil || m.Content(layout.Program) != two {
			t.Errorf("with room again: %v", err)
		}
	}
}

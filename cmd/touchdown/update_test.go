package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend/envelope"
	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/media"
)

// signRelease makes the folder of a release, signed as openssl does with the private half of a key in a file.
func signRelease(t *testing.T, keyFile string) string {
	t.Helper()
	return signProgram(t, keyFile, "#!/bin/sh\necho touchdown v9\n")
}

// signProgram is signRelease for a program.
func signProgram(t *testing.T, keyFile, program string) string {
	t.Helper()
	text, err := os.ReadFile(keyFile)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	secret, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(program))
	sums := hex.EncodeToString(sum[:]) + "  touchdown\n"
	dir := t.TempDir()
	for name, data := range map[string]string{"touchdown": program, "SHA256SUMS": sums, "SHA256SUMS.sig": string(ed25519.Sign(secret.(ed25519.PrivateKey), []byte(sums)))} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// keyed runs commands on a machine that is a folder, and has made a key for media and one for releases: in tells the file of each.
func keyed(t *testing.T) (root string, in func(string) string, run func(...string) (int, string)) {
	t.Helper()
	dir := t.TempDir()
	root = t.TempDir()
	in = func(name string) string { return filepath.Join(dir, name) }
	run = func(args ...string) (int, string) {
		t.Helper()
		var said bytes.Buffer
		command := newRoot(hooks{root: root})
		command.SetOut(&said)
		command.SetErr(&said)
		code := execute(t.Context(), command, args)
		return code, said.String()
	}
	for _, line := range [][]string{{"media", "keygen", in("site")}, {"media", "keygen", "--release", in("release")}} {
		if code, said := run(line...); code != exitOK {
			t.Fatalf("%v: %d\n%s", line, code, said)
		}
	}
	return root, in, run
}

// TestAKeyForMediaBringsNoProgram: keys of both kinds, each in the place of the other, at every command that takes one; and a release that
// a key for media has signed, on a node that trusts that key.
func TestAKeyForMediaBringsNoProgram(t *testing.T) {
	root, in, run := keyed(t)
	public, err := os.ReadFile(in("site.pub"))
	if err != nil {
		t.Fatal(err)
	}
	machine := host.Open(host.Options{Root: root})
	_, err = media.Of(machine).Lay(public)
	for name, data := range map[string][]byte{in("both.pub"): envelope.ForReleases(public), machine.Path(layout.Program): []byte("the node's")} {
		if err == nil {
			err = os.MkdirAll(filepath.Dir(name), 0o755)
		}
		if err == nil {
			err = os.WriteFile(name, data, 0o755)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	site, release := signRelease(t, in("site.key")), signRelease(t, in("release.key"))
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"media, with a key for releases":     {[]string{"factory", "bake", "--media-key", in("release.pub")}, exitUsage, "is a key for releases"},
		"releases, with a key for media":     {[]string{"factory", "bake", "--release-key", in("site.pub")}, exitUsage, "make release KEY=NAME.key"},
		"the same on the bench line":         {[]string{"factory", "--release-key", in("site.pub")}, exitUsage, "media keygen --release NAME"},
		"one key for both":                   {[]string{"factory", "bake", "--media-key", in("site.pub"), "--release-key", in("both.pub")}, exitUsage, "for site media and for releases"},
		"a medium, signed as a release":      {[]string{"media", "write", "-f", "../../test/sites/store.yaml", "--any-serial", "--key", in("release.key"), in("out")}, exitUsage, "is a key for releases"},
		"a release of the key for media":     {[]string{"update", site, "--dry-run"}, exitFailed, "UPD-MKEY"},
		"the same with --key":                {[]string{"update", site, "--dry-run", "--key", in("site.pub")}, exitUsage, "make release KEY=NAME.key"},
		"the same under the mark of another": {[]string{"update", site, "--dry-run", "--key", in("both.pub")}, exitFailed, "UPD-MKEY"},
		"a release, and no key for one":      {[]string{"update", release, "--dry-run"}, exitFailed, "UPD-NKEY"},
		"a release":                          {[]string{"update", release, "--dry-run", "--key", in("release.pub")}, exitFailed, "UPD-STRT"}, // it came past the keys: no program starts below another root
	} {
		if code, said := run(c.args...); code != c.code || !strings.Contains(said, c.says) {
			t.Errorf("%s: %d, want %d and %q\n%s", name, code, c.code, c.says, said)
		}
	}
	text, err := os.ReadFile(in("release.pub"))
	if err == nil {
		_, err = media.ReleasesOf(machine).Lay(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	if code, said := run("update", release, "--dry-run"); code != exitFailed || !strings.Contains(said, "UPD-STRT") {
		t.Errorf("a release of a key that the bake laid: %d\n%s", code, said)
	}
}

// TestTheEngineAfterATrial takes away what a cut update left, and says so. The engine of the trial does not take its own program away,
// wherever /usr/local leads to.
func TestTheEngineAfterATrial(t *testing.T) {
	machine := host.Open(host.Options{Root: t.TempDir()})
	var said bytes.Buffer
	log := slog.New(slog.NewTextHandler(&said, nil))
	afterTrial(machine, layout.Program, log)
	if err := machine.WriteFile(layout.CandidateProgram, []byte("tried"), 0o755); err != nil {
		t.Fatal(err)
	}
	afterTrial(machine, "/var/usrlocal/bin/touchdown.new", log)
	if said.Len() > 0 || !machine.Exists(layout.CandidateProgram) {
		t.Errorf("in the trial, or without one: %s", said.String())
	}
	afterTrial(machine, "/var/usrlocal/bin/touchdown", log)
	if !strings.Contains(said.String(), "an update was cut off") || machine.Exists(layout.CandidateProgram) {
		t.Errorf("after the trial: %q", said.String())
	}
}

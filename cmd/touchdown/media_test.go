package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/backend/media/volume"
	"touchdown/steps/site"
)

// hostileVolume makes an image whose plain site config would steer a terminal.
func hostileVolume(dir string) string {
	path := filepath.Join(dir, "volume.img")
	image, err := volume.WriteISO("SITECONFIG", []volume.File{{Name: "site-config.yaml", Data: []byte("\"k\\e[2J\": \"\\u202ec\"\n" + planted)}})
	if err == nil {
		err = os.WriteFile(path, append(image.Head, make([]byte, image.Size-int64(len(image.Head)))...), 0o600)
	}
	if err != nil {
		panic(err)
	}
	return path
}

// makeMedia runs media write for a table of n sites.
func makeMedia(t testing.TB, dir, table, out string, args ...string) string {
	t.Helper()
	var printed bytes.Buffer
	run := func(line ...string) {
		root := newRoot(hooks{})
		root.SetOut(&printed)
		root.SetErr(&printed)
		if code := execute(t.Context(), root, line); code != exitOK {
			t.Fatalf("%v: %d\n%s", line, code, printed.String())
		}
	}
	key := filepath.Join(dir, "factory")
	if _, err := os.Stat(key + ".key"); err != nil {
		run("media", "keygen", key)
	}
	run(append([]string{"media", "write", "--table", table, "--key", key + ".key", "--out", out}, args...)...)
	return printed.String()
}

func sites(t testing.TB, dir string, n int) string {
	t.Helper()
	text := "serial,spec.clusterName,spec.baseDomain\n"
	for i := range n {
		text += fmt.Sprintf("SN%05d,store%d,retail.example.com\n", i, i)
	}
	path := filepath.Join(dir, "sites.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestABatchOverwritesNothing: a batch that finds its files there leaves them alone, unless it is forced.
func TestABatchOverwritesNothing(t *testing.T) {
	dir := t.TempDir()
	table, out := sites(t, dir, 3), filepath.Join(dir, "out")
	makeMedia(t, dir, table, out)
	before, err := os.ReadFile(filepath.Join(out, "SN00001.img"))
	if err != nil {
		t.Fatal(err)
	}
	root := newRoot(hooks{})
	var said bytes.Buffer
	root.SetErr(&said)
	line := []string{"media", "write", "--table", table, "--key", filepath.Join(dir, "factory.key"), "--out", out}
	if code := execute(t.Context(), root, line); code == exitOK || !strings.Contains(said.String(), "MED-FULL") {
		t.Errorf("%d\n%s", code, said.String())
	}
	after, err := os.ReadFile(filepath.Join(out, "SN00001.img"))
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("it was written again: %v", err)
	}
	if said := makeMedia(t, dir, table, out, "--force"); !strings.Contains(said, "3 media") {
		t.Error(said)
	}
}

// TestASecondTableLosesNoPassphrases: a table that meets the lists of another one in its folder makes nothing, with --force neither;
// with the other machines in it, too, it is made.
func TestASecondTableLosesNoPassphrases(t *testing.T) {
	dir := t.TempDir()
	out, secrets := filepath.Join(dir, "out"), filepath.Join(dir, "out", passphraseFile)
	makeMedia(t, dir, sites(t, dir, 2), out)
	before, err := os.ReadFile(secrets)
	if err != nil {
		t.Fatal(err)
	}
	second := filepath.Join(dir, "second.csv")
	if err := os.WriteFile(second, []byte("serial,spec.clusterName,spec.baseDomain\nSN00001,a,example.com\nSN00007,b,example.com\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, more := range [][]string{nil, {"--force"}, {"--force", "--format", "iso9660"}} {
		root := newRoot(hooks{})
		var said bytes.Buffer
		root.SetErr(&said)
		line := append([]string{"media", "write", "--table", second, "--key", filepath.Join(dir, "factory.key"), "--out", out}, more...)
		code := execute(t.Context(), root, line)
		if code == exitOK || !strings.Contains(said.String(), "MED-FULL") || more != nil && !strings.Contains(said.String(), "SN00000") {
			t.Errorf("%q: %d\n%s", more, code, said.String())
		}
		if made, err := filepath.Glob(filepath.Join(out, "SN00007.*")); err != nil || len(made) > 0 {
			t.Errorf("%q made %q, %v", more, made, err)
		}
	}
	if after, err := os.ReadFile(secrets); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the passphrases were changed: %v", err)
	}
	makeMedia(t, dir, sites(t, dir, 3), out, "--force")
	info, err := os.Stat(secrets)
	if after, _ := os.ReadFile(secrets); err != nil || info.Mode().Perm() != 0o600 || bytes.Count(after, []byte("\n")) != 4 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.WriteFile(secrets, []byte("no list"), 0o600); err != nil {
		t.Fatal(err)
	}
	root := newRoot(hooks{})
	root.SetErr(&bytes.Buffer{})
	if code := execute(t.Context(), root, []string{"media", "write", "--table", second, "--key", filepath.Join(dir, "factory.key"), "--out", out, "--force"}); code == exitOK {
		t.Error("what is not a list was overwritten")
	}
}

// TestPassphrasesComeFirst: a batch that ends in the middle has left the passphrases of what it made.
func TestPassphrasesComeFirst(t *testing.T) {
	dir := t.TempDir()
	f := &mediaFlags{out: dir, format: "vfat"}
	locks, err := f.makeLocks([]row{{serial: "SN1"}, {serial: "SN2"}})
	if text, _ := os.ReadFile(filepath.Join(dir, passphraseFile)); err != nil || len(locks) != 2 || !bytes.Contains(text, []byte("\nSN2,")) {
		t.Errorf("%v, %d locks", err, len(locks))
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}

// BenchmarkThousandMedia makes 1,000 media of each format from one table; make bench-media.
func BenchmarkThousandMedia(b *testing.B) {
	for _, format := range []string{"vfat", "iso9660"} {
		b.Run(format, func(b *testing.B) {
			for n := range b.N {
				dir := b.TempDir()
				makeMedia(b, dir, sites(b, dir, 1000), filepath.Join(dir, fmt.Sprint(n)), "--format", format)
			}
		})
	}
}

// FuzzTable holds that any table is either refused with a place in it, or gives valid site configs with serial numbers of their own.
func FuzzTable(f *testing.F) {
	for _, seed := range []string{
		"serial,spec.clusterName,spec.baseDomain\nA,b,c.example\n", "serial\n\"a", "serial,serial\n", "serial,spec.hostname\na,\"x\ny\"\n",
		"\ufeffserial;spec.hostname\na;b\n", "serial,recipient\na,age1\n", "serial,spec.policy.answers.x\na,b\n", "serial,spec.imageDigestMirrors\na,\"[{}]\"\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		rows, err := readTable("sites.csv", text, site.New(), func(error) {})
		if err != nil {
			if e, ok := errors.AsType[*exitError](err); !ok || e.code != exitUsage || !strings.Contains(err.Error(), "sites.csv") {
				t.Fatalf("no place: %v", err)
			}
			return
		}
		seen := map[string]bool{}
		for _, r := range rows {
			if errs, _ := r.config.Validate(time.Now()); len(errs) > 0 || seen[r.serial] || r.serial == "" {
				t.Fatalf("%q: %v", r.serial, errs)
			}
			seen[r.serial] = true
		}
	})
}

// TestAnyMachineIsWarned: the medium for any machine keeps the site config, which others need.
func TestAnyMachineIsWarned(t *testing.T) {
	dir := t.TempDir()
	makeMedia(t, dir, sites(t, dir, 1), filepath.Join(dir, "out")) // makes the key
	file := filepath.Join(dir, "site.yaml")
	if err := os.WriteFile(file, []byte(stickConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, whom := range []string{"--any-serial", "--serial=SN1"} {
		var said bytes.Buffer
		root := newRoot(hooks{})
		root.SetOut(&bytes.Buffer{})
		root.SetErr(&said)
		line := []string{"media", "write", "-f", file, whom, "--key", filepath.Join(dir, "factory.key"), filepath.Join(dir, whom)}
		if code := execute(t.Context(), root, line); code != exitOK || strings.Contains(said.String(), "the site config stays on the medium") != (whom == "--any-serial") {
			t.Errorf("%s: exit %d, %s", whom, code, said.String())
		}
	}
}

// TestKeep: a medium says whether it keeps its site config after the landing, and only one that was asked to does.
func TestKeep(t *testing.T) {
	dir := t.TempDir()
	table := sites(t, dir, 1)
	for _, keep := range []bool{false, true} {
		out, args := filepath.Join(dir, fmt.Sprint(keep)), []string{}
		if keep {
			args = []string{"--keep"}
		}
		makeMedia(t, dir, table, out, args...)
		var shown bytes.Buffer
		root := newRoot(hooks{})
		root.SetOut(&shown)
		if code := execute(t.Context(), root, []string{"media", "show", filepath.Join(out, "SN00000.img"), "-o", "json"}); code != exitOK {
			t.Fatalf("exit %d", code)
		}
		if got := strings.Contains(shown.String(), `"keep": true`); got != keep {
			t.Errorf("--keep %t: %s", keep, shown.String())
		}
	}
}

// TestNoMediumIsSignedWithARevokedKey: nodes would refuse it, so that it is not written, alone or by a table.
func TestNoMediumIsSignedWithARevokedKey(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	run := func(want int, line ...string) string {
		t.Helper()
		var said bytes.Buffer
		root := newRoot(hooks{})
		root.SetOut(&said)
		root.SetErr(&said)
		if code := execute(t.Context(), root, line); code != want {
			t.Errorf("%q: exit %d\n%s", line, code, said.String())
		}
		return said.String()
	}
	id := strings.Fields(run(exitOK, "media", "keygen", in("lost")))[2]
	id = strings.TrimSuffix(id, ":")
	run(exitOK, "media", "keygen", in("other"))
	run(exitUsage, "media", "revoke", "#"+id, "--list", in("list"))
	run(exitOK, "media", "revoke", id, "--list", in("list"), "--reason", "stolen")
	table := sites(t, dir, 2)
	for _, line := range [][]string{
		{"media", "write", "-f", "../../test/sites/store.yaml", "--serial", "SN1", "--new-passphrase", in("passphrase"), in("one.img")},
		{"media", "write", "--table", table, "--out", in("many")},
	} {
		said := run(exitUsage, append(line, "--key", in("lost.key"), "--revoked", in("list"))...)
		if !strings.Contains(said, "--key: "+id+" is on the list of --revoked; sign with another key") {
			t.Errorf("%q: %s", line, said)
		}
		for _, name := range []string{"passphrase", "one.img", "many"} {
			if _, err := os.Stat(in(name)); err == nil {
				t.Errorf("%q left %s", line, name)
			}
		}
	}
	run(exitOK, "media", "write", "--table", table, "--out", in("many"), "--key", in("other.key"), "--revoked", in("list"))
}

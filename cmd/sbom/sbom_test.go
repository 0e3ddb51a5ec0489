package main

import (
	"bytes"
	"debug/buildinfo"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx"
	"github.com/spdx/tools-golang/spdx/v2/common"
)

var commit = time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC)

const lockFile = "../../backend/network/libnmstate/Cargo.lock"

// TestDocument: it can be read as SPDX 2.3, names each module of a program (this test's) and each crate once, and is the same again.
func TestDocument(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var first, second bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &second} {
		if err := write(out, self, lockFile, "v1.2.3", commit); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two documents of one program differ")
	}
	d, err := spdxjson.Read(&first)
	if err != nil {
		t.Fatal(err)
	}
	if d.SPDXVersion != spdx.Version || d.CreationInfo.Created != "2026-11-24T09:00:00Z" || d.DocumentName != "touchdown-v1.2.3" {
		t.Errorf("%+v, %+v", d, d.CreationInfo)
	}
	count := map[string]int{}
	ids := map[common.ElementID]bool{}
	for _, p := range d.Packages {
		for _, r := range p.PackageExternalReferences {
			count[r.Locator]++
		}
		ids[p.PackageSPDXIdentifier] = true
	}
	if len(ids) != len(d.Packages) || len(d.Relationships) != len(d.Packages) {
		t.Errorf("%d packages have %d ids and %d relationships", len(d.Packages), len(ids), len(d.Relationships))
	}
	info, err := buildinfo.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"pkg:golang/stdlib@" + strings.TrimPrefix(info.GoVersion, "go"), "pkg:cargo/nmstate-clib@2.2.43"}
	for _, m := range info.Deps {
		want = append(want, "pkg:golang/"+m.Path+"@"+m.Version)
	}
	if len(info.Deps) == 0 {
		t.Error("the test names no modules")
	}
	for _, purl := range want {
		if count[purl] != 1 {
			t.Errorf("%s is listed %d times", purl, count[purl])
		}
	}
	lock, err := os.ReadFile(lockFile)
	if err != nil {
		t.Fatal(err)
	}
	if crates := strings.Count(string(lock), "\nchecksum = "); len(d.Packages) != 1+1+len(info.Deps)+crates {
		t.Errorf("%d packages of %d modules and %d crates", len(d.Packages), len(info.Deps), crates)
	}
}

// TestWhatIsNoLock: what cannot be listed is an error, not a shorter list.
func TestWhatIsNoLock(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "no TOML": "{", "another source": "[[package]]\nname = \"a\"\nversion = \"1\"\nsource = \"git+https://example.com/a\"\n",
		"only the pinning package": "[[package]]\nname = \"libnmstate\"\nversion = \"0.0.0\"\n",
	} {
		if parts, err := cratesIn([]byte(text)); err == nil {
			t.Errorf("%s: %v", name, parts)
		}
	}
	none := filepath.Join(t.TempDir(), "none")
	if err := write(&bytes.Buffer{}, none, lockFile, "v1", commit); err == nil {
		t.Error("a program that is not there has a document")
	}
	if err := write(&bytes.Buffer{}, lockFile, lockFile, "v1", commit); err == nil {
		t.Error("a text has a document")
	}
}

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	ignition "github.com/coreos/ignition/v2/config/v3_5"
	"github.com/vincent-petithory/dataurl"

	"touchdown/backend/host/hosttest"
	"touchdown/backend/media"
	"touchdown/backend/media/iso"
	"touchdown/test/liveiso"
	"touchdown/test/wait"
)

const (
	sitePull   = `{"auths":{"r.example":{"auth":"c2VjcmV0OnNlY3JldA=="}}}`
	siteSecret = "c2VjcmV0OnNlY3JldA"
)

// siteMedia is a folder with an image and all that goes into it.
type siteMedia struct {
	*testing.T
	dir string
}

func newSiteMedia(t *testing.T) siteMedia {
	m := siteMedia{t, t.TempDir()}
	m.put("live.iso", string(liveiso.Make(liveiso.Y2023, true)))
	m.put("site.yaml", stickConfig+"  pullSecret: '"+sitePull+"'\n")
	m.put("target.ign", `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/a","contents":{"source":"data:,mine"}}]}}`)
	m.put("passphrase", "correct horse battery\n")
	return m
}

func (m siteMedia) in(name string) string { return filepath.Join(m.dir, name) }

func (m siteMedia) put(name, text string) {
	m.Helper()
	if err := os.WriteFile(m.in(name), []byte(text), 0o600); err != nil {
		m.Fatal(err)
	}
}

// line is the command that fills the image, with more flags.
func (m siteMedia) line(more ...string) []string {
	return append([]string{"embed", m.in("live.iso"), "--out", m.in("a.iso"), "--install-ignition", m.in("target.ign"), "--install-disk", "only"}, more...)
}

// ends runs a command that prints no secret.
func (m siteMedia) ends(want int, says string, line ...string) string {
	m.Helper()
	code, out, complaints := runISO(m.T, "", line...)
	if code != want || !strings.Contains(out+complaints, says) || strings.Contains(out+complaints, siteSecret) {
		m.Errorf("%q ends with %d, not with %d and %q:\n%s%s", line, code, want, says, out, complaints)
	}
	return out + complaints
}

// untouched fails unless the folder has the files that it had, and the image is the one that it was.
func (m siteMedia) untouched(image []byte) {
	m.Helper()
	entries, err := os.ReadDir(m.dir)
	if now, failed := os.ReadFile(m.in("live.iso")); err != nil || failed != nil || len(entries) != 4 || !bytes.Equal(now, image) {
		m.Errorf("something was written: %v, %v, %v", entries, err, failed)
	}
}

// TestASiteConfigGoesIntoAnImage: iso show tells it with its secrets hidden, the image holds none of them in clear, and the node that Ignition
// makes of it has what the factory would have put in.
func TestASiteConfigGoesIntoAnImage(t *testing.T) {
	m := newSiteMedia(t)
	m.ends(exitOK, "STARTS THE LANDING WITHOUT A PERSON", m.line("--site", m.in("site.yaml"), "--site-serial", "SN1", "--site-unattended")...)
	shown := m.ends(exitOK, "for serial number SN1, sealed for a key that lies beside it; THE LANDING STARTS WITHOUT A PERSON", "show", m.in("a.iso"))
	for _, want := range []string{"    kind: SiteConfig\n", "pullSecret: <set>", "file      /etc/touchdown/target.ign 0600 inline", "only on   the machine with serial number SN1\n"} {
		if !strings.Contains(strings.ReplaceAll(shown, "'", ""), want) {
			t.Errorf("%q is not shown:\n%s", want, shown)
		}
	}
	var s isoContent
	if err := json.Unmarshal([]byte(m.ends(exitOK, "{", "show", m.in("a.iso"), "-o", "json")), &s); err != nil || s.Site == nil || !s.Site.Unattended || s.Site.Serial != "SN1" || s.Site.Sealed != "node" || !strings.Contains(s.Site.Config, "<set>") {
		t.Errorf("%+v, %v", s.Site, err)
	}
	if _, out, _ := runISO(t, "", "show", m.in("a.iso"), "--with-secrets"); !strings.Contains(out, sitePull) {
		t.Errorf("with its secrets it is\n%s", out)
	}
	node := m.node("a.iso")
	d, err := media.Of(node.Machine).Baked()
	if err != nil || d == nil || d.ID != s.Site.Document || !d.Unattended {
		t.Fatalf("the node finds %+v, %v", d, err)
	}
}

// node is what Ignition makes of the image, read without our own reader: the area where liveiso put it, the archive by gzip and its
// headers, the config by Ignition's own library.
func (m siteMedia) node(image string) *hosttest.Fake {
	m.Helper()
	h := hosttest.New(m.T)
	h.File("/sys/class/dmi/id/product_serial", "SN1\n")
	whole, err := os.ReadFile(m.in(image))
	if err != nil {
		m.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(whole[bytes.Index(whole, []byte("\x1f\x8b\x08")):]))
	if err != nil {
		m.Fatal(err)
	}
	z.Multistream(false)
	archive, err := io.ReadAll(z)
	if err != nil || bytes.Contains(whole, []byte(siteSecret)) || bytes.Contains(archive, []byte(siteSecret)) {
		m.Fatalf("%v, or a secret is in clear", err)
	}
	begin, end := bytes.IndexByte(archive, '{'), bytes.LastIndexByte(archive, '}')
	config := archive[begin : end+1]
	for _, path := range []string{"/etc/touchdown/target.ign", ""} {
		c, report, err := ignition.ParseCompatibleVersion(config)
		if err != nil || report.IsFatal() {
			m.Fatalf("%v %s", err, report.String())
		}
		for _, f := range c.Storage.Files {
			u, err := dataurl.DecodeString(*f.Contents.Source)
			if err != nil {
				m.Fatal(err)
			}
			if f.Path == path {
				config = u.Data
			}
			if path == "" {
				h.File(f.Path, string(u.Data))
			}
		}
	}
	return h
}

// TestASiteConfigIsForAPerson: sealed with a passphrase, nothing in the image opens it.
func TestASiteConfigIsForAPerson(t *testing.T) {
	m := newSiteMedia(t)
	m.ends(exitOK, "sealed with a passphrase", m.line("--site", m.in("site.yaml"), "--site-serial", "SN1", "--site-passphrase-file", m.in("passphrase"))...)
	if shown := m.ends(exitOK, "sealed with a passphrase; a person starts the landing", "show", m.in("a.iso")); strings.Contains(shown, "SiteConfig") {
		t.Errorf("it was opened:\n%s", shown)
	}
	if d, err := media.Of(m.node("a.iso").Machine).Baked(); err != nil || d == nil || d.Sealed != "passphrase" {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestASiteConfigIsRefused before anything is written: flags that contradict each other, a site config that is not valid, an image that
// is none, is filled, or has no room.
func TestASiteConfigIsRefused(t *testing.T) {
	m := newSiteMedia(t)
	image, err := os.ReadFile(m.in("live.iso"))
	if err != nil {
		t.Fatal(err)
	}
	with := []string{"--site", m.in("site.yaml"), "--site-serial", "SN1"}
	m.ends(exitUsage, "--site goes with --install-ignition", append([]string{"embed", m.in("live.iso"), "--out", m.in("a.iso")}, with...)...)
	m.ends(exitUsage, "--site-serial goes with --site", m.line("--site-serial", "SN1")...)
	m.ends(exitUsage, "--site-unattended goes with --site", m.line("--site-unattended")...)
	m.ends(exitUsage, "--site needs --site-serial", m.line("--site", m.in("site.yaml"))...)
	m.ends(exitUsage, "exclude each other", m.line(append(with, "--site-unattended", "--site-passphrase-file", m.in("passphrase"))...)...)
	m.ends(exitUsage, "--site-serial", m.line("--site", m.in("site.yaml"), "--site-serial", "a/b")...)
	m.ends(exitUsage, "boards that have no serial number", m.line("--site", m.in("site.yaml"), "--site-serial", "Default string")...)
	m.untouched(image)

	m.put("passphrase", "short\n")
	m.ends(exitUsage, "5 characters", m.line(append(with, "--site-passphrase-file", m.in("passphrase"))...)...)
	m.put("site.yaml", strings.Replace(stickConfig, "kind: SiteConfig", "kind: SiteConfig\nplanted: 1", 1))
	m.ends(exitUsage, "planted", m.line(with...)...)
	m.put("site.yaml", stickConfig+"  pullSecret: '"+sitePull+"'\n  additionalTrustBundle: 'none'\n")
	m.ends(exitUsage, "additionalTrustBundle", m.line(with...)...)
	m.untouched(image)

	m.put("site.yaml", stickConfig+"  pullSecret: '"+sitePull+"'\n")
	m.put("live.iso", "no image")
	m.ends(exitFailed, "LVE-KND", m.line(with...)...)
	m.untouched([]byte("no image"))
	image = liveiso.Make(liveiso.Y2022, false)
	m.put("live.iso", string(image))
	m.put("site.yaml", stickConfig+"  pullSecret: '{\"auths\":{\"r.example\":{\"auth\":\""+base64.StdEncoding.EncodeToString([]byte("u:"+strings.Repeat("p", 16000)))+"\"}}}'\n")
	said := m.ends(exitFailed, "LVE-SPCE", m.line(with...)...)
	if !strings.Contains(said, "and the image has room for 16384") || strings.Contains(said, "document") {
		t.Errorf("it says\n%s", said)
	}
	m.untouched(image)
	m.ends(exitFailed, "LVE-SPCE", slices.DeleteFunc(m.line(append(with, "--in-place")...), func(a string) bool { return a == "--out" || a == m.in("a.iso") })...)
	m.untouched(image)
}

// TestAFilledImageGetsAnotherSiteConfig only by force, and keeps nothing of the first.
func TestAFilledImageGetsAnotherSiteConfig(t *testing.T) {
	m := newSiteMedia(t)
	m.ends(exitOK, "is in the image", m.line("--site", m.in("site.yaml"), "--site-serial", "SN1")...)
	first := m.ends(exitOK, "serial number SN1", "show", m.in("a.iso"))
	again := []string{"embed", m.in("a.iso"), "--in-place", "--install-ignition", m.in("target.ign"), "--install-disk", "only", "--site", m.in("site.yaml"), "--site-serial", "SN2"}
	m.ends(exitFailed, "LVE-FULL", again...)
	if now := m.ends(exitOK, "serial number SN1", "show", m.in("a.iso")); now != first {
		t.Errorf("it changed:\n%s", now)
	}
	m.ends(exitOK, "is in the image", append(again, "--force")...)
	if now := m.ends(exitOK, "serial number SN2", "show", m.in("a.iso")); strings.Contains(now, "SN1") {
		t.Errorf("something of the first is left:\n%s", now)
	}
	m.ends(exitOK, "files: 1", append(again[:7:7], "--force")...)
	if now := m.ends(exitOK, "installs", "show", m.in("a.iso")); strings.Contains(now, "serial number") {
		t.Errorf("the site config is left:\n%s", now)
	}
}

// TestADamagedSiteConfigIsTold: iso show fails for one that the node could not use.
func TestADamagedSiteConfigIsTold(t *testing.T) {
	m := newSiteMedia(t)
	d, files, err := media.Installed{Config: []byte(stickConfig), Serial: "SN1"}.Files()
	if err != nil {
		t.Fatal(err)
	}
	for path, data := range files {
		if strings.Contains(string(data), d.ID+"\n") { // the note
			files[path] = []byte("another\n")
		}
	}
	target, err := os.ReadFile(m.in("target.ign"))
	if err != nil {
		t.Fatal(err)
	}
	config, err := iso.Install{Ignition: target, Disk: iso.DiskOnly, LeastGB: 1, Lay: files}.AddTo(nil)
	if err != nil {
		t.Fatal(err)
	}
	m.put("live.ign", string(config))
	m.ends(exitFailed, "LVE-STE", "embed", m.in("live.iso"), "--in-place", "--ignition", m.in("live.ign"))
	m.ends(exitFailed, "LVE-STE", "show", m.in("live.iso"))
}

// TestXorrisoReadsTheSiteConfigsArchive: in an image that another program made, that program finds the area, and gzip unpacks it.
func TestXorrisoReadsTheSiteConfigsArchive(t *testing.T) {
	for _, program := range []string{"xorriso", "gzip"} {
		wait.Program(t, program)
	}
	m := newSiteMedia(t)
	tree, area := t.TempDir(), m.in("area.gz")
	for _, f := range liveiso.Files(liveiso.Y2023) {
		name := filepath.Join(tree, f.Path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, f.Data, 0o644), os.Remove(m.in("live.iso"))); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	xorriso := func(args ...string) {
		t.Helper()
		if out, err := exec.CommandContext(t.Context(), "xorriso", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	xorriso("-as", "mkisofs", "-quiet", "-R", "-J", "-o", m.in("live.iso"), tree)
	m.ends(exitOK, "is in the image", m.line("--site", m.in("site.yaml"), "--site-serial", "SN1")...)
	xorriso("-osirrox", "on", "-indev", m.in("a.iso"), "-extract", "/images/ignition.img", area)
	packed, err := os.ReadFile(area)
	if err != nil {
		t.Fatal(err)
	}
	gzip := exec.CommandContext(t.Context(), "gzip", "-dcq")
	gzip.Stdin = bytes.NewReader(packed)
	archive, err := gzip.Output() // which warns of the padding behind it, with 2
	if end := new(exec.ExitError); err != nil && (!errors.As(err, &end) || end.ExitCode() != 2) || !bytes.HasPrefix(archive, []byte("070701")) || !bytes.Contains(archive, []byte("touchdown%2Fmedia%2Fbaked.dsse.json")) {
		t.Errorf("%v: %d bytes: %.400s", err, len(archive), archive)
	}
}

package media_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"touchdown/backend/envelope"
	"touchdown/backend/layout"
	"touchdown/backend/media"
	"touchdown/backend/problem"
)

const bakedKey = layout.Media + "/baked.key"

// install lays on a new machine what an installation medium brings.
func install(t *testing.T, in media.Installed) (*socket, *envelope.Document) {
	t.Helper()
	s := newSocket(t)
	if err := os.RemoveAll(s.Path(layout.Media)); err != nil {
		t.Fatal(err)
	}
	d, files, err := in.Files()
	if err != nil {
		t.Fatal(err)
	}
	for path, data := range files {
		s.File(path, string(data))
	}
	return s, d
}

// TestInstalled: what an installation medium lays is to the node what the factory puts in: found, sealed on the disk, opened without the
// node's own key, named by the seal, and wiped with its key when it was used, once.
func TestInstalled(t *testing.T) {
	s, d := install(t, media.Installed{Config: []byte(config), Serial: "SN1", Unattended: true})
	if text := s.Content(bakedDocument); strings.Contains(text, "store0042") || bytes.Contains(d.Site, []byte("store0042")) {
		t.Errorf("the site config can be read: %s", text)
	}
	if s.Exists(layout.Media + "/node.key") {
		t.Error("the medium knows the node's own key")
	}
	if _, err := s.known.Lay(s.key.Public().PEM()); err != nil { // the bake on the bench line comes after it
		t.Fatal(err)
	}
	if is, err := s.known.Baked(); err != nil || is == nil || is.ID != d.ID || !is.Unattended {
		t.Fatalf("the seal finds %+v, %v", is, err)
	}
	w := s.watch()
	f := s.sees("the site config", func(found []*media.Medium) bool { return only(found) && found[0].Refused == nil })[0]
	if f.ID() != d.ID || !f.Unattended() || !f.Baked() {
		t.Errorf("%s: %+v", f.Name(), f)
	}
	taken, err := w.Take(d.ID, "")
	if err != nil || string(taken.Text) != config || taken.Source != media.BakedSource {
		t.Fatalf("%+v, %v", taken, err)
	}
	signed, key := s.Content(bakedDocument), s.Content(bakedKey)
	if err := taken.Use(); err != nil || s.Exists(bakedDocument) || s.Exists(bakedKey) {
		t.Errorf("%v, still there %t, %t", err, s.Exists(bakedDocument), s.Exists(bakedKey))
	}
	s.File(bakedDocument, signed)
	s.File(bakedKey, key)
	s.sees("that it was used", func(found []*media.Medium) bool {
		return only(found) && found[0].Refused != nil && found[0].Refused.Code == "MED-USED"
	})
	if taken, err := w.Take(d.ID, ""); problem.From(err).Code != "MED-USED" {
		t.Errorf("used twice: %+v, %v", taken, err)
	}
}

// TestInstalledWithAPassphrase: nothing on the node opens it; a person does.
func TestInstalledWithAPassphrase(t *testing.T) {
	s, d := install(t, media.Installed{Config: []byte(config), Serial: "SN1", Passphrase: "correct horse battery"})
	if is, err := s.known.Baked(); err != nil || is == nil || is.ID != d.ID || s.Exists(bakedKey) {
		t.Fatalf("the seal finds %+v, %v", is, err)
	}
	w := s.watch()
	s.sees("the site config", func(found []*media.Medium) bool {
		return only(found) && found[0].Refused == nil && found[0].Sealed() == envelope.WithPassphrase
	})
	if _, err := w.Take(d.ID, "wrong"); problem.From(err).Code != "MED-PASS" {
		t.Errorf("a wrong passphrase: %v", err)
	}
	if taken, err := w.Take(d.ID, "correct horse battery"); err != nil || string(taken.Text) != config {
		t.Errorf("%+v, %v", taken, err)
	}
	if _, _, err := (media.Installed{Config: []byte(config), Serial: "SN1", Passphrase: "correct horse battery", Unattended: true}).Files(); err == nil {
		t.Error("it starts without a person, who would have to type the passphrase")
	}
	if _, _, err := (media.Installed{Config: []byte(config)}).Files(); err == nil {
		t.Error("it is for any machine")
	}
}

// TestInstalledIsReplaced: the bake's site config takes its place, without its key; the wrong machine refuses it; a power cut while it is
// wiped leaves what no key opens, and which the next wipe removes.
func TestInstalledIsReplaced(t *testing.T) {
	s, d := install(t, media.Installed{Config: []byte(config), Serial: "SN1"})
	baked, err := s.known.Bake([]byte(config), false)
	if err != nil || s.Exists(bakedKey) {
		t.Fatalf("%v, key %t", err, s.Exists(bakedKey))
	}
	if is, err := s.known.Baked(); err != nil || is.ID != baked.ID || is.ID == d.ID {
		t.Errorf("%+v, %v", is, err)
	}
	other, _ := install(t, media.Installed{Config: []byte(config), Serial: "SN2"})
	if is, err := other.known.Baked(); problem.From(err).Code != "MED-BAKE" {
		t.Errorf("another machine: %+v, %v", is, err)
	}
	cut, _ := install(t, media.Installed{Config: []byte(config), Serial: "SN1"})
	if err := cut.Remove(bakedKey); err != nil {
		t.Fatal(err)
	}
	if is, err := cut.known.Baked(); problem.From(err).Code != "MED-BAKE" {
		t.Errorf("without its key: %+v, %v", is, err)
	}
	if was, err := cut.known.TakeBack(); !was || err != nil || cut.Exists(bakedDocument) {
		t.Errorf("%t, %v, still there %t", was, err, cut.Exists(bakedDocument))
	}
}

// TestReadInstalled: what goes in is read back; what the node could not use is told before it is there.
func TestReadInstalled(t *testing.T) {
	d, files, err := media.Installed{Config: []byte(config), Serial: "SN1"}.Files()
	if err != nil {
		t.Fatal(err)
	}
	file := func(path string) []byte { return files[path] }
	if got, text, err := media.ReadInstalled(file); err != nil || got.ID != d.ID || string(text) != config {
		t.Errorf("%+v, %q, %v", got, text, err)
	}
	if got, text, err := media.ReadInstalled(func(string) []byte { return nil }); got != nil || text != nil || err != nil {
		t.Errorf("none: %+v, %q, %v", got, text, err)
	}
	_, others, err := media.Installed{Config: []byte(config), Serial: "SN1"}.Files()
	if err != nil {
		t.Fatal(err)
	}
	for path := range files {
		for what, data := range map[string][]byte{"none": nil, "another's": others[path], "damaged": append(bytes.Clone(files[path]), "\nx"...)} {
			if what == "another's" && bytes.Equal(data, files[path]) { // the list of what was used
				continue
			}
			spoilt := func(name string) []byte {
				if name == path {
					return data
				}
				return files[name]
			}
			if got, _, err := media.ReadInstalled(spoilt); problem.From(err).Code != "LVE-STE" || got != nil {
				t.Errorf("%s, %s: %+v, %v", path, what, got, err)
			}
		}
	}
}

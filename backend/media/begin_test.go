package media_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"touchdown/backend/envelope"
	"touchdown/backend/layout"
	"touchdown/backend/media"
	"touchdown/backend/problem"
)

const (
	beginFile = layout.Media + "/begin"
	usedFile  = layout.Media + "/used"
)

// installedAndBegun is a node with a document of an installation medium, with which a start was noted.
func installedAndBegun(t *testing.T) (*socket, *envelope.Document, *media.Taken) {
	t.Helper()
	s, d := install(t, media.Installed{Config: []byte(config), Serial: "SN1", Unattended: true})
	w := s.watch()
	s.sees("the site config", func(found []*media.Medium) bool { return only(found) && found[0].Refused == nil })
	taken, err := w.Take(d.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := taken.Begin(); err != nil || !s.Exists(beginFile) || strings.Contains(s.Content(usedFile), d.ID) || !s.Exists(bakedKey) {
		t.Fatalf("%v: used %q, the key is there %t", err, s.Content(usedFile), s.Exists(bakedKey))
	}
	return s, d, taken
}

// TestEndStart: a start that did not run leaves its document as good as before; one that ran has used it, and wipes it. Whatever was refused
// or cut off goes on with the next call.
func TestEndStart(t *testing.T) {
	s, d, taken := installedAndBegun(t)
	if err := media.EndStart(s.Machine, false); err != nil || s.Exists(beginFile) || strings.Contains(s.Content(usedFile), d.ID) || !s.Exists(bakedDocument) {
		t.Errorf("it did not run: %v, used %q", err, s.Content(usedFile))
	}
	if err := media.EndStart(s.Machine, true); err != nil || strings.Contains(s.Content(usedFile), d.ID) || !s.Exists(bakedDocument) {
		t.Errorf("without a note: %v, used %q", err, s.Content(usedFile))
	}
	if err := taken.Begin(); err != nil {
		t.Fatal(err)
	}
	full := true
	s.OnWrite(func(path string) error {
		if full && path == s.Path(usedFile) {
			return syscall.ENOSPC
		}
		return nil
	})
	if err := media.EndStart(s.Machine, true); !errors.Is(err, syscall.ENOSPC) || !s.Exists(beginFile) || !s.Exists(bakedKey) {
		t.Errorf("a full disk: %v", err)
	}
	full = false
	if err := s.Remove(bakedKey); err != nil { // a cut in the wiping
		t.Fatal(err)
	}
	for range 2 {
		if err := media.EndStart(s.Machine, true); err != nil || s.Exists(beginFile) || strings.Count(s.Content(usedFile), d.ID) != 1 || s.Exists(bakedDocument) {
			t.Errorf("%v, used %q, still there %t", err, s.Content(usedFile), s.Exists(bakedDocument))
		}
	}
	if err := taken.Begin(); problem.From(err).Code != "MED-USED" {
		t.Errorf("it begins again: %v", err)
	}
}

// TestEndStartOfADamagedNote: what cannot be read spends nothing and stays, until it is known that the start did not run.
func TestEndStartOfADamagedNote(t *testing.T) {
	for _, note := range []string{"", "{", `{"id": ""}`, "null"} {
		s, d, _ := installedAndBegun(t)
		s.File(beginFile, note)
		if err := media.EndStart(s.Machine, true); problem.From(err).Code != "MED-REC" || !s.Exists(bakedDocument) || strings.Contains(s.Content(usedFile), d.ID) {
			t.Errorf("%q: %v", note, err)
		}
		if err := media.EndStart(s.Machine, false); err != nil || s.Exists(beginFile) {
			t.Errorf("%q: %v", note, err)
		}
	}
}

// TestAStartBeforeTheBenchLine: where the bench line puts in another site config, or takes it back, the document of a start that was cut off
// counts as used, and the note of it is gone.
func TestAStartBeforeTheBenchLine(t *testing.T) {
	for name, line := range map[string]func(*socket) error{
		"bake":   func(s *socket) error { _, err := s.known.Bake([]byte(config), true); return err },
		"back":   func(s *socket) error { _, err := s.known.TakeBack(); return err },
		"forget": func(s *socket) error { return s.known.Forget() },
	} {
		s, d, _ := installedAndBegun(t)
		if err := line(s); err != nil || s.Exists(beginFile) || !strings.Contains(s.Content(usedFile), d.ID) || s.Exists(bakedDocument) != (name == "bake") {
			t.Errorf("%s: %v, used %q, there %t", name, err, s.Content(usedFile), s.Exists(bakedDocument))
		}
	}
}

package media_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"touchdown/backend/envelope"
	"touchdown/backend/layout"
	"touchdown/backend/media"
	"touchdown/backend/media/volume"
	"touchdown/test/stick"
)

// TestLeave: the report is added to the medium of the document, by the process without rights, and to no other one. A file that is too
// large is left out.
func TestLeave(t *testing.T) {
	report := []volume.File{{Name: "report.txt", Data: []byte("landed\n")}, {Name: "report.json", Data: []byte("{}")}, {Name: "large", Data: make([]byte, volume.MaxFile+1)}}
	d := envelope.New("SN1")
	for name, test := range map[string]struct {
		plug func(*socket)
		code string // of the problem
		left string // "": nothing is done
	}{
		"beside another": {func(s *socket) {
			s.plug("sdb", envelope.New("SN1"), envelope.Lock{})
			s.plug("sdc", d, envelope.Lock{})
		}, "", "SITECONFIG (sdc) [report.txt report.json]"},
		"another one": {func(s *socket) { s.plug("sdb", envelope.New("SN1"), envelope.Lock{}) }, "", ""},
		"signed with another key": {func(s *socket) {
			other, _ := stick.Key(t)
			stick.Plug(t, s.Root(), "sdb", stick.Image(t, d, config, envelope.Lock{}, other))
		}, "", ""},
		"an image": {func(s *socket) {
			c := d
			err := c.Seal([]byte(config), envelope.Lock{})
			var signed []byte
			if err == nil {
				signed, err = envelope.Sign(c, s.key)
			}
			var image *volume.Image
			if err == nil {
				image, err = volume.WriteISO(media.Label, []volume.File{{Name: media.EnvelopeFile, Data: signed}})
			}
			if err != nil {
				t.Fatal(err)
			}
			stick.Plug(t, s.Root(), "sdb", append(bytes.Clone(image.Head), make([]byte, image.Size-int64(len(image.Head)))...))
		}, "MED-CD", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSocket(t)
			test.plug(s)
			before := disks(t, s)
			left, err := media.NewWatcher(s.Machine).Leave(t.Context(), media.Leaving{ID: d.ID, Files: report})
			if code(err) != test.code {
				t.Fatal(err)
			}
			if test.left == "" {
				if after := disks(t, s); left != nil && left.Files != nil || after != before {
					t.Errorf("%+v, or a medium has changed", left)
				}
				return
			}
			if left == nil {
				t.Fatal("nothing is left")
			}
			if got := fmt.Sprint(left.Medium, " ", left.Files); got != test.left {
				t.Error(got)
			}
			content, err := media.Inspect(context.Background(), filepath.Join(s.Root(), "dev", left.Medium[len("SITECONFIG ("):len(left.Medium)-1]))
			if err != nil || content.Find("report.txt") == nil || content.Find("report.json") == nil || content.Find(media.EnvelopeFile) == nil {
				t.Errorf("%+v, %v", content, err)
			}
		})
	}
}

// disks is what all media hold.
func disks(t *testing.T, s *socket) (all string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.Root(), "dev/sd?"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all += string(b)
	}
	return all
}

// TestLeaveOverwrites: the site config is overwritten on the medium of the document alone, unless that says keep, also where there is no room
// for a report; what cannot be overwritten is told.
func TestLeaveOverwrites(t *testing.T) {
	d := envelope.New("SN1")
	kept := d
	kept.Keep = true
	shared := envelope.New("")
	report := []volume.File{{Name: "report.txt", Data: []byte("landed\n")}}
	used := &volume.File{Name: media.UsedFile, Data: []byte("used by SN1\n")}
	for name, test := range map[string]struct {
		document envelope.Document
		leave    media.Leaving
		files    string
		over     bool
	}{
		"overwritten":       {d, media.Leaving{ID: d.ID, Files: report, Used: used}, "[report.txt used.txt]", true},
		"without a report":  {d, media.Leaving{ID: d.ID, Used: used}, "[used.txt]", true},
		"not ended":         {d, media.Leaving{ID: d.ID, Files: report}, "[report.txt]", false},
		"its document asks": {kept, media.Leaving{ID: d.ID, Files: report, Used: used}, "[report.txt]", false},
		"for any machine":   {shared, media.Leaving{ID: shared.ID, Files: report, Used: used}, "[report.txt]", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSocket(t)
			other := envelope.New("SN1")
			s.plug("sdb", other, envelope.Lock{})
			s.plug("sdc", test.document, envelope.Lock{})
			secret := envelopeOn(t, s, "sdc")
			left, err := media.NewWatcher(s.Machine).Leave(t.Context(), test.leave)
			if err != nil || left == nil || left.Stays != nil || left.Overwritten != test.over || fmt.Sprint(left.Files) != test.files {
				t.Fatalf("%+v, %v", left, err)
			}
			disk, err := os.ReadFile(filepath.Join(s.Root(), "dev/sdc"))
			if got := bytes.Contains(disk, secret[:40]); err != nil || got == test.over {
				t.Errorf("its bytes are there: %t", got)
			}
			if envelopeOn(t, s, "sdb") == nil || (envelopeOn(t, s, "sdc") == nil) != test.over {
				t.Error("the wrong medium was overwritten")
			}
			note, _ := s.ReadFile(layout.Media + "/overwriting")
			if want := d.ID + " done\n"; string(note) != want && test.over || len(note) > 0 && !test.over {
				t.Errorf("the note of what is done: %q", note)
			}
			again, err := media.NewWatcher(s.Machine).Leave(t.Context(), test.leave)
			if test.over && (err != nil || again == nil || again.Stays != nil || again.Overwritten) {
				t.Errorf("again: %+v, %v", again, err)
			}
		})
	}
}

// TestTwoMediaWithOneSiteConfig: one is overwritten, and that the other is not is told.
func TestTwoMediaWithOneSiteConfig(t *testing.T) {
	s, d := newSocket(t), envelope.New("SN1")
	s.plug("sdb", d, envelope.Lock{})
	image, err := os.ReadFile(filepath.Join(s.Root(), "dev/sdb"))
	if err != nil {
		t.Fatal(err)
	}
	stick.Plug(t, s.Root(), "sdc", image)
	left, err := media.NewWatcher(s.Machine).Leave(t.Context(), media.Leaving{ID: d.ID, Used: &volume.File{Name: media.UsedFile, Data: []byte("used\n")}})
	if err != nil || left == nil || !left.Overwritten || left.Stays == nil || left.Stays.Code != "MED-LEFT" {
		t.Fatalf("%+v, %v", left, err)
	}
	if (envelopeOn(t, s, "sdb") == nil) == (envelopeOn(t, s, "sdc") == nil) {
		t.Error("not one of the two was overwritten")
	}
}

// envelopeOn is the document on a disk; nil for none.
func envelopeOn(t *testing.T, s *socket, disk string) []byte {
	t.Helper()
	content, err := media.Inspect(t.Context(), filepath.Join(s.Root(), "dev", disk))
	if err != nil {
		t.Fatal(err)
	}
	if e := content.Find(media.EnvelopeFile); e != nil {
		return e.Data
	}
	return nil
}

// TestLeaveAfterACut: what a power cut left of a document is overwritten by the next Leave, and nothing is added again; where its medium is not there, that is told.
func TestLeaveAfterACut(t *testing.T) {
	d := envelope.New("SN1")
	used := &volume.File{Name: media.UsedFile, Data: []byte("used by SN1\n")}
	for name, keep := range map[string]int{"its head is left": volume.HeadSize, "zeros are left": 0} {
		t.Run(name, func(t *testing.T) {
			s := newSocket(t)
			s.plug("sdb", d, envelope.Lock{})
			secret := envelopeOn(t, s, "sdb")
			disk := filepath.Join(s.Root(), "dev/sdb")
			b, err := os.ReadFile(disk)
			if err != nil {
				t.Fatal(err)
			}
			at := bytes.Index(b, secret)
			clear(b[at+keep : at+len(secret)])
			if err := os.WriteFile(disk, b, 0o600); err != nil {
				t.Fatal(err)
			}
			leave := media.Leaving{ID: d.ID, Files: []volume.File{{Name: "report.txt", Data: []byte("landed\n")}}, Used: used}
			if left, err := media.NewWatcher(s.Machine).Leave(t.Context(), leave); left != nil || err != nil {
				t.Fatalf("without a note: %+v, %v", left, err)
			}
			s.File(layout.Media+"/overwriting", fmt.Sprintf("%s %x\n", d.ID, sha256.Sum256(secret[:volume.HeadSize])))
			left, err := media.NewWatcher(s.Machine).Leave(t.Context(), leave)
			if err != nil || left == nil || !left.Overwritten || len(left.Files) > 0 || envelopeOn(t, s, "sdb") != nil {
				t.Fatalf("%+v, %v", left, err)
			}
			s.File(layout.Media+"/overwriting", d.ID+" 00\n")
			left, err = media.NewWatcher(s.Machine).Leave(t.Context(), leave)
			if err != nil || left == nil || code(left.Stays) != "MED-LEFT" {
				t.Errorf("a medium that is not there: %+v, %v", left, err)
			}
		})
	}
}

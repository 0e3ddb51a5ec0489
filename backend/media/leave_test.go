package media_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"touchdown/backend/envelope"
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
		}, "MED-ISO", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSocket(t)
			test.plug(s)
			before := disks(t, s)
			left, err := media.NewWatcher(s.Machine).Leave(t.Context(), d.ID, report)
			if code(err) != test.code {
				t.Fatal(err)
			}
			if test.left == "" {
				if after := disks(t, s); left != nil || after != before {
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

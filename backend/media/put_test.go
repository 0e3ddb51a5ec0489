package media_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"touchdown/backend/envelope"
	"touchdown/backend/media"
	"touchdown/backend/media/volume"
	"touchdown/test/stick"
)

// TestPut: a file goes to the stick that is there, whatever else is on it; a person chooses among several.
func TestPut(t *testing.T) {
	files := []volume.File{{Name: "bundle.tar.gz", Data: []byte("a bundle")}}
	plain := func(s *socket, disk string) {
		stick.Plug(t, s.Root(), disk, stick.Files(t, "MINE", volume.File{Name: "photo.jpg", Data: []byte("a photo")}))
	}
	for name, test := range map[string]struct {
		plug func(*socket)
		name string
		code string // of the problem
		left string
	}{
		"none":           {func(*socket) {}, "", "MED-LACK", ""},
		"someone's":      {func(s *socket) { plain(s, "sdb") }, "", "", "MINE (sdb) [bundle.tar.gz]"},
		"named":          {func(s *socket) { plain(s, "sdb"); plain(s, "sdc") }, "sdc", "", "MINE (sdc) [bundle.tar.gz]"},
		"several":        {func(s *socket) { plain(s, "sdb"); plain(s, "sdc") }, "", "MED-MANY", ""},
		"not that one":   {func(s *socket) { plain(s, "sdb") }, "sdc", "MED-LACK", ""},
		"no path":        {func(s *socket) { plain(s, "sdb") }, "../dev/sdb", "MED-LACK", ""},
		"of the machine": {func(s *socket) { plain(s, "nvme0n1") }, "nvme0n1", "MED-LACK", ""},
		"no FAT":         {func(s *socket) { stick.Plug(t, s.Root(), "sdb", make([]byte, 1<<20)) }, "", "MED-LACK", ""},
		"the site medium": {func(s *socket) {
			plain(s, "sdb")
			s.plug("sdc", envelope.New("SN1"), envelope.Lock{})
		}, "", "", "SITECONFIG (sdc) [bundle.tar.gz]"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSocket(t)
			test.plug(s)
			before := disks(t, s)
			made := 0
			left, err := media.NewWatcher(s.Machine).Put(t.Context(), test.name, func() ([]volume.File, error) { made++; return files, nil })
			if code(err) != test.code {
				t.Fatal(err)
			}
			if err != nil {
				if made > 0 || disks(t, s) != before {
					t.Errorf("%d bundles were made, or a disk has changed", made)
				}
				return
			}
			if got := fmt.Sprint(left.Medium, " ", left.Files); got != test.left {
				t.Error(got)
			}
			content, err := media.Inspect(t.Context(), filepath.Join(s.Root(), "dev", left.Medium[len(left.Medium)-4:len(left.Medium)-1]))
			if err != nil || content.Find("bundle.tar.gz") == nil || content.Find("photo.jpg") == nil && content.Find(media.EnvelopeFile) == nil {
				t.Errorf("%+v, %v", content, err)
			}
		})
	}
	s := newSocket(t)
	plain(s, "sdb")
	before, w := disks(t, s), media.NewWatcher(s.Machine)
	large := func() ([]volume.File, error) {
		return []volume.File{{Name: "a", Data: make([]byte, volume.MaxFile+1)}}, nil
	}
	if _, err := w.Put(t.Context(), "", large); code(err) != "MED-SPCE" || disks(t, s) != before {
		t.Errorf("a file that is too large: %v", err)
	}
	failed := errors.New("no bundle")
	if _, err := w.Put(t.Context(), "", func() ([]volume.File, error) { return nil, failed }); !errors.Is(err, failed) || disks(t, s) != before {
		t.Errorf("without a bundle: %v", err)
	}
}

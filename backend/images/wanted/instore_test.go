package wanted_test

import (
	"archive/tar"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"touchdown/backend/images/cri"
	"touchdown/backend/images/wanted"
	"touchdown/test/imagestore"
	"touchdown/test/wait"
)

// A file of an image is what a container would see: the upper layer wins, deleted is gone, and no link leads out.
func TestFileOfAnImage(t *testing.T) {
	wait.Root(t) // it unpacks files of other users
	made := imagestore.New(t.TempDir())
	folder := imagestore.File{Name: "m/", Type: tar.TypeDir}
	base := made.Layer("", folder, imagestore.File{Name: "m/low", Size: 10}, imagestore.File{Name: "m/both", Size: 20}, imagestore.File{Name: "m/gone", Size: 5})
	top := made.Layer(base, folder, imagestore.File{Name: "m/both", Size: 30}, imagestore.File{Name: "m/pipe", Type: tar.TypeFifo},
		imagestore.File{Name: "m/out", Type: tar.TypeSymlink, Target: "../../../../../../../etc/hostname"}, imagestore.File{Name: "m/abs", Type: tar.TypeSymlink, Target: "/etc/hostname"})
	id := made.Image(top, "r.example/a:1")
	if err := made.Save(); err != nil {
		t.Fatal(err)
	}
	diff := made.Path("overlay", top, "diff")
	if err := unix.Mknod(filepath.Join(diff, "m/gone"), unix.S_IFCHR, 0); err != nil {
		wait.Unable(t, "a whiteout cannot be made: %v", err)
	}
	read := wanted.InStores(filepath.Join(t.TempDir(), "no-store"), made.Root)
	for name, size := range map[string]int{"/m/low": 10, "/m/both": 30, "m/gone": -1, "/m/none": -1, "/m/pipe": -1, "/m/out": -1, "/m/abs": -1, "/m": -1, "/../../etc/hostname": -1} {
		b, err := read(t.Context(), cri.Image{ID: id}, name)
		if size < 0 && err == nil || size >= 0 && (err != nil || len(b) != size) {
			t.Errorf("%s: %d bytes, %v; want %d", name, len(b), err, size)
		}
	}
	if _, err := read(t.Context(), cri.Image{ID: strings.Repeat("0", 64)}, "/m/low"); err == nil {
		t.Error("an image that no store has was read")
	}
	if err := unix.Lsetxattr(filepath.Join(diff, "m"), "trusted.overlay.opaque", []byte("y"), 0); err != nil {
		wait.Unable(t, "a folder cannot be made opaque: %v", err)
	}
	if b, err := read(t.Context(), cri.Image{ID: id}, "/m/low"); err == nil {
		t.Errorf("what an opaque folder hides was read: %d bytes", len(b))
	}
}

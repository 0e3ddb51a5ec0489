package store_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/backend/images/store"
	"touchdown/backend/problem"
	"touchdown/test/imagestore"
	"touchdown/test/wait"
)

// A layer costs no more than its record says, whatever its tar says: each of these is refused at once, and nothing but some
// blocks is written for it.
func TestUnpackingIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		blob []byte
		want string
	}{
		"a sparse file, PAX 1.0":         {sparse("1.0", 3<<30), "sparse"},
		"a sparse file, PAX 0.1":         {sparse("0.1", 3<<30), "sparse"},
		"a sparse file, PAX 0.0":         {sparse("0.0", 3<<30), "sparse"},
		"a sparse file of GNU":           {oldSparse(), "sparse"},
		"a sparse file without an end":   {sparse("1.0", 1<<62), "sparse"},
		"headers without an end":         {headers(80), "headers"},
		"long names":                     {names(100, 200<<10), "name"},
		"deep folders":                   {tarOf(t, []entry{{name: strings.Repeat("d/", 600) + "f"}}), "folders"},
		"an attribute of overlayfs":      {attribute(t, "trusted.overlay.redirect", "/etc"), "overlay"},
		"an attribute of user overlayfs": {attribute(t, "user.overlay.redirect", "/etc"), "overlay"},
		"a whiteout of nothing":          {tarOf(t, []entry{{name: "d/.wh."}}), "whiteout"},
		"a whiteout of the folder":       {tarOf(t, []entry{{name: "d/.wh.."}}), "whiteout"},
		"a whiteout of the folder above": {tarOf(t, []entry{{name: "d/.wh..."}}), "whiteout"},
	} {
		t.Run(name, func(t *testing.T) {
			s, id := declared(t, t.TempDir(), int64(len(c.blob)))
			root := filepath.Join(t.TempDir(), "fresh")
			_, err := s.Rebuild(wait.Within(t, 10*time.Second), id, bytes.NewReader(c.blob), root)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("refused with %.300v, want %q", err, c.want)
			}
			if used := blocks(t, root); used > 1<<20 {
				t.Errorf("%d bytes of disk are used for a tar of %d bytes", used, len(c.blob))
			}
		})
	}
}

// What is compressed well is refused as soon as it is longer than its record says.
func TestBombIsRefused(t *testing.T) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	w := tar.NewWriter(zip)
	do(t, w.WriteHeader(&tar.Header{Name: "zeros", Typeflag: tar.TypeReg, Size: 256 << 20, Mode: 0o644}))
	_, err := io.CopyN(w, zeros{}, 256<<20)
	do(t, err, w.Close(), zip.Close())
	s, id := declared(t, t.TempDir(), 1<<20)
	root := filepath.Join(t.TempDir(), "fresh")
	_, err = s.Rebuild(t.Context(), id, bytes.NewReader(packed.Bytes()), root)
	if err == nil || !strings.Contains(err.Error(), "record leaves 1048576") {
		t.Errorf("%d bytes that become 256 MiB: %v", packed.Len(), err)
	}
	if used := blocks(t, root); used > 4<<20 {
		t.Errorf("%d bytes of disk are used", used)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// The end of the context ends the unpacking of one large file too.
func TestUnpackingIsStopped(t *testing.T) {
	const size = 2 << 30
	s, id := declared(t, t.TempDir(), size)
	from, to := io.Pipe()
	defer from.Close()
	why := errors.New("cancelled by the test")
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	go func() {
		w := tar.NewWriter(to)
		_ = w.WriteHeader(&tar.Header{Name: "large", Typeflag: tar.TypeReg, Size: size - 4096, Mode: 0o644})
		_, _ = io.CopyN(w, zeros{}, 50<<20)
		stop(why)
		_, _ = io.CopyN(w, zeros{}, size-4096-50<<20)
		_ = w.Close()
		_ = to.Close()
	}()
	root := filepath.Join(t.TempDir(), "fresh")
	_, err := s.Rebuild(ctx, id, from, root)
	if used := blocks(t, root); !errors.Is(err, why) || used > 100<<20 {
		t.Errorf("ended with %v after %d MiB", err, used>>20)
	}
}

// A layer that does not fit is refused before its first byte, and one that grows on the way (a block for each byte) leaves
// room for others.
func TestUnpackingLeavesRoom(t *testing.T) {
	disk := imagestore.NewDisk(t, "xfs", 512<<20)
	s, id := declared(t, filepath.Join(disk.Dir, "a"), 10<<30)
	_, err := s.Rebuild(t.Context(), id, strings.NewReader("never read"), filepath.Join(disk.Dir, "into"))
	if problem.From(err).Code != "STR-SPCE" {
		t.Errorf("a layer of 10 GiB on a disk of 512 MiB: %v", err)
	}
	if testing.Short() {
		return
	}
	var many bytes.Buffer
	w := tar.NewWriter(&many)
	for n := range 70_000 {
		do(t, w.WriteHeader(&tar.Header{Name: fmt.Sprintf("d%d/f%d", n/500, n), Typeflag: tar.TypeReg, Size: 1, Mode: 0o644}))
		_, err := w.Write([]byte("x"))
		do(t, err)
	}
	do(t, w.Close())
	s, id = declared(t, filepath.Join(disk.Dir, "b"), int64(many.Len()))
	_, err = s.Rebuild(t.Context(), id, bytes.NewReader(many.Bytes()), filepath.Join(disk.Dir, "small"))
	if problem.From(err).Code != "STR-SPCE" {
		t.Errorf("a tar of %d MiB that needs four times as much: %v", many.Len()>>20, err)
	}
	var st unix.Statfs_t
	if do(t, unix.Statfs(disk.Dir, &st)); int64(st.Bavail)*st.Bsize < 200<<20 {
		t.Errorf("%d MiB are left", int64(st.Bavail)*st.Bsize>>20)
	}
}

// The label of a file is the node's business: the library does not take it from a tar either.
func TestLabelsOfATarAreNotTaken(t *testing.T) {
	blob := attribute(t, "security.selinux", "system_u:object_r:etc_t:s0")
	s, id := declared(t, t.TempDir(), int64(len(blob)))
	fresh, err := s.Rebuild(t.Context(), id, bytes.NewReader(blob), filepath.Join(t.TempDir(), "fresh"))
	do(t, err)
	value := make([]byte, 256)
	n, err := unix.Lgetxattr(filepath.Join(fresh.LayerFolder(id), "diff", "f"), "security.selinux", value)
	if err == nil && strings.HasPrefix(string(value[:n]), "system_u:object_r:etc_t:s0") {
		t.Error("the label of the tar is on the file")
	}
}

// declared is a store with one layer whose record says that its tar has so many bytes.
func declared(t *testing.T, dir string, size int64) (*store.Store, string) {
	t.Helper()
	imagestore.NeedRoot(t)
	made := imagestore.New(filepath.Join(dir, "primary"))
	top := made.Layer("", imagestore.File{Name: "f", Size: 10})
	made.Image(top, "registry.example/a:v1")
	made.Alter(func(layers, _ []map[string]any) { layers[0]["diff-size"] = size })
	do(t, made.Save())
	return open(t, made.Root), top
}

// blocks is how much of the disk a folder uses.
func blocks(t *testing.T, dir string) (sum int64) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		var st unix.Stat_t
		if err == nil && unix.Lstat(path, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG {
			sum += st.Blocks * 512
		}
		return nil
	})
	return sum
}

// A file that is mostly a hole is not written out by a copy from file system to file system either.
func TestCopiesKeepHoles(t *testing.T) {
	s, id := declared(t, t.TempDir(), 1<<20)
	file := filepath.Join(s.LayerFolder(id), "diff", "f")
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	do(t, err)
	_, err = f.WriteAt([]byte("in the middle"), 2<<30)
	do(t, err, f.Truncate(8<<30), f.Close())
	to := imagestore.NewDisk(t, "ext4", 1<<30)
	overlay := filepath.Join(to.Dir, "overlay")
	do(t, os.MkdirAll(filepath.Join(overlay, "l"), 0o755), s.Clone(t.Context(), overlay, []string{id}, store.CloneOptions{}))
	copied := filepath.Join(overlay, id, "diff", "f")
	have := make([]byte, 13)
	f, err = os.Open(copied)
	do(t, err)
	defer f.Close()
	_, err = f.ReadAt(have, 2<<30)
	st, second := f.Stat()
	do(t, err, second)
	if used := blocks(t, copied); string(have) != "in the middle" || st.Size() != 8<<30 || used > 1<<20 {
		t.Errorf("it has %q, %d bytes, and takes %d", have, st.Size(), used)
	}
}

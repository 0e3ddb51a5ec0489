package store_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/backend/images/store"
	"touchdown/backend/problem"
	"touchdown/test/imagestore"
	"touchdown/test/wait"
)

// flip changes one bit of a file, behind the back of its times.
func flip(t *testing.T, path string, rnd *rand.Rand) (undo func()) {
	t.Helper()
	var st unix.Stat_t
	do(t, unix.Stat(path, &st))
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	do(t, err)
	from := int64(0)
	if strings.HasSuffix(path, ".gz") {
		from = 10 // gzip's own header tells the time and the operating system, which nobody reads
	}
	b, at := make([]byte, 1), from+rnd.Int64N(st.Size-from)
	_, err = f.ReadAt(b, at)
	do(t, err)
	was := b[0]
	b[0] ^= 1 << rnd.IntN(8)
	_, err = f.WriteAt(b, at)
	do(t, err, f.Close(), unix.UtimesNano(path, []unix.Timespec{st.Atim, st.Mtim}))
	return func() {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		do(t, err)
		_, err = f.WriteAt([]byte{was}, at)
		do(t, err, f.Close())
	}
}

// TestEveryFlippedBitIsFound flips single bits in the files of layers and of images and in tar-splits; each is named with layer, image and
// file, and nothing else is.
func TestEveryFlippedBitIsFound(t *testing.T) {
	wait.Slow(t)
	disk := imagestore.NewDisk(t, "xfs", 1<<30)
	made, _ := filled(t, filepath.Join(disk.Dir, "primary"))
	s := open(t, made.Root)
	var files []string
	for _, dir := range []string{"overlay", "overlay-images", "overlay-layers"} {
		do(t, filepath.WalkDir(made.Path(dir), func(path string, d fs.DirEntry, err error) error {
			info, _ := d.Info()
			counts := strings.Contains(path, "/diff/") || dir != "overlay" && !strings.HasSuffix(path, ".json")
			if err == nil && info.Mode().IsRegular() && info.Size() > 0 && counts && !strings.Contains(path, "hostname") {
				files = append(files, path)
			}
			return err
		}))
	}
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 0))
	named := 0
	for n := range 30 {
		path := files[rnd.IntN(len(files))]
		if n%10 == 0 {
			path = made.Path("overlay-layers", ids(s)[n/10%3]+".tar-split.gz")
		}
		was := unzipped(path)
		undo := flip(t, path, rnd)
		for was != "" && unzipped(path) == was { // a bit that fills up a block of gzip says nothing
			undo()
			undo = flip(t, path, rnd)
		}
		found, err := s.Full(t.Context(), store.VerifyOptions{})
		do(t, err)
		undo()
		name, _ := filepath.Rel(made.Root, path)
		if fault := misnamed(t, s, found, path, name); fault != "" {
			t.Errorf("seed %d: a bit of %s: %s; found %v", seed, name, fault, found)
			continue
		}
		named++
	}
	t.Logf("%d flips found and named", named)
	whole(t, s)
}

// unzipped is what a tar-split says, and nothing where it is damaged or no tar-split.
func unzipped(path string) string {
	f, err := os.Open(path)
	if err != nil || !strings.HasSuffix(path, ".gz") {
		return ""
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		return ""
	}
	data, err := io.ReadAll(zip)
	if err != nil {
		return ""
	}
	return string(data)
}

func misnamed(t *testing.T, s *store.Store, found []store.Damage, path, name string) string {
	t.Helper()
	if len(found) == 0 {
		return "is not found"
	}
	var st, other unix.Stat_t
	do(t, unix.Stat(path, &st))
	for _, d := range found {
		// A file with several names is damaged under each that has content in the tar: the first.
		if unix.Stat(filepath.Join(s.Root, d.File), &other) != nil || other.Ino != st.Ino {
			return "another file is named: " + d.File
		}
		if len(d.Images) == 0 {
			return "no image is named"
		}
		if layer := strings.Split(name, "/"); layer[0] == "overlay" && d.Layer != layer[1] {
			return "another layer is named: " + d.Layer
		}
	}
	return ""
}

func TestQuickFindsWhatIsLost(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(made *imagestore.Store, id, link string) error
		file  string
	}{
		"a file": {func(made *imagestore.Store, id, _ string) error {
			return os.Remove(made.Path("overlay", id, "diff/etc/passwd"))
		}, "etc/passwd"},
		"its end": {func(made *imagestore.Store, id, _ string) error {
			return os.Truncate(made.Path("overlay", id, "diff/etc/passwd"), 3)
		}, "etc/passwd"},
		"an empty file": {func(made *imagestore.Store, id, _ string) error {
			return os.Remove(made.Path("overlay", id, "diff/etc/empty"))
		}, "etc/empty"},
		"a folder": {func(made *imagestore.Store, id, _ string) error {
			return os.RemoveAll(made.Path("overlay", id, "diff/usr"))
		}, "usr"},
		"a link's end": {func(made *imagestore.Store, id, _ string) error {
			return errors.Join(os.Remove(made.Path("overlay", id, "diff/lib")), os.Symlink("/etc", made.Path("overlay", id, "diff/lib")))
		}, "lib"},
		"a type": {func(made *imagestore.Store, id, _ string) error {
			return errors.Join(os.Remove(made.Path("overlay", id, "diff/pipe")), os.Mkdir(made.Path("overlay", id, "diff/pipe"), 0o755))
		}, "pipe"},
		"a whiteout": {func(made *imagestore.Store, id, _ string) error {
			return os.Remove(made.Path("overlay", id, "diff/gone"))
		}, "gone"},
		"a hidden folder's mark": {func(made *imagestore.Store, id, _ string) error {
			return unix.Removexattr(made.Path("overlay", id, "diff/etc"), "trusted.overlay.opaque")
		}, "opq"},
		"a hard link": {func(made *imagestore.Store, id, _ string) error {
			return os.Remove(made.Path("overlay", id, "diff/usr/bin/su"))
		}, "bin/su"},
		"a short name": {func(made *imagestore.Store, _, link string) error { return os.Remove(made.Path("overlay/l", link)) }, "overlay/l/"},
		"its file":     {func(made *imagestore.Store, id, _ string) error { return os.Remove(made.Path("overlay", id, "link")) }, "link"},
		"the ancestors": {func(made *imagestore.Store, id, _ string) error {
			return os.WriteFile(made.Path("overlay", id, "lower"), []byte("l/ABCDEFGHIJKLMNOPQRSTUVWXYZ"), 0o644)
		}, "lower"},
		"all files": {func(made *imagestore.Store, id, _ string) error {
			return os.RemoveAll(made.Path("overlay", id, "diff"))
		}, "diff"},
		"the layer": {func(made *imagestore.Store, id, _ string) error { return os.RemoveAll(made.Path("overlay", id)) }, "overlay/"},
		"the tar-split": {func(made *imagestore.Store, id, _ string) error {
			return os.Remove(made.Path("overlay-layers", id+".tar-split.gz"))
		}, "tar-split"},
		"the manifest":  {func(made *imagestore.Store, _, _ string) error { return remove(made, "manifest") }, "manifest"},
		"all manifests": {func(made *imagestore.Store, _, _ string) error { return remove(made, "=") }, "overlay-images"},
	} {
		t.Run(name, func(t *testing.T) {
			made, s := small(t)
			id := ids(s)[0]
			link, err := s.Link(id)
			do(t, err, c.spoil(made, id, link))
			found, err := s.Quick(t.Context(), store.VerifyOptions{})
			do(t, err)
			if !slices.ContainsFunc(found, func(d store.Damage) bool { return strings.Contains(d.File, c.file) && len(d.Images) == 1 }) {
				t.Errorf("found %v", found)
			}
			if p := problem.From(store.Damaged(found)); p.Code != "STR-DMG" || !strings.Contains(p.Summary.String(), "registry.example/odd") {
				t.Errorf("told as %v", p)
			}
		})
	}
}

// remove removes an image's files whose names begin so.
func remove(made *imagestore.Store, prefix string) error {
	files, err := filepath.Glob(made.Path("overlay-images", "*", prefix+"*"))
	for _, f := range files {
		err = errors.Join(err, os.Remove(f))
	}
	return err
}

// TestDigestChain: a store that says other things than its digests is found out though every file is as it was written.
func TestDigestChain(t *testing.T) {
	other := "sha256:" + strings.Repeat("5", 64)
	for name, alter := range map[string]func(layers, images []map[string]any){
		"another layer":               func(l, _ []map[string]any) { l[0]["diff-digest"] = other },
		"another manifest":            func(_, i []map[string]any) { i[0]["digest"] = other },
		"a name with another digest":  func(_, i []map[string]any) { i[0]["names"] = []string{"registry.example/odd@" + other} },
		"an image without its config": func(_, i []map[string]any) { i[0]["big-data-names"] = []string{"manifest"} },
		"an item with another digest": func(_, i []map[string]any) { i[0]["big-data-digests"] = map[string]string{"manifest": other} },
		"an item with another size":   func(_, i []map[string]any) { i[0]["big-data-sizes"] = map[string]int{"manifest": 1} },
	} {
		t.Run(name, func(t *testing.T) {
			made, s := small(t)
			if found := s.DigestChain(); len(found) != 0 {
				t.Fatalf("before there is %v", found)
			}
			made.Alter(alter)
			do(t, made.Save())
			if found := open(t, made.Root).DigestChain(); len(found) == 0 {
				t.Error("nothing is found")
			}
		})
	}
}

func TestVerificationGoesOnWhereItWas(t *testing.T) {
	disk := imagestore.NewDisk(t, "xfs", 1<<30)
	made, _ := filled(t, filepath.Join(disk.Dir, "primary"))
	s := open(t, made.Root)
	path := filepath.Join(t.TempDir(), "verified")
	verify := func(ctx context.Context, o store.VerifyOptions) (read int, found []store.Damage, err error) {
		o.Cache, err = store.OpenCache(path)
		do(t, err)
		o.Workers, o.Idle, o.Cache.MaxAge = 1, true, time.Hour
		before := lines(path)
		found, err = s.Full(ctx, o)
		return lines(path) - before, found, err
	}
	ctx, cancel := context.WithCancel(t.Context())
	first, _, err := verify(ctx, store.VerifyOptions{Progress: func(p store.Copied) {
		if p.Layers == 1 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || first != 1 {
		t.Errorf("ended after %d layers with %v", first, err)
	}
	if rest, found, err := verify(t.Context(), store.VerifyOptions{}); rest != 2 || len(found) > 0 || err != nil {
		t.Errorf("then %d layers are read, found %v, %v", rest, found, err)
	}
	if again, _, err := verify(t.Context(), store.VerifyOptions{}); again != 0 || err != nil {
		t.Errorf("once more %d layers are read, %v", again, err)
	}
	// What was read in a future that the clock has left again is read again, not trusted until then.
	known, err := os.ReadFile(path)
	do(t, err)
	do(t, os.WriteFile(path, bytes.ReplaceAll(known, []byte(`"at":"2`), []byte(`"at":"3`)), 0o600))
	if again, _, err := verify(t.Context(), store.VerifyOptions{}); again != 3 || err != nil {
		t.Errorf("after the clock was set back %d layers are read, %v", again, err)
	}
	// A layer that was made again is read again, and a damaged one is never remembered.
	id := ids(s)[0]
	diff := s.LayerFolder(id) + "/diff"
	do(t, os.Rename(diff, diff+".old"), os.Mkdir(diff, 0o755))
	for range 2 {
		if read, found, err := verify(t.Context(), store.VerifyOptions{}); read != 0 || len(found) == 0 || err != nil {
			t.Errorf("a layer made again: %d layers are whole, found %d, %v", read, len(found), err)
		}
	}
}

func lines(path string) int {
	data, _ := os.ReadFile(path)
	return strings.Count(string(data), "{")
}

// TestUnreadableFileIsNamed: a file that the disk does not give is damage, not an end of the verification.
func TestUnreadableFileIsNamed(t *testing.T) {
	made, s := small(t)
	id := ids(s)[0]
	at := made.Path("overlay", id, "diff/etc/passwd")
	do(t, os.Remove(at), os.Symlink("/etc/passwd", at))
	found, err := s.Full(t.Context(), store.VerifyOptions{})
	if err != nil || len(found) != 1 || !strings.HasSuffix(found[0].File, "etc/passwd") || found[0].Layer != id {
		t.Errorf("found %v, %v", found, err)
	}
}

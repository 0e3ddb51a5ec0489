package images_test

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"touchdown/test/bench/images"
)

// tiny is as small as the plan allows.
var tiny = images.Size{Name: "tiny", Bytes: 4 << 20, Inodes: 3000}

func makeTiny(t *testing.T) *images.Folder {
	t.Helper()
	dir := t.TempDir() + "/images"
	if err := images.Make(t.Context(), dir, images.Options{Size: tiny, Seed: 7, Program: []byte("#!pod")}); err != nil {
		t.Fatal(err)
	}
	f, err := images.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestTheSameImagesEveryTime(t *testing.T) {
	one, two := makeTiny(t), makeTiny(t)
	if a, b := fmt.Sprint(one.Images), fmt.Sprint(two.Images); a != b {
		t.Error("two runs with one seed made different images")
	}
	layers, references, names := map[images.Digest]bool{}, 0, map[string]bool{}
	for _, i := range one.Images {
		references += len(i.Layers)
		for _, l := range i.Layers {
			layers[l.DiffID] = true
		}
		for _, n := range append(i.Names, i.ByDigest()) {
			if found, ok := one.Named(n); !ok || found.Digest != i.Digest {
				t.Errorf("%s is not found by its name", n)
			}
			names[n] = true
		}
	}
	deep, _ := one.Named(images.Host + "/" + images.DeepName)
	if len(one.Images) != 61 || len(layers) != 127+43 || references != 60*5+45 || len(deep.Layers) != 45 {
		t.Errorf("%d images, %d layers, used %d times; the deep one has %d", len(one.Images), len(layers), references, len(deep.Layers))
	}
	if len(names) != 61+12+31 {
		t.Errorf("%d names", len(names))
	}
}

// TestBlobs reads every blob back: it is what its name says, and the layers hold the rare things.
func TestBlobs(t *testing.T) {
	f := makeTiny(t)
	seen, done := map[string]int{}, map[images.Digest]bool{}
	bytes, inodes := int64(0), 0
	for _, i := range f.Images {
		for _, d := range []images.Digest{i.Digest, i.Manifest, i.ID} {
			if data, err := os.ReadFile(f.Blob(d)); err != nil || sum(data) != d.Encoded() {
				t.Errorf("blob %s: %v", d, err)
			}
		}
		for _, l := range i.Layers {
			if done[l.DiffID] {
				continue
			}
			done[l.DiffID] = true
			b, n := readLayer(t, f, l, seen)
			bytes, inodes = bytes+b, inodes+n
		}
	}
	for what, least := range map[string]int{
		"whiteout": 100, "opaque": 60, "hard link": 120, "symlink": 120, "security.capability": 3, "user attribute": 300, "setuid": 100,
		"setgid folder": 60, "sticky": 3, "fifo": 3, "space": 3, "newline": 3, "umlaut": 3, "long name": 3, "nanoseconds": 1000, "other owner": 100,
	} {
		if seen[what] < least {
			t.Errorf("%s: %d times, want %d", what, seen[what], least)
		}
	}
	if bytes < tiny.Bytes*8/10 || bytes > tiny.Bytes*13/10 || inodes < tiny.Inodes || inodes > tiny.Inodes*2 {
		t.Errorf("%d bytes in %d inodes, wanted about %d in %d", bytes, inodes, tiny.Bytes, tiny.Inodes)
	}
}

func readLayer(t *testing.T, f *images.Folder, l images.Layer, seen map[string]int) (bytes int64, inodes int) {
	t.Helper()
	file, err := os.Open(f.Blob(l.Digest))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	packed, plain := sha256.New(), sha256.New()
	zip, err := gzip.NewReader(io.TeeReader(file, packed))
	if err != nil {
		t.Fatal(err)
	}
	stream := io.TeeReader(zip, plain)
	names := []string{}
	for archive := tar.NewReader(stream); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeLink {
			inodes++
		}
		bytes += h.Size
		names = append(names, strings.TrimSuffix(h.Name, "/"))
		count(h, seen)
	}
	if _, err := io.Copy(io.Discard, stream); err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(packed.Sum(nil)); got != l.Digest.Encoded() {
		t.Errorf("blob %s has the digest %s", l.Digest, got)
	}
	if got := hex.EncodeToString(plain.Sum(nil)); got != l.DiffID.Encoded() {
		t.Errorf("the archive of %s has the digest %s", l.Digest, got)
	}
	slices.Sort(names)
	if unique := slices.Compact(slices.Clone(names)); len(unique) != len(names) {
		t.Errorf("blob %s has a name twice", l.Digest)
	}
	return bytes, inodes
}

func count(h *tar.Header, seen map[string]int) {
	base := h.Name[strings.LastIndex(strings.TrimSuffix(h.Name, "/"), "/")+1:]
	for what, is := range map[string]bool{
		"opaque":              base == ".wh..wh..opq",
		"whiteout":            strings.HasPrefix(base, ".wh.") && base != ".wh..wh..opq",
		"hard link":           h.Typeflag == tar.TypeLink,
		"symlink":             h.Typeflag == tar.TypeSymlink,
		"security.capability": h.PAXRecords["SCHILY.xattr.security.capability"] != "",
		"user attribute":      h.PAXRecords["SCHILY.xattr.user.bench.origin"]+h.PAXRecords["SCHILY.xattr.user.bench.folder"] != "",
		"setuid":              h.Mode&0o4000 != 0,
		"setgid folder":       h.Mode&0o2000 != 0 && h.Typeflag == tar.TypeDir,
		"sticky":              h.Mode&0o1000 != 0,
		"fifo":                h.Typeflag == tar.TypeFifo,
		"space":               strings.Contains(base, " "),
		"newline":             strings.Contains(base, "\n"),
		"umlaut":              strings.Contains(base, "ü"),
		"long name":           len(base) == 255,
		"nanoseconds":         h.ModTime.Nanosecond() != 0,
		"other owner":         h.Uid != 0,
	} {
		if is {
			seen[what]++
		}
	}
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

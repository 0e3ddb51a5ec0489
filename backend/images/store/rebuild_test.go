package store_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend/images/store"
	"touchdown/backend/problem"
	"touchdown/test/imagestore"
)

// A layer is made again from what a registry has of it: the same files with the same attributes, though of the old one nothing
// is left, its tar-split included.
func TestLayerIsRebuilt(t *testing.T) {
	disk := imagestore.NewDisk(t, "xfs", 512<<20)
	made := imagestore.New(filepath.Join(disk.Dir, "primary"))
	files := append(imagestore.Odd(), imagestore.Tree(7, 50, 1<<20)...)
	base := made.Layer("", imagestore.Tree(1, 20, 1<<20)...)
	top := made.Layer(base, files...)
	made.Image(top, "registry.example/odd:v1")
	do(t, made.Save(), os.Mkdir(filepath.Join(disk.Dir, "tar"), 0o755))
	plain, err := imagestore.Tar(filepath.Join(disk.Dir, "tar"), files...)
	do(t, err)
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	_, err = zip.Write(plain)
	do(t, err, zip.Close())
	want := described(t, made.Path("overlay", top, "diff"))
	do(t, os.RemoveAll(made.Path("overlay", top)), os.WriteFile(made.Path("overlay-layers", top+".tar-split.gz"), []byte("lost"), 0o600))
	s := open(t, made.Root)

	for name, blob := range map[string][]byte{"packed": packed.Bytes(), "plain": plain} {
		fresh, err := s.Rebuild(t.Context(), top, bytes.NewReader(blob), filepath.Join(disk.Dir, name))
		do(t, err)
		found, err := fresh.Full(t.Context(), store.VerifyOptions{})
		if err != nil || len(found) > 0 {
			t.Errorf("%s: %v, %v", name, found, err)
		}
		if have := described(t, filepath.Join(fresh.LayerFolder(top), "diff")); strings.Join(have, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: the layer was\n%s\nand is\n%s", name, strings.Join(want, "\n"), strings.Join(have, "\n"))
		}
	}

	for name, c := range map[string]struct {
		blob []byte
		want string
	}{
		"cut":    {packed.Bytes()[:packed.Len()/2], "unexpected EOF"},
		"larger": {append(bytes.Clone(plain), make([]byte, 1<<20)...), "it is larger than"},
		"zstd":   {[]byte("\x28\xb5\x2f\xfdxxxx"), "zstd"},
		"none":   {nil, ""},
	} {
		fresh, err := s.Rebuild(t.Context(), top, bytes.NewReader(c.blob), filepath.Join(disk.Dir, "bad-"+name))
		if c.want != "" && (err == nil || !strings.Contains(err.Error()+problem.From(err).Summary.String(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if err != nil {
			continue
		}
		if found, err := fresh.Full(t.Context(), store.VerifyOptions{}); err == nil && len(found) == 0 {
			t.Errorf("%s is found whole", name)
		}
	}
}

// described is a layer's tree but for what no tar says: when its top folder and its whiteouts were made.
func described(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	for _, line := range describe(t, dir)[1:] {
		if !strings.Contains(line, "mode 20000 owner 0:0 size 0") || !strings.Contains(line, "device 0 ") {
			all = append(all, line)
			continue
		}
		line, _, _ = strings.Cut(line, "changed")
		all = append(all, line)
	}
	return all
}

// Names that lead out of a layer stay in it.
func TestHostileTarStaysInside(t *testing.T) {
	disk := imagestore.NewDisk(t, "xfs", 512<<20)
	made := imagestore.New(filepath.Join(disk.Dir, "primary"))
	top := made.Layer("", imagestore.File{Name: "big", Size: 1 << 20})
	made.Image(top, "registry.example/a:v1")
	outside := filepath.Join(disk.Dir, "outside")
	do(t, made.Save(), os.Mkdir(outside, 0o755), os.WriteFile(filepath.Join(outside, "passwd"), []byte("mine"), 0o600))
	s := open(t, made.Root)
	for name, entries := range map[string][]entry{
		"dots":      {{name: "../../../../outside/passwd"}},
		"link":      {{name: "way", link: outside, kind: '2'}, {name: "way/passwd"}},
		"dots link": {{name: "way", link: "../../../../outside", kind: '2'}, {name: "way/passwd"}},
		"hard link": {{name: "way", link: outside + "/passwd", kind: '1'}, {name: "way"}},
	} {
		_, err := s.Rebuild(t.Context(), top, bytes.NewReader(tarOf(t, entries)), filepath.Join(disk.Dir, "into-"+name))
		t.Logf("%s: %v", name, err)
		if data, err := os.ReadFile(filepath.Join(outside, "passwd")); err != nil || string(data) != "mine" {
			t.Errorf("%s: a file outside is %q, %v", name, data, err)
		}
		if files, err := os.ReadDir(outside); err != nil || len(files) != 1 {
			t.Errorf("%s: outside are %v, %v", name, files, err)
		}
	}
}

type entry struct {
	name, link string
	kind       byte
}

func tarOf(t *testing.T, entries []entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Linkname: e.link, Typeflag: e.kind, Mode: 0o644}
		if e.kind == 0 {
			h.Typeflag, h.Size = tar.TypeReg, 5
		}
		do(t, w.WriteHeader(h))
		if e.kind == 0 {
			_, err := w.Write([]byte("yours"))
			do(t, err)
		}
	}
	do(t, w.Close())
	return out.Bytes()
}

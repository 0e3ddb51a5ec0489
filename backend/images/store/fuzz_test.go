package store

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vbatts/tar-split/tar/storage"
	"golang.org/x/sys/unix"
)

// packed makes a tar of headers; files are filled with zeros.
func packed(f *testing.F, headers ...*tar.Header) []byte {
	f.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		if err := w.WriteHeader(h); err != nil {
			f.Fatal(err)
		}
		if _, err := w.Write(make([]byte, h.Size)); err != nil {
			f.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	return b.Bytes()
}

func seedTars(f *testing.F) [][]byte {
	f.Helper()
	return [][]byte{
		packed(f, &tar.Header{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "/tmp"}, &tar.Header{Name: "a/b", Typeflag: tar.TypeReg, Size: 3, Mode: 0o777}),
		packed(f, &tar.Header{Name: "../../x", Typeflag: tar.TypeReg, Size: 3}),
		packed(f, &tar.Header{Name: "l", Typeflag: tar.TypeLink, Linkname: "../../../etc/passwd"}),
		packed(f, &tar.Header{Name: "d/", Typeflag: tar.TypeDir, Mode: 0o755}, &tar.Header{Name: "d/.wh..wh..opq", Typeflag: tar.TypeReg}, &tar.Header{Name: ".wh.d", Typeflag: tar.TypeReg}),
		packed(f, &tar.Header{Name: ".wh...", Typeflag: tar.TypeReg}, &tar.Header{Name: "x/.wh.", Typeflag: tar.TypeReg}),
		packed(f, &tar.Header{Name: ".", Typeflag: tar.TypeReg, Size: 2}, &tar.Header{Name: "./", Typeflag: tar.TypeSymlink, Linkname: "/etc"}),
		packed(f, &tar.Header{Name: "c", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3, Mode: 0o4777}, &tar.Header{Name: "p", Typeflag: tar.TypeFifo}),
		packed(f, &tar.Header{Name: "p", Typeflag: tar.TypeReg, PAXRecords: map[string]string{"SCHILY.xattr.security.capability": "x", "SCHILY.xattr.user.a": "b"}}),
		packed(f, &tar.Header{Name: strings.Repeat("long/", 60), Typeflag: tar.TypeDir}),
	}
}

// FuzzUntar unpacks whatever a registry may send, as Rebuild does: nothing is made outside of the layer, what is made takes no
// more of the disk than the tar has, and it ends.
func FuzzUntar(f *testing.F) {
	for _, seed := range seedTars(f) {
		f.Add(seed, int64(len(seed)))
		var zipped bytes.Buffer
		w := gzip.NewWriter(&zipped)
		_, _ = w.Write(seed)
		_ = w.Close()
		f.Add(zipped.Bytes(), int64(len(seed)))
	}
	id := strings.Repeat("a", idSize)
	base := f.TempDir()
	f.Fuzz(func(t *testing.T, blob []byte, size int64) {
		top := filepath.Join(base, "top")
		if err := os.RemoveAll(top); err != nil {
			t.Fatal(err)
		}
		root := filepath.Join(top, "root")
		diff := filepath.Join(root, Overlay, id, "diff")
		if err := errors.Join(os.MkdirAll(diff, 0o755), os.MkdirAll(filepath.Join(root, layersDir), 0o755)); err != nil {
			t.Fatal(err)
		}
		size = min(max(size, 0), 1<<20)
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
		defer stop()
		began := time.Now()
		_ = At(root).files().unpack(ctx, Layer{ID: id, DiffSize: size}, bytes.NewReader(blob))
		if took := time.Since(began); took > time.Minute {
			t.Errorf("it took %s", took)
		}
		if left, err := os.ReadDir(top); err != nil || len(left) != 1 {
			t.Fatalf("outside are %v, %v", left, err)
		}
		var used int64
		_ = filepath.WalkDir(diff, func(path string, e fs.DirEntry, err error) error {
			var st unix.Stat_t
			if err == nil && e.Type().IsRegular() && unix.Lstat(path, &st) == nil {
				used += st.Size
			}
			return nil
		})
		if used > size {
			t.Errorf("a tar of %d bytes became %d", size, used)
		}
	})
}

// FuzzLine reads lines of a tar-split as the quick reader does: what it takes, JSON takes too, and both say the same.
func FuzzLine(f *testing.F) {
	f.Add([]byte(`{"type":1,"name":"a","size":1,"payload":"AAAAAAAAAAA=","position":1}` + "\n"))
	f.Add([]byte(`{"type":1,"name":"a","payload":null,"position":1}` + "\n"))
	f.Add([]byte(`{"type":2,"payload":"AAAA","position":1}` + "\n"))
	f.Fuzz(func(t *testing.T, line []byte) {
		var want storage.Entry
		known := json.Unmarshal(line, &want) == nil
		if e, ok := file(line); ok && known && (want.Type != e.Type || want.GetName() != e.GetName() || want.Size != e.Size || !bytes.Equal(want.Payload, e.Payload)) {
			t.Errorf("%q is %+v, JSON says %+v", line, e, want)
		}
		segment(line)
	})
}

// FuzzSplit reads a whole tar-split of anybody.
func FuzzSplit(f *testing.F) {
	f.Add([]byte(`{"type":2,"payload":"AAAA","position":0}` + "\n" + `{"type":1,"name":"etc/passwd","size":5,"payload":"AAAAAAAAAAA=","position":1}` + "\n"))
	f.Add([]byte(`{"type":1,"name":"../../etc/passwd","size":-1}` + "\n" + `{"type":9}` + "\n"))
	f.Add([]byte(`{"type":1,"name_raw":"/w==","size":1}` + "\n" + `null` + "\n" + `{}`))
	id := strings.Repeat("a", idSize)
	root := f.TempDir()
	if err := errors.Join(os.MkdirAll(filepath.Join(root, layersDir), 0o755), os.MkdirAll(filepath.Join(root, Overlay, id, "diff"), 0o755)); err != nil {
		f.Fatal(err)
	}
	s := At(root)
	f.Fuzz(func(t *testing.T, data []byte) {
		out, err := os.Create(s.files().splitPath(id))
		if err != nil {
			t.Fatal(err)
		}
		zip := gzip.NewWriter(out)
		_, err = zip.Write(data)
		if err := errors.Join(err, zip.Close(), out.Close()); err != nil {
			t.Fatal(err)
		}
		in, err := s.files().openSplit(id)
		if err != nil {
			t.Fatal(err)
		}
		defer in.close()
		var h header
		for {
			e, err := in.next()
			if errors.Is(err, io.EOF) || errors.Is(err, errSplit) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if e.Type == storage.SegmentType {
				h.segment(e.Payload)
				continue
			}
			if e.Size < 0 {
				t.Errorf("%+v was taken", e)
			}
			h.kind()
			h.target()
			h.file(e.Size)
			if clean, ok := inside(e.GetName()); ok && (strings.HasPrefix(clean, "..") && (len(clean) == 2 || clean[2] == '/') || filepath.IsAbs(clean)) {
				t.Errorf("%q is taken for %q, which leads out", e.GetName(), clean)
			}
		}
	})
}

// FuzzLists opens stores whose lists anybody wrote: what is taken names no file outside, and looking at it ends.
func FuzzLists(f *testing.F) {
	id := strings.Repeat("a", idSize)
	f.Add([]byte(`[{"id":"`+id+`","parent":"`+id+`","diff-digest":"sha256:`+id+`","diff-size":1}]`), []byte(`[{"id":"`+id+`","layer":"`+id+`","names":["a/b:c"],"big-data-names":["manifest"]}]`))
	f.Add([]byte(`[null]`), []byte(`[null]`))
	f.Add([]byte(`[{"id":"`+id+`"}]`), []byte(`[{"id":"`+id+`","layer":"`+id+`","names":["a","a"],"big-data-names":[".."],"big-data-sizes":{"..":-1}}]`))
	dir := f.TempDir()
	if err := Empty(dir); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, layers, images []byte) {
		if err := errors.Join(os.WriteFile(filepath.Join(dir, LayersJSON), layers, 0o600), os.WriteFile(filepath.Join(dir, ImagesJSON), images, 0o600)); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		s, err := Open(t.Context(), dir)
		if err != nil {
			if len(err.Error()) > 4<<10 {
				t.Errorf("a reason of %d bytes", len(err.Error()))
			}
			return
		}
		if _, err := s.Quick(t.Context(), VerifyOptions{}); err != nil {
			t.Error(err)
		}
		s.Closure(s.Images)
		for _, i := range s.Images {
			s.Chain(i.TopLayer)
			for _, key := range i.BigData {
				if filepath.Dir(filepath.Join("/x", blobFile(key))) != "/x" {
					t.Errorf("item %q leads out", key)
				}
			}
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("it took %s", took)
		}
	})
}

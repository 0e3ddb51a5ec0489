package volume

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"touchdown/backend/host"
	"touchdown/backend/problem"
)

// FuzzRead changes bytes of good volumes. What is read of them keeps to the limits, whatever they say: each patch is an offset
// within the first MiB, in three bytes, and a byte to put there.
func FuzzRead(f *testing.F) {
	bases := [][]byte{made(f, "fat12"), made(f, "fat16"), made(f, "fat32"), made(f, "joliet"), made(f, "rockridge"), made(f, "exfat"), made(f, "exfat-large")}
	for kind := range bases {
		f.Add(uint8(kind), []byte{11, 0, 0, 1})
		f.Add(uint8(kind), []byte{2, 2, 0, 2})
		f.Add(uint8(kind), []byte{156, 0x80, 0, 255})
	}
	f.Add(uint8(9), []byte("no volume at all"))
	f.Fuzz(func(t *testing.T, kind uint8, patches []byte) {
		if int(kind) >= len(bases) {
			wantSane(t, bytes.NewReader(patches), int64(len(patches)))
			return
		}
		v := patchedBy(bases[kind], patches)
		wantSane(t, v, int64(len(v.base)))
	})
}

// patched is a volume with other bytes at some places.
type patched struct {
	base []byte
	at   map[int64]byte
}

// patchedBy is a volume with patches: each is an offset within the first MiB, in three bytes, and a byte to put there.
func patchedBy(base, patches []byte) patched {
	v := patched{base, map[int64]byte{}}
	for p := range slices.Chunk(patches, 4) {
		if len(p) == 4 {
			v.at[(int64(p[0])|int64(p[1])<<8|int64(p[2])<<16)%min(int64(len(v.base)), 1<<20)] = p[3]
		}
	}
	return v
}

func (p patched) ReadAt(b []byte, offset int64) (int, error) {
	n := copy(b, p.base[offset:])
	for at, value := range p.at {
		if at >= offset && at < offset+int64(n) {
			b[at-offset] = value
		}
	}
	return n, nil
}

// FuzzAdd changes bytes of good volumes in the same way. What is added stays within the volume, and comes to an end.
func FuzzAdd(f *testing.F) {
	bases := [][]byte{made(f, "fat12"), made(f, "fat16"), made(f, "fat32")}
	for kind := range bases {
		for _, patch := range [][]byte{{}, {11, 0, 0, 1}, {13, 0, 0, 128}, {14, 0, 0, 255}, {16, 0, 0, 1}, {17, 0, 0, 255}, {44, 0, 0, 3}, {48, 0, 0, 255}} {
			f.Add(uint8(kind), patch)
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, patches []byte) {
		v := patchedBy(bases[int(kind)%len(bases)], patches)
		_, err := Add(bounded{v, t}, int64(len(v.base)), reports())
		if p, ok := errors.AsType[*problem.Problem](err); err != nil && (!ok || !strings.HasPrefix(p.Code, "MED-") || p.Fix.String() == "") {
			t.Fatalf("no good error: %v", err)
		}
	})
}

// bounded is a volume that takes writes within it.
type bounded struct {
	patched
	t *testing.T
}

func (b bounded) WriteAt(data []byte, at int64) (int, error) {
	if at < 0 || at+int64(len(data)) > int64(len(b.base)) {
		b.t.Fatalf("%d bytes at %d of %d", len(data), at, len(b.base))
	}
	return len(data), nil
}

func (bounded) Sync() error { return nil }

// wantSane reads a volume and holds the answer to what every answer keeps to.
func wantSane(t *testing.T, device io.ReaderAt, size int64) {
	t.Helper()
	var took int64
	err := Copy(device, size, "touchdown", 1<<20, func(part []byte) error { took += int64(len(part)); return nil })
	if took > 1<<20 || err != nil && !errors.Is(err, os.ErrNotExist) && !strings.HasPrefix(problem.From(err).Code, "MED-") {
		t.Fatalf("%d bytes of a large file, %v", took, err)
	}
	c, err := Read(device, size, all)
	if err != nil {
		p, ok := errors.AsType[*problem.Problem](err)
		if !ok || !strings.HasPrefix(p.Code, "MED-") || p.Fix.String() == "" || strings.Contains(p.Summary.String(), "fault of Touchdown") {
			t.Fatalf("no good error: %v", err)
		}
		return
	}
	total := 0
	for _, e := range c.Entries {
		total += len(e.Data)
		for part := range strings.SplitSeq(e.Path, "/") {
			if host.FileName(part) != nil || strings.Contains(part, `\`) {
				t.Fatalf("the path %q", e.Path)
			}
		}
		if strings.Count(e.Path, "/") >= maxDepth || !e.Folder && int64(len(e.Data)) != e.Size {
			t.Fatalf("%s has %d bytes of %d", e.Path, len(e.Data), e.Size)
		}
	}
	if len(c.Entries) > MaxEntries || total > MaxContent {
		t.Fatalf("%d entries, %d bytes", len(c.Entries), total)
	}
}

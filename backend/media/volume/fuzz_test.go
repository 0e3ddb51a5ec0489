package volume

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"touchdown/backend/host"
	"touchdown/backend/problem"
)

// FuzzRead changes bytes of good volumes. What is read of them keeps to the limits, whatever they say: each patch is an offset
// within the first MiB, in three bytes, and a byte to put there.
func FuzzRead(f *testing.F) {
	bases := [][]byte{made(f, "fat12"), made(f, "fat16"), made(f, "fat32"), made(f, "joliet"), made(f, "rockridge")}
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
		v := patched{bases[kind], map[int64]byte{}}
		for p := range slices.Chunk(patches, 4) {
			if len(p) == 4 {
				v.at[(int64(p[0])|int64(p[1])<<8|int64(p[2])<<16)%min(int64(len(v.base)), 1<<20)] = p[3]
			}
		}
		wantSane(t, v, int64(len(v.base)))
	})
}

// patched is a volume with other bytes at some places.
type patched struct {
	base []byte
	at   map[int64]byte
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

// wantSane reads a volume and holds the answer to what every answer keeps to.
func wantSane(t *testing.T, device io.ReaderAt, size int64) {
	t.Helper()
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
		if strings.Count(e.Path, "/") >= MaxDepth || !e.Folder && int64(len(e.Data)) != e.Size {
			t.Fatalf("%s has %d bytes of %d", e.Path, len(e.Data), e.Size)
		}
	}
	if len(c.Entries) > MaxEntries || total > MaxContent {
		t.Fatalf("%d entries, %d bytes", len(c.Entries), total)
	}
}

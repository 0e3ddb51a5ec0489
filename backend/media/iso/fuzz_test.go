package iso

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"

	"touchdown/backend/problem"
	"touchdown/test/liveiso"
)

// FuzzRead changes bytes of good images of each kind: each patch is an offset in three bytes, and a byte to put there. What is read of them
// is refused with a code, or has areas within the image, and filling it changes nothing else.
func FuzzRead(f *testing.F) {
	images := make([][]byte, len(liveiso.Kinds))
	for n, kind := range liveiso.Kinds {
		images[n] = liveiso.Make(kind, true)
		f.Add(uint8(n), []byte{})
		f.Add(uint8(n), []byte{0xf0, 0x7f, 0, 0xff, 0xf7, 0x7f, 0, 0x80}) // the header of the Ignition area
		f.Add(uint8(n), []byte{0xa8, 0x7f, 0, 0xff, 0xb8, 0x7f, 0, 0x01}) // and that of the kernel arguments
		f.Add(uint8(n), []byte{0x50, 0x80, 0, 0xff, 0x9e, 0x80, 0, 0x13}) // size and root folder
		f.Add(uint8(n), []byte{0x22, 0xa0, 0, 0x00, 0x44, 0xa8, 0, 0x22}) // records of folders
	}
	f.Fuzz(func(t *testing.T, kind uint8, patches []byte) {
		image := bytes.Clone(images[int(kind)%len(images)])
		for p := range slices.Chunk(patches, 4) {
			if len(p) == 4 {
				image[(int(p[0])|int(p[1])<<8|int(p[2])<<16)%len(image)] = p[3]
			}
		}
		i, err := Read(bytes.NewReader(image), int64(len(image)))
		if err != nil {
			if p := problem.From(err); !strings.HasPrefix(p.Code, "LVE-") || p.Fix.String() == "" || strings.Contains(err.Error(), "fault of Touchdown") {
				t.Fatalf("no good error: %v", err)
			}
			return
		}
		filling, err := i.Fill(Content{Ignition: config}, true)
		if err != nil {
			return
		}
		to := &disk{bytes.Clone(image)}
		if err := filling.write(to); err != nil {
			t.Fatal(err)
		}
		areas := []Area{i.Ignition}
		if i.Kargs != nil {
			areas = append(areas, i.Kargs.Areas...)
		}
		for _, a := range areas {
			copy(image[a.Offset:a.Offset+a.Length], to.b[a.Offset:]) // panics where an area is not inside
		}
		if !bytes.Equal(image, to.b) {
			t.Fatal("a byte outside of the areas changed")
		}
	})
}

// FuzzUnpack reads any bytes as an area. It ends, within the limits.
func FuzzUnpack(f *testing.F) {
	plain := cpio([]File{{"a/b", []byte("c")}})
	theirs := xzOf(f, plain, xz.WriterConfig{})
	ours, err := pack([]File{{"config.ign", config}, {keyfileDir + keyfile.Path, keyfile.Data}})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range [][]byte{nil, theirs, ours, plain, slices.Concat(ours, theirs), append(bytes.Clone(plain), "more"...), []byte(half), bytes.Repeat([]byte("0"), 200), []byte("\x1f\x8b"), []byte("\xfd7zXZ\x00")} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, area []byte) {
		if len(area) > 1<<20 {
			return
		}
		files, err := unpack(area)
		if err != nil {
			return
		}
		total := 0
		for _, file := range files {
			total += len(file.Data)
		}
		if total > maxUnpacked+len(area) {
			t.Fatalf("%d bytes of %d", total, len(area))
		}
	})
}

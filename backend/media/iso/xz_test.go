package iso

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"
)

// xzOf compresses data with the library.
func xzOf(t testing.TB, data []byte, how xz.WriterConfig) []byte {
	t.Helper()
	var packed bytes.Buffer
	w, err := how.NewWriter(&packed)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// asksFor4GiB sets the window in the first block header with these bytes, and repairs its sum.
func asksFor4GiB(t *testing.T, stream []byte, block int) []byte {
	t.Helper()
	b := bytes.Clone(stream)
	end := block + int(b[block])*4
	at := bytes.Index(b[block:end], []byte{0x21, 1})
	if at < 0 {
		t.Fatal("no header of a block")
	}
	b[block+at+2] = 40
	binary.LittleEndian.PutUint32(b[end:], crc32.ChecksumIEEE(b[block:end]))
	return b
}

// TestXZ reads streams with each kind of check, and one whose window is larger than anything that is read.
func TestXZ(t *testing.T) {
	want := cpio([]File{{"config.ign", noise(1, 70000)}})
	for name, stream := range map[string][]byte{
		"CRC-32": xzOf(t, want, xz.WriterConfig{CheckSum: xz.CRC32}), "CRC-64": xzOf(t, want, xz.WriterConfig{CheckSum: xz.CRC64}),
		"SHA-256": xzOf(t, want, xz.WriterConfig{CheckSum: xz.SHA256}), "none": xzOf(t, want, xz.WriterConfig{NoCheckSum: true}),
		"4 GiB": asksFor4GiB(t, xzOf(t, want, xz.WriterConfig{}), 12),
	} {
		blocks := 2
		data, rest, err := unxz(append(bytes.Clone(stream), "rest"...), maxUnpacked, &blocks)
		if err != nil || !bytes.Equal(data, want) || string(rest) != "rest" {
			t.Errorf("%s: %d bytes, rest %q, %v", name, len(data), rest, err)
		}
		if _, _, err := unxz(stream, int64(len(want)-1), &blocks); err == nil || !strings.Contains(err.Error(), "more than 4 MiB") {
			t.Errorf("%s: beyond the limit: %v", name, err)
		}
	}
}

// manyBlocks is a stream of n blocks that ask for 4 GiB each.
func manyBlocks(t *testing.T, data []byte, n int) []byte {
	t.Helper()
	one := asksFor4GiB(t, xzOf(t, data, xz.WriterConfig{}), 12)
	index := int(binary.LittleEndian.Uint32(one[len(one)-8:])+1) * 4
	block := one[12 : len(one)-12-index]
	s := xzStream{check: one[7]}
	for range n {
		if _, err := s.block(block, maxUnpacked); err != nil {
			t.Fatal(err)
		}
	}
	return slices.Concat(one[:12], bytes.Repeat(block, n), s.end())
}

// TestXZThatWantsMuch: windows that are not needed take no memory, and what would take much time is refused.
func TestXZThatWantsMuch(t *testing.T) {
	archive := cpio([]File{{"a", []byte("b")}})
	one := xzOf(t, archive, xz.WriterConfig{})
	var before, after runtime.MemStats
	blocks := 2
	two := manyBlocks(t, archive, 2)
	runtime.ReadMemStats(&before)
	data, _, err := unxz(two, maxUnpacked, &blocks)
	runtime.ReadMemStats(&after)
	if err != nil || !bytes.Equal(data, bytes.Repeat(archive, 2)) {
		t.Errorf("two blocks: %d bytes, %v", len(data), err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
		t.Errorf("two blocks took %d MiB", took>>20)
	}
	for _, test := range []struct {
		name, says string
		area       []byte
	}{
		{"257 blocks", "more than 256 blocks", manyBlocks(t, []byte("\x00"), 257)},
		{"65 archives", "more than 64 archives", bytes.Repeat(one, 65)},
		{"64 archives", "", bytes.Repeat(one, 64)},
		{"65 small archives of gzip", "more than 64 archives", bytes.Repeat(mustPack(t), 65)},
		{"65 plain ones", "more than 64 archives", bytes.Repeat(archive, 65)},
	} {
		_, err := unpack(test.area)
		if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func mustPack(t *testing.T) []byte {
	t.Helper()
	b, err := pack([]File{{"a", []byte("b")}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

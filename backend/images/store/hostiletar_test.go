package store_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// raw writes one header of ustar, which archive/tar would refuse to write, and its content.
func raw(b *bytes.Buffer, kind byte, name string, size int64, content string) {
	h := make([]byte, 512)
	copy(h, name)
	copy(h[100:], "0000644\x000000000\x000000000\x00")
	copy(h[124:], fmt.Sprintf("%011o\x0000000000000\x00        ", size))
	h[156] = kind
	copy(h[257:], "ustar\x0000")
	if kind == 'S' { // GNU's old form: the map of the holes and the real size are in the header
		copy(h[257:], "ustar  \x00")
		copy(h[386:], fmt.Sprintf("%011o\x00%011o\x00", 0, 0))
		real := []byte{0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
		for n := range 8 {
			real[11-n] = byte(int64(3<<30) >> (8 * n))
		}
		copy(h[483:], real)
	}
	sum := 0
	for _, c := range h {
		sum += int(c)
	}
	copy(h[148:], fmt.Sprintf("%06o\x00 ", sum))
	b.Write(h)
	b.WriteString(content)
	b.Write(make([]byte, (512-len(content)%512)%512))
}

// pax is the text of an extended header.
func pax(records ...string) string {
	var all strings.Builder
	for n := 0; n < len(records); n += 2 {
		rest := " " + records[n] + "=" + records[n+1] + "\n"
		size := len(rest) + 1
		for len(fmt.Sprint(size))+len(rest) != size {
			size = len(fmt.Sprint(size)) + len(rest)
		}
		fmt.Fprint(&all, size, rest)
	}
	return all.String()
}

// sparse is a tar of some kilobytes that holds one file of so many bytes, all of them a hole.
func sparse(form string, size int64) []byte {
	var b bytes.Buffer
	extended, content := "", ""
	switch form {
	case "1.0":
		extended = pax("GNU.sparse.major", "1", "GNU.sparse.minor", "0", "GNU.sparse.name", "big", "GNU.sparse.realsize", fmt.Sprint(size))
		content = fmt.Sprintf("1\n%d\n0\n", size)
		content += strings.Repeat("\x00", 512-len(content))
	case "0.1":
		extended = pax("GNU.sparse.size", fmt.Sprint(size), "GNU.sparse.numblocks", "1", "GNU.sparse.map", fmt.Sprintf("%d,0", size))
	case "0.0":
		extended = pax("GNU.sparse.size", fmt.Sprint(size), "GNU.sparse.numblocks", "1", "GNU.sparse.offset", fmt.Sprint(size), "GNU.sparse.numbytes", "0")
	}
	raw(&b, 'x', "PaxHeaders/big", int64(len(extended)), extended)
	raw(&b, '0', "big", int64(len(content)), content)
	b.Write(make([]byte, 1024))
	return b.Bytes()
}

// oldSparse is one of 3 GiB in the form of old GNU tars.
func oldSparse() []byte {
	var b bytes.Buffer
	raw(&b, 'S', "big", 0, "")
	b.Write(make([]byte, 1024))
	return b.Bytes()
}

// headers are extended headers of almost 1 MiB each with no file behind them.
func headers(count int) []byte {
	var b bytes.Buffer
	for range count {
		text := pax("comment", strings.Repeat("c", 1000<<10))
		raw(&b, 'x', "PaxHeaders/x", int64(len(text)), text)
	}
	b.Write(make([]byte, 1024))
	return b.Bytes()
}

// names are folders whose names are long and differ.
func names(count, size int) []byte {
	var b bytes.Buffer
	for n := range count {
		text := pax("path", strings.Repeat("n/", size/2)+fmt.Sprint(n))
		raw(&b, 'x', "PaxHeaders/x", int64(len(text)), text)
		raw(&b, '0', "x", 0, "")
	}
	b.Write(make([]byte, 1024))
	return b.Bytes()
}

// attribute is a tar of one file with one extended attribute.
func attribute(t *testing.T, name, value string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	do(t, w.WriteHeader(&tar.Header{Name: "f", Typeflag: tar.TypeReg, Mode: 0o644, PAXRecords: map[string]string{"SCHILY.xattr." + name: value}}), w.Close())
	return b.Bytes()
}

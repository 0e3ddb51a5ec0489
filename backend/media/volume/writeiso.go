package volume

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
)

// Where things lie in the image that is written, in sectors: two descriptors and their end, two path tables in both byte orders,
// two root folders, the files.
const (
	isoPaths  = isoFirst + 3
	isoRoots  = isoPaths + 4
	isoFiles  = isoRoots + 2
	isoBehind = 150 // empty sectors at the end: drives read ahead of what they are asked for
)

// WriteISO makes an ISO9660 image with the long names of Joliet, with files in its root folder. The label has at most 16
// characters, as many as Joliet can hold.
func WriteISO(label string, files []File) (*Image, error) {
	return WriteLargeISO(label, MaxFile, files)
}

// WriteLargeISO is WriteISO with files of up to largest bytes, which Copy reads and Read lists.
func WriteLargeISO(label string, largest int, files []File) (*Image, error) {
	if err := judge(label, 16, largest, files); err != nil {
		return nil, err
	}
	at := isoFiles
	roots := [2][]byte{isoOwn(isoRoots), isoOwn(isoRoots + 1)}
	var data []byte
	for i, f := range files {
		plain := fmt.Sprintf("FILE%04d.DAT;1", i)
		roots[0] = append(roots[0], isoEntry([]byte(plain), at, len(f.Data), 0)...)
		roots[1] = append(roots[1], isoEntry(wide(f.Name+";1"), at, len(f.Data), 0)...)
		if len(roots[1]) > isoSector {
			return nil, fmt.Errorf("writing a volume: its folder has no room for %d files", len(files))
		}
		sectors := (len(f.Data) + isoSector - 1) / isoSector
		data = append(data, f.Data...)
		data = append(data, make([]byte, sectors*isoSector-len(f.Data))...)
		at += sectors
	}
	b := make([]byte, isoFiles*isoSector, isoFiles*isoSector+len(data))
	put := func(sector int, what []byte) { copy(b[sector*isoSector:], what) }
	for i := range 2 {
		put(isoFirst+i, isoDescriptor(label, at+isoBehind, i))
		put(isoPaths+2*i, isoPath(binary.LittleEndian, isoRoots+i))
		put(isoPaths+2*i+1, isoPath(binary.BigEndian, isoRoots+i))
		put(isoRoots+i, roots[i])
	}
	put(isoFirst+2, []byte("\xffCD001\x01"))
	b = append(b, data...)
	return &Image{b, int64(at+isoBehind) * isoSector}, nil
}

// wide is a text in the characters of Joliet.
func wide(text string) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(text)) {
		b = binary.BigEndian.AppendUint16(b, u)
	}
	return b
}

// both puts a number in both byte orders, as ECMA-119 wants it.
func both(b []byte, n int) {
	binary.LittleEndian.PutUint32(b, uint32(n))
	binary.BigEndian.PutUint32(b[4:], uint32(n))
}

func both16(b []byte, n int) {
	binary.LittleEndian.PutUint16(b, uint16(n))
	binary.BigEndian.PutUint16(b[2:], uint16(n))
}

// isoDescriptor describes the volume: first in plain names, then in those of Joliet.
func isoDescriptor(label string, sectors, kind int) []byte {
	b := make([]byte, isoSector)
	b[0] = byte(kind + 1)
	copy(b[1:], "CD001\x01")
	text := func(at, n int, s string) {
		fill := []byte(fatPad(s, n))
		if kind == 1 {
			fill = wide(fatPad(s, n/2))
		}
		copy(b[at:at+n], fill)
	}
	text(8, 32, "")
	text(40, 32, label)
	both(b[80:], sectors)
	if kind == 1 {
		copy(b[88:], "%/E")
	}
	both16(b[120:], 1) // volumes in the set, and which one this is
	both16(b[124:], 1)
	both16(b[128:], isoSector)
	both(b[132:], isoPathSize)
	binary.LittleEndian.PutUint32(b[140:], uint32(isoPaths+2*kind))
	binary.BigEndian.PutUint32(b[148:], uint32(isoPaths+2*kind+1))
	copy(b[156:190], isoEntry([]byte{0}, isoRoots+kind, isoSector, 0x02))
	for _, field := range [][2]int{{190, 128}, {318, 128}, {446, 128}, {574, 128}, {702, 36}, {739, 36}, {776, 36}} {
		text(field[0], field[1], "")
	}
	for at := 813; at <= 864; at += 17 { // four times, none of which is known
		copy(b[at:], strings.Repeat("0", 16))
	}
	b[881] = 1
	return b
}

const isoPathSize = 10

// isoPath is a path table with the root folder alone.
func isoPath(order binary.ByteOrder, sector int) []byte {
	b := make([]byte, isoPathSize)
	b[0] = 1
	order.PutUint32(b[2:], uint32(sector))
	order.PutUint16(b[6:], 1)
	return b
}

// isoOwn are the records of the root folder for itself and for the one above, which it is too.
func isoOwn(sector int) []byte {
	return append(isoEntry([]byte{0}, sector, isoSector, 0x02), isoEntry([]byte{1}, sector, isoSector, 0x02)...)
}

// isoEntry is a folder's record. Its time is 1980-01-01: no clock is trusted, and the same input gives the same bytes.
func isoEntry(name []byte, sector, size int, flags byte) []byte {
	length := isoRecord + len(name)
	b := make([]byte, length+length%2)
	b[0] = byte(len(b))
	both(b[2:], sector)
	both(b[10:], size)
	copy(b[18:25], []byte{80, 1, 1, 0, 0, 0, 0})
	b[25] = flags
	both16(b[28:], 1)
	b[32] = byte(len(name))
	copy(b[isoRecord:], name)
	return b
}

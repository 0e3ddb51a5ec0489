package volume

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"
)

const (
	entrySize = 32 // bytes of a folder's entry

	deleted = 0xe5 // first byte of an entry that is free again

	attrLabel  = 0x08
	attrFolder = 0x10
	attrLong   = 0x0f // of an entry that holds a part of a long name
	attrAny    = 0x18 // label or folder
	attrMask   = 0x3f

	longPart = 13 // characters of a long name in one entry
	longLast = 0x40
)

func (f *fat) root() node { return node{folder: true, start: f.rootAt} }

// entries returns the entries of a folder that are in use, long names among them.
func (f *fat) entries(folder node) (all [][]byte, err error) {
	var list []byte
	if folder.start == 0 && f.fixed != 0 {
		list, err = f.from.at(f.fixed, f.fixedLen)
	} else {
		err = f.chain(folder.start, -1, func(b []byte) error { list = append(list, b...); return nil })
	}
	if err != nil {
		return nil, err
	}
	for ; len(list) >= entrySize && list[0] != 0; list = list[entrySize:] {
		if list[0] == deleted {
			continue
		}
		all = append(all, list[:entrySize])
	}
	return all, nil
}

func (f *fat) list(folder node, limit int) (nodes []node, more bool, err error) {
	entries, err := f.entries(folder)
	if err != nil {
		return nil, false, err
	}
	var long longName
	for _, e := range entries {
		attr := e[11]
		if attr&attrMask == attrLong {
			long.add(e)
			continue
		}
		name := long.take(e)
		if attr&attrLabel != 0 || string(e[:11]) == ".          " || string(e[:11]) == "..         " {
			continue
		}
		if len(nodes) == limit {
			return nodes, true, nil
		}
		if name == "" {
			name = shortName(e, false)
		}
		n := node{name: name, folder: attr&attrFolder != 0, start: f.firstOf(e)}
		if !n.folder {
			n.size = int64(binary.LittleEndian.Uint32(e[28:]))
		}
		nodes = append(nodes, n)
	}
	return nodes, false, nil
}

// shortName is a name of eight and three characters. Bytes above ASCII depend on the maker's code page, which nothing tells:
// they make a name that is left out.
func shortName(e []byte, label bool) string {
	raw := []byte(string(e[:11]))
	if raw[0] == 0x05 { // stands for 0xe5, which would mark a deleted file
		raw[0] = 0xe5
	}
	if label {
		return string(raw)
	}
	base, ext := strings.TrimRight(string(raw[:8]), " "), strings.TrimRight(string(raw[8:]), " ")
	if e[12]&0x08 != 0 { // Windows and Linux keep here that it is in lower case
		base = strings.ToLower(base)
	}
	if e[12]&0x10 != 0 {
		ext = strings.ToLower(ext)
	}
	if ext == "" {
		return base
	}
	return base + "." + ext
}

// longName gathers the parts of a long name, which stand before the entry of the file, the last one first.
type longName struct {
	parts [][]uint16
	next  byte // number of the part that has to come; 0 when none has
	sum   byte
}

func (l *longName) add(e []byte) {
	number := e[0] &^ longLast
	if e[0]&longLast != 0 {
		*l = longName{next: number, sum: e[13]}
	}
	if number == 0 || number != l.next || e[13] != l.sum || number > 20 {
		*l = longName{}
		return
	}
	part := make([]uint16, 0, longPart)
	for _, span := range [][2]int{{1, 11}, {14, 26}, {28, 32}} {
		for i := span[0]; i < span[1]; i += 2 {
			part = append(part, binary.LittleEndian.Uint16(e[i:]))
		}
	}
	l.parts = append([][]uint16{part}, l.parts...)
	l.next--
}

// take returns the long name of the entry that follows its parts, and forgets it; "" when the parts are not whole or belong to
// another entry.
func (l *longName) take(e []byte) string {
	whole := len(l.parts) > 0 && l.next == 0 && l.sum == nameSum(e[:11])
	var units []uint16
	for _, p := range l.parts {
		units = append(units, p...)
	}
	*l = longName{}
	if !whole {
		return ""
	}
	for i, u := range units {
		if u == 0 {
			units = units[:i]
			break
		}
	}
	return string(utf16.Decode(units))
}

// nameSum is the sum by which a long name tells which short one it belongs to.
func nameSum(short []byte) (sum byte) {
	for _, c := range short {
		sum = sum>>1 + sum<<7 + c
	}
	return sum
}

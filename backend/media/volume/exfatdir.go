package volume

import (
	"encoding/binary"
	"unicode/utf16"

	"touchdown/backend/message"
)

// The types of a folder's entries (section 6 of the specification).
const (
	exfatEnd    = 0x00 // this entry and all behind it were never used
	exfatInUse  = 0x80 // bit of an entry that is not free
	exfatBehind = 0x40 // bit of an entry that belongs to the one before it
	exfatLabel  = 0x83
	exfatFile   = 0x85 // of a file or folder, and the first of its set
	exfatStream = 0xc0 // the second of a set
	exfatName   = 0xc1 // the others of a set: a part of the name

	exfatPlain    = 0x02 // bit of a stream without a chain
	exfatNamePart = 15   // characters of a name in one entry
)

// entries gives the entries of a folder to take until it wants no more.
func (x *exfat) entries(folder node, take func(e []byte) (more bool, err error)) error {
	s := x.streams[folder.start] // none: the folder is empty
	if folder.start == x.rootAt {
		s = stream{first: x.rootAt, bytes: maxFolder, valid: maxFolder, open: true}
	}
	if s.bytes > maxFolder {
		return damaged(message.F("a folder leads back into itself, or has more than %d MiB", maxFolder>>20))
	}
	return x.each(s, func(list []byte) (bool, error) {
		for ; len(list) >= entrySize; list = list[entrySize:] {
			if list[0] == exfatEnd {
				return false, nil
			}
			if more, err := take(list[:entrySize]); err != nil || !more {
				return false, err
			}
		}
		return true, nil
	})
}

func (x *exfat) label() (label string) {
	_ = x.entries(x.root(), func(e []byte) (bool, error) {
		if e[0] != exfatLabel {
			return true, nil
		}
		label = characters(e[2:24], int(e[1]))
		return false, nil
	})
	return label
}

// characters are the first n of UTF-16.
func characters(b []byte, n int) string {
	var units []uint16
	for i := 0; i < n && 2*i+1 < len(b); i++ {
		units = append(units, binary.LittleEndian.Uint16(b[2*i:]))
	}
	return string(utf16.Decode(units))
}

func (x *exfat) list(folder node, limit int) (nodes []node, more bool, err error) {
	var set []byte // entries of a file or folder
	err = x.entries(folder, func(e []byte) (bool, error) {
		switch {
		case e[0]&exfatInUse == 0:
			set = nil
			return true, nil
		case e[0] == exfatFile:
			set = append([]byte{}, e...)
		case e[0]&exfatBehind != 0 && set != nil:
			set = append(set, e...)
		default: // what the file system keeps for itself
			set = nil
			return true, nil
		}
		if len(set) < (1+int(set[1]))*entrySize {
			return true, nil
		}
		if len(nodes) == limit {
			more = true
			return false, nil
		}
		n, err := x.node(set)
		nodes, set = append(nodes, n), nil
		return true, err
	})
	if err != nil {
		return nil, false, err
	}
	return nodes, more, nil
}

// node is the file or folder of a whole set of entries.
func (x *exfat) node(set []byte) (node, error) {
	le := binary.LittleEndian
	if le.Uint16(set[2:]) != setSum(set) {
		return node{}, damaged(message.T("the check sum of a file's name and place does not match"))
	}
	if len(set) < 3*entrySize || set[entrySize] != exfatStream {
		return node{other: true}, nil
	}
	e := set[entrySize:]
	var name []byte
	for part := set[2*entrySize:]; len(part) > 0; part = part[entrySize:] {
		if part[0] == exfatName {
			name = append(name, part[2:2+2*exfatNamePart]...)
		}
	}
	s := stream{first: int64(le.Uint32(e[20:])), bytes: int64(le.Uint64(e[24:])), valid: int64(le.Uint64(e[8:])), plain: e[1]&exfatPlain != 0}
	n := node{name: characters(name, int(e[3])), start: s.first, folder: set[4]&attrFolder != 0}
	if s.bytes < 0 || s.bytes > x.clusters*x.cluster || s.valid < 0 || s.valid > s.bytes {
		return node{}, damaged(message.F("%s has %d bytes of %d", n.name, s.valid, s.bytes))
	}
	if !n.folder {
		n.size = s.bytes
	}
	if s.bytes == 0 { // it has no place, and is told from others like it
		x.empty++
		n.start = -x.empty
		return n, nil
	}
	if other, listed := x.streams[s.first]; s.first == x.rootAt || listed && other != s {
		return node{}, damaged(message.F("%s and another file or folder have the same place", n.name))
	}
	x.streams[s.first] = s
	return n, nil
}

// setSum is the check sum of a set of entries, which leaves out its own place (section 6.3.3 of the specification).
func setSum(set []byte) (sum uint16) {
	for i, b := range set {
		if i != 2 && i != 3 {
			sum = sum<<15 + sum>>1 + uint16(b)
		}
	}
	return sum
}

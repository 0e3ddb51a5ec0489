package volume

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"

	"touchdown/backend/message"
)

// iso reads ISO9660 (ECMA-119), with the long names of Joliet, or else of Rock Ridge. The libraries for Go read no Joliet, or
// load what the image says into memory without a limit.
type iso struct {
	from   *source
	joliet bool
	name   string
	top    node
}

const (
	isoSector      = 2048
	isoFirst       = 16       // sector of the first descriptor
	isoDescriptors = 32       // at most; real images have up to 5
	isoPart        = 64 << 10 // bytes of a file that are read at once
	isoRecord      = 33       // bytes of a folder's record before the name
)

func (v *iso) kind() string  { return ISO }
func (v *iso) label() string { return v.name }
func (v *iso) root() node    { return v.top }

// openISO returns nil, and no error, for what is not ISO9660.
func openISO(s *source) (system, error) {
	if s.size < (isoFirst+1)*isoSector {
		return nil, nil
	}
	var v *iso
	for i := int64(isoFirst); ; i++ {
		if i == isoFirst+isoDescriptors {
			return nil, damaged(message.F("it has more than %d descriptors", isoDescriptors))
		}
		d, err := s.at(i*isoSector, isoSector)
		if err != nil {
			return nil, err
		}
		if string(d[1:6]) != "CD001" {
			if v == nil && i == isoFirst {
				return nil, nil
			}
			return nil, damaged(message.T("its descriptors have no end"))
		}
		kind := d[0]
		if kind == 255 {
			break
		}
		joliet := kind == 2 && strings.HasPrefix(string(d[88:]), "%/") && strings.ContainsRune("@CE", rune(d[90]))
		if kind != 1 && !joliet || v != nil && !joliet {
			continue
		}
		if size := binary.LittleEndian.Uint16(d[128:]); size != isoSector {
			return nil, damaged(message.F("its blocks have %d bytes, not %d", size, isoSector))
		}
		v = &iso{from: s, joliet: joliet}
		v.name = v.text(d[40:72])
		v.top = v.record(d[156:190])
		v.top.folder, v.top.other = true, false
	}
	if v == nil {
		return nil, damaged(message.T("it has no root folder"))
	}
	return v, nil
}

// record reads a folder's record, which has its whole length.
func (v *iso) record(r []byte) node {
	flags := r[25]
	n := node{
		start:  int64(binary.LittleEndian.Uint32(r[2:])) * isoSector,
		size:   int64(binary.LittleEndian.Uint32(r[10:])),
		folder: flags&0x02 != 0,
		other:  flags&0x84 != 0, // an associated file, or one in several parts
	}
	raw := r[isoRecord:min(len(r), isoRecord+int(r[32]))]
	n.name = v.text(raw)
	if v.joliet {
		n.name = strings.TrimSuffix(n.name, ";1")
		return n
	}
	n.name = strings.TrimSuffix(strings.ToLower(strings.TrimSuffix(n.name, ";1")), ".")
	// The name is followed by what Rock Ridge has to say, at an even place.
	if extra := isoRecord + len(raw) + (len(raw)+1)%2; extra < len(r) {
		n.rockRidge(r[extra:])
	}
	return n
}

// rockRidge takes the POSIX name of a file, and whether it is a link or a device. What stands elsewhere in the image, where the
// record had no room, is not looked up.
func (n *node) rockRidge(area []byte) {
	name := ""
	for len(area) >= 5 && int(area[2]) >= 5 && int(area[2]) <= len(area) {
		entry := area[:area[2]]
		area = area[area[2]:]
		switch string(entry[:2]) {
		case "NM":
			if entry[4]&^0x01 == 0 { // neither of the names . and ..
				name += string(entry[5:])
			}
		case "SL", "PN", "CL", "PL", "RE": // a link, a device, a folder that was moved
			n.other = true
		case "PX":
			if len(entry) >= 8 {
				kind := binary.LittleEndian.Uint32(entry[4:]) & 0o170000
				n.other = n.other || kind != 0o100000 && kind != 0o040000
			}
		}
	}
	if name != "" {
		n.name = name
	}
}

// text reads a name in the characters of the image.
func (v *iso) text(raw []byte) string {
	if !v.joliet {
		return strings.TrimRight(string(raw), " \x00")
	}
	units := make([]uint16, 0, len(raw)/2)
	for ; len(raw) >= 2; raw = raw[2:] {
		units = append(units, binary.BigEndian.Uint16(raw))
	}
	return strings.TrimRight(string(utf16.Decode(units)), " \x00")
}

func (v *iso) list(folder node, limit int) (nodes []node, more bool, err error) {
	if folder.size > maxFolder {
		return nil, false, damaged(message.F("a folder has %d bytes", folder.size))
	}
	b, err := v.from.at(folder.start, folder.size)
	if err != nil {
		return nil, false, err
	}
	for len(b) > 0 {
		sector := b[:min(isoSector, len(b))]
		b = b[len(sector):]
		for len(sector) > 0 && sector[0] != 0 {
			length := int(sector[0])
			if length <= isoRecord || length > len(sector) {
				return nil, false, damaged(message.F("a folder has a record of %d bytes", length))
			}
			r := sector[:length]
			sector = sector[length:]
			if r[32] == 1 && r[isoRecord] <= 1 { // the folder itself, and the one above
				continue
			}
			if len(nodes) == limit {
				return nodes, true, nil
			}
			nodes = append(nodes, v.record(r))
		}
	}
	return nodes, false, nil
}

func (v *iso) read(file node, take func([]byte) error) error {
	for done := int64(0); done < file.size; {
		b, err := v.from.at(file.start+done, min(file.size-done, isoPart))
		if err != nil {
			return err
		}
		if err := take(b); err != nil {
			return err
		}
		done += int64(len(b))
	}
	return nil
}

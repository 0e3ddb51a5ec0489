package hardware

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"touchdown/backend/host"
	"touchdown/backend/message"
)

// The types of SMBIOS's structures that are read here (DMTF DSP0134 3.7.0, sections 7.18 and 7.39).
const (
	smbiosMemoryDevice = 17
	smbiosIPMI         = 38
	smbiosEnd          = 127
)

// smbiosLimit is the most that is read of the firmware's tables: they are 2 to 64 KiB, and a 32-bit entry point cannot say
// more than 64 KiB.
const smbiosLimit = 1 << 20

// structure is one of the firmware's tables: bytes at offsets that the standard gives, and the texts that some of them point to.
type structure struct {
	kind  byte
	body  []byte // with its header of 4 bytes
	texts []string
}

// smbios reads the tables that the kernel hands out as the firmware wrote them.
func smbios(m *host.Machine) ([]structure, error) {
	data, whole, err := m.ReadHead(dmiTables, smbiosLimit)
	if err != nil {
		return nil, fmt.Errorf("reading the firmware's tables (SMBIOS): %w", err)
	}
	all := structures(data)
	switch {
	case len(all) == 0:
		return nil, message.Failed(message.F("none of the %d bytes of the firmware's tables (SMBIOS) make sense", len(data)))
	case !whole:
		return nil, message.Failed(message.F("the firmware's tables (SMBIOS) are larger than %d KiB", smbiosLimit>>10))
	}
	return all, nil
}

// structures takes the tables apart, as far as they make sense.
func structures(data []byte) []structure {
	var all []structure
	for len(data) >= 4 {
		length := int(data[1])
		if length < 4 || length > len(data) {
			break
		}
		s := structure{kind: data[0], body: data[:length]}
		// The texts follow, each with a 0 at its end; a 0 alone ends them. Where there are none, two follow.
		texts, rest, ended := bytes.Cut(data[length:], []byte{0, 0})
		if len(texts) > 0 {
			s.texts = strings.Split(string(texts), "\x00")
		}
		all = append(all, s)
		if !ended || s.kind == smbiosEnd {
			break
		}
		data = rest
	}
	return all
}

// number is the little-endian number of a width at an offset; 0 where an older firmware's table ends before it.
func (s structure) number(at, width int) uint64 {
	if at+width > len(s.body) {
		return 0
	}
	var n [8]byte
	copy(n[:], s.body[at:at+width])
	return binary.LittleEndian.Uint64(n[:])
}

// text is what the byte at an offset points to.
func (s structure) text(at int) string {
	n := int(s.number(at, 1))
	if n == 0 || n > len(s.texts) {
		return ""
	}
	return known(s.texts[n-1])
}

// Module is one slot for memory, and what is in it.
type Module struct {
	Slot   string `json:"slot"`
	Bank   string `json:"bank,omitempty"`
	Bytes  int64  `json:"bytes"` // 0: empty
	Type   string `json:"type,omitempty"`
	Speed  int    `json:"speed,omitempty"` // as it runs, in MT/s
	Vendor string `json:"vendor,omitempty"`
	Part   string `json:"part,omitempty"`
	Serial string `json:"serial,omitempty"`
}

// memoryTypes are the names of the types that servers have had in 20 years.
var memoryTypes = map[uint64]string{
	0x07: "RAM", 0x0f: "SDRAM", 0x12: "DDR", 0x13: "DDR2", 0x14: "DDR2 FB-DIMM", 0x18: "DDR3", 0x1a: "DDR4", 0x1b: "LPDDR",
	0x1c: "LPDDR2", 0x1d: "LPDDR3", 0x1e: "LPDDR4", 0x1f: "persistent memory", 0x20: "HBM", 0x21: "HBM2", 0x22: "DDR5", 0x23: "LPDDR5",
}

func (p *Parts) readModules(m *host.Machine) error {
	all, err := smbios(m)
	if err != nil {
		return err
	}
	for _, s := range all {
		if s.kind == smbiosMemoryDevice {
			p.Modules = append(p.Modules, s.module())
		}
	}
	if len(p.Modules) == 0 {
		return message.Failed(message.T("the firmware names none"))
	}
	return nil
}

func (s structure) module() Module {
	m := Module{Slot: s.text(0x10), Bank: s.text(0x11), Bytes: s.moduleBytes()}
	if m.Bytes == 0 {
		return m // the rest is what the makers of boards leave there
	}
	m.Type, m.Vendor, m.Part, m.Serial = memoryTypes[s.number(0x12, 1)], s.text(0x17), s.text(0x1a), s.text(0x18)
	for _, at := range []int{0x20, 0x15} { // the configured speed, else the highest possible
		if speed := s.number(at, 2); speed != 0 && speed != 0xffff && m.Speed == 0 {
			m.Speed = int(speed)
		}
	}
	return m
}

// moduleBytes is the size in the forms that it has had: in KiB or MiB in 15 bits, since there are large modules in MiB in 31.
func (s structure) moduleBytes() int64 {
	switch n := s.number(0x0c, 2); {
	case n == 0xffff: // not known
		return 0
	case n == 0x7fff:
		return int64(s.number(0x1c, 4)&0x7fffffff) << 20
	case n&0x8000 != 0:
		return int64(n&0x7fff) << 10
	default:
		return int64(n) << 20
	}
}

// BMC is the service processor that watches the machine and switches it.
type BMC struct {
	Interface string `json:"interface,omitempty"` // how the machine talks to it: "KCS"; "" when the firmware does not tell
	Version   string `json:"version,omitempty"`   // of IPMI: "2.0"
	Driver    bool   `json:"driver"`              // the kernel talks to it
}

func (p *Parts) readBMC(m *host.Machine) error {
	devices, err := m.Glob("/sys/class/ipmi/ipmi*")
	if err != nil {
		return fmt.Errorf("looking for the BMC: %w", err)
	}
	all, err := smbios(m)
	if err != nil && len(devices) == 0 {
		return err
	}
	if len(devices) > 0 {
		p.BMC = &BMC{Driver: true}
	}
	for _, s := range all {
		if s.kind != smbiosIPMI {
			continue
		}
		if p.BMC == nil {
			p.BMC = &BMC{}
		}
		p.BMC.Interface = map[uint64]string{1: "KCS", 2: "SMIC", 3: "BT", 4: "SSIF"}[s.number(0x04, 1)]
		if v := s.number(0x05, 1); v != 0 {
			p.BMC.Version = fmt.Sprintf("%d.%d", v>>4, v&0xf)
		}
		break
	}
	return nil
}

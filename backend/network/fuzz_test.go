package network

import (
	"strings"
	"testing"
)

// FuzzLLDP reads announcements of whatever is at the other end of the cable: a console shows them.
func FuzzLLDP(f *testing.F) {
	frame := append(make([]byte, 12), 0x88, 0xcc)
	f.Add(append(frame, 0x04, 0x03, 3, 1, 2, 0x0a, 0x02, 'h', 'i', 0xfe, 6, 0, 0x80, 0xc2, 1, 0, 5, 0, 0))
	f.Add(append(frame, 0x04, 0x02, 5, 'p', 0x08, 0x03, 0x1b, '[', 'J'))
	f.Add(append(frame, 0xfe, 6, 0, 0x80, 0xc2, 1, 0xff, 0xff, 0x0a, 1, 0x41)) // VLAN 65535
	f.Add(append(frame, 0xff, 0xff))
	f.Fuzz(func(t *testing.T, data []byte) {
		n, ok := parseLLDP(data)
		if strings.ContainsFunc(n.System+n.Port+n.Description, func(r rune) bool { return r < 0x20 || r > 0x7e }) || max(len(n.System), len(n.Port), len(n.Description)) > maxName {
			t.Errorf("%x gives %q, %q", data, n.System, n.Port)
		}
		if n.VLAN < 0 || n.VLAN > 4094 {
			t.Errorf("%x gives VLAN %d", data, n.VLAN)
		}
		if !ok && n != (Neighbour{VLAN: n.VLAN}) {
			t.Errorf("%x gives %+v, which is nothing", data, n)
		}
	})
}

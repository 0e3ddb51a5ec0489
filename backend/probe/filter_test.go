package probe

import (
	"net"
	"net/netip"
	"testing"

	"golang.org/x/net/bpf"
)

func TestFilterLeavesTheNodesTrafficToTheKernel(t *testing.T) {
	raw, err := filter([]netip.Addr{netip.MustParseAddr("198.51.100.10"), netip.MustParseAddr("2001:db8:51::10")})
	if err != nil {
		t.Fatal(err)
	}
	program, all := bpf.Disassemble(raw)
	if !all {
		t.Fatal("the filter does not disassemble")
	}
	vm, err := bpf.NewVM(program)
	if err != nil {
		t.Fatal(err)
	}
	mac := net.HardwareAddr{2, 0, 0, 0, 0, 1}
	from4, to4 := netip.MustParseAddr("198.51.100.1"), netip.MustParseAddr("198.51.100.10")
	from6, to6 := netip.MustParseAddr("2001:db8:51::1"), netip.MustParseAddr("2001:db8:51::10")
	q6, err := neighbourSolicitation(mac, from6, to6)
	if err != nil {
		t.Fatal(err)
	}
	tcp := func(frame []byte, at int) []byte { frame[at] = 6; return frame }
	for name, c := range map[string]struct {
		frame []byte
		pass  bool
	}{
		"ARP":                      {arpRequest(mac, from4, to4).frame, true},
		"neighbour discovery":      {q6.frame, true},
		"DHCP offer, broadcast":    {udpBroadcast(mac, make([]byte, 300)), true},
		"echo to anybody":          {echoFrame(mac, mac, from4, netip.MustParseAddr("198.51.100.77"), 1, 100), true},
		"TCP to the address":       {tcp(echoFrame(mac, mac, from4, to4, 1, 100), offIPv4Proto), true},
		"TCP to the IPv6 address":  {tcp(echoFrame(mac, mac, from6, to6, 1, 100), offIPv6Next), true},
		"TCP to another":           {tcp(echoFrame(mac, mac, from4, netip.MustParseAddr("198.51.100.11"), 1, 100), offIPv4Proto), false},
		"TCP to another over IPv6": {tcp(echoFrame(mac, mac, from6, netip.MustParseAddr("2001:db8:51::11"), 1, 100), offIPv6Next), false},
	} {
		n, err := vm.Run(c.frame)
		if err != nil || n > 0 != c.pass {
			t.Errorf("%s: %d bytes pass, %v", name, n, err)
		}
	}
}

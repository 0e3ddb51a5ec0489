package probe

import (
	"fmt"
	"net/netip"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
	"gvisor.dev/gvisor/pkg/tcpip/header"
)

// Where things lie in a frame, counted from the start of its Ethernet header.
const (
	offProtocol  = 12
	offIPv4Proto = header.EthernetMinimumSize + 9
	offIPv4Dst   = header.EthernetMinimumSize + 16
	offIPv6Next  = header.EthernetMinimumSize + 6
	offIPv6Dst   = header.EthernetMinimumSize + 24
)

// filter lets pass what the probes wait for: ARP, ICMP of both kinds, IPv4 UDP that was broadcast (DHCP), and what is sent
// to one of the addresses. The node's own traffic, which can be a lot, stays in the kernel.
func filter(addresses []netip.Addr) ([]bpf.RawInstruction, error) {
	// Every test is its own short run that falls through to the next one, so that no jump is longer than a run.
	var p []bpf.Instruction
	when := func(tests ...bpf.Instruction) {
		for i, t := range tests {
			if j, ok := t.(bpf.JumpIf); ok {
				j.SkipFalse = uint8(len(tests) - i) // past the rest of this run and its RetConstant
				tests[i] = j
			}
		}
		p = append(append(p, tests...), bpf.RetConstant{Val: 1 << 18})
	}
	load := func(off, size uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: off, Size: int(size)} }
	is := func(v uint32) bpf.Instruction { return bpf.JumpIf{Cond: bpf.JumpEqual, Val: v} }

	when(load(offProtocol, 2), is(unix.ETH_P_ARP))
	when(load(offProtocol, 2), is(unix.ETH_P_IPV6), load(offIPv6Next, 1), is(unix.IPPROTO_ICMPV6))
	when(load(offProtocol, 2), is(unix.ETH_P_IP), load(offIPv4Proto, 1), is(unix.IPPROTO_ICMP))
	when(load(0, 4), is(0xffffffff), load(offProtocol, 2), is(unix.ETH_P_IP), load(offIPv4Proto, 1), is(unix.IPPROTO_UDP))
	for _, a := range addresses {
		if a.Is4() {
			when(load(offProtocol, 2), is(unix.ETH_P_IP), load(offIPv4Dst, 4), is(word(a.AsSlice())))
			continue
		}
		tests := []bpf.Instruction{load(offProtocol, 2), is(unix.ETH_P_IPV6)}
		for i := range uint32(4) {
			tests = append(tests, load(offIPv6Dst+4*i, 4), is(word(a.AsSlice()[4*i:])))
		}
		when(tests...)
	}
	raw, err := bpf.Assemble(append(p, bpf.RetConstant{Val: 0}))
	if err != nil {
		return nil, fmt.Errorf("assembling the packet filter: %w", err)
	}
	return raw, nil
}

func word(b []byte) uint32 {
	return uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
}

func attachFilter(fd int, addresses []netip.Addr) error {
	raw, err := filter(addresses)
	if err != nil {
		return err
	}
	program := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		program[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	f := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &f); err != nil {
		return fmt.Errorf("attaching the packet filter: %w", err)
	}
	return nil
}

// admit lets frames to addresses pass as well, on every port.
func (w *wire) admit(addresses []netip.Addr) error {
	for _, p := range w.ports {
		raw, err := p.file.SyscallConn()
		if err != nil {
			return fmt.Errorf("filtering on %s: %w", p.name, err)
		}
		var attached error
		if err := raw.Control(func(fd uintptr) { attached = attachFilter(int(fd), addresses) }); err != nil {
			return fmt.Errorf("filtering on %s: %w", p.name, err)
		}
		if attached != nil {
			return attached
		}
	}
	return nil
}

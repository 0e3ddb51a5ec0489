package probe

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/mdlayher/ndp"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/header"
)

// How often is asked who has an address, and how long is waited. RFC 5227 asks three times over up to 7 s, for hosts on
// radio; on a cable an answer takes milliseconds, and a person waits.
const (
	askTimes  = 3
	askEvery  = 300 * time.Millisecond
	askAnswer = 500 * time.Millisecond // after the last time
	askMore   = 100 * time.Millisecond // for a second answer, where one is enough
)

// question is what is sent, and how an answer to it is known.
type question struct {
	frame  []byte
	answer func(frame) net.HardwareAddr // who answers; nil when this is not an answer
	first  bool                         // the first answer ends the asking
}

// ask sends the question several times and returns who answered, without the machine's own cards.
func (w *wire) ask(ctx context.Context, q question, own []net.HardwareAddr) ([]net.HardwareAddr, error) {
	answers := make(chan net.HardwareAddr, 16)
	stop := w.listen(func(f frame) {
		mac := q.answer(f)
		if mac == nil || slices.ContainsFunc(own, func(o net.HardwareAddr) bool { return bytes.Equal(o, mac) }) {
			return
		}
		select {
		case answers <- slices.Clone(mac):
		default: // sixteen answers say enough
		}
	})
	defer stop()
	var found []net.HardwareAddr
	for i := range askTimes {
		if err := w.send(q.frame); err != nil {
			return found, err
		}
		wait := askEvery
		if i == askTimes-1 {
			wait = askAnswer
		}
		found = gather(ctx, answers, found, wait, q.first)
		if ctx.Err() != nil || q.first && len(found) > 0 {
			break
		}
	}
	return found, nil
}

func gather(ctx context.Context, from <-chan net.HardwareAddr, found []net.HardwareAddr, wait time.Duration, first bool) []net.HardwareAddr {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case mac := <-from:
			if !slices.ContainsFunc(found, func(f net.HardwareAddr) bool { return bytes.Equal(f, mac) }) {
				found = append(found, mac)
			}
			if first {
				timer.Reset(askMore)
			}
		case <-timer.C:
			return found
		case <-ctx.Done():
			return found
		}
	}
}

// whoHas asks for target. From the unspecified address nobody learns that the asker has an address: that is how a free
// one is looked for. From an address of one's own, target answers only when it can talk to that address.
func (w *wire) whoHas(from, target netip.Addr) (question, error) {
	if target.Is4() {
		return arpRequest(w.mac(), from, target), nil
	}
	return neighbourSolicitation(w.mac(), from, target)
}

func arpRequest(mac net.HardwareAddr, from, target netip.Addr) question {
	b := make([]byte, header.EthernetMinimumSize+header.ARPSize)
	header.Ethernet(b).Encode(&header.EthernetFields{
		SrcAddr: tcpip.LinkAddress(mac), DstAddr: header.EthernetBroadcastAddress, Type: header.ARPProtocolNumber,
	})
	a := header.ARP(b[header.EthernetMinimumSize:])
	a.SetIPv4OverEthernet()
	a.SetOp(header.ARPRequest)
	copy(a.HardwareAddressSender(), mac)
	copy(a.ProtocolAddressSender(), from.AsSlice())
	copy(a.ProtocolAddressTarget(), target.AsSlice())
	return question{frame: b, answer: func(f frame) net.HardwareAddr {
		if f.protocol != uint16(header.ARPProtocolNumber) {
			return nil
		}
		got := header.ARP(f.data[header.EthernetMinimumSize:])
		if !got.IsValid() {
			return nil
		}
		// Whoever sends from the address has it. Whoever looks for it as we do, without its own address, is about
		// to take it.
		has := bytes.Equal(got.ProtocolAddressSender(), target.AsSlice())
		wants := from.IsUnspecified() && got.Op() == header.ARPRequest && bytes.Equal(got.ProtocolAddressTarget(), target.AsSlice()) &&
			bytes.Equal(got.ProtocolAddressSender(), from.AsSlice())
		if has || wants {
			return got.HardwareAddressSender()
		}
		return nil
	}}
}

func neighbourSolicitation(mac net.HardwareAddr, from, target netip.Addr) (question, error) {
	to, err := ndp.SolicitedNodeMulticast(target)
	if err != nil {
		return question{}, fmt.Errorf("asking for %s: %w", target, err)
	}
	ask := &ndp.NeighborSolicitation{TargetAddress: target}
	if !from.IsUnspecified() {
		ask.Options = []ndp.Option{&ndp.LinkLayerAddress{Direction: ndp.Source, Addr: mac}}
	}
	b, err := icmpv6Frame(mac, from, to, ask)
	if err != nil {
		return question{}, err
	}
	return question{frame: b, answer: func(f frame) net.HardwareAddr {
		m, src := readNDP(f)
		switch m := m.(type) {
		case *ndp.NeighborAdvertisement:
			if m.TargetAddress == target {
				return senderOf(f)
			}
		case *ndp.NeighborSolicitation:
			if from.IsUnspecified() && src.IsUnspecified() && m.TargetAddress == target {
				return senderOf(f)
			}
		}
		return nil
	}}, nil
}

func senderOf(f frame) net.HardwareAddr {
	return net.HardwareAddr(header.Ethernet(f.data).SourceAddress())
}

// icmpv6Frame is a message of neighbour discovery to a multicast group, as it goes on the wire.
func icmpv6Frame(mac net.HardwareAddr, from, group netip.Addr, m ndp.Message) ([]byte, error) {
	payload, err := ndp.MarshalMessageChecksum(m, from, group)
	if err != nil {
		return nil, fmt.Errorf("making a message of neighbour discovery: %w", err)
	}
	b := make([]byte, header.EthernetMinimumSize+header.IPv6MinimumSize, header.EthernetMinimumSize+header.IPv6MinimumSize+len(payload))
	header.Ethernet(b).Encode(&header.EthernetFields{
		SrcAddr: tcpip.LinkAddress(mac), Type: header.IPv6ProtocolNumber,
		DstAddr: header.EthernetAddressFromMulticastIPv6Address(tcpip.AddrFrom16(group.As16())),
	})
	header.IPv6(b[header.EthernetMinimumSize:]).Encode(&header.IPv6Fields{
		PayloadLength: uint16(len(payload)), TransportProtocol: header.ICMPv6ProtocolNumber, HopLimit: ndp.HopLimit,
		SrcAddr: tcpip.AddrFrom16(from.As16()), DstAddr: tcpip.AddrFrom16(group.As16()),
	})
	return append(b, payload...), nil
}

// readNDP reads a message of neighbour discovery; nil when the frame holds none. A hop limit below 255 shows that it
// crossed a router, which no true one does (RFC 4861 7.1).
func readNDP(f frame) (m ndp.Message, from netip.Addr) {
	if f.protocol != uint16(header.IPv6ProtocolNumber) || len(f.data) < header.EthernetMinimumSize+header.IPv6MinimumSize {
		return nil, netip.Addr{}
	}
	ip := header.IPv6(f.data[header.EthernetMinimumSize:])
	if !ip.IsValid(len(ip)) || ip.NextHeader() != uint8(header.ICMPv6ProtocolNumber) || ip.HopLimit() != ndp.HopLimit {
		return nil, netip.Addr{}
	}
	m, err := ndp.ParseMessage(ip.Payload())
	if err != nil {
		return nil, netip.Addr{}
	}
	return m, netip.AddrFrom16(ip.SourceAddress().As16())
}

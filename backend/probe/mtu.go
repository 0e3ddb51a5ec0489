package probe

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/checksum"
	"gvisor.dev/gvisor/pkg/tcpip/header"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

// How long to wait for an echo of the gateway, and how often it is asked.
const (
	echoWait  = 300 * time.Millisecond
	echoTries = 2
)

// echoSmall is a packet that every network carries, in bytes with its IP header: IPv4's minimum is 576.
const echoSmall = 100

// packets asks the first gateway that answered for an echo of the largest packet. A switch or tunnel on the way that
// carries less drops it without a word, and later every larger transfer hangs.
func (r *run) packets(ctx context.Context) {
	c := check.Check{ID: "net-mtu", Title: message.T("Large packets"), Status: check.Skip}
	size := r.t.MTU
	if size == 0 {
		size = r.wire.mtu
	}
	c.Expected = message.F("the gateway echoes a packet of %d bytes", size)
	defer func() { r.say(c) }()
	var f *family
	for _, have := range r.families {
		if f == nil && have.answers {
			f = have
		}
	}
	switch {
	case f == nil:
		c.Observed = message.T("Not tried: there is no gateway that answers.")
		return
	case size > r.wire.mtu:
		c.Observed = message.F("Not tried: the port is set to %d bytes now, and %d can be tried after applying only.", r.wire.mtu, size)
		return
	case !r.echo(ctx, f, echoSmall):
		c.Observed = message.T("Not tried: the gateway does not answer an echo (ping), as many do not.")
		return
	}
	c.Evidence = append(c.Evidence, message.F("%s echoed %d bytes", f.gateway, echoSmall))
	if r.echo(ctx, f, size) {
		c.Status, c.Observed = check.Pass, message.F("Packets of %d bytes come through.", size)
		return
	}
	c.Status = check.Warn
	c.Observed = message.F("The gateway echoes small packets, but not one of %d bytes.", size)
	c.Fix = message.T("Ask the site's network administrator for the network's MTU and type it; 1500 is usual.")
}

// echo sends an echo request of size bytes, IP header included and never to be cut, and waits for the whole of it.
func (r *run) echo(ctx context.Context, f *family, size int) bool {
	var b [2]byte
	copy(b[:], random())
	id := binary.BigEndian.Uint16(b[:])
	ask := echoFrame(r.wire.mac(), f.mac, f.address.Addr(), f.gateway, id, size)
	came := make(chan struct{}, 1)
	defer r.wire.listen(func(frame frame) {
		if isEcho(frame, f.gateway, id, size) {
			select {
			case came <- struct{}{}:
			default:
			}
		}
	})()
	for range echoTries {
		if err := r.wire.send(ask); errors.Is(err, unix.EMSGSIZE) {
			return false
		}
		timer := time.NewTimer(echoWait)
		select {
		case <-came:
			timer.Stop()
			return true
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return false
		}
	}
	return false
}

func echoFrame(mac, gatewayMAC net.HardwareAddr, from, to netip.Addr, id uint16, size int) []byte {
	b := make([]byte, header.EthernetMinimumSize+size)
	eth := header.EthernetFields{SrcAddr: tcpip.LinkAddress(mac), DstAddr: tcpip.LinkAddress(gatewayMAC), Type: protocolOf(to)}
	header.Ethernet(b).Encode(&eth)
	packet := b[header.EthernetMinimumSize:]
	source, target := tcpip.AddrFromSlice(from.AsSlice()), tcpip.AddrFromSlice(to.AsSlice())
	if to.Is4() {
		ip := header.IPv4(packet)
		ip.Encode(&header.IPv4Fields{
			TotalLength: uint16(size), Flags: header.IPv4FlagDontFragment, TTL: 64, Protocol: uint8(header.ICMPv4ProtocolNumber),
			SrcAddr: source, DstAddr: target,
		})
		ip.SetChecksum(^ip.CalculateChecksum())
		icmp := header.ICMPv4(packet[header.IPv4MinimumSize:])
		icmp.SetType(header.ICMPv4Echo)
		icmp.SetIdent(id)
		icmp.SetChecksum(^checksum.Checksum(icmp, 0))
		return b
	}
	ip := header.IPv6(packet)
	ip.Encode(&header.IPv6Fields{
		PayloadLength: uint16(size - header.IPv6MinimumSize), TransportProtocol: header.ICMPv6ProtocolNumber, HopLimit: 64,
		SrcAddr: source, DstAddr: target,
	})
	icmp := header.ICMPv6(packet[header.IPv6MinimumSize:])
	icmp.SetType(header.ICMPv6EchoRequest)
	icmp.SetIdent(id)
	icmp.SetChecksum(header.ICMPv6Checksum(header.ICMPv6ChecksumParams{Header: icmp, Src: source, Dst: target}))
	return b
}

func isEcho(f frame, from netip.Addr, id uint16, size int) bool {
	packet := f.data[header.EthernetMinimumSize:]
	switch {
	case len(packet) < size:
		return false
	case from.Is4() && f.protocol == uint16(header.IPv4ProtocolNumber):
		ip := header.IPv4(packet)
		if !ip.IsValid(len(ip)) || ip.TransportProtocol() != header.ICMPv4ProtocolNumber || int(ip.TotalLength()) != size {
			return false
		}
		icmp := header.ICMPv4(ip.Payload())
		return icmp.Type() == header.ICMPv4EchoReply && icmp.Ident() == id
	case from.Is6() && f.protocol == uint16(header.IPv6ProtocolNumber):
		ip := header.IPv6(packet)
		if !ip.IsValid(len(ip)) || ip.NextHeader() != uint8(header.ICMPv6ProtocolNumber) || int(ip.PayloadLength())+header.IPv6MinimumSize != size {
			return false
		}
		icmp := header.ICMPv6(ip.Payload())
		return icmp.Type() == header.ICMPv6EchoReply && icmp.Ident() == id
	}
	return false
}

package probe

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/checksum"
	"gvisor.dev/gvisor/pkg/tcpip/header"
)

// How long to wait for an offer. Servers look whether the address is free before they offer it: ISC dhcpd for 1 s,
// dnsmasq for 3 s. After the first offer a second server has a moment to show itself.
const (
	offerWait   = 5 * time.Second
	offerRepeat = 1500 * time.Millisecond
	offerMore   = 400 * time.Millisecond
)

const (
	dhcpServer = 67
	dhcpClient = 68
)

// Offer is what a network says about itself: by DHCP, or by a router's advertisement. Nothing of it was taken.
type Offer struct {
	From    netip.Addr    // the server, or the router
	Address netip.Prefix  // the address that this machine would get
	Gateway netip.Addr    // not valid: none
	DNS     []netip.Addr  //
	NTP     []netip.Addr  //
	MTU     int           // bytes; 0: nothing said
	Lease   time.Duration // how long the address may be kept; 0: nothing said
}

// discover asks for offers of an IPv4 address. It sends DISCOVER only, never REQUEST: no lease comes of it.
func (w *wire) discover(ctx context.Context) ([]Offer, error) {
	// The client identifier is the one that NetworkManager sends on RHEL CoreOS, so that a reservation is found.
	ask, err := dhcpv4.NewDiscovery(w.mac(), dhcpv4.WithBroadcast(true),
		dhcpv4.WithOption(dhcpv4.OptClientIdentifier(append([]byte{1}, w.mac()...))),
		dhcpv4.WithRequestedOptions(dhcpv4.OptionInterfaceMTU, dhcpv4.OptionNTPServers,
			dhcpv4.OptionClasslessStaticRoute))
	if err != nil {
		return nil, fmt.Errorf("making a DHCP message: %w", err)
	}
	offers := make(chan Offer, 8)
	stop := w.listen(func(f frame) {
		if o, ok := readOffer(f, ask.TransactionID); ok {
			select {
			case offers <- o:
			default:
			}
		}
	})
	defer stop()
	return collectOffers(ctx, offers, func() error { return w.send(udpBroadcast(w.mac(), ask.ToBytes())) })
}

// collectOffers sends again and again until an offer comes, and waits for others a little longer. No offer at all is
// not an error.
func collectOffers(ctx context.Context, from <-chan Offer, send func() error) ([]Offer, error) {
	ctx, cancel := context.WithTimeout(ctx, offerWait)
	defer cancel()
	if err := send(); err != nil {
		return nil, err
	}
	repeat := time.NewTicker(offerRepeat)
	defer repeat.Stop()
	var found []Offer
	var last <-chan time.Time
	for {
		select {
		case o := <-from:
			if !slices.ContainsFunc(found, func(f Offer) bool { return f.From == o.From }) {
				found = append(found, o)
			}
			if last == nil {
				last = time.After(offerMore)
			}
		case <-repeat.C:
			if last != nil {
				continue
			}
			if err := send(); err != nil {
				return found, err
			}
		case <-last:
			return found, nil
		case <-ctx.Done():
			return found, nil
		}
	}
}

// udpBroadcast is a message of a DHCP client that has no address yet.
func udpBroadcast(mac net.HardwareAddr, payload []byte) []byte {
	const ipAt, udpAt = header.EthernetMinimumSize, header.EthernetMinimumSize + header.IPv4MinimumSize
	b := make([]byte, udpAt+header.UDPMinimumSize, udpAt+header.UDPMinimumSize+len(payload))
	header.Ethernet(b).Encode(&header.EthernetFields{
		SrcAddr: tcpip.LinkAddress(mac), DstAddr: header.EthernetBroadcastAddress, Type: header.IPv4ProtocolNumber,
	})
	length := uint16(header.UDPMinimumSize + len(payload))
	ip := header.IPv4(b[ipAt:])
	ip.Encode(&header.IPv4Fields{
		TotalLength: header.IPv4MinimumSize + length, TTL: 64, Protocol: uint8(header.UDPProtocolNumber),
		SrcAddr: header.IPv4Any, DstAddr: header.IPv4Broadcast,
	})
	ip.SetChecksum(^ip.CalculateChecksum())
	u := header.UDP(b[udpAt:])
	u.Encode(&header.UDPFields{SrcPort: dhcpClient, DstPort: dhcpServer, Length: length})
	pseudo := header.PseudoHeaderChecksum(header.UDPProtocolNumber, header.IPv4Any, header.IPv4Broadcast, length)
	u.SetChecksum(^u.CalculateChecksum(checksum.Checksum(payload, pseudo)))
	return append(b, payload...)
}

func readOffer(f frame, id dhcpv4.TransactionID) (Offer, bool) {
	if f.protocol != uint16(header.IPv4ProtocolNumber) {
		return Offer{}, false
	}
	ip := header.IPv4(f.data[header.EthernetMinimumSize:])
	if !ip.IsValid(len(ip)) || ip.Protocol() != uint8(header.UDPProtocolNumber) {
		return Offer{}, false
	}
	u := header.UDP(ip.Payload())
	if len(u) < header.UDPMinimumSize || u.DestinationPort() != dhcpClient {
		return Offer{}, false
	}
	m, err := dhcpv4.FromBytes(u.Payload())
	if err != nil || m.TransactionID != id || m.MessageType() != dhcpv4.MessageTypeOffer {
		return Offer{}, false
	}
	return offered(m)
}

func offered(m *dhcpv4.DHCPv4) (Offer, bool) {
	address, ok := addr(m.YourIPAddr)
	bits, _ := m.SubnetMask().Size()
	if !ok || address.IsUnspecified() || bits == 0 {
		return Offer{}, false
	}
	o := Offer{
		Address: netip.PrefixFrom(address, bits), DNS: addrs(m.DNS()), NTP: addrs(m.NTPServers()),
		Lease: m.IPAddressLeaseTime(0),
	}
	o.From, _ = addr(m.ServerIdentifier())
	if routers := addrs(m.Router()); len(routers) > 0 {
		o.Gateway = routers[0]
	}
	// Where a server sends classless routes, the router option does not count (RFC 3442).
	if routes := m.ClasslessStaticRoute(); len(routes) > 0 {
		o.Gateway = netip.Addr{}
		for _, route := range routes {
			if ones, _ := route.Dest.Mask.Size(); ones == 0 {
				o.Gateway, _ = addr(route.Router)
			}
		}
	}
	if b := m.Options.Get(dhcpv4.OptionInterfaceMTU); len(b) == 2 {
		o.MTU = int(binary.BigEndian.Uint16(b))
	}
	return o, true
}

func addr(ip net.IP) (netip.Addr, bool) {
	a, ok := netip.AddrFromSlice(ip)
	return a.Unmap(), ok
}

func addrs(ips []net.IP) []netip.Addr {
	var all []netip.Addr
	for _, ip := range ips {
		if a, ok := addr(ip); ok && !a.IsUnspecified() {
			all = append(all, a)
		}
	}
	return all
}

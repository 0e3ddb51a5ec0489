package probe

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/insomniacslk/dhcp/dhcpv6"
	"github.com/insomniacslk/dhcp/iana"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv6"
)

// Ports and group of RFC 8415 7.
const (
	dhcp6Client = 546
	dhcp6Server = 547
)

var allDHCP6Servers = net.UDPAddr{IP: net.ParseIP("ff02::1:2"), Port: dhcp6Server}

// solicitAddress asks for offers of an IPv6 address. It sends SOLICIT only, without rapid commit: no lease comes of it.
// from is a link-local address of the stack.
func (u *userStack) solicitAddress(ctx context.Context, from netip.Addr) ([]Offer, error) {
	mac := u.wire.mac()
	ask, err := dhcpv6.NewSolicit(mac,
		// An identifier out of the MAC alone is the same at every probe, so that a server does not run out of addresses.
		dhcpv6.WithClientID(&dhcpv6.DUIDLL{HWType: iana.HWTypeEthernet, LinkLayerAddr: mac}),
		dhcpv6.WithRequestedOptions(dhcpv6.OptionNTPServer))
	if err != nil {
		return nil, fmt.Errorf("making a DHCPv6 message: %w", err)
	}
	c, err := gonet.DialUDP(u.stack,
		&tcpip.FullAddress{NIC: nic, Addr: tcpip.AddrFromSlice(from.AsSlice()), Port: dhcp6Client}, nil, ipv6.ProtocolNumber)
	if err != nil {
		return nil, fmt.Errorf("asking for an IPv6 address: %w", err)
	}
	offers := make(chan Offer, 8)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		readAdvertises(c, ask.TransactionID, offers)
	}()
	defer func() { <-ended }()
	defer c.Close() //nolint:errcheck // nothing was written that could get lost
	return collectOffers(ctx, offers, func() error {
		if _, err := c.WriteTo(ask.ToBytes(), &allDHCP6Servers); err != nil {
			return fmt.Errorf("sending a DHCPv6 message: %w", err)
		}
		return nil
	})
}

// readAdvertises reads until the connection is closed.
func readAdvertises(c net.PacketConn, id dhcpv6.TransactionID, to chan<- Offer) {
	b := make([]byte, 2048)
	for {
		n, server, err := c.ReadFrom(b)
		if err != nil {
			return
		}
		m, err := dhcpv6.MessageFromBytes(slices.Clone(b[:n]))
		if err != nil || m.TransactionID != id || m.MessageType != dhcpv6.MessageTypeAdvertise {
			continue
		}
		if o, ok := advertise(m); ok {
			if a, isUDP := server.(*net.UDPAddr); isUDP {
				o.From, _ = addr(a.IP)
			}
			select {
			case to <- o:
			default:
			}
		}
	}
}

func advertise(m *dhcpv6.Message) (Offer, bool) {
	ia := m.Options.OneIANA()
	if ia == nil || ia.Options.OneAddress() == nil {
		return Offer{}, false
	}
	address, ok := addr(ia.Options.OneAddress().IPv6Addr)
	if !ok {
		return Offer{}, false
	}
	return Offer{
		// DHCPv6 gives an address, not a network: what is on the network, routers tell.
		Address: netip.PrefixFrom(address, 128), DNS: addrs(m.Options.DNS()), NTP: addrs(m.Options.NTPServers()),
		Lease: ia.Options.OneAddress().ValidLifetime,
	}, true
}

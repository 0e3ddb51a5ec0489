package probe

import (
	"net"
	"net/netip"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/dhcpv6"
	"github.com/mdlayher/ndp"
	"gvisor.dev/gvisor/pkg/tcpip/header"
)

// FuzzFrames hands every reader what anybody on the network can send. A panic there would end the engine.
func FuzzFrames(f *testing.F) {
	mac := net.HardwareAddr{2, 0, 0, 0, 0, 1}
	a4, b4 := netip.MustParseAddr("198.51.100.1"), netip.MustParseAddr("198.51.100.10")
	a6, b6 := netip.MustParseAddr("fe80::1"), netip.MustParseAddr("2001:db8:51::10")
	id := dhcpv4.TransactionID{1, 2, 3, 4}
	arp := arpRequest(mac, a4, b4)
	ns, err := neighbourSolicitation(mac, unspecified6, b6)
	if err != nil {
		f.Fatal(err)
	}
	ra, err := icmpv6Frame(mac, a6, netip.MustParseAddr("ff02::1"), &ndp.RouterAdvertisement{Options: []ndp.Option{
		&ndp.PrefixInformation{PrefixLength: 64, Prefix: netip.MustParseAddr("2001:db8:51::"), AutonomousAddressConfiguration: true, ValidLifetime: ndp.Infinity},
		&ndp.RecursiveDNSServer{Servers: []netip.Addr{b6}}, ndp.NewMTU(1500),
	}})
	if err != nil {
		f.Fatal(err)
	}
	offer, err := dhcpv4.New(dhcpv4.WithTransactionID(id), dhcpv4.WithMessageType(dhcpv4.MessageTypeOffer), dhcpv4.WithYourIP(b4.AsSlice()),
		dhcpv4.WithNetmask(net.CIDRMask(24, 32)), dhcpv4.WithRouter(a4.AsSlice()), dhcpv4.WithDNS(a4.AsSlice()))
	if err != nil {
		f.Fatal(err)
	}
	dhcp := udpBroadcast(mac, offer.ToBytes())
	dhcp[header.EthernetMinimumSize+header.IPv4MinimumSize+3] = dhcpClient
	if o, ok := readOffer(whole(dhcp), id); !ok || o.Address.Addr() != b4 {
		f.Fatalf("the seed is not an offer: %+v", o)
	}
	for _, seed := range [][]byte{arp.frame, ns.frame, ra, dhcp, echoFrame(mac, mac, a4, b4, 1, 100), echoFrame(mac, mac, a6, b6, 1, 100)} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, data []byte) {
		if len(data) < header.EthernetMinimumSize {
			return // never delivered
		}
		frame := whole(data)
		readOffer(frame, id)
		if m, from := readNDP(frame); m != nil {
			if ra, is := m.(*ndp.RouterAdvertisement); is {
				_ = readAdvertisement(ra, from, mac).text().String()
			}
		}
		arp.answer(frame)
		ns.answer(frame)
		isEcho(frame, a4, 1, 100)
		isEcho(frame, a6, 1, 100)
		if m, err := dhcpv6.MessageFromBytes(data); err == nil {
			advertise(m)
		}
		readVLAN(data)
		(&answer{}).read(data, 1)
	})
}

// whole is a frame as deliver makes it.
func whole(data []byte) frame {
	return frame{data: data, protocol: uint16(header.Ethernet(data).Type())}
}

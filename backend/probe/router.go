package probe

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/mdlayher/ndp"
)

// How long to wait for a router's advertisement. RFC 4861 lets a router wait half a second before it answers, and
// three seconds between two answers to everybody.
const (
	routerWait  = 4 * time.Second
	routerEvery = 1500 * time.Millisecond
	routerMore  = 300 * time.Millisecond
)

var (
	unspecified4 = netip.IPv4Unspecified()
	unspecified6 = netip.IPv6Unspecified()
	allRouters   = netip.MustParseAddr("ff02::2")
)

// advertised is what a router says of its network.
type advertised struct {
	Offer
	managed bool         // addresses come by DHCPv6
	onLink  netip.Prefix // whoever has an address in it is a neighbour
}

// solicit asks for routers and returns what they advertise, one entry a router.
func (w *wire) solicit(ctx context.Context) ([]advertised, error) {
	ask, err := icmpv6Frame(w.mac(), unspecified6, allRouters, &ndp.RouterSolicitation{})
	if err != nil {
		return nil, err
	}
	heard := make(chan advertised, 8)
	stop := w.listen(func(f frame) {
		m, from := readNDP(f)
		if ra, ok := m.(*ndp.RouterAdvertisement); ok && from.IsLinkLocalUnicast() {
			select {
			case heard <- readAdvertisement(ra, from, w.mac()):
			default:
			}
		}
	})
	defer stop()

	ctx, cancel := context.WithTimeout(ctx, routerWait)
	defer cancel()
	var found []advertised
	for ctx.Err() == nil {
		if err := w.send(ask); err != nil {
			return nil, err
		}
		found = hear(ctx, heard, found)
		if len(found) > 0 {
			break
		}
	}
	return found, nil
}

func hear(ctx context.Context, from <-chan advertised, found []advertised) []advertised {
	timer := time.NewTimer(routerEvery)
	defer timer.Stop()
	for {
		select {
		case a := <-from:
			if !slices.ContainsFunc(found, func(f advertised) bool { return f.From == a.From }) {
				found = append(found, a)
			}
			timer.Reset(routerMore)
		case <-timer.C:
			return found
		case <-ctx.Done():
			return found
		}
	}
}

func readAdvertisement(ra *ndp.RouterAdvertisement, from netip.Addr, mac net.HardwareAddr) advertised {
	a := advertised{Offer: Offer{From: from}, managed: ra.ManagedConfiguration}
	// A lifetime of zero says: I know this network, but I am no way out of it.
	if ra.RouterLifetime > 0 {
		a.Gateway = from
	}
	for _, o := range ra.Options {
		switch o := o.(type) {
		case *ndp.PrefixInformation:
			if o.OnLink && !a.onLink.IsValid() {
				a.onLink = netip.PrefixFrom(o.Prefix, int(o.PrefixLength))
			}
			// SLAAC makes addresses of 64-bit prefixes only (RFC 4862 5.5.3 with an Ethernet card's 64-bit identifier).
			if o.AutonomousAddressConfiguration && o.PrefixLength == 64 && o.ValidLifetime > 0 && !a.Address.IsValid() {
				a.Address = netip.PrefixFrom(fromMAC(o.Prefix, mac), 64)
				a.Lease = o.ValidLifetime
			}
		case *ndp.RecursiveDNSServer:
			a.DNS = append(a.DNS, o.Servers...)
		case *ndp.MTU:
			a.MTU = int(o.MTU)
		}
	}
	return a
}

var linkLocal = netip.MustParseAddr("fe80::")

// fromMAC makes the address that a card has in a 64-bit prefix, after RFC 4291 appendix A.
func fromMAC(prefix netip.Addr, mac net.HardwareAddr) netip.Addr {
	b := prefix.As16()
	copy(b[8:], []byte{mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]})
	return netip.AddrFrom16(b)
}

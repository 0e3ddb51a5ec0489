package site

import "net/netip"

// Network is one subnet as its administrator planned it: who has which address. What it leaves out does not exist there.
type Network struct {
	Name   string
	Domain string // cluster name and base domain: its DNS has api.Domain and *.apps.Domain, both the node's

	Prefix4  netip.Prefix
	Gateway4 netip.Addr
	Node4    netip.Addr // of the node from outside; what DHCP offers the first client
	DNS4     []netip.Addr
	NTP4     []netip.Addr

	Prefix6  netip.Prefix
	Gateway6 netip.Addr
	Node6    netip.Addr // what DHCPv6 offers the first client
	DNS6     []netip.Addr
	NTP6     []netip.Addr
}

// The world behind the gateway has addresses that no site's subnet has.
const (
	RegistryName = "registry.example.net"
	RegistryPort = 443
	NTPName      = "ntp.example.net"
	ProxyPort    = 3128
)

// What lives in the world behind the gateway, and what does not: nobody has the address Nobody4.
var (
	Registry4 = netip.MustParseAddr("203.0.113.10")
	Registry6 = netip.MustParseAddr("2001:db8:ffff::10")
	NTP4      = netip.MustParseAddr("203.0.113.123")
	NTP6      = netip.MustParseAddr("2001:db8:ffff::123")
	DNS4      = netip.MustParseAddr("203.0.113.53")
	Nobody4   = netip.MustParseAddr("203.0.113.66")
	Nobody6   = netip.MustParseAddr("2001:db8:ffff::66")

	world4, worldGateway4 = netip.MustParsePrefix("203.0.113.0/24"), netip.MustParseAddr("203.0.113.1")
	world6, worldGateway6 = netip.MustParsePrefix("2001:db8:ffff::/64"), netip.MustParseAddr("2001:db8:ffff::1")
)

// Factory is the network where the node was built: IPv4 only, everything at the gateway.
func Factory() Network {
	gateway := netip.MustParseAddr("192.0.2.1")
	return Network{
		Name: "factory", Domain: "sno.factory.example",
		Prefix4: netip.MustParsePrefix("192.0.2.0/24"), Gateway4: gateway, Node4: netip.MustParseAddr("192.0.2.10"),
		DNS4: []netip.Addr{gateway}, NTP4: []netip.Addr{gateway},
	}
}

// Edge is the network of the site: dual stack, its DNS and NTP on their own machines.
func Edge() Network {
	return Network{
		Name: "edge", Domain: "sno.site.example",
		Prefix4: netip.MustParsePrefix("198.51.100.0/24"), Gateway4: netip.MustParseAddr("198.51.100.1"),
		Node4: netip.MustParseAddr("198.51.100.10"),
		DNS4:  []netip.Addr{netip.MustParseAddr("198.51.100.53")},
		NTP4:  []netip.Addr{netip.MustParseAddr("198.51.100.123")},

		Prefix6: netip.MustParsePrefix("2001:db8:51::/64"), Gateway6: netip.MustParseAddr("2001:db8:51::1"),
		Node6: netip.MustParseAddr("2001:db8:51::10"),
		DNS6:  []netip.Addr{netip.MustParseAddr("2001:db8:51::53")},
		NTP6:  []netip.Addr{netip.MustParseAddr("2001:db8:51::123")},
	}
}

// Client4 is the site's own laptop, which looks at the node from outside: the last address but five of the subnet.
func (n Network) Client4() netip.Addr { return host(n.Prefix4, 250) }

// Client6 is the same laptop in IPv6.
func (n Network) Client6() netip.Addr { return host(n.Prefix6, 0xfa) }

// host is an address of the prefix by its last byte; of no prefix it is not an address.
func host(p netip.Prefix, last byte) netip.Addr {
	if !p.IsValid() {
		return netip.Addr{}
	}
	raw := p.Masked().Addr().AsSlice()
	raw[len(raw)-1] = last
	address, _ := netip.AddrFromSlice(raw)
	return address
}

// prefixed gives an address the length of the subnet that it is in.
func (n Network) prefixed(a netip.Addr) netip.Prefix {
	if a.Is4() {
		return netip.PrefixFrom(a, n.Prefix4.Bits())
	}
	return netip.PrefixFrom(a, n.Prefix6.Bits())
}

// gateway is the way out for whoever has the address a.
func (n Network) gateway(a netip.Addr) netip.Addr {
	if a.Is4() {
		return n.Gateway4
	}
	return n.Gateway6
}

func (n Network) onLink(a netip.Addr) bool { return n.Prefix4.Contains(a) || n.Prefix6.Contains(a) }

func (n Network) isGateway(a netip.Addr) bool { return a == n.Gateway4 || a == n.Gateway6 }

// both puts the IPv4 and IPv6 addresses of one service together and leaves out what is none.
func both(lists ...[]netip.Addr) []netip.Addr {
	var all []netip.Addr
	for _, list := range lists {
		for _, a := range list {
			if a.IsValid() {
				all = append(all, a)
			}
		}
	}
	return all
}

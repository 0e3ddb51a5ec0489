package site

import (
	"net/netip"
	"strings"

	"touchdown/backend/message"
)

const (
	// maxDNSServers is how many a resolver asks (glibc resolv.h, MAXNS).
	maxDNSServers = 3
	// maxSearch is how many domains a resolver tried before glibc 2.26 (resolv.conf(5)); images still hold older ones.
	maxSearch = 6
	// maxNTP is more than the four that chrony needs to tell a wrong clock from the right ones. Chosen.
	maxNTP = 8
)

// IPv4Address reports what is wrong with the node's own IPv4 address.
func IPv4Address(s string) error { return ownAddress(s, true) }

// IPv6Address reports what is wrong with the node's own IPv6 address.
func IPv6Address(s string) error { return ownAddress(s, false) }

func ownAddress(s string, four bool) error {
	if f := withoutPrefix(s, four); f != nil {
		return f
	}
	return hostAddress(s, four, false)
}

// IPv4Gateway reports what is wrong with the address of an IPv4 router.
func IPv4Gateway(s string) error { return hostAddress(s, true, false) }

// IPv6Gateway reports what is wrong with the address of an IPv6 router, which may be link-local.
func IPv6Gateway(s string) error { return hostAddress(s, false, true) }

func hostAddress(s string, four, linkLocal bool) error {
	like := message.T("write it like 2001:db8:51::10")
	if four {
		like = message.T("write it like 198.51.100.10")
	}
	addr, f := parseAddress(s, like)
	switch length, mask := ones(s); {
	case f != nil:
		return f
	case mask && four && length >= 8 && length < addr.BitLen(): // the line of the sheet above or below
		return fault(message.T("write the address here; the netmask belongs in the prefix length"), message.F("is %s, a netmask and not an address", shown(s)))
	case four && !addr.Is4():
		return fault(message.T("write an IPv4 address like 198.51.100.10"), message.F("is %s, an IPv6 address", shown(s)))
	case !four && addr.Is4():
		return fault(message.T("write an IPv6 address like 2001:db8:51::10"), message.F("is %s, an IPv4 address", shown(s)))
	case linkLocal && !four && addr.IsLinkLocalUnicast():
		return nil
	}
	if f := reachable(addr); f != nil {
		return f
	}
	return nil
}

// anyFamily is how an address is written where both families will do.
func anyFamily() message.Text {
	return message.T("write it like 198.51.100.10 or 2001:db8:51::10")
}

// parseAddress is strict: 010.0.0.1 means one address to some programs and another to others. like shows how it is written.
func parseAddress(s string, like message.Text) (netip.Addr, *Error) {
	addr, err := netip.ParseAddr(s)
	switch {
	case s == "":
		return addr, fault(like, message.T("is missing"))
	case strings.Contains(s, "/"):
		return addr, fault(message.T("write the address alone; the prefix length is a separate value"), message.F("is %s, an address with a prefix length", shown(s)))
	case err != nil && leadingZero(s):
		return addr, fault(message.T("write the numbers without leading zeros"), message.F("is %s, where a number starts with 0", shown(s)))
	case err != nil:
		return addr, fault(like, message.F("is %s, which is not an IP address", shown(s)))
	case addr.Zone() != "":
		return addr, fault(message.T("remove the % and what follows"), message.F("is %s, an address with a zone", shown(s)))
	case addr.Is4In6():
		return addr, fault(message.F("write %s", addr.Unmap().String()), message.F("is %s, an IPv4 address written as IPv6", shown(s)))
	}
	return addr, nil
}

func leadingZero(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		if len(part) > 1 && part[0] == '0' && strings.Trim(part, "0123456789") == "" {
			return true
		}
	}
	return false
}

// reachable reports an address that no host of a site's network can have.
func reachable(addr netip.Addr) *Error {
	var what message.Text
	switch {
	case addr.IsUnspecified():
		what = message.T("the unspecified address")
	case addr.IsLoopback():
		what = message.T("an address of the machine itself")
	case addr.IsMulticast():
		what = message.T("a multicast address")
	case addr.IsLinkLocalUnicast():
		what = message.T("a link-local address")
	case addr.Is4() && addr.As4()[0] == 0: // RFC 1122, 3.2.1.3
		what = message.T("an address of no network (0.0.0.0/8)")
	case addr == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		what = message.T("the broadcast address")
	case addr.Is4() && addr.As4()[0] >= 240: // RFC 1112, 4
		what = message.T("a reserved address (240.0.0.0/4)")
	default:
		return nil
	}
	return fault(message.T("ask the site's network team for the address"), message.F("is %s, %s", shown(addr.String()), what))
}

// DNSServers reports what is wrong with the list of name servers.
func DNSServers(s string) error {
	return eachOf(s, maxDNSServers, func(server string) *Error {
		addr, f := parseAddress(server, anyFamily())
		if f != nil {
			return f
		}
		return reachable(addr)
	})
}

// dNSSearch reports what is wrong with the list of search domains.
func dNSSearch(s string) error {
	return eachOf(s, maxSearch, func(domain string) *Error { return dnsName(domain, "example.com") })
}

// NTPSources reports what is wrong with the list of time servers.
func NTPSources(s string) error { return eachOf(s, maxNTP, elsewhere) }

// localName tells whether a name is one of the machine itself, whoever asks (RFC 6761, 6.3).
func localName(s string) bool {
	return s == "localhost" || strings.HasSuffix(s, ".localhost") || strings.HasPrefix(s, "localhost.localdomain")
}

// loopback tells whether an address is one of the machine itself, whoever asks.
func loopback(s string) bool {
	addr, err := netip.ParseAddr(s)
	return err == nil && addr.IsLoopback()
}

// elsewhere is hostOrAddress for a server of the site, which no name of the machine itself is.
func elsewhere(s string) *Error {
	if localName(s) {
		return fault(message.T("write the name of the site's server"), message.F("is %s, a name of the machine itself", shown(s)))
	}
	return hostOrAddress(s)
}

// hostOrAddress reports what is wrong with the name or the address of a server.
func hostOrAddress(s string) *Error {
	if looksLikeAddress(s) {
		addr, f := parseAddress(s, anyFamily())
		if f != nil {
			return f
		}
		return reachable(addr)
	}
	return dnsName(s, "ntp.example.com")
}

// looksLikeAddress tells a mistyped address from a name: a name has no colon, and not numbers alone (RFC 3696, 2).
func looksLikeAddress(s string) bool {
	return s != "" && (strings.Contains(s, ":") && !strings.Contains(s, "://") || strings.Trim(s, "0123456789./") == "" || numeric(s))
}

// numeric tells whether every part of a name is a number, hexadecimal too: the C library reads 0x7f.1 as 127.0.0.1 and asks no name server
// (inet_aton(3)).
func numeric(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		hex, is := strings.CutPrefix(part, "0x")
		if is && strings.Trim(hex, "0123456789abcdef") != "" || !is && strings.Trim(part, "0123456789") != "" {
			return false
		}
	}
	return true
}

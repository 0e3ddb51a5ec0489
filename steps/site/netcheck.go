package site

import (
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"touchdown/backend/message"
	"touchdown/backend/netconfig"
	"touchdown/backend/value"
)

const (
	// shortest4 is the largest block of private addresses (RFC 1918, 10.0.0.0/8): no site has a larger subnet.
	shortest4 = 8
	// longest4 leaves room for a gateway beside the node (RFC 3021).
	longest4 = 31
	// shortest6 is what a provider as a whole gets (RFC 6177 and the registries' policies): no site has a larger subnet.
	shortest6 = 32
	// longest6 is a single address, with a link-local gateway.
	longest6 = 128
	// maxBondPorts is how many ports a bond may have: 802.3ad knows eight active ones (IEEE 802.1AX), as switches do.
	maxBondPorts = 8
)

var (
	ipv4Methods = []string{Static, DHCP, Disabled}
	ipv6Methods = []string{Static, DHCP, Autoconf, Disabled}
)

// macLike is a MAC address as Linux prints it, or with dashes.
var macLike = regexp.MustCompile(`^[0-9A-Fa-f]{2}([:-][0-9A-Fa-f]{2}){5}$`)

// InterfaceName reports what is wrong with the name or the MAC address of a port.
func InterfaceName(s string) error {
	if f := interfaceName(s); f != nil {
		return f
	}
	return nil
}

func interfaceName(s string) *Error {
	switch {
	case s == "":
		return fault(message.T("write it like enp1s0"), message.T("is missing"))
	case value.MAC(s) != "", macLike.MatchString(s): // the kernel would take aabb.ccdd.eeff for a name, but nobody gives it one
		return macAddress(s)
	case len(s) > netconfig.MaxLinkName:
		return fault(message.T("write the name that ip link shows"), message.F("has %d characters, more than the %d of an interface's name", len(s), netconfig.MaxLinkName))
	case strings.ContainsAny(s, "/:% \t") || s == "." || s == ".." || !printable(s) || isAddress(s):
		return fault(message.T("write a name like enp1s0 or a MAC address like 00:53:00:12:34:56"), message.F("is %s, neither a name nor a MAC address", shown(s)))
	case s == "lo" || netconfig.ClusterOwned(s):
		return fault(message.T("choose the port that leads to the site"), message.F("is %s, which is not a port but something that the node makes itself", shown(s)))
	}
	return nil
}

// isAddress tells whether s is an IP address, which a person typed in place of a port.
func isAddress(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil
}

func macAddress(s string) *Error {
	mac, err := net.ParseMAC(s)
	switch {
	case err != nil:
		return fault(message.T("write it like 00:53:00:12:34:56"), message.F("is %s, which is not a MAC address", shown(s)))
	case mac[0]&1 == 1 || slices.Max(mac) == 0:
		return fault(message.T("write the address that is printed on the port"), message.F("is %s, which is not a port's own address", shown(s)))
	}
	return nil
}

func printable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}

// bondMode reports what is wrong with the mode of a bond.
func bondMode(s string) error { return oneOf(s, netconfig.BondModes) }

// ipv4Method reports what is wrong with the way to an IPv4 address.
func ipv4Method(s string) error { return oneOf(s, ipv4Methods) }

// ipv6Method reports what is wrong with the way to an IPv6 address.
func ipv6Method(s string) error { return oneOf(s, ipv6Methods) }

func oneOf(s string, choices []string) error {
	if !slices.Contains(choices, s) {
		return fault(message.F("write one of %s", strings.Join(choices, ", ")), message.F("is %s, which is not one of the choices", shown(s)))
	}
	return nil
}

// BondPorts reports what is wrong with the list of a bond's ports.
func BondPorts(s string) error {
	return eachAs(s, maxBondPorts, interfaceName, canonicalNIC)
}

// eachOf judges the items of a list, how many there are and whether one is there twice.
func eachOf(s string, most int, check func(string) *Error) error {
	return eachAs(s, most, check, func(item string) string { return item })
}

// eachAs is eachOf for items that have several spellings: canonical writes them alike.
func eachAs(s string, most int, check func(string) *Error, canonical func(string) string) error {
	items := separate(s)
	if open := placeholder.FindString(s); len(separate(open)) > 1 { // separate cuts it into parts
		return unfilled(open)
	}
	if len(items) == 0 {
		return fault(message.T("give at least one"), message.T("is missing"))
	}
	if len(items) > most {
		return fault(message.T("keep the most important ones"), message.F("has %d entries, more than the %d that are allowed", len(items), most))
	}
	var before []string
	for _, item := range items {
		if f := check(item); f != nil {
			return f
		}
		if slices.Contains(before, canonical(item)) {
			return fault(message.T("keep one of them"), message.F("has %s twice", shown(item)))
		}
		before = append(before, canonical(item))
	}
	return nil
}

// VLANID reports what is wrong with the number of a VLAN.
func VLANID(s string) error { return between(s, 1, netconfig.MaxVLAN) }

// MTU reports what is wrong with the size of the largest packet, in bytes.
func MTU(s string) error { return between(s, netconfig.MinMTU, netconfig.MaxMTU) }

// Port reports what is wrong with the number of a TCP port.
func Port(s string) error { return between(s, 1, 1<<16-1) }

// IPv4Prefix reports what is wrong with the length of an IPv4 subnet's prefix, which may be given as a netmask.
func IPv4Prefix(s string) error { return between(prefixOfNetmask(s), shortest4, longest4) }

// IPv6Prefix reports what is wrong with the length of an IPv6 subnet's prefix.
func IPv6Prefix(s string) error { return between(prefixOfSlash(s), shortest6, longest6) }

func between(s string, low, high int) error {
	if f := parseableNumber(s); f != nil {
		return f
	}
	if n, _ := strconv.Atoi(s); n < low || n > high {
		return fault(message.F("write %s to %s", strconv.Itoa(low), strconv.Itoa(high)), message.F("is %s, outside of %d to %d", s, low, high))
	}
	return nil
}

package netconfig

import (
	"net/netip"
	"slices"

	"touchdown/backend/message"
)

// addresses judges those that interfaces get. nmstate gives none to an interface that is not up, and none of a family that is off.
func (j *judge) addresses() {
	carrier := j.carrier()
	var fixed []netip.Addr
	for _, p := range j.ports {
		for _, f := range p.families {
			if p.isUp && !f.said && f.asked {
				j.fail(f.at, message.T("add enabled: true"), message.F("%s says nothing of enabled, so that it may stay off", f.at.String()))
			}
		}
	}
	for p, f := range j.given() {
		for _, a := range f.addresses {
			if !j.machine(a.at.and("ip"), a.text, f.six, plan()) {
				continue
			}
			ip := a.subnet.Addr()
			if !a.subnet.IsValid() || a.subnet.Bits() < 1 {
				j.fail(a.at.and("prefix-length"), message.F("write %d to %d", 1, ip.BitLen()), message.F("the prefix length of %s is out of range", a.text))
				continue
			}
			if !f.automatic {
				j.once(a, fixed)
				fixed = append(fixed, ip)
			}
			j.place(a, p.name == carrier)
		}
	}
}

// plan is where an address of a machine is found.
func plan() message.Text { return message.T("write the address of the site's plan") }

// machine wants a text to be an address that a machine can have, of the family that is asked for.
func (j *judge) machine(at place, text string, six bool, fix message.Text) bool {
	addr, err := netip.ParseAddr(text)
	switch {
	case err != nil || addr.Zone() != "":
		j.fail(at, fix, message.F("%s is not an address", at.String()))
	case addr.Is4In6():
		j.fail(at, message.F("write %s below ipv4", addr.Unmap().String()), message.F("%s is an IPv4 address written as IPv6", text))
	case addr.Is6() != six && six:
		j.fail(at, fix, message.F("%s is an IPv4 address where one of IPv6 belongs", text))
	case addr.Is6() != six:
		j.fail(at, fix, message.F("%s is an IPv6 address where one of IPv4 belongs", text))
	case addr.IsMulticast() || addr.IsLoopback() || addr.IsUnspecified() || addr.Is4() && (addr.As4()[0] == 0 || addr.As4()[0] >= 240): // RFC 1122, 3.2.1.3
		j.fail(at, fix, message.F("%s cannot be the address of a machine", text))
	default:
		return true
	}
	return false
}

// once wants a fixed address to be on one interface, and to have no end: nmstate takes one that ends for a lease, and leaves it out (ip.rs, is_auto).
func (j *judge) once(a *address, before []netip.Addr) {
	if a.subnet.Addr().IsLinkLocalUnicast() {
		return
	}
	if slices.Contains(before, a.subnet.Addr()) {
		j.fail(a.at.and("ip"), message.T("keep one of them"), message.F("has the address %s twice", a.text))
	}
	if a.ends {
		j.fail(a.at.and("valid-life-time"), message.T("leave valid-life-time out"), message.F("has an end of the address %s (valid-life-time), with which nmstate leaves it out", a.text))
	}
}

// place judges an address in its subnet. A link-local one of IPv6 every port has anyway; one of IPv4 leads to a service processor on
// some servers, and to no site.
func (j *judge) place(a *address, carrying bool) {
	ip, at := a.subnet.Addr(), a.at.and("ip")
	switch {
	case ip.IsLinkLocalUnicast() && ip.Is6():
	case ip.IsLinkLocalUnicast() && carrying:
		j.fail(at, plan(), message.F("%s is valid on one cable only", a.text))
	default:
		j.host(at, plan(), a.subnet)
		if ip.Is6() && a.subnet.Bits() < 127 && ip == a.subnet.Masked().Addr() { // RFC 4291, 2.6.1; RFC 6164
			j.fail(at, plan(), message.F("%s is the routers' common address in %s, not one of a machine", a.text, a.subnet.Masked()))
		}
	}
}

// host refuses the addresses of an IPv4 subnet that no machine has. Subnets of two addresses have none (RFC 3021).
func (j *judge) host(at place, fix message.Text, p netip.Prefix) {
	switch {
	case !p.Addr().Is4() || p.Bits() >= 31:
	case p.Addr() == p.Masked().Addr():
		j.fail(at, fix, message.F("%s is the name of the subnet %s, not a machine in it", p.Addr(), p.Masked()))
	case p.Addr() == Broadcast(p):
		j.fail(at, fix, message.F("%s is the broadcast address of %s", p.Addr(), p.Masked()))
	}
}

// Broadcast is the last address of an IPv4 subnet.
func Broadcast(subnet netip.Prefix) netip.Addr {
	b := subnet.Masked().Addr().As4()
	for bit := subnet.Bits(); bit < 32; bit++ {
		b[bit/8] |= 1 << (7 - bit%8)
	}
	return netip.AddrFrom4(b)
}

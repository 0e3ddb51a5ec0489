package site

import (
	"net/netip"
	"strconv"
	"strings"

	"touchdown/backend/message"
	"touchdown/backend/netconfig"
)

// network judges the values of spec.network against each other.
func (v *judge) network() {
	s, n := v.config.Spec, v.config.Spec.Network
	if s.NetworkConfig != "" && !n.IsZero() {
		v.fail(networkConfig, fault(message.T("keep one of the two"), message.F("is given as well as spec.network (%s)", v.firstBelow("spec.network."))))
		return
	}
	judgeSearch(v, "spec.network.dnsSearch", n.DNSSearch)
	judgeSearch(v, networkConfig, searchOf(string(s.NetworkConfig)))
	judgeInside(v)
	if n.MTU > 0 && n.MTU < netconfig.UsualMTU && v.errs.At("spec.network.mtu") == nil {
		small := netconfig.SmallMTU()
		v.warn("spec.network.mtu", fault(small.Fix, small.Text))
	}
	v.bond(n)
	v.family("spec.network.ipv4", n.IPv4, 32)
	v.family("spec.network.ipv6", n.IPv6, 128)
	if n.IPv4.Method == Disabled && n.IPv6.Method == Disabled {
		v.fail("spec.network.ipv6.method", fault(message.T("choose another method for one of the two"), message.T("is disabled, and so is spec.network.ipv4.method: the node would have no address")))
	}
	v.nameServers(n)
}

// firstBelow returns the first path below a group that has a value.
func (v *judge) firstBelow(prefix string) string {
	for _, path := range v.config.Paths() {
		if value, _ := v.config.Get(path); value != "" && strings.HasPrefix(path, prefix) {
			return path
		}
	}
	return prefix
}

func (v *judge) bond(n Network) {
	switch {
	case n.Bond.IsZero():
	case len(n.Bond.Ports) == 0:
		v.fail("spec.network.bond.ports", fault(message.T("name at least one port, or remove the bond's mode"), message.T("is missing, but there is a mode")))
	case n.Bond.Mode == "":
		v.fail("spec.network.bond.mode", fault(message.T("write the mode that the switch is set to, for example active-backup"), message.T("is missing, but there are ports")))
	}
	if !n.Bond.IsZero() && n.Interface != "" {
		v.fail("spec.network.interface", fault(message.T("remove it; the bond's ports lead to the site"), message.T("is given as well as a bond")))
	}
}

// family judges one family of addresses. The values themselves have been judged; those that are wrong are left alone.
func (v *judge) family(path string, f Family, bits int) {
	if f.Method == Static {
		v.static(path, f, bits)
		return
	}
	for _, value := range []struct {
		name string
		set  bool
	}{{"address", f.Address != ""}, {"prefixLength", f.PrefixLength != 0}, {"gateway", f.Gateway != ""}} {
		switch {
		case !value.set:
		case f.Method == "":
			v.fail(path+"."+value.name, fault(message.F("add %s.method: static", path), message.T("is given without a method")))
			return
		default:
			v.fail(path+"."+value.name, fault(message.F("remove it, or write %s.method: static", path), message.F("is given, but the method is %s", shown(f.Method))))
			return
		}
	}
}

func (v *judge) static(path string, f Family, bits int) {
	if f.Address == "" {
		v.fail(path+".address", fault(message.T("write the node's address at the site"), message.T("is missing, but the method is static")))
	}
	if f.PrefixLength == 0 {
		v.fail(path+".prefixLength", fault(message.T("write the size of the subnet, for example 24"), message.T("is missing, but the method is static")))
	}
	addr, err := netip.ParseAddr(f.Address)
	bad := func(name string) bool { return v.errs.At(path+"."+name) != nil }
	if err != nil || bad("address") || bad("prefixLength") || f.PrefixLength > bits {
		return
	}
	subnet := netip.PrefixFrom(addr, f.PrefixLength).Masked()
	if what := reserved(addr, subnet); what.String() != "" {
		v.fail(path+".address", fault(message.T("write the node's own address"), message.F("is %s, %s of the subnet %s", f.Address, what, subnet)))
	}
	v.gateway(path+".gateway", f, subnet)
	doubt(v, path+".address", subnet)
	if f, ok := netconfig.PointToPoint(netip.PrefixFrom(addr, subnet.Bits())); ok {
		v.warn(path+".address", fault(f.Fix, f.Text))
	}
}

// doubt warns of a subnet that a cluster usually has inside the node.
func doubt(v *judge, path string, subnet netip.Prefix) {
	if with, ok := netconfig.Overlap(subnet); ok {
		d := netconfig.Doubt(subnet, with)
		v.warn(path, fault(d.Fix, d.Text))
	}
}

// judgeInside warns of what a desired state has in networks that a cluster usually has inside the node.
func judgeInside(v *judge) {
	text := []byte(v.config.Spec.NetworkConfig)
	if len(text) == 0 || v.errs.At(networkConfig) != nil {
		return
	}
	d, err := netconfig.Parse(text)
	if err != nil {
		return // told
	}
	for _, doubt := range netconfig.Doubts(text, d) {
		v.warn(networkConfig, fault(doubt.Fix, message.F("%s, in its line %s", doubt.Text, strconv.Itoa(doubt.Line))))
	}
}

func (v *judge) gateway(path string, f Family, subnet netip.Prefix) {
	if f.Gateway == "" { // a site without a router: node and pods reach their own subnet
		return
	}
	gateway, err := netip.ParseAddr(f.Gateway)
	if err != nil || v.errs.At(path) != nil || gateway.Is6() && gateway.IsLinkLocalUnicast() {
		return
	}
	switch what := reserved(gateway, subnet); {
	case !subnet.Contains(gateway):
		v.fail(path, fault(message.T("check gateway, address and prefix length"), message.F("is %s, outside of the node's subnet %s", f.Gateway, subnet)))
	case sameAs(gateway, f.Address):
		v.fail(path, fault(message.T("write the address of the site's router"), message.T("is the node's own address")))
	case gateway.Is4() && what.String() != "": // the first address of an IPv6 subnet leads to a router, which a gateway is
		v.fail(path, fault(message.T("write the address of the site's router"), message.F("is %s, %s of the subnet %s", f.Gateway, what, subnet)))
	}
}

// sameAs tells whether a text is an address, however it is written: 2001:DB8:0::1 is 2001:db8::1.
func sameAs(addr netip.Addr, text string) bool {
	other, err := netip.ParseAddr(text)
	return err == nil && addr == other
}

// beyond tells whether an address can only be reached by a gateway that is not there.
func beyond(f Family, addr netip.Addr) bool {
	return f.Method == Static && f.Gateway == "" && f.subnet().IsValid() && !f.subnet().Contains(addr)
}

// subnet is that of a static address; not valid where the two values do not make one.
func (f Family) subnet() netip.Prefix {
	addr, err := netip.ParseAddr(f.Address)
	if err != nil {
		return netip.Prefix{}
	}
	return netip.PrefixFrom(addr, f.PrefixLength).Masked()
}

// reserved names what an address of a subnet is taken for, or nothing. Subnets of two addresses have no such (RFC 3021,
// RFC 6164).
func reserved(addr netip.Addr, subnet netip.Prefix) message.Text {
	switch {
	case subnet.Bits() >= addr.BitLen()-1:
		return message.Text{}
	case addr == subnet.Masked().Addr() && addr.Is4():
		return message.T("the network address")
	case addr == subnet.Masked().Addr():
		return message.T("the routers' common address") // RFC 4291, 2.6.1
	case addr.Is4() && addr == netconfig.Broadcast(subnet):
		return message.T("the broadcast address")
	}
	return message.Text{}
}

// judgeSearch wants no domain in which every name leads to the cluster itself: a pod tries the search domains before the name as it was
// written (kubelet's ndots:5), so that each name of the world would be one of this node's.
func judgeSearch(v *judge, path string, domains []string) {
	apps := "apps." + v.config.Domain()
	for _, domain := range domains {
		if v.config.Domain() != "" && (domain == apps || strings.HasSuffix(domain, "."+apps)) {
			v.fail(path, fault(message.T("remove it"), message.F("has %s: every name below it leads to this node, so pods would find nothing else", shown(domain))))
		}
	}
}

// nameServers judges those that are given. A site may have none: the node answers for its own names.
func (v *judge) nameServers(n Network) {
	const path = "spec.network.dnsServers"
	if v.errs.At(path) != nil {
		return
	}
	for _, server := range n.DNSServers {
		addr, err := netip.ParseAddr(server)
		family, name := n.IPv6, "spec.network.ipv6"
		if addr.Is4() {
			family, name = n.IPv4, "spec.network.ipv4"
		}
		switch {
		case err != nil:
		case sameAs(addr, n.IPv4.Address) || sameAs(addr, n.IPv6.Address):
			v.fail(path, fault(message.T("write the site's name server"), message.F("has %s, the node's own address", server)))
		case nobody(v.config, server) != message.Text{}:
			v.fail(path, fault(message.T("write the site's name server"), message.F("has %s, %s", server, nobody(v.config, server))))
		case family.Method == Disabled:
			v.fail(path, fault(message.T("write one of the other family"), message.F("has %s, which cannot be reached: %s.method is disabled", server, name)))
		case beyond(family, addr) && v.errs.At(name+".address") == nil && v.errs.At(name+".prefixLength") == nil:
			v.fail(path, fault(message.F("add %s.gateway, or remove the name server", name), message.F("has %s, which is outside of the node's subnet %s, and there is no gateway", server, family.subnet())))
		default:
			doubt(v, path, netip.PrefixFrom(addr, addr.BitLen()))
		}
	}
}

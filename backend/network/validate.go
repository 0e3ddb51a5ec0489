package network

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"touchdown/backend/message"
	"touchdown/backend/netconfig"
)

// Fault is one thing that is wrong with settings.
type Fault struct {
	Path string       // of the value in the site config: "spec.network.ipv4.gateway"
	Text message.Text // what is wrong, and how it would be right
}

// Facts are what settings are judged against.
type Facts struct {
	Now      *Current
	Before   *Current // before the first change, which is what "unchanged" means (Plan.Before); nil: Now
	Ports    []Port
	Reserved []Reserved // the cluster's: pods, services, and OVN's own (Inside)
	LeastMTU int        // in bytes, see LeastMTU; 0: not known
}

// customised is the mark of a br-ex that the installer was told to make from an nmstate document (OpenShift 4.16 and later).
// A boot does not build it from the ports' profiles, so that settings kept there would do nothing.
const customised = "/etc/nmstate/openshift/applied"

// faults collects; its methods keep the rules readable.
type faults struct {
	all   []Fault
	facts Facts
	s     Settings
}

func (f *faults) add(path string, text message.Text) {
	f.all = append(f.all, Fault{"spec." + path, text})
}

// Validate judges settings by rules that look at several values or at this machine; what one value alone can be is the
// site config's matter, but what would harm is refused here too. No faults: nil.
func (n *Network) Validate(ctx context.Context, s Settings, facts Facts) []Fault {
	if facts.Before == nil {
		facts.Before = facts.Now
	}
	f := &faults{facts: facts, s: s.resolved(facts.Now, facts.Before)}
	if n.host.Exists(customised) {
		f.add("network", message.T("br-ex of this node is made from /etc/nmstate/openshift and not by configure-ovs; change it there"))
	}
	if len(s.Raw) > 0 {
		f.raw(ctx, n)
		return f.all
	}
	f.devices()
	f.chosen(n, "network.interface", f.s.device(), append(f.s.ports(), f.s.base())...)
	f.family("network.ipv4", f.s.IPv4, false)
	f.family("network.ipv6", f.s.IPv6, true)
	f.servers()
	f.answered("network.ipv4.method", "network.ipv6.method", reachable(f.s.IPv4), reachable(f.s.IPv6))
	if len(f.s.Bond.Ports) > 0 {
		f.compiles(ctx, n, "network.bond.ports")
	} else {
		f.compiles(ctx, n, "network.interface")
	}
	return f.all
}

// answered looks whether the site has a family in which the cluster answers: that in which it was installed. Its API and router listen in
// no other one (report.Facts.Reach). The paths are of the settings that turn IPv4 and IPv6 on.
func (f *faults) answered(path4, path6 string, four, six bool) {
	switch own := f.s.Own; {
	case !four && !six:
		f.add(path4, message.T("with IPv4 and IPv6 both off the node would have no address at the site; choose one"))
	case len(own) == 0: // not a baked node
	case !six && !own.Four():
		f.add(path6, message.T("the cluster was installed with IPv6 alone and answers at no IPv4 address; give the node an IPv6 address"))
	case !four && !own.Six():
		f.add(path4, message.T("the cluster was installed with IPv4 alone and answers at no IPv6 address; give the node an IPv4 address"))
	}
}

func reachable(f Family) bool { return f.Method == Static || f.Automatic() }

func (f *faults) devices() {
	switch bonded := len(f.s.Bond.Ports) > 0 || f.s.Bond.Mode != ""; {
	case bonded:
		f.bond()
	case f.s.Interface == "":
		f.add("network.interface", message.T("no port is in use now; choose one"))
	default:
		f.port("network.interface", f.s.Interface)
	}
	if v := f.s.VLAN; v < 0 || v > 4094 {
		f.add("network.vlanID", message.F("%d is not a VLAN ID; use 1 to 4094", v))
	}
	f.mtu("network.mtu", message.F("%d bytes", f.s.MTU), f.s.MTU, true)
}

func (f *faults) port(path, name string) {
	if netconfig.ClusterOwned(name) {
		f.add(path, message.F("%s is OpenShift's own; give the port below it", name))
		return
	}
	if !slices.ContainsFunc(f.facts.Ports, func(p Port) bool { return p.Name == name }) {
		var names []string
		for _, p := range f.facts.Ports {
			names = append(names, p.Name)
		}
		f.add(path, message.F("this machine has no port %q; it has %s", name, strings.Join(names, ", ")))
	}
}

func (f *faults) bond() {
	if !slices.Contains(BondModes, f.s.Bond.Mode) {
		f.add("network.bond.mode", message.F("%q is not a bond mode; there are %s", f.s.Bond.Mode, strings.Join(BondModes, ", ")))
	}
	if len(f.s.Bond.Ports) == 0 {
		f.add("network.bond.ports", message.T("a bond needs at least one port"))
	}
	for i, p := range f.s.Bond.Ports {
		if slices.Contains(f.s.Bond.Ports[:i], p) {
			f.add("network.bond.ports", message.F("%s is there twice", p))
		}
		f.port("network.bond.ports", p)
	}
	if f.s.Interface != "" && !slices.Contains(f.s.Bond.Ports, f.s.Interface) {
		f.add("network.interface", message.F("%s is not one of the bond's ports; leave the interface empty with a bond", f.s.Interface))
	}
}

func (f *faults) family(path string, fam Family, six bool) {
	switch fam.Method {
	case Static:
		f.static(path, fam, six)
	case Disabled, linkLocal, "":
	case DHCP:
	case Autoconf:
		if !six {
			f.add(path+".method", message.T("autoconf is for IPv6 only; IPv4 knows static, dhcp and disabled"))
		}
	default:
		f.add(path+".method", message.F("%q is not a method; there are static, dhcp, disabled and for IPv6 autoconf", fam.Method))
	}
}

func (f *faults) static(path string, fam Family, six bool) {
	addr, ok := f.address(path+".address", fam.Address, six)
	bits := map[bool]int{false: 32, true: 128}[six]
	if fam.Prefix < 1 || fam.Prefix > bits {
		f.add(path+".prefixLength", message.F("%d is not a prefix length; it can be 1 to %d", fam.Prefix, bits))
		ok = false
	}
	if !ok {
		return
	}
	subnet := netip.PrefixFrom(addr, fam.Prefix)
	f.host(path+".address", subnet)
	f.routers(path+".address", subnet)
	f.overlaps(path+".address", subnet)
	if fam.Gateway == "" { // a site without a router
		return
	}
	gateway, ok := f.address(path+".gateway", fam.Gateway, six)
	switch {
	case !ok:
	case gateway == addr:
		f.add(path+".gateway", message.F("%s is the node's own address; the gateway is the router", gateway))
	case slices.Contains(f.s.Own, gateway):
		f.add(path+".gateway", message.F("%s is an address that the node keeps from its installation; it cannot reach another machine there", gateway))
	case six && gateway.IsLinkLocalUnicast():
	case !subnet.Contains(gateway):
		f.add(path+".gateway", message.F("%s is not in the node's subnet %s, so it cannot be reached", gateway, subnet.Masked()))
	default:
		f.host(path+".gateway", netip.PrefixFrom(gateway, fam.Prefix))
	}
}

// address parses strictly: no leading zeros, no zone, the family that is asked for.
func (f *faults) address(path, text string, six bool) (netip.Addr, bool) {
	kind := map[bool]string{false: "IPv4", true: "IPv6"}[six]
	addr, err := netip.ParseAddr(text)
	switch {
	case text == "":
		f.add(path, message.T("is missing"))
	case err != nil || addr.Zone() != "" || addr.Is4In6() || addr.Is6() != six:
		f.add(path, message.F("%q is no %s address", text, kind))
	case addr.IsMulticast() || addr.IsLoopback() || addr.IsUnspecified() || addr.Is4() && (addr.As4()[0] == 0 || addr.As4()[0] >= 240): // RFC 1122, 3.2.1.3
		f.add(path, message.F("%s cannot be the address of a machine", addr))
	default:
		return addr, true
	}
	return netip.Addr{}, false
}

// host refuses the addresses of a subnet that no machine has.
func (f *faults) host(path string, p netip.Prefix) {
	if p.Addr().IsLinkLocalUnicast() {
		f.add(path, message.F("%s is valid on one cable only; give the address of the site's plan", p.Addr()))
	}
	if !p.Addr().Is4() || p.Bits() >= 31 {
		return
	}
	if p.Addr() == p.Masked().Addr() {
		f.add(path, message.F("%s is the name of the subnet %s, not a machine in it", p.Addr(), p.Masked()))
	}
	if p.Addr() == netconfig.Broadcast(p) {
		f.add(path, message.F("%s is the broadcast address of %s", p.Addr(), p.Masked()))
	}
}

// routers refuses the first address of an IPv6 subnet for the node: each router there has it (RFC 4291, 2.6.1), and so may a gateway. Subnets of
// two addresses have none (RFC 6164).
func (f *faults) routers(path string, p netip.Prefix) {
	if p.Addr().Is6() && p.Bits() < 127 && p.Addr() == p.Masked().Addr() {
		f.add(path, message.F("%s is the routers' common address in %s, not one of a machine", p.Addr(), p.Masked()))
	}
}

func (f *faults) overlaps(path string, subnet netip.Prefix) {
	for _, r := range f.facts.Reserved {
		if r.Prefix.Overlaps(subnet) {
			f.add(path, message.F("the subnet %s overlaps %s network %s", subnet.Masked(), r.Whose(), r.Prefix))
			return
		}
	}
}

func (f *faults) servers() {
	const path = "network.dnsServers"
	for i, text := range f.s.DNS {
		addr, ok := f.server(path, text, f.s.DNS[:i], f.s.IPv4.Address, f.s.IPv6.Address)
		switch {
		case !ok:
		case addr.Is4() && !reachable(f.s.IPv4), addr.Is6() && !reachable(f.s.IPv6):
			f.add(path, message.F("%s cannot be reached: the node has no address of that family", addr))
		case f.beyond(addr):
			f.add(path, message.F("%s cannot be reached: it is outside of the node's subnet, and there is no gateway", addr))
		}
	}
}

// beyond tells whether an address can only be reached by a gateway that is not there. What comes by DHCP is not known yet.
func (f *faults) beyond(addr netip.Addr) bool {
	fam := f.s.IPv4
	if addr.Is6() {
		fam = f.s.IPv6
	}
	own, err := netip.ParseAddr(fam.Address)
	return fam.Method == Static && fam.Gateway == "" && err == nil && !netip.PrefixFrom(own, fam.Prefix).Contains(addr)
}

package network

import (
	"context"
	"net"
	"net/netip"
	"slices"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// raw judges an nmstate document without touching the network.
func (f *faults) raw(ctx context.Context, n *Network) {
	const path = "networkConfig"
	d, view, err := readDocument(f.s.Raw, f.facts.Now.Macs)
	if err != nil {
		f.add(path, message.Detail(err))
		return
	}
	if _, err := n.library.generate(ctx, d.json()); err != nil {
		f.add(path, problemText(err))
		return
	}
	if view.carrier() == "" {
		f.add(path, message.T("has no default route, and not one interface alone with an address; give one of the two, or an interface with DHCP"))
	} else if carrier := view.find(view.carrier(), ""); carrier == nil {
		f.add(path, message.F("its default route leads over %s, which it does not describe", view.carrier()))
	} else {
		f.answered(path, path, f.gives(carrier.IPv4), f.gives(carrier.IPv6))
	}
	for _, p := range view.physicalPorts() {
		f.port(path, p)
	}
	f.networks(path, d, view)
	if len(f.all) > 0 {
		return
	}
	if _, err := compilePlan(ctx, n.library, f.s, f.facts.Now, f.facts.Now); err != nil {
		f.add(path, problemText(err))
	}
}

// gives tells whether an interface gets an address of a family at the site. One that the document does not mention stays unchanged.
func (f *faults) gives(fam *family) bool {
	if fam == nil {
		return true
	}
	return fam.Enabled && (fam.automatic() || slices.ContainsFunc(fam.Address, func(a address) bool {
		p := a.prefix()
		return p.IsValid() && !f.s.Own.Has(p) && !p.Addr().IsLinkLocalUnicast()
	}))
}

// networks wants what a document says about addresses, routes and rules to lie outside of the cluster's networks, which only the
// facts name.
func (f *faults) networks(path string, d document, view *state) {
	carrier := view.carrier()
	below := append(view.under(carrier), carrier)
	var own, fixed []string
	var subnets []netip.Prefix
	for _, i := range view.Interfaces {
		f.mtu(path, message.F("the MTU of %s", i.Name), i.MTU, slices.Contains(below, i.Name))
		f.link(path, i)
		for _, fam := range []*family{i.IPv4, i.IPv6} {
			if fam == nil || !i.up() || !fam.Enabled { // nmstate gives it none of the addresses
				continue
			}
			for _, a := range fam.Address {
				if !fam.automatic() {
					f.once(path, a, fixed)
					fixed = append(fixed, a.IP)
				}
				own, subnets = append(own, a.IP), append(subnets, a.prefix())
				f.siteAddress(path, a, i.Name == carrier)
			}
		}
	}
	if view.DNS != nil && view.DNS.Config != nil {
		for n, text := range view.DNS.Config.Server {
			f.server(path, text, view.DNS.Config.Server[:n], own...)
		}
	}
	f.gateways(path, view, own, subnets)
	for _, kind := range []string{"routes", "route-rules"} {
		for _, r := range d.list(kind, "config") {
			for _, key := range []string{"destination", "ip-from", "ip-to"} {
				subnet, ok := r[key].(string)
				if !ok || subnet == any4 || subnet == any6 {
					continue
				}
				if err := apart(message.F("has a subnet in %s that", kind), subnet, f.facts.Reserved); err != nil {
					f.add(path, message.Detail(err))
				}
			}
		}
	}
}

// link judges what an interface of a document is.
func (f *faults) link(path string, i iface) {
	if made := i.VLAN != nil || i.Bond != nil; made && slices.ContainsFunc(f.facts.Ports, func(p Port) bool { return p.Name == i.Name }) {
		f.add(path, message.F("has a VLAN or a bond %s, and a port of this machine is called so", i.Name))
	}
	if i.VLAN != nil && (i.VLAN.ID < 1 || i.VLAN.ID > 4094) {
		f.add(path, message.F("the number of the VLAN %s is out of range; it can be 1 to 4094", i.Name))
	}
	if mac, err := net.ParseMAC(i.MAC); err == nil && (mac[0]&1 == 1 || slices.Max(mac) == 0) {
		f.add(path, message.F("gives %s a MAC address that no port can have", i.Name))
	}
}

// gateways wants a next hop to be another machine.
func (f *faults) gateways(path string, view *state, own []string, subnets []netip.Prefix) {
	if view.Routes == nil {
		return
	}
	for _, r := range view.Routes.Config {
		gateway, err := netip.ParseAddr(r.Gateway)
		if r.State == "absent" || err != nil || gateway.IsUnspecified() { // nmstate takes 0.0.0.0 for none
			continue
		}
		if slices.Contains(f.s.Own, gateway) || slices.ContainsFunc(own, func(text string) bool { return sameAddress(text, r.Gateway) }) {
			f.add(path, message.F("%s is the node's own address; the gateway is the router", gateway))
			continue
		}
		if _, ok := f.address(path, r.Gateway, gateway.Is6()); !ok || gateway.IsLinkLocalUnicast() {
			continue
		}
		if i := slices.IndexFunc(subnets, func(p netip.Prefix) bool { return p.Contains(gateway) }); i >= 0 {
			f.host(path, netip.PrefixFrom(gateway, subnets[i].Bits()))
		}
	}
}

// once wants a fixed address to be on one interface, and to have no end: nmstate takes one that ends for a lease, and leaves it out (ip.rs, is_auto).
func (f *faults) once(path string, a address, before []string) {
	if addr, err := netip.ParseAddr(a.IP); err != nil || addr.IsLinkLocalUnicast() {
		return
	}
	if slices.ContainsFunc(before, func(text string) bool { return sameAddress(text, a.IP) }) {
		f.add(path, message.F("has the address %s twice", a.IP))
	}
	if a.Valid != "" && a.Valid != "forever" {
		f.add(path, message.F("has an end of the address %s (valid-life-time), with which nmstate leaves it out", a.IP))
	}
}

// siteAddress judges an address of a document. A link-local one of IPv6 every port has anyway; one of IPv4 leads to a service
// processor on some servers, and to no site.
func (f *faults) siteAddress(path string, a address, carrying bool) {
	p := a.prefix()
	if !p.IsValid() || f.s.Own.Has(p) || p.Addr().Is6() && p.Addr().IsLinkLocalUnicast() {
		return
	}
	if _, ok := f.address(path, a.IP, p.Addr().Is6()); !ok {
		return
	}
	if carrying || !p.Addr().IsLinkLocalUnicast() {
		f.host(path, p)
	}
	f.routers(path, p)
	f.overlaps(path, p)
}

// problemText is the sentence of a Problem, or the error.
func problemText(err error) message.Text {
	if p := problem.From(err); p.Code != "ERR-UNKN" {
		return p.Summary
	}
	return message.Detail(err)
}

package network

import (
	"context"
	"net/netip"
	"slices"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// raw judges an nmstate document without touching the network.
func (f *faults) raw(ctx context.Context, n *Network) {
	const path = "networkConfig"
	d, view, err := readDocument(f.s.Raw, f.facts.Now, f.facts.Before)
	if err != nil {
		f.add(path, message.Detail(err))
		return
	}
	if _, err := n.library.generate(ctx, d.json()); err != nil {
		f.add(path, problemText(err))
		return
	}
	if carrier := view.find(d.leads(), ""); carrier != nil {
		f.answered(path, path, f.gives(carrier.IPv4), f.gives(carrier.IPv6))
	}
	for _, p := range view.physicalPorts() {
		f.port(path, p)
	}
	f.chosen(n, path, d.leads(), view.under(d.leads())...)
	f.networks(path, d, view)
	f.compiles(ctx, n, path)
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
// facts name. What can be told without them is told by netconfig.
func (f *faults) networks(path string, d document, view *state) {
	carrier := d.leads()
	below := append(view.under(carrier), carrier)
	var own []string
	for _, i := range view.Interfaces {
		f.mtu(path, message.F("the MTU of %s", i.Name), i.MTU, slices.Contains(below, i.Name))
		f.link(path, i)
		for _, fam := range []*family{i.IPv4, i.IPv6} {
			if fam == nil || !i.up() || !fam.Enabled { // nmstate gives it none of the addresses
				continue
			}
			for _, a := range fam.Address {
				own = append(own, a.IP)
				if p := a.prefix(); p.IsValid() && !f.s.Own.Has(p) && (p.Addr().Is4() || !p.Addr().IsLinkLocalUnicast()) {
					f.overlaps(path, p)
				}
			}
		}
	}
	if view.DNS != nil && view.DNS.Config != nil {
		for n, text := range view.DNS.Config.Server {
			f.server(path, text, view.DNS.Config.Server[:n], own...)
		}
	}
	f.gateways(path, view)
	for _, kind := range []string{"routes", "route-rules"} {
		for _, r := range d.list(kind, "config") {
			for _, key := range []string{"destination", "ip-from", "ip-to"} {
				subnet, ok := r[key].(string)
				if !ok || subnet == any4 || subnet == any6 {
					continue
				}
				table, _ := r["table-id"].(float64)
				isMain := key == "destination" && (route{Table: int(table)}).isMain()
				if err := hidesNone(message.F("has a subnet in %s that", kind), subnet, isMain, f.facts.Reserved); err != nil {
					f.add(path, message.Detail(err))
				}
			}
		}
	}
}

// link judges the name of an interface that a document makes.
func (f *faults) link(path string, i iface) {
	if made := i.VLAN != nil || i.Bond != nil; made && slices.ContainsFunc(f.facts.Ports, func(p Port) bool { return p.Name == i.Name }) {
		f.add(path, message.F("has a VLAN or a bond %s, and a port of this machine is called so", i.Name))
	}
}

// gateways wants a next hop not to be an address that the node keeps.
func (f *faults) gateways(path string, view *state) {
	if view.Routes == nil {
		return
	}
	for _, r := range view.Routes.Config {
		if gateway, err := netip.ParseAddr(r.Gateway); err == nil && r.State != "absent" && slices.Contains(f.s.Own, gateway) {
			f.add(path, message.F("%s is the node's own address; the gateway is the router", gateway))
		}
	}
}

// problemText is the sentence of a Problem, or the error.
func problemText(err error) message.Text {
	if p := problem.From(err); p.Code != "ERR-UNKN" {
		return p.Summary
	}
	return message.Detail(err)
}

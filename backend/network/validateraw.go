package network

import (
	"context"
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
	} else if view.find(view.carrier(), "") == nil {
		f.add(path, message.F("its default route leads over %s, which it does not describe", view.carrier()))
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

// networks wants what a document says about addresses, routes and rules to lie outside of the cluster's networks, which only the
// facts name.
func (f *faults) networks(path string, d document, view *state) {
	carrier := view.carrier()
	below := append(view.under(carrier), carrier)
	var own []string
	for _, i := range view.Interfaces {
		f.mtu(path, message.F("the MTU of %s", i.Name), i.MTU, slices.Contains(below, i.Name))
		for _, fam := range []*family{i.IPv4, i.IPv6} {
			if fam == nil {
				continue
			}
			for _, a := range fam.Address {
				own = append(own, a.IP)
				f.siteAddress(path, a, i.Name == carrier)
			}
		}
	}
	if view.DNS != nil && view.DNS.Config != nil {
		for n, text := range view.DNS.Config.Server {
			f.server(path, text, view.DNS.Config.Server[:n], own...)
		}
	}
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
	f.overlaps(path, p)
}

// problemText is the sentence of a Problem, or the error.
func problemText(err error) message.Text {
	if p := problem.From(err); p.Code != "ERR-UNKN" {
		return p.Summary
	}
	return message.Detail(err)
}

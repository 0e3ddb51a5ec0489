package network

import (
	"context"

	"touchdown/backend/problem"
)

// raw judges an nmstate document without touching the network.
func (f *faults) raw(ctx context.Context, n *Network) {
	const path = "networkConfig"
	d, view, err := readDocument(f.s.Raw, f.facts.Now.Macs)
	if err != nil {
		f.add(path, "%s", err)
		return
	}
	if _, err := n.library.generate(ctx, d.json()); err != nil {
		f.add(path, "%s", problemText(err))
		return
	}
	if view.carrier() == "" {
		f.add(path, "has no default route, and not one interface alone with an address; give one of the two, or an interface with DHCP")
	} else if view.find(view.carrier(), "") == nil {
		f.add(path, "its default route leads over %s, which it does not describe", view.carrier())
	}
	for _, p := range view.physicalPorts() {
		f.port(path, p)
	}
	f.networks(path, d, view)
	if len(f.all) > 0 {
		return
	}
	if _, err := compilePlan(ctx, n.library, f.s, f.facts.Now, f.facts.Now); err != nil {
		f.add(path, "%s", problemText(err))
	}
}

// networks wants what a document says about addresses, routes and rules to lie outside of the cluster's networks, which only the
// facts name.
func (f *faults) networks(path string, d document, view *state) {
	for _, i := range view.Interfaces {
		if i.MTU != 0 && (i.MTU < minMTU || i.MTU > maxMTU) {
			f.add(path, "%s has an MTU that is not %d to %d bytes", i.Name, minMTU, maxMTU)
		}
		for _, fam := range []*family{i.IPv4, i.IPv6} {
			if fam == nil {
				continue
			}
			for _, a := range fam.Address {
				if p := a.prefix(); p.IsValid() && !f.s.Own.Has(p) {
					f.overlaps(path, p)
				}
			}
		}
	}
	for _, kind := range []string{"routes", "route-rules"} {
		for _, r := range d.list(kind, "config") {
			for _, key := range []string{"destination", "ip-from", "ip-to"} {
				subnet, ok := r[key].(string)
				if !ok || subnet == any4 || subnet == any6 {
					continue
				}
				if err := apart("has a subnet in "+kind+" that", subnet, f.facts.Reserved); err != nil {
					f.add(path, "%s", err)
				}
			}
		}
	}
}

// problemText is the sentence of a Problem, or the error.
func problemText(err error) string {
	if p := problem.From(err); p.Code != "UNKNWN" {
		return p.Summary.String()
	}
	return err.Error()
}

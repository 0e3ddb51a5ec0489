package network

import (
	"context"
	"slices"

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
	for _, i := range view.Interfaces {
		for _, name := range []string{i.Name, i.Controller} {
			if forbidden.MatchString(name) {
				f.add(path, "%s is OpenShift's own and must not be in it; describe the ports", name)
			}
		}
	}
	if _, err := n.library.generate(ctx, d.json()); err != nil {
		f.add(path, "%s", problemText(err))
		return
	}
	if view.carrier() == "" {
		f.add(path, "has no default route; give one, or an interface with DHCP")
	} else if view.find(view.carrier(), "") == nil {
		f.add(path, "its default route leads over %s, which it does not describe", view.carrier())
	}
	if automatic := view.automatic(); !automatic && (view.DNS == nil || view.DNS.Config == nil || len(view.DNS.Config.Server) == 0) {
		f.add(path, "has no name server (dns-resolver.config.server)")
	}
	for _, p := range view.physicalPorts() {
		f.port(path, p)
	}
	for _, i := range view.Interfaces {
		for _, fam := range []*family{i.IPv4, i.IPv6} {
			if fam == nil {
				continue
			}
			for _, a := range fam.Address {
				if p := a.prefix(); p.IsValid() && p.Addr() != f.s.Internal.Addr() {
					f.overlaps(path, p)
				}
			}
		}
	}
}

func (s *state) automatic() bool {
	return slices.ContainsFunc(s.Interfaces, func(i iface) bool {
		return i.IPv4 != nil && isSet(i.IPv4.DHCP) || i.IPv6 != nil && (isSet(i.IPv6.DHCP) || isSet(i.IPv6.Autoconf))
	})
}

// problemText is the sentence of a Problem, or the error.
func problemText(err error) string {
	if p := problem.From(err); p.Code != "UNKNWN" {
		return p.Summary
	}
	return err.Error()
}

package network

import "touchdown/backend/host"

// described is s with what its document says about the way to the site, as far as settings have words for it: what the probes
// look at, and what a person is told. A document that cannot be used describes nothing; Validate says why.
func (s Settings) described(now, before *Current) Settings {
	d, view, err := readDocument(s.Raw, now, before)
	if err != nil {
		return s
	}
	top := view.find(d.leads(), "")
	if top == nil {
		return s
	}
	s.MTU = top.MTU
	s.IPv4, s.IPv6 = view.family(top.IPv4, top.Name, any4, s.Own), view.family(top.IPv6, top.Name, any6, s.Own)
	s.under(view, top)
	if view.DNS != nil && view.DNS.Config != nil {
		s.DNS, s.Search = byFamily(view.DNS.Config.Server), view.DNS.Config.Search
	}
	return s
}

// under notes the ports below an interface of a document, and how they are put together.
func (s *Settings) under(view *state, top *iface) {
	switch {
	case top.VLAN != nil:
		s.VLAN, s.Interface = top.VLAN.ID, top.VLAN.Base
		if base := view.find(top.VLAN.Base, ""); base != nil {
			s.under(view, base)
		}
	case top.Bond != nil:
		s.Bond, s.Interface = Bond{top.Bond.Mode, top.Bond.Ports}, ""
	default:
		s.Interface = top.Name
	}
}

// family is one family of an interface of a document. The node's own addresses are everywhere, and no part of it.
func (s *state) family(f *family, over, anywhere string, own host.Own) Family {
	if f == nil || !f.Enabled {
		return Family{Method: Disabled}
	}
	switch {
	case anywhere == any6 && (isSet(f.Autoconf) || isSet(f.DHCP)):
		return Family{Method: Autoconf}
	case isSet(f.DHCP):
		return Family{Method: DHCP}
	}
	out := Family{Method: Disabled}
	if given := sites(own, f.Address); len(given) > 0 {
		out = Family{Method: Static, Address: given[0].IP, Prefix: given[0].Prefix}
	}
	if s.Routes == nil || out.Method != Static {
		return out
	}
	for _, r := range defaults(s.Routes.Config, over) {
		if r.Destination == anywhere && r.State != "absent" {
			out.Gateway = r.Gateway
			break
		}
	}
	return out
}

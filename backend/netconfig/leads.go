package netconfig

import (
	"slices"
	"strings"

	"touchdown/backend/message"
)

// Carrier is the interface that leads out: the one of the default route, of IPv4's before IPv6's, else the one that asks the network for it,
// or for its address alone, else, at a site without a router, the only one that has an address. "": the document does not tell.
func (d Document) Carrier() string {
	s := read(d)
	return s.carrier()
}

func (s *state) carrier() string {
	for _, six := range []bool{false, true} { // configure-ovs asks for IPv4's first
		best, name := -1, ""
		for _, r := range s.defaults() {
			if r.over != "" && strings.Contains(r.to, ":") == six && (best < 0 || r.metric < best) {
				best, name = r.metric, r.over
			}
		}
		if name != "" {
			return name
		}
	}
	for _, leads := range []func(*family) bool{func(f *family) bool { return f.routed }, func(f *family) bool { return f.automatic }} {
		for p, f := range s.given() {
			if leads(f) {
				return p.name
			}
		}
	}
	if addressed := s.addressed(); len(addressed) == 1 {
		return addressed[0]
	}
	return ""
}

// carrying are the interface that leads out and those below it.
func (s *state) carrying() (all []*port) {
	next := []string{s.carrier()}
	for len(next) > 0 {
		p := s.find(next[0])
		next = next[1:]
		if p != nil && !slices.Contains(all, p) {
			all = append(all, p)
			next = append(append(next, p.below...), p.base)
		}
	}
	return all
}

// defaults are the default routes that come to the main table.
func (s *state) defaults() (all []*route) {
	for _, r := range s.routes {
		if r.isDefault() && r.mainOnly && !r.isAbsent {
			all = append(all, r)
		}
	}
	return all
}

// addressed are the interfaces with a fixed address.
func (s *state) addressed() (names []string) {
	for p, f := range s.given() {
		if f.gives() && !slices.Contains(names, p.name) {
			names = append(names, p.name)
		}
	}
	return names
}

// leadsOut wants to know over which interface the site is reached, and that the node has an address there.
func (j *judge) leadsOut() {
	j.sited()
	if slices.ContainsFunc(j.defaults(), (*route).forwards) {
		return
	}
	var refuses *family
	for _, f := range j.given() {
		if f.routed {
			return
		}
		if f.automatic {
			refuses = f
		}
	}
	elsewhere := slices.IndexFunc(j.routes, func(r *route) bool { return r.isDefault() && r.forwards() && !r.mainOnly })
	switch {
	case elsewhere >= 0:
		j.fail(j.routes[elsewhere].at.and("table-id"), message.T("leave table-id out, or add a default route without it"),
			message.T("has its default route in another table alone, which the node's own packets do not ask"))
	case refuses != nil:
		j.fail(refuses.at, message.T("leave auto-gateway and auto-routes out, or add a default route below routes.config"),
			message.T("refuses the default route that the network gives, and has none itself"))
	case len(j.addressed()) != 1:
		j.fail(place{"interfaces"}, message.T("add it below routes.config: destination 0.0.0.0/0 or ::/0"),
			message.T("has no default route, no interface that gets one by DHCP, and not one interface alone with an address"))
	}
}

// sited wants an address that the site's machines reach: link-local ones are valid on one cable only. What a document does not mention
// stays unchanged, so that one without any address may be right.
func (j *judge) sited() {
	var only *address
	for _, f := range j.given() {
		if f.automatic {
			return
		}
		for _, a := range f.addresses {
			if !a.subnet.Addr().IsLinkLocalUnicast() {
				return
			}
			only = a
		}
	}
	if only != nil {
		j.fail(only.at, message.T("add an address of the site's plan, or ask for one by DHCP"), message.T("gives the node no other address than link-local ones, which are valid on one cable only"))
		return
	}
	if p := j.find(j.carrier()); p != nil && len(p.families) == 2 && p.families[0].said && p.families[1].said {
		j.fail(p.at, message.T("add an address of the site's plan, or ask for one by DHCP"), message.F("gives %s neither an IPv4 nor an IPv6 address", p.name))
	}
}

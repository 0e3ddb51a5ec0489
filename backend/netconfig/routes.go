package netconfig

import (
	"net/netip"
	"slices"

	"touchdown/backend/message"
)

// localTable is the kernel's table of the node's own addresses, which is asked first (linux/rtnetlink.h).
const localTable = 255

// Dropping are nmstate's types of routes and actions of rules that drop packets.
var Dropping = []string{"blackhole", "prohibit", "unreachable"}

func (r *route) isDefault() bool { return r.to == any4 || r.to == any6 }

// forwards tells whether a route comes and leads somewhere.
func (r *route) forwards() bool { return !r.isAbsent && !slices.Contains(Dropping, r.kind) }

// next is the machine that a route leads over; not valid for none: nmstate takes 0.0.0.0 for none.
func (r *route) next() netip.Addr {
	addr, err := netip.ParseAddr(r.gateway)
	if err != nil || addr.IsUnspecified() {
		return netip.Addr{}
	}
	return addr
}

// routing judges routes and rules.
func (j *judge) routing() {
	for _, r := range j.routes {
		switch to, err := netip.ParsePrefix(r.to); {
		case r.isAbsent && (r.to == "" || r.over == ""):
			j.fail(r.at, message.T("give destination and next-hop-interface"), message.F("%s would remove more than one route", r.at.String()))
		case r.isAbsent:
		case r.table == localTable:
			j.fail(r.at.and("table-id"), message.T("leave table-id out"), message.T("has a route in the table of the node's own addresses (255), which goes before all others"))
		case !r.forwards():
		case r.to == "":
			j.fail(r.at, message.T("add destination"), message.F("%s has no destination", r.at.String()))
		case err == nil && !r.isDefault() && to.Bits() <= 1: // two halves are a default route, which configure-ovs does not see
			j.fail(r.at.and("destination"), message.T("write a default route as 0.0.0.0/0 or ::/0"), message.F("has a route to %s, which goes before the networks inside of the node", r.to))
		default:
			j.over(r)
			j.gateway(r)
		}
	}
	for n, r := range j.doc.numbered("route-rules", "config") {
		at := place{"route-rules", "config", n}
		from, to := everything(r, "ip-from"), everything(r, "ip-to")
		one := func(key, other string) { // the other key has a subnet of the site
			j.fail(at.and(key), message.F("leave %s out: %s is enough", key, other), message.F("has a routing rule whose %s is all addresses, those inside of the node too", key))
		}
		switch {
		case from && text(r, "ip-to") != "" && !to:
			one("ip-from", "ip-to")
		case to && text(r, "ip-from") != "" && !from:
			one("ip-to", "ip-from")
		case from || to || text(r, "ip-from")+text(r, "ip-to") == "":
			j.fail(at, message.T("give ip-from or ip-to, with the addresses of the site alone"), message.T("has a routing rule for all packets, those inside of the node too"))
		}
	}
}

// everything tells whether a subnet of a rule is all addresses of a family, or half of them: the networks inside of the node are in either.
func everything(rule map[string]any, key string) bool {
	p, err := netip.ParsePrefix(text(rule, key))
	return err == nil && p.Bits() <= 1
}

// over wants a route to lead over an interface of the document.
func (j *judge) over(r *route) {
	at := r.at.and("next-hop-interface")
	switch p := j.find(r.over); {
	case r.over == "":
		j.fail(at, message.T("add next-hop-interface"), message.F("%s leads over no interface", r.at.String()))
	case p == nil:
		j.fail(at, message.F("describe %s below interfaces, or correct the name", r.over), message.F("has a route over %s, which it does not describe", r.over))
	case !p.isUp:
		j.fail(at, message.F("write state: up for %s, or correct the name", r.over), message.F("has a route over %s, which is not up", r.over))
	}
}

// gateway wants the next hop to be another machine, in a subnet of the interface: spec.network is judged alike (steps/site). NetworkManager
// would make a way to a router outside of it, but what a site means by one it can write: a route to it without a gateway.
func (j *judge) gateway(r *route) {
	at, router := r.at.and("next-hop-address"), message.T("write the address of the site's router")
	next := r.next()
	if !next.IsValid() {
		return
	}
	var own []netip.Prefix
	for _, f := range j.given() {
		for _, a := range f.addresses {
			if a.subnet.IsValid() {
				own = append(own, a.subnet)
			}
		}
	}
	switch {
	case slices.ContainsFunc(own, func(p netip.Prefix) bool { return p.Addr() == next }):
		j.fail(at, router, message.F("%s is the node's own address; the gateway is the router", r.gateway))
	case !j.machine(at, r.gateway, next.Is6(), router) || next.IsLinkLocalUnicast():
	default:
		if i := slices.IndexFunc(own, func(p netip.Prefix) bool { return p.Contains(next) }); i >= 0 {
			j.host(at, router, netip.PrefixFrom(next, own[i].Bits()))
		}
		if j.beyond(r, next) {
			direct := netip.PrefixFrom(next, next.BitLen()).String()
			j.fail(at, message.F("check next-hop-address, the address and its prefix-length, or add a route to %s over %s without next-hop-address", direct, r.over),
				message.F("%s is in no subnet of %s, so it cannot be reached", r.gateway, r.over))
		}
	}
}

// beyond tells whether an interface does not reach a next hop: no fixed address of it has that in its subnet, and no route without a gateway
// leads there. What the site's network gives is not known, nor what a family that is not described keeps.
func (s *state) beyond(r *route, next netip.Addr) bool {
	p := s.find(r.over)
	if p == nil || !p.isUp {
		return false
	}
	described := false
	for _, f := range p.families {
		if f.six != next.Is6() || !f.said {
			continue
		}
		described = true
		if f.automatic || f.enabled && slices.ContainsFunc(f.addresses, func(a *address) bool { return a.subnet.Contains(next) }) {
			return false
		}
	}
	return described && !slices.ContainsFunc(s.routes, func(direct *route) bool {
		return direct.forwards() && direct.over == r.over && !direct.next().IsValid() && !direct.isDefault() && subnetOf(direct.to).Contains(next)
	})
}

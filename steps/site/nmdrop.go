package site

import (
	"net/netip"
	"slices"

	"gopkg.in/yaml.v3"

	"touchdown/backend/message"
	"touchdown/backend/netconfig"
)

// own is what a desired state says of the node's own addresses.
type own struct {
	subnets   []netip.Prefix
	automatic [2]bool // some of IPv4, or of IPv6, come from the network, and are not known
}

// ownOf reads the addresses of all interfaces that are to have them.
func ownOf(root *yaml.Node) (o own) {
	for _, port := range items(root, "interfaces") {
		for n, key := range []string{"ipv4", "ipv6"} {
			family := child(port, key)
			if unused(port, family) {
				continue
			}
			o.automatic[n] = o.automatic[n] || asks(family, "enabled") && (asks(family, "dhcp") || asks(family, "autoconf"))
			for _, a := range items(family, "address") {
				ip, bits := child(a, "ip"), child(a, "prefix-length")
				if ip == nil || bits == nil {
					continue
				}
				if subnet, err := netip.ParsePrefix(ip.Value + "/" + bits.Value); err == nil {
					o.subnets = append(o.subnets, subnet.Masked())
				}
			}
		}
	}
	return o
}

// unused tells whether nmstate gives an interface no addresses of a family: the one or the other is off, or the interface is ignored.
func unused(port, family *yaml.Node) bool {
	state, enabled := child(port, "state"), child(family, "enabled")
	return state != nil && state.Value != "up" || enabled != nil && enabled.Tag == "!!bool" && enabled.Value == "false"
}

// drops refuses routes and rules that drop the node's own traffic: nobody would reach it any more, and nothing would be reached from it.
func drops(root *yaml.Node) *Error {
	o := ownOf(root)
	for _, route := range items(child(root, "routes"), "config") {
		if kind := droppedBy(route, "route-type"); kind != "" && o.droppedByRoute(route) {
			return fault(message.T("remove it; a route may drop other networks than the node's own and the default route"),
				message.F("drops traffic of the node itself: the route in its line %s has the type %s", lineNumber(route), kind))
		}
	}
	for _, rule := range items(child(root, "route-rules"), "config") {
		if kind := droppedBy(rule, "action"); kind != "" && o.droppedByRule(rule) {
			return fault(message.T("remove it; a rule may drop addresses that are in no subnet of the node, and none of a family that it gets from the network"),
				message.F("drops traffic of the node itself: the routing rule in its line %s has the action %s", lineNumber(rule), kind))
		}
	}
	return nil
}

// droppedBy is the kind by which a route or rule drops packets; "" for one that does not, or that is to go.
func droppedBy(n *yaml.Node, key string) string {
	kind := child(n, key)
	if state := child(n, "state"); kind == nil || !slices.Contains(netconfig.Dropping, kind.Value) || state != nil && state.Value == "absent" {
		return ""
	}
	return kind.Value
}

// droppedByRoute tells whether a route that drops takes the place of the default route or of one to a subnet of the node. In the main table a
// larger network than that does not: the more specific route goes before it.
func (o own) droppedByRoute(route *yaml.Node) bool {
	to, known := subnetIn(route, "destination")
	if !known || to.Bits() <= 1 { // two halves are a default route, too
		return true
	}
	table := child(route, "table-id")
	main := table == nil || table.Value == "0" || table.Value == "254"
	return slices.ContainsFunc(o.subnets, func(is netip.Prefix) bool { return is.Overlaps(to) && (!main || to.Bits() >= is.Bits()) })
}

// droppedByRule tells whether a rule that drops is about a subnet of the node. Rules go before all routes.
func (o own) droppedByRule(rule *yaml.Node) bool {
	named := false
	for _, key := range []string{"ip-from", "ip-to"} {
		if child(rule, key) == nil {
			continue
		}
		named = true
		subnet, known := subnetIn(rule, key)
		if !known || slices.ContainsFunc(o.subnets, subnet.Overlaps) {
			return true
		}
		if subnet.Addr().Is4() && o.automatic[0] || subnet.Addr().Is6() && o.automatic[1] { // any address may become the node's own
			return true
		}
	}
	return !named // a rule for all packets
}

// subnetIn reads a subnet, or an address, and tells whether it is one.
func subnetIn(n *yaml.Node, key string) (netip.Prefix, bool) {
	value := child(n, key)
	if value == nil {
		return netip.Prefix{}, false
	}
	if addr, err := netip.ParseAddr(value.Value); err == nil {
		return netip.PrefixFrom(addr, addr.BitLen()), true
	}
	subnet, err := netip.ParsePrefix(value.Value)
	return subnet.Masked(), err == nil
}

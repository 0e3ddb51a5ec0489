package netconfig

import (
	"net/netip"
	"slices"
	"strings"
)

// Words of nmstate that rules go by.
const (
	up     = "up"
	absent = "absent"
	byMAC  = "mac-address" // of identifier

	any4 = "0.0.0.0/0"
	any6 = "::/0"
)

// mainTable is the kernel's number of the table for ordinary packets (linux/rtnetlink.h); nmstate takes none and 0 for it.
const mainTable = 254

// state is what rules read of a document.
type state struct {
	ports  []*port
	routes []*route
}

// port is an interface of a document.
type port struct {
	at       place
	name     string
	of       map[string]any // all that the document says of it
	isUp     bool           // nmstate takes it for up where nothing is said
	mtu      int            // bytes; 0: not said
	families []*family      // those that the document describes
	base     string         // of a VLAN
	bond     map[string]any
	below    []string // ports of a bond
}

// family is what a document says of an interface's addresses of a family.
type family struct {
	at        place
	six       bool
	said      bool // the document has "enabled"; without it nmstate changes nothing in the family
	asked     bool // addresses are given or asked for
	enabled   bool
	automatic bool // the site's network gives addresses
	routed    bool // and a default route: NetworkManager takes none of its routes with auto-routes: false
	addresses []*address
}

// address is one that a document gives to an interface. nmstate takes one that ends for a lease.
type address struct {
	at     place
	text   string
	subnet netip.Prefix // not valid for what does not make one
	ends   bool
}

type route struct {
	at                 place
	to, gateway, over  string
	kind               string
	isAbsent, mainOnly bool
	table, metric      int
}

// read fills the ports and routes. The shape has been judged.
func read(d Document) (s state) {
	for n, i := range d.numbered("interfaces") {
		p := &port{at: place{"interfaces", n}, of: i, name: text(i, "name"), isUp: text(i, "state") == "" || text(i, "state") == up, mtu: number(i, "mtu")}
		for _, key := range []string{"ipv4", "ipv6"} {
			if f, ok := i[key].(map[string]any); ok {
				p.families = append(p.families, readFamily(p.at.and(key), f, key == "ipv6"))
			}
		}
		if v, ok := i["vlan"].(map[string]any); ok {
			p.base = text(v, "base-iface")
		}
		p.bond, _ = i["link-aggregation"].(map[string]any)
		p.below = append(texts(p.bond, "port"), texts(p.bond, "ports")...)
		if len(p.below) == 0 { // nmstate takes them from there, too
			for _, config := range Document(p.bond).numbered("ports-config") {
				p.below = append(p.below, text(config, "name"))
			}
		}
		s.ports = append(s.ports, p)
	}
	for n, r := range d.numbered("routes", "config") {
		table := number(r, "table-id")
		s.routes = append(s.routes, &route{
			at: place{"routes", "config", n}, to: text(r, "destination"), gateway: text(r, "next-hop-address"), over: text(r, "next-hop-interface"),
			kind: text(r, "route-type"), isAbsent: text(r, "state") == absent, table: table, metric: metricOf(r), mainOnly: table == 0 || table == mainTable,
		})
	}
	return s
}

func readFamily(at place, in map[string]any, six bool) *family {
	_, said := in["enabled"].(bool)
	asks := in["dhcp"] == true || six && in["autoconf"] == true
	f := &family{at: at, six: six, said: said, enabled: in["enabled"] == true}
	f.automatic = f.enabled && asks
	f.routed = f.automatic && in["auto-gateway"] != false && in["auto-routes"] != false
	for n, a := range Document(in).numbered("address") {
		one := &address{at: at.and("address", n), text: text(a, "ip")}
		if ip, err := netip.ParseAddr(one.text); err == nil {
			one.subnet = netip.PrefixFrom(ip.WithZone(""), number(a, "prefix-length"))
		}
		life := text(a, "valid-life-time")
		one.ends = life != "" && life != "forever"
		f.addresses = append(f.addresses, one)
	}
	f.asked = asks || len(f.addresses) > 0
	return f
}

// gives tells whether an interface gets a fixed address of a family.
func (f *family) gives() bool { return f.enabled && len(f.addresses) > 0 }

// find is the interface of that name, or nil.
func (s *state) find(name string) *port {
	i := slices.IndexFunc(s.ports, func(p *port) bool { return p.name == name })
	if i < 0 {
		return nil
	}
	return s.ports[i]
}

// given are the families of which interfaces get addresses.
func (s *state) given() func(func(*port, *family) bool) {
	return func(yield func(*port, *family) bool) {
		for _, p := range s.ports {
			for _, f := range p.families {
				if p.isUp && f.enabled && !yield(p, f) {
					return
				}
			}
		}
	}
}

// numbered are the maps of a list, each by its number in it.
func (d Document) numbered(keys ...string) func(func(int, map[string]any) bool) {
	var at any = map[string]any(d)
	for _, k := range keys {
		m, _ := at.(map[string]any)
		at = m[k]
	}
	items, _ := at.([]any)
	return func(yield func(int, map[string]any) bool) {
		for n, item := range items {
			if m, ok := item.(map[string]any); ok && !yield(n, m) {
				return
			}
		}
	}
}

// List returns a list of maps in the document; what is not a map is left out.
func (d Document) List(keys ...string) (found []map[string]any) {
	for _, m := range d.numbered(keys...) {
		found = append(found, m)
	}
	return found
}

func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

// metricOf is the metric that a route gets: without one libnmstate gives 0 for IPv4 and 1024 for IPv6, and of an IPv6 route's 0 NetworkManager
// and the kernel make 1024.
func metricOf(r map[string]any) int {
	switch m := number(r, "metric"); {
	case m > 0:
		return m
	case strings.Contains(text(r, "destination"), ":"):
		return 1024
	}
	return 0
}

// number is a whole one; 0 for none.
func number(m map[string]any, key string) int {
	n, _ := m[key].(float64)
	return int(n)
}

func texts(m map[string]any, key string) (all []string) {
	items, _ := m[key].([]any)
	for _, item := range items {
		if s, ok := item.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

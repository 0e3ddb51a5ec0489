package network

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// differences tells in what now, as configured, is not what want asks for. It looks at what this package sets: addresses
// and how they come, MTU, what br-ex stands on, default routes, name servers.
func differences(want, now *state) []string {
	var all []string
	for _, w := range want.Interfaces {
		all = append(all, w.differs(now)...)
	}
	if want.Routes != nil {
		have := &state{Routes: now.Routes}
		for _, r := range want.Routes.Config {
			unwanted := r.State == "absent"
			if unwanted && want.asksLike(r) {
				continue // it goes for another one to come, which looks the same here
			}
			if have.has(r) == unwanted {
				all = append(all, fmt.Sprintf("route to %s over %s by %s: there %v", r.Destination, r.Interface, r.Gateway, unwanted))
			}
		}
	}
	if want.DNS != nil && want.DNS.Config != nil {
		have := &servers{}
		if now.DNS != nil && now.DNS.Config != nil {
			have = now.DNS.Config
		}
		if !slices.Equal(want.DNS.Config.Server, have.Server) && len(want.DNS.Config.Server)+len(have.Server) > 0 {
			all = append(all, "name servers "+strings.Join(have.Server, " "))
		}
		if !slices.Equal(want.DNS.Config.Search, have.Search) && len(want.DNS.Config.Search)+len(have.Search) > 0 {
			all = append(all, "search domains "+strings.Join(have.Search, " "))
		}
	}
	return all
}

// has tells whether a route like r is there; what r leaves open is not compared.
func (s *state) has(r route) bool {
	return s.Routes != nil && slices.ContainsFunc(s.Routes.Config, func(x route) bool {
		return x.State != "absent" && x.Destination == r.Destination && (r.Gateway == "" || sameAddress(x.Gateway, r.Gateway)) &&
			x.Interface == r.Interface && (r.Metric == 0 || x.Metric == r.Metric)
	})
}

// asksLike tells whether s asks for a route that the removal r would also match.
func (s *state) asksLike(r route) bool {
	return slices.ContainsFunc(s.Routes.Config, func(x route) bool {
		return x.State != "absent" && x.Destination == r.Destination && x.Interface == r.Interface && (r.Gateway == "" || x.Gateway == r.Gateway)
	})
}

func (w iface) differs(now *state) []string {
	have := now.find(w.Name, "")
	if w.Type == "ovs-bridge" || w.Type == "ovs-interface" {
		have = now.find(w.Name, w.Type)
	}
	if w.State == "absent" {
		if have != nil && have.State == "up" && !physical(*have) {
			return []string{w.Name + " is there"}
		}
		return nil
	}
	if have == nil {
		return []string{w.Name + " is not there"}
	}
	var all []string
	note := func(differs bool, format string, a ...any) {
		if differs {
			all = append(all, fmt.Sprintf(w.Name+": "+format, a...))
		}
	}
	note(w.MTU > 0 && have.MTU != w.MTU, "MTU is %d", have.MTU)
	note(w.Bridge != nil && !sameNames(w.Bridge, have.Bridge), "stands on other ports")
	note(w.VLAN != nil && (have.VLAN == nil || *have.VLAN != *w.VLAN), "another VLAN")
	note(w.Bond != nil && (have.Bond == nil || have.Bond.Mode != w.Bond.Mode || !slices.Equal(sorted(have.Bond.Ports), sorted(w.Bond.Ports))), "another bond")
	note(w.IPv4 != nil && !w.IPv4.same(have.IPv4), "other IPv4 addresses")
	note(w.IPv6 != nil && !w.IPv6.same(have.IPv6), "other IPv6 addresses")
	return all
}

func sameNames(a, b *bridge) bool {
	if b == nil {
		return false
	}
	names := func(b *bridge) (list []string) {
		for _, p := range b.Ports {
			if !strings.HasPrefix(p.Name, "patch-") {
				list = append(list, p.Name)
			}
		}
		return sorted(list)
	}
	return slices.Equal(names(a), names(b))
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}

// same compares what is configured; addresses that are leased, announced or link-local do not count. Those that were given for ever, which
// nothing here tells from fixed ones, are not in what a Network reads as configured.
func (f *family) same(have *family) bool {
	if have == nil {
		have = &family{}
	}
	if f.Enabled != have.Enabled {
		return false
	}
	auto := func(f *family) bool { return isSet(f.DHCP) || isSet(f.Autoconf) }
	return auto(f) == auto(have) && slices.Equal(f.fixed(), have.fixed())
}

func (f *family) fixed() []string {
	var list []string
	for _, a := range f.Address {
		if a.endless() {
			list = append(list, a.prefix().String())
		}
	}
	slices.Sort(list)
	return list
}

func sameAddress(a, b string) bool {
	x, errX := netip.ParseAddr(a)
	y, errY := netip.ParseAddr(b)
	return errX == nil && errY == nil && x == y
}

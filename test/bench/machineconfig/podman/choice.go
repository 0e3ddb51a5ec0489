package main

import (
	"bytes"
	"cmp"
	"net"
	"slices"
	"strings"

	"github.com/openshift/baremetal-runtimecfg/pkg/utils"
	"github.com/vishvananda/netlink"
)

// choice is what is asked for: one address, and one of the other family where there is one.
type choice struct {
	hints []net.IP // addresses in the network that is wanted
	six   bool     // IPv6 first
	ovn   bool     // OVN-Kubernetes has its own IPv6 address on br-ex
}

func isSix(ip net.IP) bool { return ip.To4() == nil }

func (c choice) choose() ([]net.IP, error) {
	if len(c.hints) > 0 {
		found, err := utils.AddressesRouting(c.hints, func(a netlink.Addr) bool {
			return valid(a) && !slices.ContainsFunc(c.hints, a.IP.Equal)
		})
		if len(found) > 0 || err != nil {
			slices.SortStableFunc(found, func(a, b net.IP) int { return first(isSix(a) == c.six, isSix(b) == c.six) })
			return found, err
		}
	}
	return c.byRoute()
}

// valid leaves out addresses that are link-local or deprecated, and those of an egress IP.
func valid(a netlink.Addr) bool {
	return utils.ValidNodeAddress(a) && !strings.Contains(a.Label, "eip")
}

// candidate is an address of an interface that has a default route.
type candidate struct {
	ip           net.IP
	metric, link int
	six          bool
	reaches      bool // the gateway, without another route
}

// byRoute chooses by the first default route of each interface, whichever family that has.
func (c choice) byRoute() ([]net.IP, error) {
	routes, err := netlink.RouteList(nil, netlink.FAMILY_ALL)
	if err != nil {
		return nil, err
	}
	links, err := netlink.LinkList()
	if err != nil {
		return nil, err
	}
	var all []candidate
	for _, link := range links {
		index := link.Attrs().Index
		at := slices.IndexFunc(routes, func(r netlink.Route) bool { return r.Dst == nil && r.LinkIndex == index })
		if at < 0 {
			continue
		}
		addresses, err := netlink.AddrList(link, netlink.FAMILY_ALL)
		if err != nil {
			return nil, err
		}
		for _, a := range addresses {
			if valid(a) && (!c.ovn || a.IP.String() != "fd69::2") {
				all = append(all, candidate{ip: a.IP, metric: routes[at].Priority, link: index, six: isSix(a.IP), reaches: a.Contains(routes[at].Gw)})
			}
		}
	}
	slices.SortStableFunc(all, c.compare)
	var chosen []net.IP
	for _, a := range all {
		if !slices.ContainsFunc(chosen, func(ip net.IP) bool { return isSix(ip) == a.six }) {
			chosen = append(chosen, a.ip)
		}
	}
	return chosen, nil
}

func (c choice) compare(a, b candidate) int {
	return cmp.Or(
		cmp.Compare(a.metric, b.metric), cmp.Compare(a.link, b.link), first(a.six == c.six, b.six == c.six),
		first(a.reaches, b.reaches), first(!a.ip.IsPrivate(), !b.ip.IsPrivate()), bytes.Compare(a.ip, b.ip),
	)
}

// first puts what is true before what is not.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

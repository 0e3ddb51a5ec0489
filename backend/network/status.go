package network

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Status is the network as a dashboard shows it.
type Status struct {
	Carrier   string   // interface with the addresses
	Link      bool     // some port below it has a link
	Addresses []string // with prefix length, without the internal one and link-local ones
	Own       bool     // the node's own address is there
	Gateways  []string
	DNS       []string
	Trial     bool          // settings are being tried; NetworkManager holds a checkpoint
	Left      time.Duration // until the old ones come back, when Trial
}

// Status reads the network. It changes nothing.
func (n *Network) Status(ctx context.Context) (*Status, error) {
	live, err := n.library.show(ctx, false)
	if err != nil {
		return nil, err
	}
	open, err := n.manager.checkpoints(ctx)
	if err != nil {
		return nil, err
	}
	m, err := readNode(n.host)
	if err != nil {
		return nil, err
	}
	now := understand(live, live, m)
	s := &Status{Carrier: now.Carrier, DNS: now.DNS}
	for _, name := range now.ports() {
		if l, err := netlink.LinkByName(name); err == nil {
			s.Link = s.Link || l.Attrs().RawFlags&unix.IFF_LOWER_UP != 0
		}
	}
	if i := live.find(now.Carrier, carrierType(now.Bridged)); i != nil {
		for _, f := range []*family{i.IPv4, i.IPv6} {
			s.addresses(f, now, m.inside)
		}
	}
	if live.Routes != nil {
		for _, r := range defaults(live.Routes.Running, now.Carrier) {
			s.Gateways = append(s.Gateways, r.Gateway)
		}
	}
	if len(open) > 0 {
		s.Trial, s.Left = true, open[0].Left
	}
	return s, nil
}

// ovn are the networks of OVN-Kubernetes' own addresses, which it puts on br-ex: of each family those that the cluster names, else the
// defaults.
func ovn(m *host.Machine) []netip.Prefix {
	inside := host.Inside(m)
	named := func(p netip.Prefix) bool {
		return slices.ContainsFunc(inside, func(n netip.Prefix) bool { return n.Addr().Is4() == p.Addr().Is4() })
	}
	all := slices.Clone(inside)
	for _, r := range OVNDefaults {
		if !named(r.Prefix) {
			all = append(all, r.Prefix)
		}
	}
	return all
}

func (s *Status) addresses(f *family, now *Current, inside []netip.Prefix) {
	if f == nil {
		return
	}
	s.Own = s.Own || slices.ContainsFunc(f.Address, func(a address) bool { return now.Own.Holds(a.prefix()) })
	for _, a := range sites(now.Own, f.Address) {
		if p := a.prefix(); !within(inside, p) {
			s.Addresses = append(s.Addresses, p.String())
		}
	}
}

// routeTime is how long after a lease its default route may come: NetworkManager sets both in one go. A site without a router
// gives none.
const routeTime = 3 * time.Second

// Await waits until p works as far as this node can tell: an address of each family that it asks for, and the default route
// that it gives. It is the wait for a lease or an announcement; a static address is there at once. It returns the interface
// that has them, which becomes br-ex where configure-ovs built it meanwhile.
func (n *Network) Await(ctx context.Context, p *Plan, timeout time.Duration) (carrier string, err error) {
	var missing message.Text
	var leased time.Time // when only the route of a lease was missing
	err = until(ctx, timeout, func() (bool, error) {
		live, err := n.library.show(ctx, false)
		if err != nil {
			return false, err
		}
		if (live.find(Bridge, "ovs-interface") != nil) != p.now.Bridged {
			if p, err = n.refreshed(ctx, p); err != nil {
				return false, err
			}
		}
		var routed bool
		if missing, routed = p.missing(live, ovn(n.host)); missing.String() != "" {
			leased = time.Time{}
			return false, nil
		}
		if leased.IsZero() {
			leased = time.Now()
		}
		return routed || time.Since(leased) >= routeTime, nil
	})
	if err == nil && missing.String() != "" {
		err = &problem.Problem{
			Code: "NET-DEAD", Summary: missing,
			Fix: message.T("Check the cable and the port's VLAN, or give the address by hand (static)."),
		}
	}
	return p.Carrier, err
}

// missing tells what p asks for and the machine does not have, and whether all is there that may come: a default route with a lease, and a
// lease in the place of a static address.
func (p *Plan) missing(live *state, inside []netip.Prefix) (what message.Text, routed bool) {
	i := live.find(p.Carrier, carrierType(p.Carrier == Bridge))
	if i == nil {
		return message.F("%s does not come up.", p.Carrier), false
	}
	want, err := parseState(p.desired)
	if err != nil {
		return message.Detail(err), false
	}
	w := want.find(p.Carrier, carrierType(p.Carrier == Bridge))
	if w == nil {
		return message.Text{}, true
	}
	// Two families that are both automatic are served by either.
	auto4, auto6 := w.IPv4 != nil && isSet(w.IPv4.DHCP), w.IPv6 != nil && isSet(w.IPv6.Autoconf)
	four, six := i.IPv4.leased(p.Settings.Own, inside, w.IPv4.addresses()), i.IPv6.leased(p.Settings.Own, inside, w.IPv6.addresses())
	has4, has6 := len(four) > 0, len(six) > 0
	switch {
	case auto4 && auto6 && !has4 && !has6:
		return message.T("No DHCP server and no router gave an address."), false
	case auto4 && !auto6 && !has4:
		return message.T("No DHCP server gave an address."), false
	case auto6 && !auto4 && !has6:
		return message.T("No router announced an IPv6 prefix."), false
	}
	has := live.Routes != nil && len(defaults(live.Routes.Running, p.Carrier)) > 0
	if !has && want.leadsOut(p.Carrier) {
		return message.T("There is no default route."), false
	}
	if auto4 && p.leftOver(four) || auto6 && p.leftOver(six) {
		return message.Text{}, false
	}
	return message.Text{}, has || !auto4 && !auto6
}

// leftOver tells whether an address may still be the static one from before a move to DHCP: the server may give the same one for ever, and
// nothing then tells the two apart but that what is left over goes within moments, since NetworkManager takes it away with the old profile.
func (p *Plan) leftOver(given []address) bool {
	return slices.ContainsFunc(given, func(a address) bool {
		return a.Valid == "" && slices.ContainsFunc([]*Current{p.Before, p.now}, func(c *Current) bool {
			return c != nil && (c.IPv4.Method == Static && sameAddress(c.IPv4.Address, a.IP) || c.IPv6.Method == Static && sameAddress(c.IPv6.Address, a.IP))
		})
	})
}

// leadsOut tells whether a desired state gives an interface a default route itself.
func (s *state) leadsOut(over string) bool {
	return s.Routes != nil && slices.ContainsFunc(defaults(s.Routes.Config, over), func(r route) bool { return r.State != "absent" })
}

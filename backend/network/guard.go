package network

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"

	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/backend/netconfig"
	"touchdown/backend/problem"
)

// changes is what nmstate would change, as far as it is judged here.
type changes struct {
	Interfaces []iface `json:"interfaces"`
	Routes     *routes `json:"routes"`
	Rules      struct {
		Config []rule `json:"config"`
	} `json:"route-rules"`
	OVSDB json.RawMessage `json:"ovs-db"`
	OVN   json.RawMessage `json:"ovn"`
}

type rule struct {
	State  string `json:"state"`
	Action string `json:"action"`
	From   string `json:"ip-from"`
	To     string `json:"ip-to"`
}

// guard refuses a plan out of a document that would change what is not the site's to change: interfaces of the cluster and of
// other programs, the node's internal address, routes and rules that would lead the cluster's traffic elsewhere. It goes by what
// nmstate would change on this machine, whatever the document calls it.
func (p *Plan) guard(ctx context.Context, l library) error {
	live := &state{}
	if len(p.now.live) > 0 {
		var err error
		if live, err = parseState(p.now.live); err != nil {
			return err
		}
	}
	want, err := parseState(p.desired)
	if err != nil {
		return err
	}
	present := p.now.live
	if len(present) == 0 {
		present = []byte(`{"interfaces": []}`)
	}
	text, err := l.compare(ctx, p.desired, present)
	if err != nil {
		return err
	}
	var c changes
	if err := json.Unmarshal(text, &c); err != nil {
		return fmt.Errorf("reading what nmstate would change: %w", unfit(err))
	}
	for _, err := range []error{
		c.interfaces(live), c.routing(p, want, live), c.rules(p.reserved(), p.ownSubnets(want, live)), ownKept(want, p.Carrier, p.Settings.Own),
	} {
		if err != nil {
			return &problem.Problem{
				Code: "NET-KEYS", Summary: message.F("The nmstate document %s.", err),
				Fix: message.T("Leave that out of spec.networkConfig; describe the site's ports, bonds and VLANs alone."), Err: err,
			}
		}
	}
	return nil
}

// reserved are the networks inside of the node.
func (p *Plan) reserved() []Reserved {
	inside := p.Settings.Inside
	if len(inside) == 0 {
		inside = OVNDefaults
	}
	return append(slices.Clone(inside), ownReserved(p.Settings.Own)...)
}

// interfaces wants the changed ones to be ports, bonds and VLANs, and br-ex as this package itself changes it.
func (c *changes) interfaces(live *state) error {
	if len(c.OVSDB) > 0 && string(c.OVSDB) != "null" || len(c.OVN) > 0 && string(c.OVN) != "null" {
		return message.Failed(message.T("would change the database of Open vSwitch"))
	}
	for _, i := range c.Interfaces {
		if i.Name == Bridge && (i.Type == "ovs-bridge" || i.Type == "ovs-interface") {
			continue // we made it: a document has neither type
		}
		if netconfig.ClusterOwned(i.Name) || !ofASite(i) {
			return message.Failed(message.F("would change %q, which is not a port, a bond or a VLAN of the site", i.Name))
		}
		for _, now := range live.Interfaces {
			if now.Name == i.Name && (!ofASite(now) || now.State == "ignore") {
				return message.Failed(message.F("would change %q, which belongs to the cluster or to another program", i.Name))
			}
		}
	}
	return nil
}

func ofASite(i iface) bool {
	return physical(i) || i.Type == "vlan" || i.Type == "bond"
}

// routing judges routes: those that come, and those that go, which nmstate leaves out of its comparison. Of the carrier only
// default routes go, for new ones to take their place.
func (c *changes) routing(p *Plan, want, live *state) error {
	list := removed(want, live)
	if c.Routes != nil {
		list = append(list, c.Routes.Config...)
	}
	own := p.ownSubnets(want, live)
	for _, r := range list {
		if r.Table == localTable && r.State != "absent" {
			return message.Failed(message.T("has a route in the table of the node's own addresses (255), which goes before all others"))
		}
		if r.drops() {
			if err := r.harmless(p.reserved(), own); err != nil {
				return err
			}
			continue
		}
		isDefault := r.Destination == any4 || r.Destination == any6
		switch described := r.Interface == p.Carrier || want.find(r.Interface, "") != nil; {
		case !described:
			return message.Failed(message.F("would change a route over %q, which it does not describe", r.Interface))
		case isDefault:
		case r.State == "absent" && r.Interface == p.Carrier:
			return message.Failed(message.F("would remove the route to %s, which is not the site's", r.Destination))
		default:
			if err := hidesNone(message.F("has a route to %s, which", r.Destination), r.Destination, r.isMain(), p.reserved()); err != nil {
				return err
			}
		}
	}
	return nil
}

// drops tells whether a route that comes drops packets. Such a one needs no interface.
func (r route) drops() bool {
	return r.State != "absent" && slices.Contains(netconfig.Dropping, r.Type)
}

// harmless wants a route that drops packets to leave the default route, the networks inside of the node and its subnets alone. In the main
// table a larger network than a subnet does: the more specific route goes before it.
func (r route) harmless(reserved []Reserved, own []netip.Prefix) error {
	if err := hidesNone(message.T("has a route that drops packets and"), r.Destination, r.isMain(), reserved); err != nil {
		return err
	}
	to, err := netip.ParsePrefix(r.Destination)
	if err != nil {
		return message.Failed(message.T("has a route that drops packets to what cannot be read"))
	}
	hits := func(is netip.Prefix) bool { return is.Overlaps(to) && (!r.isMain() || to.Bits() >= is.Bits()) }
	if to.Bits() <= 1 || slices.ContainsFunc(own, hits) { // two halves are a default route, too
		return message.Failed(message.F("has a route that drops packets to %s, which are the node's own", r.Destination))
	}
	return nil
}

// removed are the routes of live that want has go.
func removed(want, live *state) (gone []route) {
	if want.Routes == nil || live.Routes == nil {
		return nil
	}
	for _, now := range slices.Concat(live.Routes.Config, live.Routes.Running) {
		if slices.ContainsFunc(want.Routes.Config, func(r route) bool { return r.removes(now) }) {
			now.State = "absent"
			gone = append(gone, now)
		}
	}
	return gone
}

// removes tells whether r takes a route away; what r leaves open is not compared.
func (r route) removes(now route) bool {
	return r.State == "absent" && (r.Interface == "" || r.Interface == now.Interface) && (r.Gateway == "" || sameAddress(r.Gateway, now.Gateway)) &&
		(r.Metric == 0 || r.Metric == now.Metric) && (r.Table == 0 || r.Table == now.Table) && (r.Destination == "" || sameSubnet(r.Destination, now.Destination))
}

// sameSubnet compares as nmstate does, which takes 10.0.0.1/8 for 10.0.0.0/8; of what cannot be read it says yes.
func sameSubnet(a, b string) bool {
	x, errX := netip.ParsePrefix(a)
	y, errY := netip.ParsePrefix(b)
	return errX != nil || errY != nil || x.Masked() == y.Masked()
}

// ownSubnets are the addresses that the node will have, and the leased ones that it does not give up, each with its subnet.
func (p *Plan) ownSubnets(want, live *state) (all []netip.Prefix) {
	add := func(list []address) {
		for _, a := range list {
			if x := a.prefix(); x.IsValid() {
				all = append(all, x)
			}
		}
	}
	for _, i := range want.Interfaces {
		add(i.IPv4.addresses())
		add(i.IPv6.addresses())
	}
	for _, i := range live.Interfaces {
		next, seen := want.find(i.Name, ""), p.now.Seen.find(i.Name, i.Type)
		if seen == nil {
			seen = &iface{}
		}
		if next == nil || next.IPv4 == nil || next.IPv4.automatic() {
			add(i.IPv4.leased(p.Settings.Own, p.now.inside, seen.IPv4.addresses()))
		}
		if next == nil || next.IPv6 == nil || next.IPv6.automatic() {
			add(i.IPv6.leased(p.Settings.Own, p.now.inside, seen.IPv6.addresses()))
		}
	}
	return all
}

// rules judges rules: each is for addresses of the site, and for nothing inside of the node. One with an action drops packets: not those of
// the node's own addresses. The site config is judged by more (steps/site), but knows no lease.
func (c *changes) rules(reserved []Reserved, own []netip.Prefix) error {
	var addresses []Reserved
	for _, p := range own {
		addresses = append(addresses, Reserved{Name: netconfig.NodesOwn, Prefix: netip.PrefixFrom(p.Addr(), p.Addr().BitLen())})
	}
	for _, r := range c.Rules.Config {
		if r.State == "absent" {
			return message.Failed(message.T("would remove a routing rule"))
		}
		if r.From == "" && r.To == "" {
			return message.Failed(message.T("has a routing rule for all packets; give ip-from or ip-to"))
		}
		for _, subnet := range []string{r.From, r.To} {
			if subnet == "" {
				continue
			}
			if err := apart(message.T("has a routing rule that"), subnet, reserved); err != nil {
				return err
			}
			if r.Action == "" {
				continue
			}
			if err := apart(message.T("has a routing rule that drops packets and"), subnet, addresses); err != nil {
				return err
			}
		}
	}
	return nil
}

// apart wants a subnet to lie outside of all reserved networks.
func apart(what message.Text, subnet string, reserved []Reserved) error {
	return hidesNone(what, subnet, false, reserved)
}

// hidesNone wants a route to a subnet to hide none of the reserved networks.
func hidesNone(what message.Text, subnet string, isMain bool, reserved []Reserved) error {
	prefix, err := netip.ParsePrefix(subnet)
	if addr, bad := netip.ParseAddr(subnet); bad == nil {
		prefix, err = netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	if err != nil {
		return message.Failed(message.T("has a subnet that cannot be read"))
	}
	for _, r := range reserved {
		if r.HiddenBy(prefix, isMain) {
			return message.Failed(message.F("%s overlaps %s network %s", what, r.Whose(), r.Prefix))
		}
	}
	return nil
}

// ownKept wants the node's own addresses on the carrier and nowhere else.
func ownKept(want *state, carrier string, own host.Own) error {
	missing := slices.Clone(own)
	for _, i := range want.Interfaces {
		for _, f := range []*family{i.IPv4, i.IPv6} {
			if f == nil {
				continue
			}
			for _, a := range f.Address {
				p := a.prefix()
				switch {
				case i.Name == carrier && own.Holds(p) && f.Enabled:
					missing = slices.DeleteFunc(missing, func(a netip.Addr) bool { return a == p.Addr() })
				case i.Name != carrier && p.IsValid() && slices.Contains(own, p.Addr()):
					return message.Failed(message.F("gives %s the node's internal address %s", i.Name, p.Addr()))
				}
			}
		}
	}
	if len(missing) > 0 {
		return message.Failed(message.F("would take the internal address %s from the node", missing))
	}
	return nil
}

package network

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Plan is what settings mean on this node: a state to bring about now, and profiles for the next boot.
type Plan struct {
	Settings Settings // resolved
	Carrier  string   // the interface that will have the addresses
	Released []string // ports that will have none any more
	Before   *Current // the network before the first change: what "unchanged" means
	desired  []byte   // nmstate's document
	files    []keyfile
	asked    Settings
	now      *Current
}

// Compile works out what settings mean, from the network as the originals have it: "unchanged" is what was before the first
// change, so that the plan is the same one however far an earlier run came. It changes nothing. Faults of the settings are
// Validate's matter and should have been asked before.
func (n *Network) Compile(ctx context.Context, s Settings, saved []byte) (*Plan, error) {
	o, err := readOriginals(saved, ovn(n.host))
	if err != nil {
		return nil, err
	}
	now, err := n.Read(ctx)
	if err != nil {
		return nil, err
	}
	if len(now.Own) == 0 {
		return nil, &problem.Problem{
			Code:    "NET-BAKE",
			Summary: message.T("This node was not prepared for another network: nothing would keep the address that its cluster was installed with."),
			Fix:     message.T("Run `touchdown factory bake` on the node where it was installed. Its network was not changed."),
			Err:     fmt.Errorf("there is no %s", host.OwnFile),
		}
	}
	return compilePlan(ctx, n.library, s, o.Before, now)
}

func compilePlan(ctx context.Context, l library, s Settings, before, now *Current) (*Plan, error) {
	p := &Plan{Settings: s.resolved(now, before), asked: s, Carrier: Bridge, Before: before, now: now}
	compile := p.form
	if len(s.Raw) > 0 {
		compile = p.raw
	}
	physical, err := compile()
	if err != nil {
		return nil, err
	}
	if p.desired, err = leaving(p.desired, p.Settings, before, now); err != nil {
		return nil, err
	}
	files, err := l.generate(ctx, physical)
	if err != nil {
		return nil, err
	}
	if len(s.Raw) > 0 {
		if err := p.guard(ctx, l); err != nil {
			return nil, err
		}
	}
	for _, f := range files {
		own, err := ours(f, p.Settings.Own)
		if err != nil {
			return nil, unwritable(err)
		}
		if slices.ContainsFunc(p.files, func(f keyfile) bool { return f.Name == own.Name }) {
			return nil, unwritable(errors.New("two profiles are for one interface"))
		}
		p.files = append(p.files, own)
	}
	return p, nil
}

func unwritable(err error) error {
	return &problem.Problem{
		Code: "NET-ARG", Summary: message.F("The network settings cannot be written as profiles of NetworkManager: %s.", err),
		Fix: message.T("Correct spec.networkConfig; if the settings were typed as a form, make a support bundle."), Err: err,
	}
}

// refreshed is p for a machine that got its br-ex since p was compiled: configure-ovs waits for an address, which a trial on the
// port below gives it, and then builds br-ex out of that port.
func (n *Network) refreshed(ctx context.Context, p *Plan) (*Plan, error) {
	now, err := n.Read(ctx)
	if err != nil || now.Bridged == p.now.Bridged {
		return p, err
	}
	return compilePlan(ctx, n.library, p.asked, p.Before, now)
}

// form compiles typed settings. It returns the state that a boot has to make.
func (p *Plan) form() (physical []byte, err error) {
	s := p.Settings
	p.place(s.device(), s.ports())
	d := s.desired(p.Before, p.now)
	d.add(p.besides(d))
	p.desired = d.json()
	b := s.below(p.now.Macs, true)
	b.add(p.quiet())
	return b.json(), nil
}

// place notes who carries the addresses and who will not any more.
func (p *Plan) place(device string, ports []string) {
	if !p.now.Bridged {
		p.Carrier = device
	}
	for _, old := range slices.Concat(p.Before.ports(), p.now.ports()) {
		if old != "" && !slices.Contains(ports, old) && !slices.Contains(p.Released, old) {
			p.Released = append(p.Released, old)
		}
	}
}

// quiet are the released ports: they keep their link, for the list of ports, and lose everything else.
func (p *Plan) quiet() *state {
	s := &state{}
	for _, name := range p.Released {
		s.Interfaces = append(s.Interfaces, quiet(name))
	}
	return s
}

// besides is what has to go for the new settings to be alone: released ports, a VLAN or bond that nobody needs, and the
// previous default routes. nmstate adds routes to those that are there, so an old one would stay beside the new.
func (p *Plan) besides(d *state) *state {
	b := p.quiet()
	b.Routes = &routes{}
	for _, old := range []*Current{p.Before, p.now} {
		if !p.now.Bridged || d.find(Bridge, "ovs-bridge") != nil {
			b.gone(d, old.VLAN > 0, old.Settings.device(), "vlan")
			b.gone(d, len(old.Bond.Ports) > 0, old.base(), "bond")
		}
		if old.Seen.Routes == nil {
			continue
		}
		for _, r := range defaults(old.Seen.Routes.Config, p.Carrier) {
			absent := route{State: "absent", Destination: r.Destination, Interface: r.Interface, Gateway: r.Gateway}
			if !d.asks(r) && !slices.Contains(b.Routes.Config, absent) {
				b.Routes.Config = append(b.Routes.Config, absent)
			}
		}
	}
	return b
}

// gone has an interface made of software go away when nothing asks for it.
func (s *state) gone(d *state, was bool, name, kind string) {
	if was && d.find(name, "") == nil && s.find(name, "") == nil {
		s.Interfaces = append(s.Interfaces, iface{Name: name, Type: kind, State: "absent"})
	}
}

// below is what stands under br-ex; carrying says that the top of it has the addresses itself, as a boot needs it, which
// builds br-ex out of that.
func (s Settings) below(macs map[string]string, carrying bool) *state {
	d := &state{}
	for _, name := range s.ports() {
		p := quiet(name)
		if s.MTU > 0 {
			p.MTU = s.MTU
		}
		d.Interfaces = append(d.Interfaces, p)
	}
	if len(s.Bond.Ports) > 0 {
		b := off(iface{Name: s.base(), Type: "bond", State: "up", MTU: s.MTU, MAC: s.mac(macs)})
		// Without link monitoring (milliseconds) a bond never leaves a dead port.
		b.Bond = &bond{Mode: s.Bond.Mode, Options: map[string]any{"miimon": "100"}, Ports: s.Bond.Ports}
		d.Interfaces = append(d.Interfaces, b)
	}
	if s.VLAN > 0 {
		v := off(iface{Name: s.device(), Type: "vlan", State: "up", MTU: s.MTU})
		v.VLAN = &vlan{Base: s.base(), ID: s.VLAN}
		d.Interfaces = append(d.Interfaces, v)
	}
	if carrying {
		top := &d.Interfaces[len(d.Interfaces)-1]
		top.IPv4, top.IPv6 = s.families()
		s.routing(d, top.Name)
	}
	return d
}

// desired is the state of the running system.
func (s Settings) desired(before, now *Current) *state {
	if !now.Bridged {
		return s.below(now.Macs, true)
	}
	d := &state{}
	changed := s.stands(before) || s.stands(now)
	if changed || s.MTU != before.MTU {
		d = s.below(now.Macs, false)
	}
	top := iface{Name: Bridge, Type: "ovs-interface", State: "up", MTU: s.MTU}
	if changed {
		d.Interfaces = append(d.Interfaces, uplink(s.device()))
		// DHCP servers know the node by its MAC, and a boot gives br-ex that of the port below it.
		top.MAC = s.mac(now.Macs)
	}
	top.IPv4, top.IPv6 = s.families()
	d.Interfaces = append(d.Interfaces, top)
	s.routing(d, Bridge)
	return d
}

// stands tells whether br-ex is to stand on something else than it did.
func (s Settings) stands(old *Current) bool {
	return s.device() != old.Device || !slices.Equal(s.ports(), old.ports()) || s.Bond.Mode != old.Bond.Mode
}

// uplink is br-ex standing on a device.
func uplink(device string) iface {
	return iface{Name: Bridge, Type: "ovs-bridge", State: "up", Bridge: &bridge{ExtraPatches: true, Ports: []port{{device}, {Bridge}}}}
}

// quiet is a port with a link and no addresses.
func quiet(name string) iface { return off(iface{Name: name, Type: "ethernet", State: "up"}) }

func off(i iface) iface {
	i.IPv4, i.IPv6 = &family{}, &family{}
	return i
}

// families are the addresses of both kinds, the node's own always among them, never first: OVN-Kubernetes takes the first one
// for the pods' gateway.
func (s Settings) families() (v4, v6 *family) {
	return s.IPv4.family(false, s.Own, len(s.DNS) > 0), s.IPv6.family(true, s.Own, len(s.DNS) > 0)
}

func (f Family) family(six bool, own host.Own, ownDNS bool) *family {
	on, not, m := true, false, metric
	out := &family{DHCP: &not}
	if six {
		out.Autoconf = &not
	}
	switch f.Method {
	case Static:
		out.Enabled = true
		out.Address = append(out.Address, address{IP: f.Address, Prefix: f.Prefix})
	case DHCP, Autoconf:
		auto := !ownDNS
		out.Enabled, out.DHCP, out.AutoDNS, out.AutoMetric = true, &on, &auto, &m
		if six {
			// NetworkManager has no DHCPv6 without listening to the router, which says whether to ask for it.
			out.Autoconf = &on
		}
	case linkLocal:
		out.Enabled = true
	}
	for _, p := range own.Prefixes(six) {
		out.Enabled = true
		if !slices.ContainsFunc(out.Address, func(a address) bool { return host.Own{p.Addr()}.Holds(a.prefix()) }) {
			out.Address = append(out.Address, address{IP: p.Addr().String(), Prefix: p.Bits()})
		}
	}
	if !out.Enabled {
		return &family{}
	}
	return out
}

// routing adds default routes and name servers.
func (s Settings) routing(d *state, over string) {
	d.Routes, d.DNS = &routes{Config: []route{}}, &resolver{Config: &servers{Server: []string{}, Search: []string{}}}
	for _, f := range []struct {
		Family
		to string
	}{{s.IPv4, any4}, {s.IPv6, any6}} {
		if f.Method == Static && f.Gateway != "" {
			d.Routes.Config = append(d.Routes.Config, route{Destination: f.to, Interface: over, Gateway: f.Gateway, Metric: metric, Table: mainTable})
		}
	}
	d.DNS.Config.Server = append(d.DNS.Config.Server, s.DNS...)
	d.DNS.Config.Search = append(d.DNS.Config.Search, s.Search...)
}

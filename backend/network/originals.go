package network

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// originals is the network as it was before the first change: enough to put it back without NetworkManager's checkpoint,
// in the same boot or after a power cut. It can hold secrets of profiles (802.1X).
type originals struct {
	Version int    `json:"version"`
	Boot    string `json:"boot"`
	// Taken is when, since the machine booted: a checkpoint that is older is not ours.
	Taken time.Duration `json:"taken"`
	// Before is the network as it was read. On the disk its Seen is nmstate's own picture, by which the release before this one puts back;
	// what is configured stands beside it.
	Before     *Current `json:"before"`
	Configured *state   `json:"configured,omitempty"`
	// Files are the profiles of keptDir and memoryDir with their content.
	Files []saved `json:"files"`
	// Active are the UUIDs of the profiles in use; false: on its way up, for want of a lease for example.
	Active map[string]bool `json:"active"`
}

type saved struct {
	Path string `json:"path"`
	Data []byte `json:"data"`
	UUID string `json:"uuid,omitempty"`
}

const originalsVersion = 1

// Originals returns what PutBack needs. The step saves it, fsynced and 0600, before Apply; the first save wins.
func (n *Network) Originals(ctx context.Context) ([]byte, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	boot, err := n.host.BootID()
	if err != nil {
		return nil, fmt.Errorf("reading the boot's id: %w", err)
	}
	taken := sinceBoot()
	before, err := n.Read(ctx)
	if err != nil {
		return nil, err
	}
	profiles, err := n.manager.profiles(ctx)
	if err != nil {
		return nil, err
	}
	o := originals{Version: originalsVersion, Boot: boot, Taken: taken, Before: before, Configured: before.Seen, Active: map[string]bool{}}
	if before.Seen, err = parseState(before.Seen.text); err != nil {
		return nil, err
	}
	for _, p := range profiles {
		if p.Active || p.Activating {
			o.Active[p.UUID] = p.Active
		}
	}
	if o.Files, err = n.profiles().profileFiles(); err != nil {
		return nil, err
	}
	b, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("saving the network as it was: %w", err)
	}
	return b, nil
}

// own is the part of what is configured that settings of this package can change: the carrier, what is below it, its
// default routes, the name servers.
func (now *Current) own() *state {
	s := &state{Routes: &routes{Config: []route{}}, DNS: &resolver{Config: &servers{Server: []string{}, Search: []string{}}}}
	add := func(name, kind string) {
		if i := now.Seen.find(name, kind); i != nil && name != "" {
			c := i.asConfigured()
			if kind == "ovs-interface" {
				c.MAC = now.mac(now.Macs) // what a boot gives it
			}
			s.Interfaces = append(s.Interfaces, c)
		}
	}
	for _, p := range now.ports() {
		add(p, "")
	}
	if len(now.Bond.Ports) > 0 {
		add(now.base(), "")
	}
	if now.VLAN > 0 {
		add(now.Settings.device(), "")
	}
	if now.Bridged {
		s.Interfaces = append(s.Interfaces, uplink(now.Device))
		add(Bridge, "ovs-interface")
	}
	if now.Seen.Routes != nil {
		s.Routes.Config = append(s.Routes.Config, defaults(now.Seen.Routes.Config, now.Carrier)...)
	}
	if now.Seen.DNS != nil && now.Seen.DNS.Config != nil {
		s.DNS.Config = &servers{Server: orEmpty(now.Seen.DNS.Config.Server), Search: orEmpty(now.Seen.DNS.Config.Search)}
	}
	return s
}

// own returns the settings that were configured, in the form that nmstate accepts now. If there was no br-ex then and there is one now, for
// example because the DHCP server answers at last, the port's addresses and routes move to br-ex: nmstate refuses them on a port of a bridge.
// If the port was down, its settings are not known, and br-ex stays as this boot built it from the old profiles.
func (o *originals) own(now *state) *state {
	own := o.Before.own()
	port := own.find(o.Before.Carrier, "")
	if o.Before.Bridged || !port.leadsOut(o.Before.Own) || now.find(Bridge, "ovs-interface") == nil {
		return own
	}
	top := iface{Name: Bridge, Type: "ovs-interface", State: "up", MTU: port.MTU, MAC: o.Before.mac(o.Before.Macs)}
	top.IPv4, top.IPv6 = port.IPv4.lifted(false, o.Before.Own), port.IPv6.lifted(true, o.Before.Own)
	*port = off(*port)
	own.Interfaces = append(own.Interfaces, uplink(o.Before.Device), top)
	for n := range own.Routes.Config {
		own.Routes.Config[n].Interface, own.Routes.Config[n].Metric = Bridge, metric // as a boot makes them
	}
	return own
}

// leadsOut tells whether an interface has addresses of the site, or asks for them. Without a profile it may have the node's own (touchdown-uplink).
func (i *iface) leadsOut(own host.Own) bool {
	return i != nil && slices.ContainsFunc([]*family{i.IPv4, i.IPv6}, func(f *family) bool {
		return f != nil && (f.automatic() || len(sites(own, f.Address)) > 0)
	})
}

// lifted is a family of a port as br-ex has it. The node's own addresses are there in any case: a port without a lease may have lacked them.
func (f *family) lifted(six bool, own host.Own) *family {
	if f == nil {
		f = &family{}
	}
	up, no, m := *f, false, metric
	switch {
	case !up.Enabled:
		up = family{DHCP: &no}
		if six {
			up.Autoconf = &no
		}
	case up.automatic():
		up.AutoMetric = &m
	}
	up.Address = slices.Clone(up.Address)
	for _, p := range own.Prefixes(six) {
		if up.Enabled = true; !slices.ContainsFunc(up.Address, func(a address) bool { return a.prefix().Addr() == p.Addr() }) {
			up.Address = append(up.Address, address{IP: p.Addr().String(), Prefix: p.Bits()})
		}
	}
	if !up.Enabled {
		return &family{}
	}
	return &up
}

// asConfigured is an interface that was seen, as a document asks for it.
func (i iface) asConfigured() iface {
	i.Profile, i.Controller, i.MAC, i.PermMAC = "", "", "", ""
	if i.Type == "veth" {
		i.Type = "ethernet" // the same to nmstate, which else asks for the peer
	}
	for _, f := range []*family{i.IPv4, i.IPv6} {
		dropLinkLocal(f)
	}
	return i
}

func orEmpty(list []string) []string { return append([]string{}, list...) }

// dropLinkLocal leaves out what the kernel makes up. A lease for ever is not in what a Network reads as configured.
func dropLinkLocal(f *family) {
	if f != nil {
		f.Address = slices.DeleteFunc(slices.Clone(f.Address), func(a address) bool {
			return a.Valid != "" || a.prefix().IsValid() && a.prefix().Addr().IsLinkLocalUnicast()
		})
	}
}

// readOriginals reads what was saved. inside are the networks of OVN-Kubernetes' own addresses.
func readOriginals(data []byte, inside []netip.Prefix) (*originals, error) {
	var o originals
	err := json.Unmarshal(data, &o)
	if err != nil {
		err = unfit(err)
	} else if o.Version != originalsVersion || o.Before == nil || o.Before.Seen == nil {
		err = fmt.Errorf("version %d is not known", o.Version)
	}
	if err != nil {
		return nil, &problem.Problem{
			Code: "NET-PAST", Summary: message.T("What was saved of the old network cannot be read."),
			Fix: message.T("Set the network by hand in the form."), Err: fmt.Errorf("reading the originals: %w", err),
		}
	}
	if o.Configured == nil {
		o.onlyFixed(inside)
	} else {
		o.Before.Seen = o.Configured
	}
	o.Before.named(o.Before.Seen)
	return &o, nil
}

// onlyFixed makes of nmstate's picture, which the release before this one saved alone, what was configured: without the addresses that no
// profile has, as readConfigured leaves them out.
func (o *originals) onlyFixed(inside []netip.Prefix) {
	var fixed []netip.Prefix
	for _, f := range o.Files {
		for key, value := range values(string(f.Data)) {
			if _, name, _ := strings.Cut(key, "."); !strings.HasPrefix(name, "address") {
				continue
			}
			first, _, _ := strings.Cut(value, ",")
			if p, err := netip.ParsePrefix(first); err == nil {
				fixed = append(fixed, p)
			}
		}
	}
	for _, i := range o.Before.Seen.Interfaces {
		i.IPv4.keepFixed(o.Before.Own, fixed, inside)
		i.IPv6.keepFixed(o.Before.Own, fixed, inside)
	}
}

// opened are the checkpoints of this machine's trials since the originals were taken. They end with the boot; in a later one
// there is at most that of a roll-back which began at interrupted (0: none did).
func (o *originals) opened(boot string, interrupted time.Duration, all []checkpoint) []checkpoint {
	since := o.Taken
	if boot != o.Boot {
		if since = interrupted; since == 0 {
			return nil
		}
	}
	return slices.DeleteFunc(all, func(c checkpoint) bool { return c.Created < since })
}

func (o *originals) file(name string) *saved {
	i := slices.IndexFunc(o.Files, func(s saved) bool { return s.Path == name })
	if i < 0 {
		return nil
	}
	return &o.Files[i]
}

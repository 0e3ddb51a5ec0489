package network

import (
	"context"
	"net/netip"
	"slices"

	"touchdown/backend/host"
)

// leased returns the addresses in force that DHCP or a router gave. Most have a lifetime. One with an infinite
// lifetime has none here (NetworkManager src/core/dhcp/nm-dhcp-nettools.c makes a lease of 0xffffffff seconds permanent, src/core/ndisc/nm-ndisc.h an
// announced prefix; nmstate 2.2.43 nispor/ip.rs then gives no valid-life-time) and looks like one that was set by hand. So where none has a
// lifetime, and the profile asks the network, what is left counts: all but the node's own addresses, whatever their network (the node's scripts
// set them), OVN-Kubernetes' in the networks inside, link-local ones, and the fixed ones that the profile has itself.
func (f *family) leased(own host.Own, inside []netip.Prefix, fixed []address) []address {
	if f == nil {
		return nil
	}
	ends := slices.DeleteFunc(slices.Clone(f.Address), func(a address) bool { return a.Valid == "" })
	if ends = sites(own, ends); len(ends) > 0 || !f.automatic() {
		return ends
	}
	return sites(own, slices.DeleteFunc(slices.Clone(f.Address), func(a address) bool {
		p := a.prefix()
		return slices.Contains(own, p.Addr()) || within(inside, p) ||
			slices.ContainsFunc(fixed, func(x address) bool { return x.prefix() == p })
	}))
}

// readConfigured is what the profiles say. nmstate takes the addresses from the kernel and leaves out those that end, so that its picture has a
// lease for ever, and what OVN-Kubernetes put on br-ex, as if a profile had it. So of a family that asks the network only those addresses stay
// that a profile in use has, and the node's own, which the node's scripts may have put there; of any other, all but those in OVN-Kubernetes'
// networks. What is compared and put back goes by this: neither a lease nor OVN-Kubernetes' address must count as a difference or become
// a fixed address.
func readConfigured(ctx context.Context, n *Network) (*state, error) {
	s, err := n.library.show(ctx, true)
	inside := ovn(n.host)
	if err != nil || !slices.ContainsFunc(s.Interfaces, func(i iface) bool { return i.IPv4.unclear(inside) || i.IPv6.unclear(inside) }) {
		return s, err
	}
	own, err := n.host.Own()
	if err != nil {
		return nil, err
	}
	profiles, err := n.manager.profiles(ctx)
	if err != nil {
		return nil, err
	}
	for _, i := range s.Interfaces {
		id := i.Profile
		if id == "" { // nmstate does not name a profile that is called as its interface
			id = i.Name
		}
		var fixed []netip.Prefix
		known := false
		for _, p := range profiles {
			if p.ID == id && (p.Active || p.Activating) {
				known, fixed = true, append(fixed, p.Fixed...)
			}
		}
		if known {
			i.IPv4.keepFixed(own, fixed, inside)
			i.IPv6.keepFixed(own, fixed, inside)
		}
	}
	return s, nil
}

// keepFixed leaves out the addresses whose origin is not clear, but for the node's own and those of a profile.
func (f *family) keepFixed(own host.Own, fixed, inside []netip.Prefix) {
	if f.unclear(inside) {
		f.Address = slices.DeleteFunc(f.Address, func(a address) bool {
			return (f.automatic() || within(inside, a.prefix())) && !own.Holds(a.prefix()) && !slices.Contains(fixed, a.prefix())
		})
	}
}

// automatic tells whether a family gets addresses from the network.
func (f *family) automatic() bool { return f.Enabled && (isSet(f.DHCP) || isSet(f.Autoconf)) }

func (f *family) addresses() []address {
	if f == nil {
		return nil
	}
	return f.Address
}

// unclear tells whether a family has addresses that the profile may have given, and the network or OVN-Kubernetes as well.
func (f *family) unclear(inside []netip.Prefix) bool {
	return f != nil && slices.ContainsFunc(f.Address, func(a address) bool {
		return a.endless() && (f.automatic() || within(inside, a.prefix()))
	})
}

// within tells whether an address is in one of the networks.
func within(networks []netip.Prefix, p netip.Prefix) bool {
	return slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(p.Addr()) })
}

// endless tells whether an address stays for ever; a link-local one is the kernel's.
func (a address) endless() bool {
	p := a.prefix()
	return a.Valid == "" && p.IsValid() && !p.Addr().IsLinkLocalUnicast()
}

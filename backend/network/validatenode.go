package network

import (
	"context"
	"net/netip"
	"slices"

	"touchdown/backend/message"
	"touchdown/backend/netconfig"
)

// maxServers is how many name servers the resolver of the C library asks (resolv.conf(5)).
const maxServers = 3

// What a tunnel of OVN adds to a packet, in bytes (ovn-org/ovn-kubernetes go-controller/pkg/types/const.go).
const (
	geneve4 = 58
	geneve6 = 78
)

// LeastMTU is what br-ex of a cluster needs, in bytes, where its pods send packets of up to that size: with less OVN-Kubernetes does
// not start, on a single node neither (go-controller/pkg/node/default_node_network_controller.go, validateVTEPInterfaceMTU). six says
// that the pods have IPv6. Where the pods' size is not known (0), neither is this.
func LeastMTU(pods int, six bool) int {
	switch {
	case pods == 0:
		return 0
	case six:
		return pods + geneve6
	}
	return pods + geneve4
}

// compiles wants settings without a fault to become a plan that can be kept: the files of a MachineConfig are not changed.
func (f *faults) compiles(ctx context.Context, n *Network, path string) {
	if len(f.all) > 0 {
		return
	}
	p, err := compilePlan(ctx, n.library, f.s, f.facts.Before, f.facts.Now)
	if err != nil {
		f.add(path, problemText(err))
		return
	}
	switch file, err := n.profiles().held(p); {
	case err != nil:
		f.add(path, problemText(err))
	case file != "":
		f.add(path, message.F("%s comes from a MachineConfig and configures an interface that these settings change; have it removed from there, then try again", file))
	}
}

// mtu judges the largest packet of a port, which what calls without the number where that can be a secret in the wrong place; below
// says that br-ex stands on the port.
func (f *faults) mtu(path string, what message.Text, mtu int, below bool) {
	switch {
	case mtu == 0:
	case mtu < netconfig.MinMTU || mtu > netconfig.MaxMTU:
		f.add(path, message.F("%s is out of range; it can be %d to %d bytes", what, netconfig.MinMTU, netconfig.MaxMTU))
	case below && mtu < f.facts.LeastMTU:
		f.add(path, message.F("%s is too small for this cluster: the network of its pods starts with %d bytes or more", what, f.facts.LeastMTU))
	}
}

// server judges the address of a name server; before are those in front of it, own the addresses that the node will have.
func (f *faults) server(path, text string, before []string, own ...string) (netip.Addr, bool) {
	addr, err := netip.ParseAddr(text)
	addr = addr.Unmap()
	is := func(other string) bool { return sameAddress(other, addr.String()) }
	switch {
	case len(before) == maxServers:
		f.add(path, message.F("there are more than %d name servers; at most %d are asked", maxServers, maxServers))
	case len(before) > maxServers: // told
	case err != nil || addr.Zone() != "":
		f.add(path, message.F("%q is not an address; a name server is given by its address", text))
	case addr.IsUnspecified() || addr.IsMulticast() || addr.IsLoopback() || addr.IsLinkLocalUnicast():
		f.add(path, message.F("%s cannot be a name server's address", addr))
	case slices.ContainsFunc(own, is) || slices.Contains(f.s.Own, addr):
		f.add(path, message.F("%s is this node; it would ask itself for ever", addr))
	case slices.ContainsFunc(before, is):
		f.add(path, message.F("%s is there twice", text))
	default:
		return addr, f.outside(path, addr)
	}
	return addr, false
}

// outside wants a name server not to be one of the cluster's own, which asks the node's name servers itself.
func (f *faults) outside(path string, addr netip.Addr) bool {
	for _, r := range f.facts.Reserved {
		if r.Prefix.Contains(addr) {
			f.add(path, message.F("%s is in %s network %s, inside of the cluster; give the site's name server", addr, r.Whose(), r.Prefix))
			return false
		}
	}
	return true
}

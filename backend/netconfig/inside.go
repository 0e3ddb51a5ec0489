package netconfig

import (
	"net/netip"
	"slices"

	"touchdown/backend/message"
)

// Reserved is a network that the site's must not overlap.
type Reserved struct {
	Name   string // as the note of them has it: "OVN join"; else by what it is: NodesOwn
	Prefix netip.Prefix
}

// Networks of the node itself and of its cluster, as Reserved.Name has them.
const (
	OfPods        = "cluster network"
	OfServices    = "service network"
	NodesOwn      = "the node's own"
	NodesInternal = "the node's internal"
)

// OVNDefaults are the networks that OVN-Kubernetes uses inside the node where networks/cluster of its operator names no others
// (openshift/cluster-network-operator pkg/network/ovn_kubernetes.go). A cluster that was installed before 4.17 keeps the older
// masquerade network, which is not a part of the newer one; the older one of IPv6 is.
var OVNDefaults = []Reserved{
	{"OVN join", netip.MustParsePrefix("100.64.0.0/16")},
	{"OVN join", netip.MustParsePrefix("fd98::/64")},
	{"OVN transit", netip.MustParsePrefix("100.88.0.0/16")},
	{"OVN transit", netip.MustParsePrefix("fd97::/64")},
	{"OVN masquerade", netip.MustParsePrefix("169.254.0.0/17")},
	{"OVN masquerade", netip.MustParsePrefix("169.254.169.0/29")},
	{"OVN masquerade", netip.MustParsePrefix("fd69::/112")},
}

// Usual are the networks inside a node whose cluster was installed without others: those of its pods and services (openshift/installer
// pkg/types/defaults/installconfig.go) and OVNDefaults.
var Usual = append([]Reserved{
	{OfPods, netip.MustParsePrefix("10.128.0.0/14")},
	{OfServices, netip.MustParsePrefix("172.30.0.0/16")},
}, OVNDefaults...)

// Overlap tells which of the networks that a cluster usually has a subnet of the site overlaps; ok is false for none.
func Overlap(subnet netip.Prefix) (with Reserved, ok bool) {
	for _, r := range Usual {
		if r.Prefix.Overlaps(subnet) {
			return r, true
		}
	}
	return Reserved{}, false
}

// Doubt is what is said of a subnet of the site that overlaps a network of Usual: the node alone knows which its cluster has, and refuses
// that one.
func Doubt(subnet netip.Prefix, with Reserved) Fault {
	return Fault{
		Text: message.F("the subnet %s overlaps %s network %s, unless this cluster has another", subnet.Masked(), with.Whose(), with.Prefix),
		Fix:  message.T("ask who installed the cluster: the node refuses a network of its own cluster"),
	}
}

// UsualMTU is what br-ex needs in bytes where the pods have the usual 1400: a cluster installed on networks of 1500 takes 100 off for them
// (openshift/cluster-network-operator pkg/network/ovn_kubernetes.go), and a tunnel adds 58 (LeastMTU of backend/network).
const UsualMTU = 1400 + 58

// SmallMTU is what is said of an MTU with which a cluster's network usually does not start. The node alone knows what its cluster needs.
func SmallMTU() Fault {
	return Fault{
		Text: message.F("the MTU is less than the %d bytes that the network of the pods needs, unless this cluster was installed with a smaller one", UsualMTU),
		Fix:  message.T("ask who installed the cluster: the node refuses an MTU that is too small for it"),
	}
}

// PointToPoint is what is said of a node that has the first address of a subnet of two (RFC 3021); ok is false for every other address. OVN
// takes the last one, which the router has, for the broadcast address of the pods' gateway and drops what comes from it (ovn-org/ovn
// northd/northd.c, build_lrouter_ipv4_ip_input). What the router forwards reaches the pods, and the node has its answers.
func PointToPoint(own netip.Prefix) (f Fault, ok bool) {
	if !own.Addr().Is4() || own.Bits() != 31 || own.Addr() != own.Masked().Addr() {
		return Fault{}, false
	}
	return Fault{
		Text: message.F("pods get no answers from %s, the other address of %s, which their network takes for the broadcast address", Broadcast(own), own),
		Fix:  message.T("swap the addresses of node and router, or use a larger subnet"),
	}, true
}

// Doubts are the warnings about a document that Judge finds nothing wrong with.
func Doubts(from []byte, d Document) []Fault {
	j := &judge{doc: d, state: read(d)}
	for _, p := range j.carrying() {
		if p.mtu > 0 && p.mtu < UsualMTU {
			f := SmallMTU()
			j.fail(p.at.and("mtu"), f.Fix, f.Text)
		}
	}
	j.dropped()
	carrier := j.carrier()
	for p, f := range j.given() {
		for _, a := range f.addresses {
			if doubt, ok := PointToPoint(a.subnet); ok && p.name == carrier {
				j.fail(a.at, doubt.Fix, doubt.Text)
			}
			if a.subnet.Addr().Is4() || !a.subnet.Addr().IsLinkLocalUnicast() {
				j.doubt(a.at, a.subnet)
			}
		}
	}
	for _, r := range j.routes {
		if to := subnetOf(r.to); !r.isAbsent && !r.isDefault() {
			if i := slices.IndexFunc(Usual, func(u Reserved) bool { return u.HiddenBy(to, r.mainOnly) }); i >= 0 {
				f := Doubt(to, Usual[i])
				j.fail(r.at.and("destination"), f.Fix, f.Text)
			}
		}
	}
	for n, r := range d.numbered("route-rules", "config") {
		for _, key := range []string{"ip-from", "ip-to"} {
			j.doubt(place{"route-rules", "config", n, key}, subnetOf(text(r, key)))
		}
	}
	config, _ := d["dns-resolver"].(map[string]any)
	config, _ = config["config"].(map[string]any)
	for n, server := range texts(config, "server") {
		j.doubt(place{"dns-resolver", "config", "server", n}, subnetOf(server))
	}
	return j.placed(from)
}

func (j *judge) doubt(at place, subnet netip.Prefix) {
	if with, ok := Overlap(subnet); ok {
		f := Doubt(subnet, with)
		j.fail(at, f.Fix, f.Text)
	}
}

// subnetOf reads a subnet, or an address; what is neither is not valid.
func subnetOf(s string) netip.Prefix {
	if addr, err := netip.ParseAddr(s); err == nil {
		return netip.PrefixFrom(addr, addr.BitLen())
	}
	p, _ := netip.ParsePrefix(s)
	return p
}

// HiddenBy tells whether a route hides the network, or a part of it. In the main table a larger network does not hide those of pods and
// services: the kernel prefers the routes to these, which OVN-Kubernetes makes there.
func (r Reserved) HiddenBy(to netip.Prefix, mainTable bool) bool {
	if mainTable && (r.Name == OfPods || r.Name == OfServices) && to.Bits() < r.Prefix.Bits() {
		return false
	}
	return r.Prefix.Overlaps(to)
}

// Whose is whose network it is, before the word "network". OVN's are called by their names in every language.
func (r Reserved) Whose() message.Text {
	switch r.Name {
	case NodesOwn:
		return message.T(NodesOwn)
	case NodesInternal:
		return message.T(NodesInternal)
	case OfPods:
		return message.T("the cluster's")
	case OfServices:
		return message.T("the services'")
	}
	return message.F("the %s", r.Name)
}

package host

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"slices"
	"strings"
)

// Own are the addresses that the cluster was installed with. kubelet, CRI-O, etcd and the certificates know the node by them,
// so they stay on br-ex whatever happens outside. The first is the one that kubelet names first; of each family there is
// one at most, and a node may have IPv6 alone.
type Own []netip.Addr

// OwnFile is where the bake writes them down, for the units and scripts of the node as for this program.
const OwnFile = "/etc/default/touchdown-address"

const (
	ownKey    = "TOUCHDOWN_ADDRESSES="
	insideKey = "TOUCHDOWN_INSIDE="
)

// DefaultOwn is the address where the installation leaves the choice.
var DefaultOwn = Own{netip.MustParseAddr("192.168.127.10")}

// NewOwn takes addresses as a Node tells them. It refuses none, two of a family, and what no node can have for its own.
func NewOwn(addresses []string) (Own, error) {
	var o Own
	for _, text := range addresses {
		a, err := netip.ParseAddr(text)
		switch {
		case err != nil || a.Zone() != "" || a.Is4In6():
			return nil, fmt.Errorf("%q is not an address", text)
		case a.IsUnspecified() || a.IsMulticast() || a.IsLinkLocalUnicast():
			return nil, fmt.Errorf("%s is not an address that a node can keep", a)
		case slices.ContainsFunc(o, func(b netip.Addr) bool { return a.Is4() == b.Is4() }):
			return nil, fmt.Errorf("there are two of a kind: %s", strings.Join(addresses, ", "))
		}
		o = append(o, a)
	}
	if len(o) == 0 {
		return nil, errors.New("there is none")
	}
	return o, nil
}

// Four tells whether one of them is of IPv4. A node without has a cluster of IPv6 alone.
func (o Own) Four() bool { return slices.ContainsFunc(o, netip.Addr.Is4) }

// Six tells whether one of them is of IPv6. A node without has a cluster of IPv4 alone.
func (o Own) Six() bool { return slices.ContainsFunc(o, netip.Addr.Is6) }

// String lists the addresses.
func (o Own) String() string { return strings.Join(o.Texts(), ", ") }

// Texts are the addresses one by one.
func (o Own) Texts() []string {
	var all []string
	for _, a := range o {
		all = append(all, a.String())
	}
	return all
}

// File is the content of OwnFile: what a shell reads, and an EnvironmentFile of kubelet's and CRI-O's units. inside are the networks of
// OVN-Kubernetes' own addresses on br-ex that are not its defaults.
func (o Own) File(inside ...netip.Prefix) []byte {
	text := fmt.Appendf(nil, `# The node's own addresses: those that the cluster was installed with. kubelet, CRI-O, etcd and all certificates know no
# others. Written by the bake.
%s"%s"
KUBELET_NODE_IP="%s"
KUBELET_NODE_IPS="%s"
CONTAINER_STREAM_ADDRESS="%s"
`, ownKey, strings.Join(o.Texts(), " "), o[0], strings.Join(o.Texts(), ","), o[0])
	if len(inside) > 0 {
		text = fmt.Appendf(text, "%s\"%s\"\n", insideKey, strings.Trim(fmt.Sprint(inside), "[]"))
	}
	return text
}

// Inside reads the networks of OVN-Kubernetes' own addresses on br-ex that the cluster names; of a family without one, or where they
// cannot be read, they are its defaults.
func Inside(m *Machine) (all []netip.Prefix) {
	text, err := m.ReadFile(OwnFile)
	if err != nil {
		return nil
	}
	value, _ := valueOf(text, insideKey)
	for _, text := range strings.Fields(value) {
		if p, err := netip.ParsePrefix(text); err == nil {
			all = append(all, p)
		}
	}
	return all
}

// valueOf is the value of a key in OwnFile.
func valueOf(text []byte, key string) (value string, found bool) {
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(strings.TrimSpace(line), key); found {
			return strings.Trim(value, `"'`), true
		}
	}
	return "", false
}

// Own reads the own addresses of a machine. A node that was not baked has none: nothing keeps its address when the site's network
// comes.
func (m *Machine) Own() (Own, error) {
	text, err := m.ReadFile(OwnFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if value, found := valueOf(text, ownKey); found {
		o, err := NewOwn(strings.Fields(value))
		if err != nil {
			return nil, fmt.Errorf("reading the node's own addresses in %s: %w", OwnFile, err)
		}
		return o, nil
	}
	return nil, fmt.Errorf("reading the node's own addresses: %s does not have %s", OwnFile, strings.TrimSuffix(ownKey, "="))
}

// Prefixes are the entries on br-ex of one family. They have no network: no route leads to them, and a site may use the subnet that the
// cluster was installed in, or even the same address.
func (o Own) Prefixes(six bool) []netip.Prefix {
	var all []netip.Prefix
	for _, a := range o {
		if a.Is6() == six {
			all = append(all, netip.PrefixFrom(a, a.BitLen()))
		}
	}
	return all
}

// Has tells whether an entry on br-ex is the node's own one; the site may have given the same address with a network.
func (o Own) Has(p netip.Prefix) bool { return p.IsSingleIP() && slices.Contains(o, p.Addr()) }

// Holds tells whether an own address is on br-ex by this entry, so that it needs no other. An IPv6 address is on an interface only
// once, whatever its network (Linux net/ipv6/addrconf.c, ipv6_chk_same_addr): an entry beside one with a network would take its place,
// and the route to the neighbours with it.
func (o Own) Holds(p netip.Prefix) bool {
	return o.Has(p) || p.Addr().Is6() && slices.Contains(o, p.Addr())
}

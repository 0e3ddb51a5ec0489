package network

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"touchdown/backend/host"
	"touchdown/backend/value"
)

// Sources of a value that is in force.
const (
	SourceCurrent = "current"              // it is configured on this node
	SourceDHCP    = "DHCP"                 // a DHCP server gave it
	SourceRA      = "router advertisement" // a router announced it
)

// Current is the current network. Addresses, gateways and name servers are those in force, whoever gave them; the node's
// internal address is kept apart.
type Current struct {
	Settings
	// Sources tells where a value comes from, by the last part of its path in the site config ("ipv4.address",
	// "dnsServers", ...). What is not set has none.
	Sources map[string]string
	Bridged bool              // br-ex is there
	Carrier string            // the interface with the addresses: br-ex, else the port
	Device  string            // what is below br-ex: port, bond or VLAN; without br-ex the same as Carrier
	Macs    map[string]string // names of the physical ports by their MAC
	Seen    *state            // what is configured, as nmstate tells it
	live    []byte            // the whole current network, for nmstate to compare with
	inside  []netip.Prefix    // networks of OVN-Kubernetes' own addresses on br-ex
}

// Read returns the current settings. It changes nothing.
func (n *Network) Read(ctx context.Context) (*Current, error) {
	configured, err := readConfigured(ctx, n)
	if err != nil {
		return nil, err
	}
	live, err := n.library.show(ctx, false)
	if err != nil {
		return nil, err
	}
	m, err := readNode(n.host)
	if err != nil {
		return nil, err
	}
	return understand(configured, live, m), nil
}

// Addresses are those in force without the node's own: at most one of each family, IPv4 first.
func (now *Current) Addresses() []netip.Addr {
	var all []netip.Addr
	for _, f := range []Family{now.IPv4, now.IPv6} {
		if a, err := netip.ParseAddr(f.Address); err == nil {
			all = append(all, a)
		}
	}
	return all
}

// hint is the port that configure-ovs used last. It keeps to it while the port has a default route, whichever other has one too
// (openshift/machine-config-operator templates/common/_base/files/configure-ovs-network.yaml, get_default_bridge_interface).
func hint(m *host.Machine) string {
	b, err := m.ReadFile("/var/lib/ovnk/iface_default_hint")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// node is what a node's files tell of its network.
type node struct {
	own    host.Own
	inside []netip.Prefix // of OVN-Kubernetes' own addresses
	hint   string
}

func readNode(m *host.Machine) (node, error) {
	own, err := m.Own()
	return node{own, ovn(m), hint(m)}, err
}

// understand reads what nmstate shows: configured is what the profiles say, live what is in force.
func understand(configured, live *state, m node) *Current {
	now := &Current{Sources: map[string]string{}, Macs: map[string]string{}, Seen: configured, live: live.text, inside: m.inside}
	now.Own = m.own
	for _, i := range live.Interfaces {
		if !physical(i) {
			continue
		}
		// The ports of a bond share one MAC; the permanent one is on the sticker.
		mac := i.PermMAC
		if mac == "" {
			mac = i.MAC
		}
		now.Macs[strings.ToLower(mac)] = i.Name
	}
	now.place(live, m.hint)
	if now.Carrier == "" {
		return now
	}
	c, l := configured.find(now.Carrier, carrierType(now.Bridged)), live.find(now.Carrier, carrierType(now.Bridged))
	if c == nil || l == nil {
		return now
	}
	now.MTU = l.MTU
	now.IPv4 = now.family("ipv4", c.IPv4, l.IPv4, live)
	now.IPv6 = now.family("ipv6", c.IPv6, l.IPv6, live)
	now.resolver(configured, live)
	return now
}

func carrierType(bridged bool) string {
	if bridged {
		return "ovs-interface"
	}
	return ""
}

// physical tells a port with a socket from what is made of software; veth is the port of a container or a test machine.
func physical(i iface) bool { return i.Type == "ethernet" || i.Type == "veth" }

// place finds out what carries the addresses and what is below.
func (now *Current) place(live *state, hint string) {
	if b := live.find(Bridge, "ovs-bridge"); b != nil && b.Bridge != nil && live.find(Bridge, "ovs-interface") != nil {
		now.Bridged, now.Carrier = true, Bridge
		for _, p := range b.Bridge.Ports {
			if p.Name != Bridge && !strings.HasPrefix(p.Name, "patch-") {
				now.Device = p.Name
			}
		}
	} else {
		now.Device = withoutBridge(live, hint)
		now.Carrier = now.Device
	}
	now.below(live, now.Device)
	now.named(live)
}

// withoutBridge is the port that a boot would build br-ex on: one with a default route, that of the last boot before others; without
// any route most likely that of the last boot, else the first that is switched on.
func withoutBridge(live *state, hint string) string {
	if live.Routes != nil {
		routed := defaults(live.Routes.Running, "")
		last := func(r route) bool { return r.Interface == hint }
		if slices.ContainsFunc(routed, last) && live.find(hint, "") != nil {
			return hint
		}
		for _, r := range routed {
			if live.find(r.Interface, "") != nil {
				return r.Interface
			}
		}
	}
	if live.find(hint, "") != nil {
		return hint
	}
	for _, i := range live.Interfaces {
		if physical(i) && i.State == "up" {
			return i.Name
		}
	}
	return ""
}

// below walks down from the device to the ports.
func (now *Current) below(live *state, device string) {
	i := live.find(device, "")
	switch {
	case i == nil:
	case i.VLAN != nil:
		now.VLAN = i.VLAN.ID
		now.below(live, i.VLAN.Base)
	case i.Bond != nil:
		now.Bond = Bond{i.Bond.Mode, slices.Clone(i.Bond.Ports)}
	default:
		now.Interface = i.Name
	}
}

// family reads one family of addresses of the carrier.
func (now *Current) family(path string, configured, live *family, all *state) Family {
	if configured == nil || !configured.Enabled || live == nil {
		return Family{Method: Disabled}
	}
	f, source := Family{Method: Static}, SourceCurrent
	switch {
	case path == "ipv4" && isSet(configured.DHCP):
		f.Method, source = DHCP, SourceDHCP
	case path == "ipv6" && (isSet(configured.Autoconf) || isSet(configured.DHCP)):
		f.Method, source = Autoconf, SourceRA
	}
	given := sites(now.Own, configured.Address)
	if f.Automatic() { // what the profile has beside is not leased
		given = live.leased(now.Own, now.inside, configured.Address)
	}
	if len(given) > 0 {
		f.Address, f.Prefix = given[0].IP, given[0].Prefix
	}
	if f.Method == Static && f.Address == "" {
		f.Method = map[string]string{"ipv4": Disabled, "ipv6": linkLocal}[path]
	}
	if all.Routes != nil {
		for _, r := range defaults(all.Routes.Running, now.Carrier) {
			if (r.Destination == any4) == (path == "ipv4") {
				f.Gateway = r.Gateway
				break
			}
		}
	}
	now.source(path+".method", f.Method, SourceCurrent)
	now.source(path+".address", f.Address, source)
	now.source(path+".prefixLength", f.Address, source)
	now.source(path+".gateway", f.Gateway, source)
	return f
}

// resolver reads the name servers; those that are configured come from here, others from the network.
func (now *Current) resolver(configured, live *state) {
	given := SourceRA
	if now.IPv4.Method == DHCP {
		given = SourceDHCP
	}
	c, l := &servers{}, &servers{}
	if configured.DNS != nil && configured.DNS.Config != nil {
		c = configured.DNS.Config
	}
	if live.DNS != nil && live.DNS.Running != nil {
		l = live.DNS.Running
	}
	pick := func(path string, configured, running []string) []string {
		if len(configured) > 0 {
			now.source(path, configured[0], SourceCurrent)
			return configured
		}
		now.source(path, strings.Join(running, ""), given)
		return running
	}
	now.DNS = pick("dnsServers", c.Server, l.Server)
	now.Search = pick("dnsSearch", c.Search, l.Search)
}

func (now *Current) source(path, value, source string) {
	if value != "" {
		now.Sources[path] = source
	}
}

// portName turns a MAC into the name of its port; a name stays.
func (now *Current) portName(nameOrMAC string) string {
	if mac := value.MAC(nameOrMAC); mac != "" && now.Macs[mac] != "" {
		return now.Macs[mac]
	}
	return nameOrMAC
}

func isSet(b *bool) bool { return b != nil && *b }

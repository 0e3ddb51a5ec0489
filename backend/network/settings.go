package network

import (
	"slices"
	"strings"

	"touchdown/backend/host"
)

// Methods by which a family of addresses is set up. Empty leaves the family unchanged.
const (
	Static    = "static"
	DHCP      = "dhcp"
	Autoconf  = "autoconf" // IPv6 only: what the router announces, DHCPv6 included
	Disabled  = "disabled"
	linkLocal = "link-local" // seen on nodes: IPv6 with nothing but fe80::
)

// Settings is how the node is reached at its site. The zero value keeps everything unchanged.
type Settings struct {
	Interface string // port that leads to the site, by name or MAC; empty: the one in use
	VLAN      int    // tag, 1 to 4094; 0: none
	Bond      Bond
	MTU       int // bytes; 0: unchanged
	IPv4      Family
	IPv6      Family
	DNS       []string
	Search    []string
	Raw       []byte     // nmstate YAML instead of all of the above
	Own       host.Own   // the node's own addresses, kept in any case; none: the current ones
	Inside    []Reserved `json:"-"` // networks inside the node, which no document may use; none: OVNDefaults
	made      made       // of resolved settings
}

// Bond bundles ports.
type Bond struct {
	Mode  string   // one of BondModes
	Ports []string // names or MACs
}

// Family is how the node gets its address of one family.
type Family struct {
	Method  string
	Address string // with Prefix (bits) and Gateway for Static
	Prefix  int
	Gateway string
}

// BondModes are those that need nothing from the switch or LACP only; the kernel's names.
var BondModes = []string{"active-backup", "802.3ad", "balance-xor", "balance-rr", "balance-tlb", "balance-alb", "broadcast"}

// Automatic tells whether the site's network gives the address.
func (f Family) Automatic() bool { return f.Method == DHCP || f.Method == Autoconf }

// Resolve fills what s leaves unchanged from the current settings, and turns MACs into names of ports.
func (s Settings) Resolve(now *Current) Settings { return s.resolved(now, now) }

// resolved does so after a first change: what s leaves unchanged is taken from before it. A MAC address gets the name that its port has
// now, or had before.
func (s Settings) resolved(now, before *Current) Settings {
	r := s
	if len(r.Own) == 0 {
		r.Own = before.Own
	}
	if len(s.Raw) > 0 {
		return r.described(now, before)
	}
	r.Bond.Ports = slices.Clone(s.Bond.Ports)
	for i, p := range r.Bond.Ports {
		r.Bond.Ports[i] = before.portName(now.portName(p))
	}
	r.Interface = before.portName(now.portName(s.Interface))
	if s.Interface == "" && len(s.Bond.Ports) == 0 && s.Bond.Mode == "" {
		r.Interface, r.Bond = before.Interface, before.Bond
		if s.VLAN == 0 && s.sameFamilies() {
			r.VLAN = before.VLAN
		}
	}
	r.IPv4, r.IPv6 = s.IPv4.or(before.IPv4), s.IPv6.or(before.IPv6)
	if len(s.DNS) == 0 && s.sameFamilies() && before.Sources["dnsServers"] == SourceCurrent {
		r.DNS = slices.Clone(before.DNS)
	}
	if len(s.Search) == 0 && s.sameFamilies() && before.Sources["dnsSearch"] == SourceCurrent {
		r.Search = slices.Clone(before.Search)
	}
	r.DNS = byFamily(r.DNS)
	r.made = r.makes(now, before)
	return r
}

// byFamily keeps the servers of one family together, those of the first one's first: NetworkManager keeps servers with the
// addresses of their family, and another order would have to go into a file that no checkpoint puts back.
func byFamily(list []string) []string {
	six := func(text string) bool { return strings.Contains(text, ":") }
	list = slices.Clone(list)
	if len(list) == 0 {
		return nil
	}
	first := six(list[0])
	slices.SortStableFunc(list, func(a, b string) int {
		switch {
		case six(a) == six(b):
			return 0
		case six(a) == first:
			return -1
		}
		return 1
	})
	return list
}

// sameFamilies tells whether the addresses stay unchanged.
func (s Settings) sameFamilies() bool { return s.IPv4.Method == "" && s.IPv6.Method == "" }

func (f Family) or(now Family) Family {
	if f.Method == "" {
		f = now
	}
	if f.Method != Static {
		return Family{Method: f.Method}
	}
	return f
}

// device is the top of what br-ex stands on: the port, the bond, or the VLAN over either.
func (s Settings) device() string {
	if s.VLAN > 0 {
		return s.made.vlan
	}
	return s.base()
}

func (s Settings) base() string {
	if len(s.Bond.Ports) > 0 {
		return s.made.bond
	}
	return s.Interface
}

// mac is that of the device: its first port's. A bond takes that, and a boot gives it to br-ex.
func (s Settings) mac(macs map[string]string) string {
	for mac, name := range macs {
		if name == s.ports()[0] {
			return strings.ToUpper(mac)
		}
	}
	return ""
}

// ports are the physical ones in use.
func (s Settings) ports() []string {
	if len(s.Bond.Ports) > 0 {
		return s.Bond.Ports
	}
	return []string{s.Interface}
}

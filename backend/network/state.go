package network

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"

	"touchdown/backend/netconfig"
)

// state is the part of nmstate's document that this package reads and writes.
type state struct {
	Interfaces []iface   `json:"interfaces"`
	Routes     *routes   `json:"routes,omitempty"`
	DNS        *resolver `json:"dns-resolver,omitempty"`

	text []byte // that it was read from, with all that is left out here
}

type iface struct {
	Name       string  `json:"name"`
	Type       string  `json:"type"`
	State      string  `json:"state,omitempty"`
	Profile    string  `json:"profile-name,omitempty"`
	Controller string  `json:"controller,omitempty"`
	MAC        string  `json:"mac-address,omitempty"`
	PermMAC    string  `json:"permanent-mac-address,omitempty"`
	MTU        int     `json:"mtu,omitempty"`
	IPv4       *family `json:"ipv4,omitempty"`
	IPv6       *family `json:"ipv6,omitempty"`
	Bridge     *bridge `json:"bridge,omitempty"`
	VLAN       *vlan   `json:"vlan,omitempty"`
	Bond       *bond   `json:"link-aggregation,omitempty"`
}

type family struct {
	Enabled    bool      `json:"enabled"`
	DHCP       *bool     `json:"dhcp,omitempty"`
	Autoconf   *bool     `json:"autoconf,omitempty"`
	Address    []address `json:"address,omitempty"`
	AutoDNS    *bool     `json:"auto-dns,omitempty"`
	AutoMetric *int      `json:"auto-route-metric,omitempty"`
}

type address struct {
	IP     string `json:"ip"`
	Prefix int    `json:"prefix-length"`
	// Valid is set for an address that was leased or announced.
	Valid string `json:"valid-life-time,omitempty"`
}

type bridge struct {
	// ExtraPatches keeps the patch ports of OVN, which NetworkManager does not know.
	ExtraPatches bool   `json:"allow-extra-patch-ports,omitempty"`
	Ports        []port `json:"port"`
}

type port struct {
	Name string `json:"name"`
}

type vlan struct {
	Base string `json:"base-iface"`
	ID   int    `json:"id"`
}

type bond struct {
	Mode    string         `json:"mode"`
	Options map[string]any `json:"options,omitempty"`
	Ports   []string       `json:"port"`
}

// bonding is bond in other versions of nmstate's document, which call the ports so.
type bonding struct {
	Mode    any            `json:"mode"`
	Options map[string]any `json:"options,omitempty"`
	Ports   []string       `json:"port"`
	Older   []string       `json:"ports"`
	Config  []struct {
		Name string `json:"name"`
	} `json:"ports-config"`
}

// UnmarshalJSON takes both names of the list of ports, that of their settings where it stands alone, and the mode by its number.
func (b *bond) UnmarshalJSON(data []byte) error {
	var in bonding
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("reading a bond: %w", err)
	}
	*b = bond{Options: in.Options, Ports: append(in.Ports, in.Older...)}
	if in.Mode != nil {
		b.Mode = netconfig.ModeName(in.Mode)
	}
	for _, config := range in.Config {
		if len(in.Ports)+len(in.Older) == 0 {
			b.Ports = append(b.Ports, config.Name)
		}
	}
	return nil
}

type routes struct {
	Running []route `json:"running,omitempty"`
	Config  []route `json:"config"`
}

type route struct {
	State       string `json:"state,omitempty"`
	Destination string `json:"destination,omitempty"`
	Interface   string `json:"next-hop-interface,omitempty"`
	Gateway     string `json:"next-hop-address,omitempty"`
	Metric      int    `json:"metric,omitempty"`
	Table       int    `json:"table-id,omitempty"`
	Type        string `json:"route-type,omitempty"` // "": it forwards
}

// isMain tells whether a route comes to the main table, where the kernel prefers the route to the smaller network.
func (r route) isMain() bool { return r.Table == 0 || r.Table == mainTable }

type resolver struct {
	Running *servers `json:"running,omitempty"`
	Config  *servers `json:"config,omitempty"`
}

type servers struct {
	Server []string `json:"server"`
	Search []string `json:"search"`
}

// The destinations of default routes.
const (
	any4 = "0.0.0.0/0"
	any6 = "::/0"
)

func (s *state) find(name, kind string) *iface {
	i := slices.IndexFunc(s.Interfaces, func(i iface) bool { return i.Name == name && (kind == "" || i.Type == kind) })
	if i < 0 {
		return nil
	}
	return &s.Interfaces[i]
}

// defaults returns the default routes over an interface in a list, the preferred ones first.
func defaults(list []route, over string) []route {
	var found []route
	for _, r := range list {
		if (r.Destination == any4 || r.Destination == any6) && (over == "" || r.Interface == over) && (r.Table == 0 || r.Table == mainTable) {
			found = append(found, r)
		}
	}
	slices.SortStableFunc(found, func(a, b route) int { return a.Metric - b.Metric })
	return found
}

func (a address) prefix() netip.Prefix {
	addr, err := netip.ParseAddr(a.IP)
	if err != nil {
		return netip.Prefix{}
	}
	return netip.PrefixFrom(addr, a.Prefix)
}

func (s *state) json() []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings and numbers only
	}
	return b
}

func parseState(text []byte) (*state, error) {
	var s state
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("reading the network's state: %w", unfit(err))
	}
	s.text = text
	return &s, nil
}

// add appends what other holds; its routes come first, since a route has to go before another takes its place.
func (s *state) add(other *state) {
	s.Interfaces = append(s.Interfaces, other.Interfaces...)
	if other.Routes != nil && len(other.Routes.Config) > 0 {
		if s.Routes == nil {
			s.Routes = &routes{}
		}
		s.Routes.Config = append(slices.Clone(other.Routes.Config), s.Routes.Config...)
	}
}

// asks tells whether s asks for a route like r.
func (s *state) asks(r route) bool {
	return s.Routes != nil && slices.ContainsFunc(s.Routes.Config, func(x route) bool {
		return x.State != "absent" && x.Destination == r.Destination && x.Gateway == r.Gateway && x.Interface == r.Interface && x.Metric == r.Metric
	})
}

package netconfig

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"touchdown/backend/message"
)

// Limits of the MTU in bytes: IPv6 needs 1280 (RFC 8200, 5), jumbo frames of common switches end at 9216. OVN's tunnels
// take 100 of it from the pods, so that less than 1280 is no use without IPv6 either.
const (
	MinMTU = 1280
	MaxMTU = 9216
)

// MaxVLAN is the last usable VLAN; 0 means that there is none, and 4095 is reserved (IEEE 802.1Q, table 9-2).
const MaxVLAN = 4094

// BondModes are nmstate's (interfaces.link-aggregation.mode); it takes the kernel's numbers 0 to 6 as well (nmstate ifaces/bond.rs).
var BondModes = []string{"balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"}

// links judges what interfaces are and what they stand on.
func (j *judge) links() {
	for _, p := range j.ports {
		if !p.isUp {
			continue
		}
		j.link(p)
		j.vlan(p)
		j.bonds(p)
	}
	j.stacked()
	j.shared()
}

func (j *judge) link(p *port) {
	if _, said := p.of["mtu"].(float64); said && (p.mtu < MinMTU || p.mtu > MaxMTU) {
		j.fail(p.at.and("mtu"), message.F("write %d to %d", MinMTU, MaxMTU), message.F("the MTU of %s is out of range", p.name))
	}
	if mac, err := net.ParseMAC(text(p.of, byMAC)); err == nil && (mac[0]&1 == 1 || slices.Max(mac) == 0) {
		j.fail(p.at.and(byMAC), message.T("write the address that is printed on the port, or leave it out"), message.F("gives %s a MAC address that no port can have", p.name))
	}
}

func (j *judge) vlan(p *port) {
	v, ok := p.of["vlan"].(map[string]any)
	if !ok {
		return
	}
	at := p.at.and("vlan")
	if id := number(v, "id"); id < 1 || id > MaxVLAN {
		j.fail(at.and("id"), message.F("write %d to %d", 1, MaxVLAN), message.F("the number of the VLAN %s is out of range", p.name))
	}
	base := j.find(p.base)
	switch {
	case p.base == "":
		j.fail(at, message.T("add base-iface"), message.F("the VLAN %s has no interface below it", p.name))
	case base == nil || base == p:
	case !base.isUp:
		j.fail(at.and("base-iface"), message.F("write state: up for %s", base.name), message.F("the VLAN %s stands on %s, which is not up", p.name, base.name))
	case p.mtu > base.mtu && base.mtu > 0: // the kernel refuses it (vlan_dev_change_mtu)
		j.fail(p.at.and("mtu"), message.F("write at most %d, or a larger MTU for %s", base.mtu, base.name), message.F("the MTU of %s is larger than that of %s below it", p.name, base.name))
	}
}

// bonds judges a bond and what is said of its ports.
func (j *judge) bonds(p *port) {
	at := p.at.and("link-aggregation")
	if p.bond == nil && text(p.of, "type") != "bond" {
		return
	}
	if len(p.below) == 0 {
		j.fail(at, message.T("name at least one port below link-aggregation"), message.F("%s is a bond without ports", p.name))
		return
	}
	if mode, said := p.bond["mode"]; said && !isMode(mode) {
		j.fail(at.and("mode"), message.F("write one of %s", strings.Join(BondModes, ", ")), message.F("the mode of the bond %s does not exist", p.name))
	}
	options, _ := p.bond["options"].(map[string]any)
	if primary := text(options, "primary"); primary != "" && !slices.Contains(p.below, primary) {
		j.fail(at.and("options", "primary"), message.F("write one of %s", strings.Join(p.below, ", ")), message.F("the primary port of the bond %s is not one of its ports", p.name))
	}
	for i, name := range p.below {
		if slices.Contains(p.below[:i], name) {
			j.fail(at, message.T("name each port once"), message.F("the bond %s has the port %s twice", p.name, name))
		}
		if below := j.find(name); below != nil && below != p {
			j.bonded(p, below)
		}
	}
}

// bonded judges a port of a bond. nmstate refuses one that has addresses (validate_can_have_ip).
func (j *judge) bonded(bond, p *port) {
	if !p.isUp {
		j.fail(p.at.and("state"), message.T("write state: up, or take the port out of the bond"), message.F("%s is a port of the bond %s and not up", p.name, bond.name))
	}
	for _, f := range p.families {
		if p.isUp && f.enabled {
			j.fail(f.at, message.F("write enabled: false; the addresses belong to %s", bond.name), message.F("%s has addresses, but is a port of the bond %s", p.name, bond.name))
			return
		}
	}
}

// ModeName is the mode of a bond by its name, where a document may have it by its number (nmstate, BondMode).
func ModeName(mode any) string {
	n, err := strconv.Atoi(fmt.Sprint(mode))
	if err != nil || n < 0 || n >= len(BondModes) {
		return fmt.Sprint(mode)
	}
	return BondModes[n]
}

// isMode tells whether a value is a mode of bonds, by name or by number.
func isMode(value any) bool {
	switch v := value.(type) {
	case string:
		return slices.Contains(BondModes, v) || len(v) == 1 && v >= "0" && v <= "6"
	case float64:
		return v >= 0 && v <= 6 && v == float64(int(v))
	}
	return false
}

// shared wants a port to be in one bond. nmstate refuses another (check_overbook_ports).
func (j *judge) shared() {
	in := map[string]string{}
	for _, p := range j.ports {
		if !p.isUp {
			continue
		}
		for _, name := range p.below {
			if bond := in[name]; bond != "" && bond != p.name {
				j.fail(p.at.and("link-aggregation"), message.T("take it out of one of the two"), message.F("%s is a port of two bonds, %s and %s", name, bond, p.name))
			}
			in[name] = p.name
		}
	}
}

// stacked wants each interface to stand on others, down to ports: not on itself, at whatever distance.
func (j *judge) stacked() {
	const begun, done = 1, 2
	seen := map[*port]int{}
	var down func(p *port)
	down = func(p *port) {
		if p == nil || seen[p] == done {
			return
		}
		if seen[p] == begun {
			j.fail(p.at, message.T("name the physical ports below it"), message.F("%s stands on itself", p.name))
			return
		}
		seen[p] = begun
		for _, name := range append(slices.Clone(p.below), p.base) {
			down(j.find(name))
		}
		seen[p] = done
	}
	for _, p := range j.ports {
		down(p)
	}
}

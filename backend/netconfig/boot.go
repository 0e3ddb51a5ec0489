package netconfig

import (
	"strings"

	"touchdown/backend/message"
)

// kept wants nothing on the interface that leads out without which a switch may stop talking to it, and which is gone with the next boot:
// configure-ovs makes that interface's profile again (ovs-if-phys0) out of its name, MTU and MAC address, the parent and number of a VLAN
// and the options of a bond. Ports of a bond, and what a VLAN stands on, keep their profiles with all that is in them.
func (j *judge) kept() {
	p := j.find(j.carrier())
	if p == nil {
		return
	}
	inBond := message.T("leave it out, or make a bond of that port: ports of a bond keep it")
	if p.of["802.1x"] != nil {
		j.fail(p.at.and("802.1x"), inBond, message.F("%s leads out, and a boot makes it without 802.1X, so that a switch that asks for it would lock the node out", p.name))
	}
	ethernet, _ := p.of["ethernet"].(map[string]any)
	auto, said := ethernet["auto-negotiation"].(bool)
	if fixed := ethernet["speed"] != nil || ethernet["duplex"] != nil; said && !auto || !said && fixed {
		j.fail(p.at.and("ethernet"), inBond, message.F("%s leads out, and a boot makes it without a fixed speed, so that its link may not come up", p.name))
	}
	vlan, _ := p.of["vlan"].(map[string]any)
	if protocol := text(vlan, "protocol"); protocol != "" && !strings.EqualFold(protocol, "802.1q") {
		j.fail(p.at.and("vlan", "protocol"), message.T("leave it out"), message.F("%s leads out, and a boot makes it a VLAN by 802.1Q, whatever its protocol", p.name))
	}
	if protocol := text(vlan, "registration-protocol"); protocol != "" && protocol != "none" {
		j.fail(p.at.and("vlan", "registration-protocol"), message.T("leave it out, and have the VLAN set up at the switch"), message.F("%s leads out, and a boot makes it without telling the switch of it", p.name))
	}
}

// dropped warns of what the interface that leads out loses with the next boot, as kept says, and can do without.
func (j *judge) dropped() {
	p := j.find(j.carrier())
	if p == nil {
		return
	}
	vlan, _ := p.of["vlan"].(map[string]any)
	for _, at := range []struct {
		of    map[string]any
		place place
		key   string
	}{
		{p.of, p.at, "ethtool"},
		{vlan, p.at.and("vlan"), "ingress-qos-map"},
		{vlan, p.at.and("vlan"), "egress-qos-map"},
		{vlan, p.at.and("vlan"), "reorder-headers"},
		{vlan, p.at.and("vlan"), "loose-binding"},
	} {
		if at.of[at.key] != nil {
			here := at.place.and(at.key)
			j.fail(here, message.T("leave it out; ports of a bond, and what a VLAN stands on, keep theirs"), message.F("%s is gone after a boot, which makes %s again", here.String(), p.name))
		}
	}
}

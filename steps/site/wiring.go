package site

import (
	"cmp"
	"slices"
	"strings"

	"touchdown/backend/message"
	"touchdown/backend/value"
)

// cable says where the cable of a network port goes. Its keys are those of an order sheet's ports (backend/hardware/order), so that a
// line can be copied from one to the other.
type cable struct {
	// NIC is the node's port, by name or MAC address.
	NIC string `yaml:"nic,omitempty" json:"nic,omitempty"`
	// Switch and Port are the other end, as the switch announces itself by LLDP.
	Switch string `yaml:"switch,omitempty" json:"switch,omitempty"`
	Port   string `yaml:"port,omitempty" json:"port,omitempty"`
	// VLAN is that of the switch's untagged frames; 0 is not checked.
	VLAN int `yaml:"vlan,omitempty" json:"vlan,omitempty"`
	// MTU is the largest packet that the switch has to take, in bytes; 0 is not checked.
	MTU int `yaml:"mtu,omitempty" json:"mtu,omitempty"`
}

func (c *cable) cell(key string) any {
	switch key {
	case "nic":
		return &c.NIC
	case "switch":
		return &c.Switch
	case "port":
		return &c.Port
	case "vlan":
		return &c.VLAN
	case "mtu":
		return &c.MTU
	}
	return nil
}

// wiring is the path of the cables.
const wiring = "spec.wiring"

// maxLLDP is the longest name that an announcement can hold in bytes (IEEE 802.1AB-2016, 8.5.3 and 8.5.7).
const maxLLDP = 255

// wiringEntries say where the cables go. They are looked at, and nothing is set by them.
var wiringEntries = []entry{
	{
		Item: Item{Path: wiring, Type: typeGroups, Meaning: "where the cable of each port goes; checked before the network is changed, replaces the ports of an order sheet", Example: "[{nic: eno1, switch: sw-7, port: Gi1/0/4, vlan: 20}]"},
		at:   func(c *Config) any { return groupsOf[cable, *cable]{&c.Spec.Wiring} }, younger: true,
	},
	{
		Item:  Item{Path: wiring + "[].nic", Type: typeText, Meaning: "the node's port, by name or MAC address", Example: "eno1", Required: true},
		limit: maxAnswer, check: InterfaceName, cell: true, younger: true,
	},
	{
		Item:  Item{Path: wiring + "[].switch", Type: typeText, Meaning: "the switch's name, as it announces itself by LLDP; with or without its domain", Example: "sw-7"},
		limit: maxLLDP, cell: true, younger: true,
	},
	{
		Item:  Item{Path: wiring + "[].port", Type: typeText, Meaning: "the switch's port, as it announces it by LLDP; the short form is fine", Example: "Gi1/0/4"},
		limit: maxLLDP, cell: true, younger: true,
	},
	{
		Item:  Item{Path: wiring + "[].vlan", Type: typeNumber, Unit: "1 to 4094", Meaning: "VLAN of the untagged frames on the switch's port; empty: not checked", Example: "20"},
		check: VLANID, cell: true, younger: true,
	},
	{
		Item:  Item{Path: wiring + "[].mtu", Type: typeNumber, Unit: "bytes, 1280 to 9216", Meaning: "largest packet that the switch's port has to take; empty: not checked", Example: "9000"},
		check: MTU, cell: true, younger: true,
	},
}

// judgeWiring judges the cables against each other: each port once, and each socket of a switch once.
func judgeWiring(v *judge) {
	var nics, sockets []string
	for i, c := range v.config.Spec.Wiring {
		here := itemPath(wiring, i)
		nic, socket := canonicalNIC(c.NIC), strings.ToLower(c.Switch+" "+c.Port)
		if nic != "" && slices.Contains(nics, nic) {
			v.fail(here+".nic", fault(message.T("keep one of them"), message.F("is there twice: %s", shown(c.NIC))))
		}
		if c.Port != "" && slices.Contains(sockets, socket) {
			v.fail(here+".port", fault(message.T("correct one of the two: a port of a switch takes one cable"), message.F("is there twice: %s", shown(strings.TrimSpace(c.Switch+" "+c.Port)))))
		}
		if c == (cable{NIC: c.NIC}) {
			v.fail(here, fault(message.T("add one of switch, port, vlan, mtu, or remove the item"), message.T("does not say where the cable goes")))
		}
		nics, sockets = append(nics, nic), append(sockets, socket)
	}
}

// canonicalNIC writes the spellings of a MAC address, and upper case, alike.
func canonicalNIC(nic string) string { return cmp.Or(value.MAC(nic), strings.ToLower(nic)) }

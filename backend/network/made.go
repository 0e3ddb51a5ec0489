package network

import (
	"fmt"
	"slices"

	"touchdown/backend/netconfig"
)

// made are the names of the interfaces of software that settings have; "" where they have none.
type made struct{ bond, vlan string }

// named finds out what the bond and the VLAN below br-ex are called here.
func (now *Current) named(all *state) {
	now.made = made{}
	for name := now.Device; ; {
		switch i := all.find(name, ""); {
		case i == nil:
			return
		case i.VLAN != nil && now.made.vlan == "":
			now.made.vlan, name = name, i.VLAN.Base
		case i.Bond != nil:
			now.made.bond = name
			return
		default:
			return
		}
	}
}

// makes are the names of what resolved settings make. A bond of the same ports and a VLAN of the same number on the same interface are there
// once (the kernel refuses a second VLAN): whoever made them, they keep their names. No other interface loses its name to a new one.
func (s Settings) makes(now *Current) (m made) {
	if len(s.Bond.Ports) > 0 {
		m.bond = now.bondOf(s.Bond.Ports)
	}
	if s.VLAN > 0 {
		s.made = m
		m.vlan = now.vlanOf(s.base(), s.VLAN)
	}
	return m
}

// bondOf is the bond of these ports, else the one that leads out now, which gets others, else a new one.
func (now *Current) bondOf(ports []string) string {
	wanted := slices.Sorted(slices.Values(ports))
	for _, i := range now.interfaces() {
		if i.Bond != nil && slices.Equal(slices.Sorted(slices.Values(i.Bond.Ports)), wanted) {
			return i.Name
		}
	}
	if now.made.bond != "" {
		return now.made.bond
	}
	return now.free(func(n int) string { return fmt.Sprintf("bond%d", n) })
}

// vlanOf is the VLAN of a number on an interface, else a new one. configure-ovs knows a VLAN by the type, parent and id of its profile
// and takes any name; the usual one of a port with a long name would be none for the kernel.
func (now *Current) vlanOf(base string, id int) string {
	for _, i := range now.interfaces() {
		if i.VLAN != nil && i.VLAN.Base == base && i.VLAN.ID == id {
			return i.Name
		}
	}
	names := []string{fmt.Sprintf("%s.%d", base, id), fmt.Sprintf("vlan%d", id)}
	if len(names[0]) > netconfig.MaxLinkName {
		names = names[1:]
	}
	return now.free(func(n int) string {
		if n < len(names) {
			return names[n]
		}
		return fmt.Sprintf("vlan%d-%d", id, n)
	})
}

// free is the first of names, counted from 0, that no interface has.
func (now *Current) free(name func(n int) string) string {
	for n := 0; ; n++ {
		if !slices.ContainsFunc(now.interfaces(), func(i iface) bool { return i.Name == name(n) }) {
			return name(n)
		}
	}
}

func (now *Current) interfaces() []iface {
	if now.Seen == nil {
		return nil
	}
	return now.Seen.Interfaces
}

// keepsNames has the VLANs of a document keep the names that they have here: NetworkManager makes a new one before the old one is gone, and
// the kernel refuses that.
func (d document) keepsNames(now *Current) {
	for _, i := range d.list("interfaces") {
		vlan, _ := i["vlan"].(map[string]any)
		name, _ := i["name"].(string)
		for _, here := range now.interfaces() {
			if here.VLAN == nil || here.VLAN.Base != vlan["base-iface"] || float64(here.VLAN.ID) != vlan["id"] ||
				slices.ContainsFunc(d.list("interfaces"), func(i map[string]any) bool { return i["name"] == here.Name }) {
				continue
			}
			netconfig.Document(d).Rename(func(other string) string {
				if other == name {
					return here.Name
				}
				return other
			})
		}
	}
}

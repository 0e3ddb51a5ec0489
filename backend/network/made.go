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

// makes are the names of what resolved settings make here: now, and as it was before. A bond of the same ports and a VLAN of the same number
// on the same interface are there once (the kernel refuses a second VLAN): whoever made them, they keep their names. No other interface
// loses its name to a new one.
func (s Settings) makes(here ...*Current) (m made) {
	if len(s.Bond.Ports) > 0 {
		m.bond = bondFor(here, s.Bond.Ports)
	}
	if s.VLAN > 0 {
		s.made = m
		m.vlan = vlanFor(here, s.base(), s.VLAN)
	}
	return m
}

// bondFor is the bond of these ports, else the one that leads out, which gets others, else a new one.
func bondFor(here []*Current, ports []string) string {
	wanted := slices.Sorted(slices.Values(ports))
	if name := called(here, func(i iface) bool {
		return i.Bond != nil && slices.Equal(slices.Sorted(slices.Values(i.Bond.Ports)), wanted)
	}); name != "" {
		return name
	}
	for _, c := range here {
		if c.made.bond != "" {
			return c.made.bond
		}
	}
	return free(here, func(n int) string { return fmt.Sprintf("bond%d", n) })
}

// vlanFor is the VLAN of a number on an interface, else a new one. configure-ovs knows a VLAN by the type, parent and id of its profile
// and takes any name; the usual one of a port with a long name would be none for the kernel.
func vlanFor(here []*Current, base string, id int) string {
	if name := called(here, func(i iface) bool { return i.VLAN != nil && i.VLAN.Base == base && i.VLAN.ID == id }); name != "" {
		return name
	}
	names := []string{fmt.Sprintf("%s.%d", base, id), fmt.Sprintf("vlan%d", id)}
	if len(names[0]) > netconfig.MaxLinkName {
		names = names[1:]
	}
	return free(here, func(n int) string {
		if n < len(names) {
			return names[n]
		}
		return fmt.Sprintf("vlan%d-%d", id, n)
	})
}

// called is the name of the first interface that is so, "" for none. A name that something else has now is none from before.
func called(here []*Current, so func(iface) bool) string {
	for n, c := range here {
		for _, i := range c.interfaces() {
			if so(i) && !slices.ContainsFunc(here[:n], func(c *Current) bool { return c.has(i.Name) }) {
				return i.Name
			}
		}
	}
	return ""
}

func (now *Current) has(name string) bool {
	return slices.ContainsFunc(now.interfaces(), func(i iface) bool { return i.Name == name })
}

// free is the first of names, counted from 0, that no interface has.
func free(here []*Current, name func(n int) string) string {
	for n := 0; ; n++ {
		if called(here, func(i iface) bool { return i.Name == name(n) }) == "" {
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
func (d document) keepsNames(here ...*Current) {
	for _, i := range d.list("interfaces") {
		if i["state"] == "absent" {
			continue
		}
		vlan, _ := i["vlan"].(map[string]any)
		name, _ := i["name"].(string)
		kept := called(here, func(i iface) bool {
			return i.VLAN != nil && i.VLAN.Base == vlan["base-iface"] && float64(i.VLAN.ID) == vlan["id"]
		})
		if kept == "" || slices.ContainsFunc(d.list("interfaces"), func(i map[string]any) bool { return i["name"] == kept }) {
			continue
		}
		netconfig.Document(d).Rename(func(other string) string {
			if other == name {
				return kept
			}
			return other
		})
	}
}

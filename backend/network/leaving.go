package network

import (
	"encoding/json"
	"fmt"
	"slices"
)

// leaving is a state to bring about now, in which each port that leaves a bond says so. Of a port that does not name its controller nmstate
// keeps the one it has, and starts nothing on a port whose controller goes (nm/profile.rs, can_skip_activation, 2.2.43): such a port
// would go down with its bond, for the kernel closes a port that it takes out of one. The ports of the bond that is asked for stay, although the
// state may leave it out where nothing of it changes.
func leaving(desired []byte, asked Settings, from ...*Current) ([]byte, error) {
	var d document
	if err := json.Unmarshal(desired, &d); err != nil {
		return nil, fmt.Errorf("reading the plan of the network: %w", err)
	}
	view, err := d.view()
	if err != nil {
		return nil, err
	}
	for _, old := range from {
		for _, name := range old.loses(asked) {
			if view.takes(name) || slices.Contains(asked.Bond.Ports, name) {
				continue
			}
			if d.carrier(name)["name"] == nil {
				if d, err = d.with(&state{Interfaces: []iface{quiet(name)}}); err != nil {
					return nil, err
				}
			}
			for _, i := range d.list("interfaces") {
				if i["name"] == name && i["type"] != "ovs-bridge" {
					i["controller"] = ""
				}
			}
		}
	}
	return d.json(), nil
}

// loses are the ports that may leave a bond for these settings: every port of the bond that leads out, and each port that is to lead out and
// is in another bond.
func (now *Current) loses(asked Settings) []string {
	all := slices.Clone(now.Bond.Ports)
	for _, name := range asked.ports() {
		if now.bonded(name) && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// bonded tells whether a port is in a bond, be it the one that leads out or another.
func (now *Current) bonded(name string) bool {
	return slices.Contains(now.Bond.Ports, name) || slices.ContainsFunc(now.interfaces(), func(i iface) bool {
		return i.Bond != nil && slices.Contains(i.Bond.Ports, name)
	})
}

// lent are the bonds that had one of these ports and did not lead out themselves.
func (now *Current) lent(ports []string) []iface {
	return slices.DeleteFunc(slices.Clone(now.interfaces()), func(i iface) bool {
		return i.Bond == nil || i.Name == now.made.bond || !slices.ContainsFunc(i.Bond.Ports, func(p string) bool { return slices.Contains(ports, p) })
	})
}

// takes tells whether a bond or bridge of s has this port.
func (s *state) takes(name string) bool {
	return slices.ContainsFunc(s.Interfaces, func(i iface) bool {
		return i.State != "absent" && (i.Bond != nil && slices.Contains(i.Bond.Ports, name) || i.Bridge != nil && slices.Contains(i.Bridge.Ports, port{name}))
	})
}

// bases are the ports of a document that it does not describe and that leave a bond: the profiles that they have make them its ports, in
// the next boot too.
func (p *Plan) bases(view *state) *state {
	s := &state{}
	leave := slices.Concat(p.Before.loses(p.Settings), p.now.loses(p.Settings))
	for _, name := range view.physicalPorts() {
		if slices.Contains(leave, name) && view.find(name, "") == nil && !view.takes(name) {
			s.Interfaces = append(s.Interfaces, quiet(name))
		}
	}
	return s
}

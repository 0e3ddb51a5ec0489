package network

import (
	"encoding/json"
	"fmt"
	"slices"
)

// leaving is a state to bring about now, in which each port that leaves a bond says so. Of a port that does not name its controller nmstate
// keeps the one it has, and starts nothing on a port whose controller goes (nm/profile.rs, can_skip_activation, 2.2.43): such a port
// would go down with its bond, for the kernel closes a port that it takes out of one. The ports that stay are those of a bond that the
// state may leave out, for nothing of it changes.
func leaving(desired []byte, stay []string, from ...*Current) ([]byte, error) {
	var d document
	if err := json.Unmarshal(desired, &d); err != nil {
		return nil, fmt.Errorf("reading the plan of the network: %w", err)
	}
	view, err := d.view()
	if err != nil {
		return nil, err
	}
	for _, old := range from {
		for _, name := range old.Bond.Ports {
			if view.takes(name) || slices.Contains(stay, name) {
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
	for _, name := range view.physicalPorts() {
		bonded := slices.Contains(p.before.Bond.Ports, name) || slices.Contains(p.now.Bond.Ports, name)
		if bonded && view.find(name, "") == nil && !view.takes(name) {
			s.Interfaces = append(s.Interfaces, quiet(name))
		}
	}
	return s
}

package network

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"

	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/backend/netconfig"
	"touchdown/backend/problem"
)

// raw compiles an nmstate document written for the ports: on a node with br-ex, the addresses go up to br-ex now and the
// document goes unchanged to the disk, where the next boot builds br-ex out of it.
func (p *Plan) raw() (physical []byte, err error) {
	d, view, err := readDocument(p.Settings.Raw, p.now, p.Before)
	if err != nil {
		return nil, badDocument(err)
	}
	if d, err = d.with(p.bases(view)); err != nil {
		return nil, err
	}
	carrier := d.leads()
	p.place(carrier, view.physicalPorts())
	for _, a := range p.Settings.Own {
		d.withOwn(carrier, a)
	}
	d.serversByFamily()
	boot, err := d.with(p.quiet())
	if err != nil {
		return nil, err
	}
	if p.now.Bridged {
		d.lift(carrier)
		if carrier != p.Before.Device || carrier != p.now.Device || len(p.Released) > 0 {
			up := uplink(carrier)
			if d, err = d.with(&state{Interfaces: []iface{up}}); err != nil {
				return nil, err
			}
			first := Settings{Bond: Bond{Ports: view.under(carrier)}}
			if mac := first.mac(p.now.Macs); mac != "" {
				d.carrier(Bridge)["mac-address"] = mac
			}
		}
	}
	view, err = parseState(d.json())
	if err != nil {
		return nil, err
	}
	if d, err = d.with(p.besides(view)); err != nil {
		return nil, err
	}
	p.desired = d.json()
	return boot.json(), nil
}

func badDocument(err error) error {
	return &problem.Problem{
		Code: "NET-NMST", Summary: message.F("The nmstate document cannot be used: %s.", err),
		Fix: message.T("Correct spec.networkConfig."), Err: err,
	}
}

// leads is the interface that leads out.
func (d document) leads() string { return netconfig.Document(d).Carrier() }

// physicalPorts are the ports of a document.
func (s *state) physicalPorts() []string {
	var names []string
	for _, i := range s.Interfaces {
		switch {
		case i.State == "absent":
		case i.Bond != nil:
			names = append(names, i.Bond.Ports...)
		case i.VLAN != nil && s.find(i.VLAN.Base, "") == nil:
			names = append(names, i.VLAN.Base)
		case i.VLAN == nil:
			names = append(names, i.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// under are the ports below an interface of a document.
func (s *state) under(name string) []string {
	i := s.find(name, "")
	switch {
	case i != nil && i.VLAN != nil:
		return s.under(i.VLAN.Base)
	case i != nil && i.Bond != nil && len(i.Bond.Ports) > 0:
		return i.Bond.Ports
	}
	return []string{name}
}

// carrier returns the entry of an interface, preferring the one that can have addresses.
func (d document) carrier(name string) map[string]any {
	for _, i := range d.list("interfaces") {
		if i["name"] == name && i["type"] != "ovs-bridge" {
			return i
		}
	}
	return map[string]any{}
}

// withOwn adds an own address of the node to the carrier where the document leaves it out.
func (d document) withOwn(carrier string, own netip.Addr) {
	key := "ipv4"
	if own.Is6() {
		key = "ipv6"
	}
	i := d.carrier(carrier)
	f, ok := i[key].(map[string]any)
	if !ok {
		f = map[string]any{"dhcp": false}
		i[key] = f
	}
	f["enabled"] = true
	list, _ := f["address"].([]any)
	for _, a := range list {
		m, _ := a.(map[string]any)
		if p, err := netip.ParsePrefix(fmt.Sprintf("%v/%v", m["ip"], m["prefix-length"])); err == nil && (host.Own{own}).Holds(p) {
			return
		}
	}
	f["address"] = append(list, map[string]any{"ip": own.String(), "prefix-length": own.BitLen()})
}

// serversByFamily orders the name servers as Settings.Resolve does, for the same reason.
func (d document) serversByFamily() {
	r, _ := d["dns-resolver"].(map[string]any)
	c, _ := r["config"].(map[string]any)
	items, _ := c["server"].([]any)
	var servers []string
	for _, i := range items {
		if s, ok := i.(string); ok {
			servers = append(servers, s)
		}
	}
	if len(servers) > 0 && len(servers) == len(items) {
		c["server"] = byFamily(servers)
	}
}

// lift moves the addresses and routes of the carrier up to br-ex.
func (d document) lift(carrier string) {
	from := d.carrier(carrier)
	up := map[string]any{"name": Bridge, "type": "ovs-interface", "state": "up"}
	for _, key := range []string{"ipv4", "ipv6", "mtu", "wait-ip"} {
		if v, ok := from[key]; ok {
			up[key] = v
		}
	}
	delete(from, "wait-ip")
	from["ipv4"], from["ipv6"] = map[string]any{"enabled": false}, map[string]any{"enabled": false}
	items, _ := d["interfaces"].([]any)
	d["interfaces"] = append(items, up)
	for _, kind := range []string{"routes", "route-rules"} {
		for _, r := range d.list(kind, "config") {
			for _, key := range []string{"next-hop-interface", "iif"} {
				if r[key] == carrier {
					r[key] = Bridge
				}
			}
		}
	}
}

// with returns a copy that also holds s.
func (d document) with(s *state) (document, error) {
	var c, more document
	if err := json.Unmarshal(d.json(), &c); err != nil {
		return nil, fmt.Errorf("copying an nmstate document: %w", err)
	}
	if err := json.Unmarshal(s.json(), &more); err != nil {
		return nil, fmt.Errorf("copying an nmstate document: %w", err)
	}
	items, _ := c["interfaces"].([]any)
	for _, i := range more.list("interfaces") {
		items = append(items, i)
	}
	c["interfaces"] = items
	if first := more.list("routes", "config"); len(first) > 0 {
		table, _ := c["routes"].(map[string]any)
		if table == nil {
			table = map[string]any{}
			c["routes"] = table
		}
		all := []any{}
		for _, r := range slices.Concat(first, c.list("routes", "config")) {
			all = append(all, r)
		}
		table["config"] = all
	}
	return c, nil
}

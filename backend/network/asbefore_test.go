package network

import (
	"slices"
	"testing"

	"touchdown/backend/host"
	"touchdown/backend/host/hosttest"
)

// routed is a node in use that has these default routes configured.
func routed(t *testing.T, all ...route) *Current {
	t.Helper()
	now := standing(t, "enp1s0")
	now.Seen.Routes = &routes{Config: all}
	return now
}

// TestASecondDefaultRoute over a storage port is as it was, too; one that was not there before goes, over whatever port it leads.
func TestASecondDefaultRoute(t *testing.T) {
	out := route{Destination: any4, Interface: Bridge, Gateway: "192.0.2.1", Metric: metric, Table: mainTable}
	storage := route{Destination: any4, Interface: "enp2s0", Gateway: "203.0.113.1", Metric: 500, Table: mainTable}
	for name, c := range map[string]struct {
		before, now *Current
		left        []string
	}{
		"it stays":      {routed(t, out, storage), routed(t, out, storage), nil},
		"it is new":     {routed(t, out), routed(t, out, storage), []string{"route over enp2s0 by 203.0.113.1"}},
		"so is another": {routed(t, out), routed(t, out, route{Destination: any4, Interface: Bridge, Gateway: "192.0.2.2"}), []string{"route over br-ex by 192.0.2.2"}},
	} {
		n := &Network{host: hosttest.New(t).Machine, library: seen{configured: c.now.Seen, live: c.now.Seen}, manager: using{}}
		o := &originals{Version: originalsVersion, Before: c.before}
		if left, err := (puttingBack{n, o}).asBefore(t.Context(), 0); err != nil || !slices.Equal(left, c.left) {
			t.Errorf("%s: left is %q (%v), want %q", name, left, err, c.left)
		}
		text, err := o.desired(c.now)
		if err != nil {
			t.Fatal(err)
		}
		back, err := parseState(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range c.now.Seen.Routes.Config {
			gone := slices.ContainsFunc(back.Routes.Config, func(x route) bool { return x.removes(r) })
			if stays := c.before.Seen.has(r); gone == stays {
				t.Errorf("%s: the route over %s is removed: %v", name, r.Interface, gone)
			}
		}
		if _, err := (nmstateLibrary{}).generate(t.Context(), text); err != nil {
			t.Errorf("%s: nmstate refuses it: %v", name, err)
		}
	}
}

// portAlone is a node whose boot built no br-ex: enp1s0 has these families, and a default route of this metric (0: none).
func portAlone(v4, v6 *family, metric int) *Current {
	s := &state{Interfaces: []iface{
		{Name: "enp1s0", Type: "ethernet", State: "up", MAC: "AA:00:00:00:00:01", MTU: 1500, IPv4: v4, IPv6: v6},
		{Name: "enp2s0", Type: "ethernet", State: "up", MAC: "AA:00:00:00:00:02", MTU: 1500, IPv4: &family{}, IPv6: &family{}},
	}, Routes: &routes{}, DNS: &resolver{Config: &servers{}}}
	if metric > 0 {
		s.Routes.Config = []route{{Destination: any4, Interface: "enp1s0", Gateway: "192.0.2.1", Metric: metric, Table: mainTable}}
		s.Routes.Running = s.Routes.Config
	}
	return understand(s, s, node{own: host.DefaultOwn, hint: "enp1s0"})
}

// TestPutBackOverABridgeThatCameLater: where the originals have no br-ex and a later boot has one, their addresses and routes go up to it:
// nmstate refuses them on a port of a bridge.
func TestPutBackOverABridgeThatCameLater(t *testing.T) {
	yes, no := true, false
	fixed := &family{Enabled: true, DHCP: &no, Address: entries(t, "198.51.100.10/24", "192.168.127.10/32")}
	installed := &family{Enabled: true, DHCP: &yes, Address: entries(t, "192.168.127.10/24")} // the profile from the installation has it with a network
	for name, c := range map[string]struct {
		before *Current
		device string // below br-ex now
		v4     *family
		metric int
	}{
		"static":              {portAlone(fixed, &family{}, 100), "enp1s0", fixed, metric},
		"on another port now": {portAlone(fixed, &family{}, 100), "enp2s0", fixed, metric},
		"DHCP":                {portAlone(&family{Enabled: true, DHCP: &yes, Address: fixed.Address[1:]}, &family{}, 0), "enp1s0", &family{Enabled: true, DHCP: &yes, Address: fixed.Address[1:]}, 0},
		"as installed":        {portAlone(installed, &family{}, 0), "enp1s0", installed, 0},
		"no IPv4":             {portAlone(&family{}, &family{Enabled: true, DHCP: &no, Autoconf: &yes}, 0), "enp1s0", &family{Enabled: true, DHCP: &no, Address: fixed.Address[1:]}, 0}, // the own address stays in any case
	} {
		if c.before.Bridged || c.before.Carrier != "enp1s0" {
			t.Fatalf("%s: the network before is %+v", name, c.before)
		}
		o, now := &originals{Version: originalsVersion, Before: c.before}, standing(t, c.device)
		text, err := o.desired(now)
		if err != nil {
			t.Fatal(err)
		}
		back, err := parseState(text)
		if err != nil {
			t.Fatal(err)
		}
		top, below := back.find(Bridge, "ovs-interface"), back.find("enp1s0", "")
		if top == nil || !top.IPv4.same(c.v4) || below == nil || below.IPv4.Enabled || below.IPv6.Enabled {
			t.Errorf("%s: the addresses are not on br-ex alone: %s", name, text)
		}
		if stands := back.find(Bridge, "ovs-bridge"); stands == nil || !slices.Contains(stands.Bridge.Ports, port{"enp1s0"}) {
			t.Errorf("%s: br-ex does not stand on the port: %s", name, text)
		}
		if _, err := (nmstateLibrary{}).compare(t.Context(), text, now.live); err != nil {
			t.Errorf("%s: nmstate refuses it: %v", name, err)
		}
		// What nmstate then shows is what was before.
		then := &state{Interfaces: back.Interfaces, Routes: &routes{}, DNS: back.DNS}
		for _, r := range back.Routes.Config {
			if r.State != "absent" {
				then.Routes.Config = append(then.Routes.Config, r)
			}
		}
		if has := len(defaults(then.Routes.Config, Bridge)); (has > 0) != (c.metric > 0) || has > 0 && then.Routes.Config[0].Metric != c.metric {
			t.Errorf("%s: the routes are %+v", name, then.Routes.Config)
		}
		n := &Network{host: hosttest.New(t).Machine, library: seen{configured: then, live: then}, manager: using{}}
		if left, err := (puttingBack{n, o}).asBefore(t.Context(), 0); err != nil || len(left) > 0 {
			t.Errorf("%s: left is %q (%v)", name, left, err)
		}
	}
	// Of a port that was down nothing is known: br-ex stays as the boot built it.
	now := standing(t, "enp1s0")
	n := &Network{host: hosttest.New(t).Machine, library: seen{configured: now.Seen, live: now.Seen}, manager: using{}}
	for _, v4 := range []*family{{}, {Enabled: true, DHCP: &no, Address: fixed.Address[1:]}} {
		down := &originals{Version: originalsVersion, Before: portAlone(v4, &family{}, 0)}
		if own := down.own(now.Seen); own.find(Bridge, "") != nil {
			t.Errorf("after a port that was down, br-ex is to be %+v", own.find(Bridge, ""))
		}
	}
	// Without br-ex everything is on the port.
	o := &originals{Version: originalsVersion, Before: portAlone(fixed, &family{}, 100)}
	n = &Network{host: hosttest.New(t).Machine, library: seen{configured: o.Before.Seen, live: o.Before.Seen}, manager: using{}}
	if left, err := (puttingBack{n, o}).asBefore(t.Context(), 0); err != nil || len(left) > 0 {
		t.Errorf("without br-ex, left is %q (%v)", left, err)
	}
}

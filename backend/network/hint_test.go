package network

import "testing"

// TestThePortOfTheNextBoot: without br-ex, settings are for the port that configure-ovs would take.
func TestThePortOfTheNextBoot(t *testing.T) {
	over := func(name string, metric int) route { return route{Destination: any4, Interface: name, Metric: metric} }
	for _, c := range []struct {
		name, hint, want string
		routes           []route
	}{
		{"the better route, where there was no boot", "", "enp2s0", []route{over("enp1s0", 101), over("enp2s0", 100)}},
		{"the port of the last boot, while it has a route", "enp1s0", "enp1s0", []route{over("enp1s0", 101), over("enp2s0", 100)}},
		{"not without a route, where another has one", "enp1s0", "enp2s0", []route{over("enp2s0", 100)}},
		{"a port that is not there any more", "eno1", "enp2s0", []route{over("eno1", 10), over("enp2s0", 100)}},
		{"the port of the last boot, where none has a route", "enp2s0", "enp2s0", nil},
		{"the first that is switched on", "", "enp1s0", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			live := &state{
				Interfaces: []iface{{Name: "enp1s0", Type: "ethernet", State: "up"}, {Name: "enp2s0", Type: "ethernet", State: "up"}},
				Routes:     &routes{Running: c.routes},
			}
			if got := withoutBridge(live, c.hint); got != c.want {
				t.Errorf("it is %s, want %s", got, c.want)
			}
		})
	}
}

package steps

import (
	"testing"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/hardware"
	"touchdown/backend/hardware/order"
)

// The hardware check waits for what the present look lacks: 20 s for a link, 35 s for a switch from when it was first listened to, and
// not at all for what only a person can change.
func TestLinkWaiter(t *testing.T) {
	sheet := &order.Sheet{Ports: []order.Port{{NIC: "eno1", Switch: "sw-7", VLAN: 20}}}
	look := func(c order.Cable) []Check {
		c.NIC = "eno1"
		return sheet.Wiring([]order.Cable{c}, nil)
	}
	off := look(order.Cable{})
	unplugged := look(order.Cable{Up: true})
	listening := look(order.Cable{Up: true, Link: true})
	wrong := look(order.Cable{Up: true, Link: true, Switch: "sw-7", VLAN: 21})
	elsewhere := look(order.Cable{Up: true, Link: true, Switch: "sw-8"})
	missing := sheet.Wiring(nil, nil)
	noPort := []Check{{ID: hardware.LinkCheck, Status: check.Fail}}
	for name, looks := range map[string][]struct {
		at     int // seconds after the first look
		checks []Check
		waits  bool
	}{
		"no port has a link":         {{0, noPort, true}, {19, noPort, true}, {20, noPort, false}},
		"no cable":                   {{0, unplugged, true}, {19, off, true}, {20, unplugged, false}},
		"a switch is silent":         {{0, listening, true}, {34, listening, true}, {35, listening, false}},
		"a link comes late":          {{0, off, true}, {19, listening, true}, {53, listening, true}, {54, listening, false}},
		"a cable goes while waiting": {{0, listening, true}, {10, unplugged, true}, {20, unplugged, false}},
		"a link comes and goes":      {{0, listening, true}, {5, unplugged, true}, {6, listening, true}, {35, listening, false}},
		"a switch is set wrong":      {{0, wrong, false}},
		"a cable is in another one":  {{0, elsewhere, false}},
		"a port is not there":        {{0, missing, false}},
	} {
		began := time.Now()
		w := linkWaiter{began: began}
		for _, l := range looks {
			if _, waits := w.wants(l.checks, began.Add(time.Duration(l.at)*time.Second)); waits != l.waits {
				t.Errorf("%s, after %d s: waits is %v", name, l.at, waits)
			}
		}
	}
}

package steps

import (
	"context"
	"slices"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/hardware"
	"touchdown/backend/hardware/order"
	"touchdown/backend/message"
	"touchdown/backend/network"
	"touchdown/backend/progress"
)

// How long a look may take until a port has a link, and until a switch has announced itself. Work that a power cut interrupted goes
// on at once when the node is up again: NetworkManager has yet to switch its ports on, and a copper port negotiates for
// seconds after that.
const (
	linkWait  = 20 * time.Second
	cableWait = 35 * time.Second
)

// cableChecks compare where the cables go with where they have to.
func cableChecks(ctx context.Context, of *NodeNetwork, wiring order.Wiring, i *hardware.Inventory) []check.Check {
	ports, err := of.net.Ports(ctx)
	if err != nil {
		return []check.Check{{ID: "wiring", Title: message.T("Cables"), Status: check.Skip, Observed: message.F("not checked: %s", message.Detail(err))}}
	}
	var unseen []string
	for _, d := range i.PassedOn() {
		unseen = append(unseen, d.Address)
	}
	return wiring.Checks(ends(ports), unseen)
}

// ends are the cables as they are seen at the ports of the machine.
func ends(ports []network.Port) []order.Cable {
	seen := make([]order.Cable, 0, len(ports))
	for _, p := range ports {
		seen = append(seen, order.Cable{
			NIC: p.Name, MAC: p.MAC, Up: p.Up, Link: p.Carrier, Listened: p.Listened,
			Switch: p.Neighbour.System, Port: p.Neighbour.Port, Description: p.Neighbour.Description,
			VLAN: p.Neighbour.VLAN, Frame: p.Neighbour.Frame,
		})
	}
	return seen
}

// waitForLink looks until a port has a link and every switch has announced itself, or should have.
func waitForLink(ctx context.Context, report Report, look func() (*hardware.Inventory, []check.Check)) (*hardware.Inventory, []check.Check) {
	i, checks := look()
	for w := (linkWaiter{began: time.Now()}); ; i, checks = look() {
		what, wait := w.wants(checks, time.Now())
		if !wait {
			return i, checks
		}
		report.Progress(what)
		select {
		case <-ctx.Done():
			return i, checks
		case <-time.After(time.Second):
		}
	}
}

// linkWaiter bounds the wait by what the present look waits for. A switch has its time from the first look that listened to one.
type linkWaiter struct{ began, listened time.Time }

func (w *linkWaiter) wants(checks []check.Check, now time.Time) (what progress.Progress, wait bool) {
	listening := slices.ContainsFunc(checks, order.Listening)
	if listening && w.listened.IsZero() {
		w.listened = now
	}
	switch {
	case slices.ContainsFunc(checks, noLink) && now.Sub(w.began) < linkWait:
		return progress.Progress{Waiting: message.T("a link on a network port"), Usual: 5}, true
	case listening && now.Sub(w.listened) < cableWait:
		return progress.Progress{Waiting: message.T("the switches to announce themselves"), Usual: 30}, true
	}
	return progress.Progress{}, false
}

// noLink reports whether a link is missing that may yet come up.
func noLink(c check.Check) bool {
	return c.Status == check.Fail && c.ID == hardware.LinkCheck || order.Unlinked(c)
}

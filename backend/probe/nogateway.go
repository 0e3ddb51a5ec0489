package probe

import (
	"context"
	"net"
	"net/netip"
	"sync"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

// withoutGateway judges a family without a gateway. A site may have none. Where the settings are typed it may also have been
// forgotten, so the cable is asked for a router; what DHCP or a router announces is believed.
func (f *family) withoutGateway(ctx context.Context, r *run) error {
	c := check.Check{
		ID: f.id("net-gateway"), Title: f.title(message.T("Gateway")), Status: check.Skip,
		Observed: message.F("Absent, not needed: node and pods reach the machines of %s only.", f.address.Masked()),
	}
	if f.set.Method == Static {
		signs, err := f.routerSigns(ctx, r)
		if err != nil {
			return err
		}
		if len(signs) > 0 {
			c.Status = check.Warn
			c.Observed = message.F("No gateway is set, but this network seems to have one: %s.", message.Join(signs, "; "))
			c.Fix = message.F("Ask the site's network administrator for the gateway. Without it the node and its pods reach only %s.", f.address.Masked())
		}
	}
	r.say(c)
	return nil
}

// routerSigns are the signs of a router: its advertisements, and for IPv4, which has none, a machine at the first or last address of
// the subnet, where administrators put the gateway.
func (f *family) routerSigns(ctx context.Context, r *run) (signs []message.Text, err error) {
	if f.address.Addr().Is6() {
		heard, err := r.wire.solicit(ctx)
		for _, a := range heard {
			if a.Gateway.IsValid() {
				signs = append(signs, message.F("a router advertises itself as %s", a.Gateway))
			}
		}
		return signs, err
	}
	usual := ends(f.address)
	at, errs := make([][]net.HardwareAddr, len(usual)), make([]error, len(usual))
	var all sync.WaitGroup
	for i, a := range usual {
		all.Go(func() { at[i], errs[i] = r.look(ctx, f.address.Addr(), a, true) })
	}
	all.Wait()
	for i, a := range usual {
		if errs[i] != nil {
			return nil, errs[i]
		}
		if len(at[i]) > 0 {
			signs = append(signs, message.F("a machine answers at %s, a usual address of a gateway", a))
		}
	}
	return signs, nil
}

// ends are the first and the last address of an IPv4 subnet that a machine can have, without the node's own. A subnet of two
// addresses or one has no other place to look at.
func ends(node netip.Prefix) (all []netip.Addr) {
	if node.Bits() > 30 {
		return nil
	}
	first := node.Masked().Addr()
	b := first.As4()
	for i := range b {
		b[i] |= ^net.CIDRMask(node.Bits(), 32)[i]
	}
	for _, a := range []netip.Addr{first.Next(), netip.AddrFrom4(b).Prev()} {
		if a != node.Addr() {
			all = append(all, a)
		}
	}
	return all
}

package probe

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

// candidate finds the address to probe with: the typed one, the offered one, or after applying the one that is there.
// Without one, the check that tells why has been told.
func (r *run) candidate(ctx context.Context, f *family) error {
	switch {
	case r.live:
		return r.applied(ctx, f)
	case f.set.Method == Static:
		f.address, f.gateway = f.set.Address, f.set.Gateway
		return nil
	case f.set.Method == DHCP && f.suffix == "":
		offers, err := r.wire.discover(ctx)
		if err != nil {
			return err
		}
		r.take(f, f.dhcpCheck(), offers)
		return nil
	default:
		return r.routers(ctx, f)
	}
}

func (f *family) dhcpCheck() check.Check {
	return check.Check{ID: f.id("net-dhcp"), Title: f.title(message.T("Address by DHCP")), Expected: message.T("an offer from one DHCP server")}
}

func (f *family) routerCheck() check.Check {
	return check.Check{ID: f.id("net-router"), Title: message.T("Address by a router (IPv6)"), Expected: message.T("a router that announces the network's prefix")}
}

// take judges the offers and goes on with the first one.
func (r *run) take(f *family, c check.Check, offers []Offer) {
	for _, o := range offers {
		c.Evidence = append(c.Evidence, o.text())
	}
	if len(offers) == 0 {
		c.Status, c.Observed = check.Fail, message.T("No DHCP server answered.")
		c.Fix = message.F("Check the cable%s, or type the address.", r.vlanHint())
		c.Evidence = append(c.Evidence, r.wire.vlansHeard()...)
		r.say(c)
		return
	}
	f.offer = offers[0]
	f.address, f.gateway = f.offer.Address, f.offer.Gateway
	c.Status = check.Pass
	c.Observed = message.F("Offered: %s, by the server %s. It was not taken yet.", f.address, f.offer.From)
	for _, o := range offers[1:] {
		// Two servers that tell the same network are a pair that stands in for each other.
		if o.Address.Masked() != f.address.Masked() || o.Gateway != f.gateway {
			c.Status = check.Warn
			c.Observed = message.F("Several DHCP servers contradict each other: %s offers %s, %s offers %s.",
				f.offer.From, f.address, o.From, o.Address)
			c.Fix = message.T("Ask the site's network administrator which server is meant and to switch the other off, or type the address.")
		}
	}
	outside(r.t.Inside, f, &c)
	r.say(c)
}

// outside fails an address that the site gives in a network inside the cluster. One that was typed is refused before it is tried
// (network.Validate); here it is known for the first time.
func outside(inside []Inside, f *family, c *check.Check) {
	for _, in := range inside {
		if f.address.IsValid() && in.Prefix.Overlaps(f.address) {
			c.Status = check.Fail
			c.Observed = message.F("The site gives %s, and its network %s overlaps %s network %s.", f.address.Addr(), f.address.Masked(), in.Whose, in.Prefix)
			c.Fix = message.T("Ask the site's network administrator for another subnet: the networks inside a cluster cannot be changed.")
			return
		}
	}
}

// text tells the offer in one line, for an engineer.
func (o Offer) text() message.Text {
	parts := []message.Text{message.F("from %s", o.From)}
	add := func(there bool, part message.Text) {
		if there {
			parts = append(parts, part)
		}
	}
	add(o.Address.IsValid(), message.F("address %s", o.Address))
	add(o.Gateway.IsValid(), message.F("gateway %s", o.Gateway))
	add(len(o.DNS) > 0, message.F("DNS %s", fmt.Sprint(o.DNS)))
	add(len(o.NTP) > 0, message.F("NTP %s", fmt.Sprint(o.NTP)))
	add(o.MTU > 0, message.F("MTU %d", o.MTU))
	add(o.Lease > 0, message.F("lease %s", o.Lease))
	return message.Join(parts, ", ")
}

// routers asks for what IPv6 routers advertise, and with DHCPv6 for an address as well: the gateway comes from a
// router in both cases.
func (r *run) routers(ctx context.Context, f *family) error {
	own := make(chan error, 1)
	card := fromMAC(linkLocal, r.wire.mac())
	if f.set.Method == DHCP {
		go func() { own <- r.addLinkLocal(ctx, card) }()
	}
	heard, err := r.wire.solicit(ctx)
	if f.set.Method == DHCP {
		if taken := <-own; err == nil {
			err = taken
		}
	}
	if err != nil {
		return err
	}
	if f.set.Method == Autoconf {
		r.takeRouter(f, heard)
		return nil
	}
	offers, err := r.user.solicitAddress(ctx, card)
	if err != nil {
		return err
	}
	for i := range offers {
		complete(&offers[i], heard)
	}
	c := f.dhcpCheck()
	for _, a := range heard {
		c.Evidence = append(c.Evidence, message.F("router %s advertises prefix %s, addresses by DHCPv6: %s", a.From, a.onLink, fmt.Sprint(a.managed)))
	}
	r.take(f, c, offers)
	return nil
}

// complete adds what DHCPv6 leaves to routers: the network that the address is in, and the way out of it.
func complete(o *Offer, heard []advertised) {
	for _, a := range heard {
		if a.onLink.Contains(o.Address.Addr()) {
			o.Address = netip.PrefixFrom(o.Address.Addr(), a.onLink.Bits())
		}
		if !o.Gateway.IsValid() {
			o.Gateway = a.Gateway
		}
		if len(o.DNS) == 0 {
			o.DNS = a.DNS
		}
	}
}

// addLinkLocal gives the stack the address that DHCPv6 asks from.
func (r *run) addLinkLocal(ctx context.Context, card netip.Addr) error {
	held, err := r.holds(card)
	if err != nil {
		return err
	}
	if !held {
		others, err := r.look(ctx, unspecified6, card, false)
		if err != nil {
			return err
		}
		if len(others) > 0 {
			return fmt.Errorf("asking from %s: %s has the same address", card, listMACs(others))
		}
	}
	return r.user.add(netip.PrefixFrom(card, 64), netip.Addr{})
}

func (r *run) takeRouter(f *family, heard []advertised) {
	c := f.routerCheck()
	for _, a := range heard {
		c.Evidence = append(c.Evidence, a.text())
		if a.Address.IsValid() && !f.address.IsValid() {
			f.offer, f.address, f.gateway = a.Offer, a.Address, a.Gateway
		}
	}
	switch {
	case f.address.IsValid():
		c.Status = check.Pass
		c.Observed = message.F("The router %s announces the network %s; tried out with %s.", f.offer.From, f.address.Masked(), f.address.Addr())
	case len(heard) > 0:
		c.Status, c.Observed = check.Fail, message.T("A router answers, but it offers no addresses to take.")
		c.Fix = message.T("Choose DHCP for IPv6, or type the address.")
	default:
		c.Status, c.Observed = check.Fail, message.T("No IPv6 router answered.")
		c.Fix = message.F("Check the cable%s, or type the address.", r.vlanHint())
		c.Evidence = append(c.Evidence, r.wire.vlansHeard()...)
	}
	outside(r.t.Inside, f, &c)
	r.say(c)
}

// applied waits until the address is there, which DHCP may still be about to bring.
func (r *run) applied(ctx context.Context, f *family) error {
	wait, cancel := context.WithTimeout(ctx, offerWait)
	defer cancel()
	for {
		if err := r.readLive(f); err != nil {
			return err
		}
		if f.address.IsValid() || wait.Err() != nil {
			break
		}
		pause(wait, 200*time.Millisecond)
	}
	c := check.Check{
		ID: f.id("net-address"), Title: f.title(message.T("Address is set")), Status: check.Pass,
		Observed: message.F("%s has %s.", r.t.Interface, f.address), Expected: message.F("an address on %s", r.t.Interface),
	}
	switch f.set.Method {
	case DHCP:
		c.ID, c.Title = f.dhcpCheck().ID, f.dhcpCheck().Title
	case Autoconf:
		c.ID, c.Title = f.routerCheck().ID, f.routerCheck().Title
	}
	if !f.address.IsValid() {
		c.Status, c.Observed = check.Fail, message.F("%s has no %s address that these settings bring.", r.t.Interface, f.name)
		c.Fix = message.T("Go back to the former settings; then check the cable and the method by which the address comes.")
	}
	outside(r.t.Inside, f, &c)
	r.say(c)
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

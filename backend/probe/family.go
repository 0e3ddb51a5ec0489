package probe

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

// family is what is known of IPv4, or of IPv6, on the way.
type family struct {
	name, suffix string // suffix: of the IDs of its checks
	set          Settings

	offer   Offer
	address netip.Prefix     // typed or offered
	gateway netip.Addr       // not valid: none
	held    bool             // the machine has the address already: its own network must ask
	usable  bool             // nobody else has the address
	answers bool             // the gateway does
	mac     net.HardwareAddr // of the gateway
}

func (f *family) id(name string) string { return name + f.suffix }

func (f *family) title(text message.Text) message.Text {
	if f.suffix == "" {
		return text
	}
	return message.F("%s (%s)", text, f.name)
}

// family finds the address, makes sure that it is free, and asks the gateway.
func (r *run) family(ctx context.Context, f *family) error {
	if err := r.candidate(ctx, f); err != nil || !f.address.IsValid() {
		return err
	}
	// Whether there is anything at the gateway's address at all can be asked without an address of one's own.
	seen := make(chan []net.HardwareAddr, 1)
	go func() {
		macs, _ := r.look(ctx, unspecified(f.gateway), f.gateway, true)
		seen <- macs
	}()
	if err := r.duplicate(ctx, f); err != nil || !f.usable {
		<-seen
		return err
	}
	if !f.held {
		if err := r.user.add(f.address, f.gateway); err != nil {
			<-seen
			return err
		}
	}
	return r.gateway(ctx, f, <-seen)
}

func unspecified(like netip.Addr) netip.Addr {
	if like.Is4() {
		return unspecified4
	}
	return unspecified6
}

// look asks who has target; of an address that is not valid nobody is asked.
func (r *run) look(ctx context.Context, from, target netip.Addr, first bool) ([]net.HardwareAddr, error) {
	if !target.IsValid() {
		return nil, nil
	}
	q, err := r.wire.whoHas(from, target)
	if err != nil {
		return nil, err
	}
	q.first = first
	return r.wire.ask(ctx, q, r.own)
}

func (r *run) duplicate(ctx context.Context, f *family) error {
	a := f.address.Addr()
	if held, err := r.holds(a); err != nil {
		return err
	} else if held {
		f.held = true
	}
	if ports := answering(r.links, r.t); f.held && len(ports) > 0 {
		r.say(check.Check{
			ID: f.id("net-duplicate"), Title: f.title(message.T("Address is free")), Status: check.Pass,
			Observed: message.F("This machine has %s already.", a), Expected: message.T("no other machine with this address"),
			Evidence: []message.Text{message.F("not asked again, because this machine itself would answer at %s", strings.Join(ports, ", "))},
		})
		f.usable = true
		return nil
	}
	others, err := r.look(ctx, unspecified(a), a, false)
	if err != nil {
		return err
	}
	c := check.Check{
		ID: f.id("net-duplicate"), Title: f.title(message.T("Address is free")), Status: check.Pass,
		Observed: message.F("No other machine on this network has %s.", a), Expected: message.T("no other machine with this address"),
		Evidence: []message.Text{message.F("asked %d times who has %s: %d answers", askTimes, a, len(others))},
	}
	for _, mac := range others {
		c.Evidence = append(c.Evidence, message.F("%s is at %s", a, mac))
	}
	switch {
	case len(others) > 0:
		c.Status = check.Fail
		c.Observed = message.F("Another machine has the address %s already (its card is %s).", a, listMACs(others))
		c.Fix = message.T("Ask the site's network administrator for a free address, or switch the other machine off.")
	case f.held:
		c.Observed = message.F("This machine has %s already, and nobody else has it.", a)
	}
	f.usable = len(others) == 0
	r.say(c)
	return nil
}

// answering are the ports at which this machine itself would answer with its own address: all that have a link and no
// bridge above them, because the kernel does not mind at which port an address is (net.ipv4.conf.*.arp_ignore 0). Where such a
// port is on the same network, NetworkManager takes that answer for another machine's, and gives the lease's routes up.
func answering(links []netlink.Link, t Target) (names []string) {
	for _, l := range links {
		a := l.Attrs()
		linked := a.RawFlags&unix.IFF_UP != 0 && a.RawFlags&unix.IFF_LOWER_UP != 0
		if linked && a.MasterIndex == 0 && len(a.HardwareAddr) == 6 && (l.Type() == "device" || l.Type() == "veth") &&
			a.Name != t.Interface && !slices.Contains(t.Ports, a.Name) {
			names = append(names, a.Name)
		}
	}
	return names
}

func listMACs(macs []net.HardwareAddr) string {
	var all []string
	for _, m := range macs {
		all = append(all, m.String())
	}
	return strings.Join(all, ", ")
}

func (r *run) gateway(ctx context.Context, f *family, seen []net.HardwareAddr) error {
	if !f.gateway.IsValid() {
		return f.withoutGateway(ctx, r)
	}
	c := check.Check{ID: f.id("net-gateway"), Title: f.title(message.T("Gateway")), Expected: message.T("an answer from the gateway")}
	macs, err := r.look(ctx, f.address.Addr(), f.gateway, true)
	if err != nil {
		return err
	}
	if f.answers = len(macs) > 0; f.answers {
		f.mac = macs[0]
	}
	for _, mac := range macs {
		c.Evidence = append(c.Evidence, message.F("%s is at %s", f.gateway, mac))
	}
	c.Evidence = append(c.Evidence, r.wire.vlansHeard()...)
	switch {
	case len(macs) == 1:
		c.Status, c.Observed = check.Pass, message.F("The gateway %s answers.", f.gateway)
	case len(macs) > 1:
		c.Status = check.Warn
		c.Observed = message.F("Several machines answer as the gateway %s: %s.", f.gateway, listMACs(macs))
		c.Fix = message.T("Ask the site's network administrator which one is meant; the other one has a wrong address.")
	case len(seen) > 0:
		c.Status = check.Fail
		c.Observed = message.F("There is a machine at %s, but it does not answer %s.", f.gateway, f.address)
		c.Fix = message.T("Check the address and the prefix length: the gateway seems to belong to another network.")
	default:
		c.Status = check.Fail
		c.Observed = message.F("Nothing answers at %s.", f.gateway)
		c.Fix = message.F("Check the gateway's address%s, and that the cable is in the right socket of the switch.", r.vlanHint())
	}
	r.say(c)
	return nil
}

func (r *run) vlanHint() message.Text {
	if r.t.VLAN == noVLAN {
		return message.T(", whether the site uses a VLAN")
	}
	return message.F(", the VLAN (now %d)", r.t.VLAN)
}

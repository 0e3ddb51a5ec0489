package probe

import (
	"context"
	"net"
	"net/netip"

	"touchdown/backend/message"
)

// unreachable is why an address is not asked at all.
type unreachable struct {
	why     message.Text
	follows bool // from what another check has told already
}

// Error tells why.
func (u unreachable) Error() string { return u.why.String() }

// ways are how the probes ask: from the address of each family. They use their own TCP/IP stack, or the machine's where it has the address
// already.
type ways struct {
	families []*family
	live     bool // the settings are applied
	user     *userStack
}

// reach finds the family that leads to an address, or says why none does.
func (w *ways) reach(to netip.Addr) (*family, *unreachable) {
	var f *family
	for _, have := range w.families {
		if (have.suffix == "") == to.Is4() {
			f = have
		}
	}
	switch {
	case f == nil:
		return nil, &unreachable{why: message.T("the settings have no address of its kind (IPv4 or IPv6)")}
	case !f.usable:
		return nil, &unreachable{why: message.T("there is no address to ask from"), follows: true}
	}
	if !f.address.Contains(to) {
		switch {
		case !f.gateway.IsValid():
			return nil, &unreachable{why: message.T("it is in another network, and there is no gateway")}
		case !f.answers:
			return nil, &unreachable{why: message.T("it is behind the gateway, which does not answer"), follows: true}
		}
	}
	if f.held && !w.live && f.otherWay(to) {
		return nil, &unreachable{why: message.T("this machine has the address already and uses another way now; it can be asked after applying only"), follows: true}
	}
	return f, nil
}

// dial connects from the probed address, by its own stack or, when the machine has the address, by the machine's.
func (w *ways) dial(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
	f, why := w.reach(to.Addr())
	if why != nil {
		return nil, *why
	}
	if f.held {
		return dialKernel(ctx, network, f.address.Addr(), to)
	}
	return w.user.dial(ctx, network, f.address.Addr(), to)
}

// through names by whose network was asked, for an engineer.
func (w *ways) through(to netip.Addr) message.Text {
	f, why := w.reach(to)
	switch {
	case why != nil:
		return message.F("%s was not asked: %s", to, why.why)
	case f.held:
		return message.F("asked %s from %s through the machine's own network", to, f.address)
	}
	return message.F("asked %s from %s without setting it on the machine", to, f.address)
}

// neighbourMissing tells whether to should be on this network and nobody has its address.
func (w *ways) neighbourMissing(to netip.Addr) bool {
	f, why := w.reach(to)
	return why == nil && !f.held && f.address.Contains(to) && !w.user.known(to)
}

// behind tells, in a sentence about silence, that more than one machine can be the cause of it.
func (w *ways) behind(to netip.Addr) message.Text {
	f, why := w.reach(to)
	if why != nil || f.address.Contains(to) {
		return message.Text{}
	}
	return message.T("; it is behind the gateway, which may not forward, or a firewall may be in between")
}

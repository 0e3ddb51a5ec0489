package probe

import (
	"fmt"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

// result puts the checks in the order of the list below. What was not checked, because something that it needs
// is missing, is told as skipped with the reason: a list in which rows are missing looks better than it is.
func (r *run) result(why message.Text) Result {
	var out Result
	for _, c := range r.list() {
		told, ok := r.told[c.ID]
		if !ok {
			c.Status, c.Observed = check.Skip, message.F("Not tried: %s.", r.reason(why))
			r.say(c)
			told = c
		}
		out.Checks = append(out.Checks, told)
	}
	for _, f := range r.families {
		if f.suffix == "" {
			out.IPv4 = f.offer
		} else {
			out.IPv6 = f.offer
		}
	}
	if s := r.clocks.trusted(); s != nil {
		out.Offset, out.OffsetOK = s.response.ClockOffset, true
	}
	return out
}

func (r *run) reason(why message.Text) message.Text {
	if why != (message.Text{}) {
		return why
	}
	return message.T("there is no address to try it with")
}

// list is every check of this run.
func (r *run) list() []check.Check {
	all := []check.Check{{ID: "net-carrier", Title: message.T("Cable and link")}}
	for _, f := range r.families {
		switch {
		case f.set.Method == DHCP:
			all = append(all, f.dhcpCheck())
		case f.set.Method == Autoconf:
			all = append(all, f.routerCheck())
		case r.live:
			all = append(all, check.Check{ID: f.id("net-address"), Title: f.title(message.T("Address is set"))})
		}
		all = append(all,
			check.Check{ID: f.id("net-duplicate"), Title: f.title(message.T("Address is free"))},
			check.Check{ID: f.id("net-gateway"), Title: f.title(message.T("Gateway"))})
	}
	if r.dns.servers == nil && r.clocks.sources == nil {
		r.names() // nobody came as far as this
	}
	for i := range max(1, len(r.dns.servers)) {
		c := check.Check{ID: fmt.Sprintf("net-dns-%d", i+1), Title: message.T("DNS server")}
		if len(r.dns.servers) > 0 {
			c.Title = message.F("%s %s", c.Title, r.dns.servers[i].address)
		}
		all = append(all, c)
	}
	all = append(all, r.dns.aroundChecks()...)
	for i := range max(1, len(r.clocks.sources)) {
		c := check.Check{ID: fmt.Sprintf("net-ntp-%d", i+1), Title: message.T("Time server")}
		if len(r.clocks.sources) > 0 {
			c.Title = message.F("%s %s", c.Title, r.clocks.sources[i].name)
		}
		all = append(all, c)
	}
	return append(all, check.Check{ID: "net-registry", Title: message.T("Image registry")}, check.Check{ID: "net-mtu", Title: message.T("Large packets")})
}

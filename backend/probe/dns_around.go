package probe

import (
	"context"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

// around are the answers to what the node does not need, and people around it do: the names of its addresses (PTR), where each of
// these names leads, and the name by which the cluster calls itself (api-int). They say nothing of whether the server is of use.
type around struct {
	reverse  []reverse
	internal []answer
}

// reverse is the name that a server gives an address.
type reverse struct {
	of      netip.Addr
	answer  answer   // with names
	forward []answer // of the first name
}

func (d *resolver) apiInt() string { return "api-int." + d.t.Domain }

// askAround asks one server for them, all at once. Nothing else waits for it: some networks drop these questions.
func (d *resolver) askAround(ctx context.Context, s *server) {
	if _, why := d.reach(s.address); why != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, dnsWait)
	defer cancel()
	var all sync.WaitGroup
	kinds := d.kinds()
	if d.t.Domain != "" {
		s.around.internal = make([]answer, len(kinds))
		for i, kind := range kinds {
			all.Go(func() { s.around.internal[i] = d.query(ctx, s.address, d.apiInt(), kind) })
		}
	}
	for _, f := range d.families {
		if f.usable {
			s.around.reverse = append(s.around.reverse, reverse{of: f.address.Addr()})
		}
	}
	for i := range s.around.reverse {
		all.Go(func() { d.askReverse(ctx, s, &s.around.reverse[i]) })
	}
	all.Wait()
}

// askReverse asks for the name of an address, and then for the addresses of that name.
func (d *resolver) askReverse(ctx context.Context, s *server, r *reverse) {
	r.answer = d.query(ctx, s.address, arpa(r.of), dnsmessage.TypePTR)
	if len(r.answer.names) == 0 {
		return
	}
	kind := dnsmessage.TypeA
	if r.of.Is6() {
		kind = dnsmessage.TypeAAAA
	}
	r.forward = append(r.forward, d.query(ctx, s.address, r.answer.names[0], kind))
}

// arpa is the name under which the name of an address is looked up (RFC 1035, 3.5; RFC 3596, 2.5).
func arpa(a netip.Addr) string {
	const digits = "0123456789abcdef"
	bytes := a.AsSlice()
	slices.Reverse(bytes)
	var labels []string
	for _, b := range bytes {
		if a.Is4() {
			labels = append(labels, strconv.Itoa(int(b)))
		} else {
			labels = append(labels, digits[b&15:b&15+1], digits[b>>4:b>>4+1])
		}
	}
	return strings.Join(labels, ".") + map[bool]string{true: ".in-addr.arpa", false: ".ip6.arpa"}[a.Is4()]
}

// aroundChecks are the rows of these checks, as they are before anybody was asked.
func (d *resolver) aroundChecks() (rows []check.Check) {
	if d.t.Domain != "" {
		rows = append(rows, check.Check{
			ID: "net-api-int", Title: message.T("Internal name of the API"), Status: check.Skip,
			Expected: message.T("no record, or one that leads to this node"),
		})
	}
	for _, f := range d.families {
		rows = append(rows, check.Check{
			ID: f.id("net-ptr"), Title: f.title(message.T("Name of the address (PTR)")), Status: check.Skip,
			Expected: message.T("no record, or a name that leads back to the address"),
		})
	}
	return rows
}

// judgeAround tells these rows. They pass or are skipped, and never warn, since a warning stops a landing with nobody there: OpenShift
// needs neither record on a single node. Its own dnsmasq answers for api-int, and it keeps the name that it was given. What is wrong
// there misleads people, or points to someone else's address, so the row says it.
func (d *resolver) judgeAround() {
	helping := slices.DeleteFunc(slices.Clone(d.servers), func(s *server) bool { return !s.helps() })
	for _, c := range d.aroundChecks() {
		switch {
		case nobodyToAsk(d.servers, d.families):
			c.Observed = message.T("Absent, not needed: the site has no DNS server.")
		case len(helping) == 0:
			c.Observed = message.T("Not tried: no DNS server answers.")
		case c.ID == "net-api-int":
			d.judgeInternal(&c, helping)
		default:
			i := slices.IndexFunc(d.families, func(f *family) bool { return f.id("net-ptr") == c.ID })
			if f := d.families[i]; f.usable {
				judgeReverse(&c, f.address.Addr(), helping)
			} else {
				continue // why, the family's own checks say
			}
		}
		d.say(c)
	}
}

func (d *resolver) judgeInternal(c *check.Check, servers []*server) {
	c.Observed = message.T("Absent, not needed: the node answers for it itself.")
	wrong := false
	for _, s := range servers {
		for _, a := range s.around.internal {
			c.Evidence = append(c.Evidence, message.F("%s: %s", s.address, a.text()))
			expected := d.leadTo(a.kind)
			switch {
			case len(a.found) == 0 || wrong:
			case slices.ContainsFunc(a.found, func(f netip.Addr) bool { return slices.Contains(expected, f) }):
				c.Status, c.Observed = check.Pass, message.F("%s leads to this node.", a.name)
			default:
				c.Status, wrong = check.Skip, true
				c.Observed = message.F("The DNS server %s leads %s to %s, which is not this node.", s.address, a.name, listAddrs(a.found))
				c.Fix = message.F("The node works all the same. Ask the site's DNS administrator to correct or remove the record %s: machines that join the cluster later use it.", a.name)
			}
		}
	}
}

func judgeReverse(c *check.Check, of netip.Addr, servers []*server) {
	c.Observed = message.T("Absent, not needed: the node has its own host name.")
	wrong := false
	for _, s := range servers {
		for _, r := range s.around.reverse {
			if r.of != of {
				continue
			}
			c.Evidence = append(c.Evidence, message.F("%s: %s", s.address, r.answer.text()))
			for _, a := range r.forward {
				c.Evidence = append(c.Evidence, message.F("%s: %s", s.address, a.text()))
			}
			if len(r.answer.names) == 0 || wrong {
				continue
			}
			name := r.answer.names[0]
			if slices.ContainsFunc(r.forward, func(a answer) bool { return slices.Contains(a.found, of) }) {
				c.Status, c.Observed = check.Pass, message.F("%s is called %s, and that name leads back to it.", of, name)
				continue
			}
			c.Status, wrong = check.Skip, true
			c.Observed = message.F("The DNS server %s calls %s by the name %s, which does not lead back to it.", s.address, of, name)
			c.Fix = message.T("Check that the address is this node's. If it is, ask the site's DNS administrator to correct its PTR record; the node works without it.")
		}
	}
}

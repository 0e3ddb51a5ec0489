package probe

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"
	"gvisor.dev/gvisor/pkg/tcpip"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

// helps tells whether the server is of use: it looks names up, even if it does not find them.
func (s *server) helps() bool {
	return slices.ContainsFunc(s.answers, func(a answer) bool {
		return a.err == nil && (a.code == dnsmessage.RCodeSuccess || a.code == dnsmessage.RCodeNameError)
	})
}

// judgeEarly tells of a server that is of use at once. One that is not fails when it is the only one and warns beside
// another: that is known when all were asked.
func (d *resolver) judgeEarly(s *server) {
	if s.helps() {
		d.say(d.judgeAnswers(s))
	}
}

func (d *resolver) judgeServers() {
	if nobodyToAsk(d.servers, d.families) {
		d.say(check.Check{
			ID: "net-dns-1", Title: message.T("DNS server"), Status: check.Skip,
			Observed: message.T("Absent, not needed: the node answers for the cluster's names itself. The report lists them for the site's clients."),
		})
	}
	one := slices.ContainsFunc(d.servers, (*server).helps)
	for _, s := range d.servers {
		if s.helps() {
			continue
		}
		c := d.judgeUseless(s)
		if one && c.Status == check.Fail {
			c.Status = check.Warn
		}
		d.say(c)
	}
}

// nobodyToAsk tells that there is a network, and no DNS server in it that anybody has named.
func nobodyToAsk(servers []*server, families []*family) bool {
	return len(servers) == 0 && slices.ContainsFunc(families, func(f *family) bool { return f.usable })
}

func (d *resolver) serverCheck(s *server) check.Check {
	c := check.Check{
		ID: fmt.Sprintf("net-dns-%d", slices.Index(d.servers, s)+1), Title: message.F("DNS server %s", s.address.String()),
		Expected: message.T("an answer in less than a second"), Evidence: []message.Text{d.through(s.address)},
	}
	for _, a := range s.answers {
		c.Evidence = append(c.Evidence, a.text())
	}
	return c
}

func (d *resolver) judgeUseless(s *server) check.Check {
	c := d.serverCheck(s)
	c.Status = check.Fail
	c.Fix = message.T("Check the DNS server's address with the site's network administrator.")
	refused := slices.ContainsFunc(s.answers, func(a answer) bool { return a.err == nil })
	switch {
	case s.why != nil && s.why.follows:
		c.Status, c.Fix = check.Skip, message.Text{}
		c.Observed = message.F("Not tried: %s.", s.why.why)
	case s.why != nil:
		c.Observed = message.F("The DNS server %s cannot be asked: %s.", s.address, s.why.why)
	case refused:
		c.Observed = message.F("The DNS server %s answers, but it refuses to look names up.", s.address)
		c.Fix = message.T("Ask the site's network administrator to let this node use the DNS server, or for another one.")
	case slices.ContainsFunc(s.answers, func(a answer) bool { return closedPort(a.err) }):
		c.Observed = message.F("There is a machine at %s, but it is not a DNS server.", s.address)
	case d.neighbourMissing(s.address):
		c.Observed = message.F("No machine on this network has the address %s.", s.address)
		c.Fix = message.T("Check the DNS server's address and the prefix length.")
	default:
		c.Observed = message.F("The DNS server %s does not answer%s.", s.address, d.behind(s.address))
	}
	return c
}

// closedPort tells that there is a machine, and nothing that listens there.
func closedPort(err error) bool {
	if err == nil {
		return false
	}
	// The stack of the probe's own says it in words only.
	return errors.Is(err, unix.ECONNREFUSED) || strings.Contains(err.Error(), (&tcpip.ErrConnectionRefused{}).String())
}

// judgeAnswers reads what a server says of the names. Wrong names warn: the node has its own, and the site's
// administrator can put the records right later.
func (d *resolver) judgeAnswers(s *server) check.Check {
	c := d.serverCheck(s)
	c.Status, c.Observed = check.Pass, message.T("It answers, and knows the names that were asked for.")
	var wrong []message.Text
	fix := message.Text{}
	note := func(text, advice message.Text) {
		wrong = append(wrong, text)
		if (fix == message.Text{}) {
			fix = advice
		}
	}
	for _, a := range s.answers {
		if text, advice := d.judgeName(s, a); text.String() != "" {
			note(text, advice)
		}
	}
	if slowest := slices.MaxFunc(s.answers, func(a, b answer) int { return int(a.took - b.took) }); slowest.took > dnsSlow {
		note(message.F("it is slow: an answer took %.1f s", slowest.took.Seconds()), message.T("Ask the site's network administrator why the DNS server is slow."))
	}
	if len(wrong) > 0 {
		c.Status, c.Fix = check.Warn, fix
		c.Observed = message.F("It answers, but %s.", message.Join(slices.Compact(wrong), "; "))
	}
	return c
}

func (d *resolver) judgeName(s *server, a answer) (text, advice message.Text) {
	shown := a.name
	ours := d.t.Domain != "" && strings.HasSuffix(a.name, "."+d.t.Domain) && (a.name == "api."+d.t.Domain || strings.HasPrefix(a.name, "touchdown-"))
	if strings.HasPrefix(a.name, "touchdown-") && ours {
		shown = "*.apps." + d.t.Domain
	}
	expected := d.leadTo(a.kind)
	switch {
	case a.name == ".":
		return message.Text{}, message.Text{}
	case a.err != nil:
		return message.F("it gave no answer for %s", shown), message.T("Retry; if it stays so, ask the site's network administrator about the DNS server.")
	case ours && len(expected) == 0:
		return message.Text{}, message.Text{}
	case ours && len(a.found) == 0:
		return message.F("it does not know %s yet", shown),
			message.F("Ask the site's DNS administrator for the record: %s %s %s. The node works without it, other machines do not find it.",
				shown, strings.TrimPrefix(a.kind.String(), "Type"), expected[0])
	case ours && !slices.ContainsFunc(a.found, func(f netip.Addr) bool { return slices.Contains(expected, f) }):
		return message.F("it leads %s to %s instead of %s", shown, listAddrs(a.found), listAddrs(expected)),
			message.F("Check this node's address; if it is right, ask the site's DNS administrator to correct %s.", shown)
	case !ours && len(a.found) == 0 && !s.finds(a.name):
		return message.F("it does not know %s", shown), message.F("Check the name %s, or use the site's own DNS server.", shown)
	}
	return message.Text{}, message.Text{}
}

// finds tells whether the server knows an address of either kind.
func (s *server) finds(name string) bool {
	return slices.ContainsFunc(s.answers, func(a answer) bool { return a.name == name && len(a.found) > 0 })
}

// leadTo are the addresses of one kind under which the cluster's names should be found.
func (d *resolver) leadTo(kind dnsmessage.Type) []netip.Addr {
	all := slices.Clone(d.t.External)
	for _, f := range d.families {
		if len(d.t.External) == 0 && f.usable {
			all = append(all, f.address.Addr())
		}
	}
	return slices.DeleteFunc(all, func(a netip.Addr) bool { return a.Is4() != (kind == dnsmessage.TypeA) })
}

func listAddrs(all []netip.Addr) string {
	var texts []string
	for _, a := range all {
		texts = append(texts, a.String())
	}
	return strings.Join(texts, ", ")
}

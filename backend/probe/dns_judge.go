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
)

// helps tells whether the server is of use: it looks names up, even if it does not find them.
func (s *server) helps() bool {
	return slices.ContainsFunc(s.answers, func(a answer) bool {
		return a.err == nil && (a.code == dnsmessage.RCodeSuccess || a.code == dnsmessage.RCodeNameError)
	})
}

// judgeEarly tells of a server that is of use at once. One that is not fails when it is the only one and warns beside
// another: that is known when all were asked.
func (r *run) judgeEarly(s *server) {
	if s.helps() {
		r.say(r.judgeAnswers(s))
	}
}

func (r *run) judgeServers() {
	if nobodyToAsk(r.servers, r.families) {
		r.say(check.Check{
			ID: "net-dns-1", Title: "DNS server", Status: check.Skip,
			Observed: "Absent, not needed: the node answers for the cluster's names itself. The report lists them for the site's clients.",
		})
	}
	one := slices.ContainsFunc(r.servers, (*server).helps)
	for _, s := range r.servers {
		if s.helps() {
			continue
		}
		c := r.judgeUseless(s)
		if one && c.Status == check.Fail {
			c.Status = check.Warn
		}
		r.say(c)
	}
}

// nobodyToAsk tells that there is a network, and no DNS server in it that anybody has named.
func nobodyToAsk(servers []*server, families []*family) bool {
	return len(servers) == 0 && slices.ContainsFunc(families, func(f *family) bool { return f.usable })
}

func (r *run) serverCheck(s *server) check.Check {
	c := check.Check{
		ID: fmt.Sprintf("net-dns-%d", slices.Index(r.servers, s)+1), Title: "DNS server " + s.address.String(),
		Expected: "an answer in less than a second", Evidence: []string{r.through(s.address)},
	}
	for _, a := range s.answers {
		c.Evidence = append(c.Evidence, a.String())
	}
	return c
}

func (r *run) judgeUseless(s *server) check.Check {
	c := r.serverCheck(s)
	c.Status = check.Fail
	c.Fix = "Check the DNS server's address with the site's network administrator."
	refused := slices.ContainsFunc(s.answers, func(a answer) bool { return a.err == nil })
	switch {
	case s.why != nil && s.why.follows:
		c.Status, c.Fix = check.Skip, ""
		c.Observed = fmt.Sprintf("Not tried: %s.", s.why.why)
	case s.why != nil:
		c.Observed = fmt.Sprintf("The DNS server %s cannot be asked: %s.", s.address, s.why.why)
	case refused:
		c.Observed = fmt.Sprintf("The DNS server %s answers, but it refuses to look names up.", s.address)
		c.Fix = "Ask the site's network administrator to let this node use the DNS server, or for another one."
	case slices.ContainsFunc(s.answers, func(a answer) bool { return closedPort(a.err) }):
		c.Observed = fmt.Sprintf("There is a machine at %s, but it is no DNS server.", s.address)
	case r.neighbourMissing(s.address):
		c.Observed = fmt.Sprintf("Nobody on this network has the address %s.", s.address)
		c.Fix = "Check the DNS server's address and the prefix length."
	default:
		c.Observed = fmt.Sprintf("The DNS server %s does not answer%s.", s.address, r.behind(s.address))
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
func (r *run) judgeAnswers(s *server) check.Check {
	c := r.serverCheck(s)
	c.Status, c.Observed = check.Pass, "It answers, and knows the names that were asked for."
	var wrong []string
	fix := ""
	note := func(text, advice string) {
		wrong = append(wrong, text)
		if fix == "" {
			fix = advice
		}
	}
	for _, a := range s.answers {
		if text, advice := r.judgeName(s, a); text != "" {
			note(text, advice)
		}
	}
	if slowest := slices.MaxFunc(s.answers, func(a, b answer) int { return int(a.took - b.took) }); slowest.took > dnsSlow {
		note(fmt.Sprintf("it is slow: an answer took %.1f s", slowest.took.Seconds()), "Ask the site's network administrator why the DNS server is slow.")
	}
	if len(wrong) > 0 {
		c.Status, c.Fix = check.Warn, fix
		c.Observed = "It answers, but " + strings.Join(slices.Compact(wrong), "; ") + "."
	}
	return c
}

func (r *run) judgeName(s *server, a answer) (text, advice string) {
	shown := a.name
	ours := r.t.Domain != "" && strings.HasSuffix(a.name, "."+r.t.Domain) && (a.name == "api."+r.t.Domain || strings.HasPrefix(a.name, "touchdown-"))
	if strings.HasPrefix(a.name, "touchdown-") && ours {
		shown = "*.apps." + r.t.Domain
	}
	expected := r.leadTo(a.kind)
	switch {
	case a.name == ".":
		return "", ""
	case a.err != nil:
		return fmt.Sprintf("it gave no answer for %s", shown), "Retry; if it stays so, ask the site's network administrator about the DNS server."
	case ours && len(expected) == 0:
		return "", ""
	case ours && len(a.found) == 0:
		return fmt.Sprintf("it does not know %s yet", shown),
			fmt.Sprintf("Ask the site's DNS administrator for the record: %s %s %s. The node works without it, other machines do not find it.",
				shown, strings.TrimPrefix(a.kind.String(), "Type"), expected[0])
	case ours && !slices.ContainsFunc(a.found, func(f netip.Addr) bool { return slices.Contains(expected, f) }):
		return fmt.Sprintf("it leads %s to %s instead of %s", shown, listAddrs(a.found), listAddrs(expected)),
			fmt.Sprintf("Check this node's address; if it is right, ask the site's DNS administrator to correct %s.", shown)
	case !ours && len(a.found) == 0 && !s.finds(a.name):
		return fmt.Sprintf("it does not know %s", shown), fmt.Sprintf("Check the name %s, or use the site's own DNS server.", shown)
	}
	return "", ""
}

// finds tells whether the server knows an address of either kind.
func (s *server) finds(name string) bool {
	return slices.ContainsFunc(s.answers, func(a answer) bool { return a.name == name && len(a.found) > 0 })
}

// leadTo are the addresses of one kind under which the cluster's names should be found.
func (r *run) leadTo(kind dnsmessage.Type) []netip.Addr {
	all := slices.Clone(r.t.External)
	for _, f := range r.families {
		if len(r.t.External) == 0 && f.usable {
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

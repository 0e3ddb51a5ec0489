package steps

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/dns"
	"touchdown/backend/domain"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/progress"
	"touchdown/steps/site"
)

// localNames lets the node answer for its new names itself, so that the cluster reaches itself by them without the site's DNS.
type localNames struct {
	Site   *site.Config
	Server string // host:port of the node's name server; empty: port 53 of the node's own address

	Answers time.Duration // how long it may take until it answers; 0: bootAnswers
}

var (
	_ Inspector = (*localNames)(nil)
	_ Skipper   = (*localNames)(nil)
	_ Planner   = (*localNames)(nil)
	_ Undoer    = (*localNames)(nil)
	_ Reader    = (*localNames)(nil)
)

// ID names the step in the journal.
func (*localNames) ID() string { return "local-names" }

// Title says what the step does.
func (*localNames) Title() message.Text { return message.T("Answer for the new names on the node") }

// Reads names what the names are made of.
func (*localNames) Reads() []string { return []string{"spec.clusterName", "spec.baseDomain"} }

// Skip applies where no new name was asked for.
func (s *localNames) Skip() message.Text { return noNames(s.Site) }

// Inspect asks the node's name server for the current names.
func (s *localNames) Inspect(ctx context.Context, node *backend.Node, report Report) error {
	ch := check.Check{
		ID: "local-names", Title: message.T("The node answers for the cluster's names itself"), Status: check.Pass,
		Source: message.T("dnsmasq as the assisted installer sets it up"),
	}
	if !dns.Here(node.Host) {
		ch.Status, ch.Observed = check.Skip, message.T("this machine has no name server")
		report.Check(ch)
		return nil
	}
	z, err := dns.Read(node.Host)
	if err == nil {
		ch.Observed = message.Data(strings.Join(z.Domains, ", "))
		err = dns.Prove(ctx, z, dns.Names(z.Domains[0]), s.Server, dns.Usual)
	}
	if err != nil {
		p := problem.From(err)
		ch.Status, ch.Observed, ch.Fix, ch.Evidence = check.Fail, p.Summary, p.Fix, []message.Text{message.Detail(err)}
		if s.Server == "" && !z.Held() { // br-ex hangs, or was not built: the network comes first and fixes that
			ch.Status, ch.Observed = check.Warn, message.T("The node does not have its own address now, so nobody answers there.")
			ch.Fix = message.T("Go on with the network: that step starts the bridge again, and then the names are checked again.")
		}
	}
	report.Check(ch)
	return nil
}

// Plan tells the added names.
func (s *localNames) Plan(_ context.Context, node *backend.Node) (Plan, error) {
	d := s.Site.Domain()
	if !dns.Here(node.Host) {
		return Plan{}, nil
	}
	z, err := dns.Read(node.Host)
	if err != nil {
		return Plan{}, fmt.Errorf("reading the node's names: %w", err)
	}
	if slices.Contains(z.Domains, d) || dns.Added(node.Host) == d {
		return Plan{}, nil
	}
	return Plan{Changes: []Change{{
		What: message.T("Names that the node answers itself"), Old: message.Data(strings.Join(z.Domains, ", ")),
		New: message.F("also %s, %s and *.%s; the old ones stay", domain.API(d), "api-int."+d, domain.Apps(d)),
	}}}, nil
}

// Run adds the names and asks for all of them, old and new.
func (s *localNames) Run(ctx context.Context, node *backend.Node, report Report) error {
	if !dns.Here(node.Host) {
		report.Say(message.T("This machine has no name server; the names are left to the site's DNS."))
		return nil
	}
	before, err := dns.Own(node.Host)
	if err == nil {
		err = report.Save(ownNames, before) // the first one is kept
	}
	if err != nil {
		return fmt.Errorf("keeping the names: %w", err)
	}
	z, err := dns.Read(node.Host)
	if err != nil {
		return fmt.Errorf("reading the node's names: %w", err)
	}
	d := s.Site.Domain()
	if !slices.Contains(z.Domains, d) {
		changed, err := dns.Add(ctx, node.Host, z, d)
		if err != nil {
			return fmt.Errorf("adding the names: %w", err)
		}
		if changed {
			report.Say(message.F("The node itself answers for %s now.", d))
		}
	}
	if err := s.prove(ctx, node, report, z, append([]string{d}, z.Domains...)); err != nil {
		return err
	}
	if why := dns.Stale(node.Host, z); why != "" {
		if err := dns.Refresh(ctx, node.Host); err != nil {
			return fmt.Errorf("putting the node's name server in front (%s): %w", why, err)
		}
	}
	s.resolving(node, report, z)
	return nil
}

// resolving tells whether the node's programs ask its own name server first.
func (s *localNames) resolving(node *backend.Node, report Report, z dns.Zone) {
	why := dns.Stale(node.Host, z)
	ch := check.Check{ID: "resolv-conf", Title: message.T("The node asks itself first (/etc/resolv.conf)"), Status: check.Pass, Observed: message.T("yes, then the site's servers")}
	if len(dns.Forwards(node.Host, z)) == 0 {
		ch.Observed = message.T("yes; the site's servers are absent, not needed: other names are refused at once")
	}
	if why != "" {
		ch.Status, ch.Observed, ch.Fix = check.Warn, message.F("no: %s", why), message.T("Look at /etc/NetworkManager/dispatcher.d/forcedns.")
	}
	report.Check(ch)
}

// bootAnswers is how long a boot may take until its name server answers: that starts once br-ex has the node's address, and
// a job that was interrupted goes on before.
const bootAnswers = time.Minute

// prove asks for the names. Where nobody answers the name server is started again once: an earlier run may have ended between its file and
// its restart.
func (s *localNames) prove(ctx context.Context, node *backend.Node, report Report, z dns.Zone, domains []string) error {
	var names []string
	for _, d := range domains {
		names = append(names, dns.Names(d)...)
	}
	report.Progress(progress.Progress{Total: int64(len(names)), Unit: "names", Waiting: message.F("the node to answer for %s", strings.Join(domains, ", "))})
	err := dns.Prove(ctx, z, names, s.Server, cmp.Or(s.Answers, bootAnswers))
	if err != nil && ctx.Err() == nil {
		if err = dns.Restart(ctx, node.Host); err == nil {
			err = dns.Prove(ctx, z, names, s.Server, cmp.Or(s.Answers, bootAnswers))
		}
	}
	if err != nil {
		return fmt.Errorf("asking for the names: %w", err)
	}
	report.Check(check.Check{
		ID: "local-names", Title: message.T("The node answers for the cluster's names itself"), Status: check.Pass,
		Observed: message.Data(strings.Join(domains, ", ")), Evidence: message.Lines(names),
	})
	return nil
}

// ownNames is the key of what the node answered beyond its factory's names before the job: nothing, or the names of an earlier landing.
const ownNames = "names"

// Undo takes the new names away, puts those of an earlier landing back, and asks for all of them.
func (s *localNames) Undo(ctx context.Context, node *backend.Node, report Report) error {
	if !dns.Here(node.Host) {
		return nil
	}
	before, kept, err := savedAt(report, ownNames)
	// Older releases did not save the earlier names. Then only this site's names are removed.
	if err != nil || !kept && dns.Added(node.Host) != s.Site.Domain() {
		return err
	}
	if err := dns.PutBack(ctx, node.Host, before); err != nil {
		return fmt.Errorf("putting the names back: %w", err)
	}
	z, err := dns.Read(node.Host)
	if err != nil {
		return fmt.Errorf("reading the node's names: %w", err)
	}
	if earlier := dns.Added(node.Host); earlier != "" {
		z.Domains = append(z.Domains, earlier)
	}
	return s.prove(ctx, node, report, z, z.Domains)
}

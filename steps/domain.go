package steps

import (
	"cmp"
	"context"
	"fmt"

	"touchdown/backend"
	"touchdown/backend/domain"
	"touchdown/backend/message"
	"touchdown/steps/site"
)

// siteDomain adds the new names to the cluster's configuration, beside the old ones.
type siteDomain struct {
	Site     *site.Config
	Timeouts domain.Timeouts // zero: domain.Usual
}

var (
	_ Skipper = (*siteDomain)(nil)
	_ Planner = (*siteDomain)(nil)
	_ Undoer  = (*siteDomain)(nil)
	_ Reader  = (*siteDomain)(nil)
)

// ID names the step in the journal.
func (*siteDomain) ID() string { return "domain" }

// Title says what the step does.
func (*siteDomain) Title() message.Text { return message.T("Move the cluster's names") }

// Reads names what the names and their certificates are made of.
func (*siteDomain) Reads() []string {
	return append((*siteCertificates)(nil).Reads(), "spec.policy.stabilityWindow")
}

// Skip applies where no new name was asked for.
func (s *siteDomain) Skip() message.Text { return noNames(s.Site) }

// Plan tells the names before and after, and what the API server's new revisions cost.
func (s *siteDomain) Plan(ctx context.Context, node *backend.Node) (Plan, error) {
	d, old := s.Site.Domain(), ""
	now, noted, err := called(ctx, node)
	if err == nil {
		old = now.Domain
	}
	if old == d {
		return Plan{}, nil
	}
	under := func(host func(string) string) string {
		if old == "" {
			return ""
		}
		return host(old)
	}
	moved, known := []Change(nil), false
	if err == nil && !noted {
		if moved, known, err = s.moved(ctx, node, under(domain.Console)); err != nil {
			return Plan{}, err
		}
	}
	if !known {
		moved = []Change{{What: message.T("Console"), Old: message.Data(under(domain.Console)), New: message.Data(domain.Console(d))}}
	}
	return Plan{
		Changes: append([]Change{
			{What: message.T("API"), Old: message.Data(under(domain.API)), New: message.F("%s; the old name stays", domain.API(d))},
			{What: message.T("Apps"), Old: message.Data(under(domain.Apps)), New: message.F("*.%s; the old names stay", domain.Apps(d))},
		}, moved...),
		Disturbances: []Disturbance{
			{What: message.T("API outage"), Cause: message.T("the API server restarts for its new certificate and the login's new host"), Seconds: 90},
			{What: message.T("API outage"), Cause: message.T("a second restart, only when the login's new host comes late"), Seconds: 90},
			{What: message.T("no applications, console and login"), Cause: message.T("the router restarts for its new certificate"), Seconds: 90},
			{What: message.T("controller manager restart"), Cause: message.T("it takes the router's new certificate; applications go on"), Seconds: 30},
			{What: message.T("login and console restart"), Cause: message.T("they take their new hosts"), Seconds: 120},
		},
	}, nil
}

// moved tells what becomes of the hosts and the entries of the cluster's owner, as far as the API can be asked; known is false where it
// cannot. The console is at the address usual where the cluster does not tell another one. What the cluster's operators would refuse is an error: it stands against a start.
func (s *siteDomain) moved(ctx context.Context, node *backend.Node, usual string) (changes []Change, known bool, err error) {
	c := node.Kube.Within(formTimeout)
	names := namesOf(s.Site)
	if in, err := issuing(ctx, c, s.Site, node); err == nil {
		names = in.names
	}
	taken, err := names.Fits(ctx, c)
	if domain.Refuses(err) {
		return nil, false, err
	}
	hosts, failed := names.Hosts(ctx, c)
	if err != nil || failed != nil { // an API that does not answer now is asked again before anything is written
		return nil, false, nil
	}
	for _, page := range []struct {
		what    message.Text
		host    domain.Host
		console bool
	}{{message.T("Console"), hosts.Console(), true}, {message.T("Login"), hosts.OAuth(), false}} {
		switch h := page.host; {
		case h.Absent:
		case h.Owner:
			changes = append(changes, Change{What: page.what, Old: message.Data(h.Name), New: message.F("%s stays, with its certificate", h.Name)})
		case page.console:
			changes = append(changes, Change{What: page.what, Old: message.Data(cmp.Or(h.Old, usual)), New: message.Data(h.Name)})
		case h.Old != "":
			changes = append(changes, Change{What: page.what, Old: message.Data(h.Old), New: message.Data(h.Name)})
		}
	}
	for _, t := range taken {
		changes = append(changes, Change{
			What: message.F("Certificate of %s", domain.API(s.Site.Domain())),
			Old:  message.F("secret %s, entry %d of the API server's named certificates", t.Secret, t.Index),
			New:  message.T("the one above; that entry keeps its other names, and undo gives this one back"),
		})
	}
	return changes, true, nil
}

// Run writes the names and waits until the operators have begun to roll them out; nameRollouts waits for the end.
func (s *siteDomain) Run(ctx context.Context, node *backend.Node, report Report) error {
	c, o := node.Kube.WithProgress(report.Progress), newOriginals(report)
	d := s.Site.Domain()
	in, err := issuing(ctx, c, s.Site, node)
	if err != nil {
		return err
	}
	changed, err := domain.Apply(ctx, c, in.names, o.save)
	if err != nil {
		return fmt.Errorf("writing the names: %w", err)
	}
	if changed {
		report.Say(message.F("The cluster is told to answer at %s and *.%s.", domain.API(d), domain.Apps(d)))
	}
	return domain.Noticed(ctx, c, s.timeouts())
}

// Undo puts the saved names back and waits until the old ones are served, so that the certificates can be removed after it.
func (s *siteDomain) Undo(ctx context.Context, node *backend.Node, report Report) error {
	c := node.Kube.WithProgress(report.Progress)
	all, _, err := newOriginals(report).all()
	if err != nil || len(all) == 0 {
		return err
	}
	if err := domain.Restore(ctx, c, all); err != nil {
		return err
	}
	if err := domain.Noticed(ctx, c, s.timeouts()); err != nil {
		return fmt.Errorf("putting the old names back: %w", err)
	}
	return domain.WaitRolledOut(ctx, c, "", s.timeouts())
}

func (s *siteDomain) timeouts() domain.Timeouts { return orUsual(s.Timeouts, s.Site) }

// orUsual returns the usual timeouts where none are given. A policy that trusts a short rest of the cluster trusts it here too; the
// health check at the end watches for the whole window in any case.
func orUsual(p domain.Timeouts, cfg *site.Config) domain.Timeouts {
	if p == (domain.Timeouts{}) {
		p = domain.Usual()
		p.Stable = min(p.Stable, cfg.Spec.Policy.StabilityWindow)
	}
	return p
}

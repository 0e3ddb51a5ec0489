package steps

import (
	"context"
	"crypto/x509"
	"fmt"

	"touchdown/backend"
	"touchdown/backend/certs"
	"touchdown/backend/domain"
	"touchdown/backend/message"
	"touchdown/steps/site"
)

// nameRollouts waits until the cluster answers under its new names, and proves it from the outside.
type nameRollouts struct {
	Site     *site.Config
	Timeouts domain.Timeouts // zero: domain.Usual
	Router   string          // host:port of the apps; empty: port 443 of the node
}

var (
	_ Skipper = (*nameRollouts)(nil)
	_ Reader  = (*nameRollouts)(nil)
)

// ID names the step in the journal.
func (*nameRollouts) ID() string { return "rollouts" }

// Title says what the step does.
func (*nameRollouts) Title() message.Text { return message.T("Wait until the new names are served") }

// Reads names what the served certificates are made of.
func (*nameRollouts) Reads() []string { return (*siteDomain)(nil).Reads() }

// Skip applies where no new name was asked for.
func (s *nameRollouts) Skip() message.Text { return noNames(s.Site) }

// Plan tells how long the roll-outs take, where the names are new; nothing is changed.
func (s *nameRollouts) Plan(ctx context.Context, node *backend.Node) (Plan, error) {
	if now, _, err := called(ctx, node); err == nil && now.Domain == s.Site.Domain() {
		return Plan{}, nil
	}
	return Plan{Seconds: rolloutSeconds}, nil
}

// Run changes nothing: it waits for the operators and then asks for each name.
func (s *nameRollouts) Run(ctx context.Context, node *backend.Node, report Report) error {
	c := node.Kube.WithProgress(report.Progress)
	d := s.Site.Domain()
	if err := domain.WaitRolledOut(ctx, c, d, orUsual(s.Timeouts, s.Site)); err != nil {
		return fmt.Errorf("waiting for the operators: %w", err)
	}
	proofs, err := s.proofs(ctx, node, report)
	if err != nil {
		return err
	}
	checks, err := domain.Prove(ctx, c, proofs, node.Now, orUsual(s.Timeouts, s.Site))
	for _, ch := range checks {
		report.Check(ch)
	}
	if err != nil {
		return fmt.Errorf("asking for the new names: %w", err)
	}
	report.Say(message.F("The cluster answers at %s and *.%s.", domain.API(d), domain.Apps(d)))
	return nil
}

// proofs takes the expected certificates from the Secrets, which is what the servers load.
func (s *nameRollouts) proofs(ctx context.Context, node *backend.Node, report Report) ([]domain.Proof, error) {
	c := node.Kube.WithProgress(report.Progress)
	now, err := domain.Read(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("reading what the cluster is called: %w", err)
	}
	in, err := issuing(ctx, c, s.Site, node)
	if err != nil {
		return nil, err
	}
	hosts, err := in.names.Hosts(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("reading the hosts of the console and the login: %w", err)
	}
	var prints [2]string
	var roots [2]*x509.CertPool
	for i, w := range in.wants {
		leaf, err := certs.ReadBack(ctx, c, w)
		if err != nil {
			return nil, fmt.Errorf("reading the certificates back: %w", err)
		}
		prints[i] = certs.Fingerprint(leaf)
		if w.Signer != nil { // who vouches for a site's own one, its clients know better than this node
			roots[i] = w.Signer.Roots()
		}
	}
	if roots[0] != nil {
		roots[0] = c.Roots() // the new API name must be good for the kubeconfigs that are out there
	}
	if s.Router != "" {
		now.Router = s.Router
	}
	d := s.Site.Domain()
	proofs := []domain.Proof{
		{ID: "name-api", Name: domain.API(d), Address: now.API, Fingerprint: prints[0], Roots: roots[0], Path: "/readyz"},
		{ID: "name-apps", Name: "touchdown-probe." + domain.Apps(d), Address: now.Router, Fingerprint: prints[1], Roots: roots[1]},
	}
	for _, page := range []struct {
		id, path string
		host     domain.Host
	}{{"name-console", "/", hosts.Console()}, {"name-oauth", "/healthz", hosts.OAuth()}} {
		if page.host.Moves() { // what the owner serves elsewhere, or not at all, has not changed
			proofs = append(proofs, domain.Proof{
				ID: page.id, Name: page.host.Name, Address: now.Router, Fingerprint: prints[1], Roots: roots[1], Path: page.path,
			})
		}
	}
	return proofs, nil
}

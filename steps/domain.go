package steps

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"touchdown/backend"
	"touchdown/backend/certs"
	"touchdown/backend/domain"
	"touchdown/backend/kube"
	"touchdown/backend/problem"
	"touchdown/steps/site"
)

// glance is how long an API is waited for that may not run yet, while a person looks at a form.
const glance = 500 * time.Millisecond

// Domain adds the new names to the cluster's configuration, beside the old ones.
type Domain struct {
	Site     *site.Config
	Patience domain.Patience // zero: domain.Usual
}

var (
	_ Skipper = (*Domain)(nil)
	_ Planner = (*Domain)(nil)
	_ Undoer  = (*Domain)(nil)
	_ Reader  = (*Domain)(nil)
)

// ID names the step in the journal.
func (*Domain) ID() string { return "domain" }

// Title says what the step does.
func (*Domain) Title() string { return "Move the cluster's names" }

// Fields is empty: Names asks.
func (*Domain) Fields() []Field { return nil }

// Reads names what the names are made of.
func (*Domain) Reads() []string { return []string{"spec.clusterName", "spec.baseDomain"} }

// Skip applies where no new name was asked for.
func (s *Domain) Skip() string { return noNames(s.Site) }

// Plan tells the names before and after, and what the API server's new revisions cost.
func (s *Domain) Plan(ctx context.Context, node *backend.Node) (Plan, error) {
	d, old := s.Site.Domain(), ""
	if now, _, err := called(ctx, node); err == nil {
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
	return Plan{
		Changes: []Change{
			{What: "API", Old: under(domain.API), New: domain.API(d) + "; the old name stays"},
			{What: "Apps", Old: under(domain.Apps), New: "*." + domain.Apps(d) + "; the old names stay"},
			{What: "Console", Old: under(domain.Console), New: domain.Console(d)},
		},
		Disturbances: []Disturbance{
			{What: "API outage", Cause: "the API server restarts for its new certificate", Seconds: 60},
			{What: "API outage", Cause: "the API server restarts for the log-in's new host", Seconds: 60},
			{What: "log-in and console restart", Cause: "they take their new hosts", Seconds: 120},
		},
	}, nil
}

// Run writes the names and waits until the operators have begun to roll them out; Rollouts waits for the end.
func (s *Domain) Run(ctx context.Context, node *backend.Node, report Report) error {
	c, o := telling(node.Kube, report), originals{report}
	d := s.Site.Domain()
	names := domain.Names{Domain: d, APISecret: certs.APISecret(d), AppsSecret: certs.AppsSecret(d)}
	changed, err := domain.Apply(ctx, c, names, s.marking(ctx, c, o))
	if err != nil {
		return fmt.Errorf("writing the names: %w", err)
	}
	if changed {
		report.Say("The cluster is told to answer at %s and *.%s.", domain.API(d), domain.Apps(d))
	}
	return domain.Noticed(ctx, c, mark(o), s.patience())
}

// marking notes the API server's newest revision before the change that makes the next one.
func (s *Domain) marking(ctx context.Context, c *kube.Cluster, o originals) kube.Save {
	return func(ref kube.Ref, original []byte) error {
		if ref == kube.Config("apiservers") {
			r, err := c.Revisions(ctx)
			if err != nil {
				return fmt.Errorf("reading the API server's revision: %w", err)
			}
			if err := o.mark("revision", strconv.Itoa(int(r.Latest))); err != nil {
				return err
			}
		}
		return o.save(ref, original)
	}
}

// mark is the API server's newest revision before our last change; 0 when it needed none.
func mark(o originals) int32 {
	n, err := strconv.ParseInt(o.marked("revision"), 10, 32)
	if err != nil {
		return 0
	}
	return int32(n)
}

// Undo puts the saved names back and waits until the old ones are served, so that the certificates can be removed after it.
func (s *Domain) Undo(ctx context.Context, node *backend.Node, report Report) error {
	c, o := telling(node.Kube, report), originals{report}
	if len(o.all()) == 0 {
		return nil
	}
	r, err := c.Revisions(ctx)
	if err != nil {
		return fmt.Errorf("reading the API server's revision: %w", err)
	}
	changed, err := o.restore(ctx, c)
	if err != nil {
		return err
	}
	after := int32(0)
	if slices.Contains(changed, kube.Config("apiservers")) {
		after = r.Latest
	}
	if err := domain.Noticed(ctx, c, after, s.patience()); err != nil {
		return fmt.Errorf("putting the old names back: %w", err)
	}
	return domain.Settle(ctx, c, "", after, s.patience())
}

func (s *Domain) patience() domain.Patience { return orUsual(s.Patience, s.Site) }

// orUsual is the usual patience where none is given. A policy that trusts a short rest of the cluster trusts it here too; the
// health check at the end watches for the whole window in any case.
func orUsual(p domain.Patience, cfg *site.Config) domain.Patience {
	if p == (domain.Patience{}) {
		p = domain.Usual()
		p.Stable = min(p.Stable, cfg.Spec.Policy.StabilityWindow)
	}
	return p
}

func noNames(cfg *site.Config) string {
	if cfg.Domain() == "" {
		return "no new name is asked for"
	}
	return ""
}

func asProblem(err error) *Problem { return problem.From(err) }

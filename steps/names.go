package steps

import (
	"context"

	"touchdown/backend"
	"touchdown/backend/domain"
	"touchdown/steps/site"
)

// Names asks what the cluster shall be called. Certificates, Domain, Rollouts and Routes make it so.
type Names struct{ Site *site.Config }

var _ Inspector = (*Names)(nil)

// ID names the step in the journal.
func (*Names) ID() string { return "names" }

// Title says what the step is about.
func (*Names) Title() string { return "Choose the cluster's name" }

// Fields asks for the two parts of the domain.
func (*Names) Fields() []Field {
	return []Field{
		{
			Path: "spec.clusterName", Kind: Text, Label: "Cluster name", Example: "store0042", Check: site.ClusterName,
			Help: "The first part of the cluster's address.",
		},
		{
			Path: "spec.baseDomain", Kind: Text, Label: "Base domain", Example: "example.com", Check: site.BaseDomain,
			Help: "The site's domain: api.NAME.DOMAIN.",
		},
	}
}

// Inspect tells what the cluster is called now, once its API runs.
func (s *Names) Inspect(ctx context.Context, node *backend.Node, report Report) error {
	ch := Check{ID: "names-now", Title: "What the cluster is called now", Status: "pass"}
	now, err := domain.Read(ctx, node.Kube.Within(glance))
	if err != nil {
		ch.Status, ch.Observed = "skip", "the cluster does not run yet"
		ch.Evidence = []string{err.Error()}
	} else {
		ch.Observed = now.Domain
	}
	report.Check(ch)
	return nil
}

// Run has nothing to do.
func (*Names) Run(context.Context, *backend.Node, Report) error { return nil }

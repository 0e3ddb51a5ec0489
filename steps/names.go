package steps

import (
	"context"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/steps/site"
)

// siteNames asks what the cluster shall be called. siteCertificates, siteDomain, nameRollouts and appRoutes apply it.
type siteNames struct{ Site *site.Config }

var (
	_ asker     = (*siteNames)(nil)
	_ Inspector = (*siteNames)(nil)
)

// ID names the step in the journal.
func (*siteNames) ID() string { return "names" }

// Title says what the step is about.
func (*siteNames) Title() message.Text { return message.T("Choose the cluster's name") }

// Fields asks for the two parts of the domain.
func (*siteNames) Fields() []Field {
	return []Field{
		{
			Path: "spec.clusterName", Kind: Text, Label: message.T("Cluster name"), Example: "store0042", Check: site.ClusterName,
			Help: message.T("The first part of the cluster's address."),
		},
		{
			Path: "spec.baseDomain", Kind: Text, Label: message.T("Base domain"), Example: "example.com", Check: site.BaseDomain,
			Help: message.T("The site's domain: api.NAME.DOMAIN."),
		},
	}
}

// Inspect tells what the cluster is called now, once its API runs.
func (s *siteNames) Inspect(ctx context.Context, node *backend.Node, report Report) error {
	ch := check.Check{ID: "names-now", Title: message.T("What the cluster is called now"), Status: "pass"}
	switch now, noted, err := called(ctx, node); {
	case err != nil:
		ch.Status, ch.Observed = "skip", message.T("the cluster does not run yet")
		ch.Evidence = []message.Text{message.Detail(err)}
	case noted:
		ch.Status, ch.Observed = "skip", message.F("%s, by the factory's record: the cluster does not run yet", now.Domain)
	default:
		ch.Observed = message.Data(now.Domain)
	}
	report.Check(ch)
	return nil
}

// Run has nothing to do.
func (*siteNames) Run(context.Context, *backend.Node, Report) error { return nil }

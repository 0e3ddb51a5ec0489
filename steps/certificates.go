package steps

import (
	"context"
	"fmt"

	"touchdown/backend"
	"touchdown/backend/certs"
	"touchdown/backend/domain"
	"touchdown/backend/kube"
	"touchdown/steps/site"
)

// Certificates puts the certificates for the new names into the cluster, the site's own or ones of the cluster's signers.
// Nothing refers to them until Domain does.
type Certificates struct{ Site *site.Config }

var (
	_ Skipper = (*Certificates)(nil)
	_ Planner = (*Certificates)(nil)
	_ Undoer  = (*Certificates)(nil)
	_ Reader  = (*Certificates)(nil)
)

// ID names the step in the journal.
func (*Certificates) ID() string { return "certificates" }

// Title says what the step does.
func (*Certificates) Title() string { return "Install certificates for the new names" }

// Fields is empty: Credentials asks.
func (*Certificates) Fields() []Field { return nil }

// Reads names what decides on the certificates.
func (*Certificates) Reads() []string {
	return []string{
		"spec.clusterName", "spec.baseDomain", "spec.apiCert.cert", "spec.apiCert.key",
		"spec.ingressCert.cert", "spec.ingressCert.key",
	}
}

// Skip applies where no new name was asked for.
func (s *Certificates) Skip() string { return noNames(s.Site) }

// Plan tells whose certificates there will be.
func (s *Certificates) Plan(ctx context.Context, node *backend.Node) (Plan, error) {
	d := s.Site.Domain()
	api, apps := ownPairs(s.Site)
	var old []string
	if now, _, err := called(ctx, node); err == nil {
		old = []string{"*." + now.OldApps}
	}
	return Plan{Changes: []Change{
		{What: "Certificate for " + domain.API(d), New: planned(api, nil, node)},
		{What: "Certificate for *." + domain.Apps(d), New: planned(apps, old, node)},
	}}, nil
}

func planned(own *certs.Pair, also []string, node *backend.Node) string {
	if own == nil {
		return "signed by the cluster itself"
	}
	leaf, warnings, err := certs.Check(*own, nil, also, node.Now())
	if err != nil {
		return "the site's own, which cannot be used: " + asProblem(err).Summary
	}
	text := "the site's own, good until " + leaf.NotAfter.UTC().Format("2006-01-02")
	for _, w := range warnings {
		text += ". " + w
	}
	return text
}

// Run installs both and reads them back. It begins with what could stop Domain: then nothing at all is written for the names.
func (s *Certificates) Run(ctx context.Context, node *backend.Node, report Report) error {
	c := telling(node.Kube, report)
	if _, err := (&Domain{Site: s.Site}).names().Fits(ctx, c); err != nil {
		return fmt.Errorf("asking whether the API server can serve the name: %w", err)
	}
	wants, err := wantedCerts(ctx, c, s.Site, node)
	if err != nil {
		return err
	}
	o := originals{report}
	for i, w := range wants {
		report.Progress(Progress{Done: int64(i), Total: int64(len(wants)), Unit: "certificates", Waiting: "the certificate for " + w.Names[0]})
		got, err := certs.Install(ctx, c, w, o.save)
		if err != nil {
			return fmt.Errorf("installing the certificate for %s: %w", w.Names[0], err)
		}
		if got.Issued {
			report.Say("Issued a certificate for %s, good until %s.", w.Names[0], got.Leaf.NotAfter.UTC().Format("2006-01-02"))
		}
	}
	report.Progress(Progress{Done: int64(len(wants)), Total: int64(len(wants)), Unit: "certificates"})
	return nil
}

// Undo takes them out again. Domain was undone before, so nothing refers to them any more.
func (s *Certificates) Undo(ctx context.Context, node *backend.Node, report Report) error {
	_, err := originals{report}.restore(ctx, telling(node.Kube, report))
	return err
}

// wantedCerts returns the certificates for the API and for the apps, in this order. The cluster's own one for the apps is
// for the old names too, which go on working.
func wantedCerts(ctx context.Context, c *kube.Cluster, cfg *site.Config, node *backend.Node) ([]certs.Want, error) {
	now, err := domain.Read(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("reading what the cluster is called: %w", err)
	}
	d := cfg.Domain()
	own, ownApps := ownPairs(cfg)
	api := certs.Want{
		Secret: certs.APISecret(d), Namespaces: []string{domain.ConfigNamespace},
		Names: []string{domain.API(d)}, Own: own, Now: node.Now(),
	}
	apps := certs.Want{
		Secret: certs.AppsSecret(d), Namespaces: []string{domain.ConfigNamespace, domain.RouterNamespace},
		Names: []string{"*." + domain.Apps(d)}, Own: ownApps, Now: node.Now(),
	}
	if own == nil {
		if api.Signer, err = certs.APISigner(ctx, c); err != nil {
			return nil, fmt.Errorf("loading the API's signer: %w", err)
		}
	}
	if ownApps == nil {
		if now.OldApps != domain.Apps(d) {
			apps.Names = append(apps.Names, "*."+now.OldApps)
		}
		if apps.Signer, err = certs.AppsSigner(ctx, c); err != nil {
			return nil, fmt.Errorf("loading the router's signer: %w", err)
		}
	}
	return []certs.Want{api, apps}, nil
}

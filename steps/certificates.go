package steps

import (
	"context"
	"fmt"

	"touchdown/backend"
	"touchdown/backend/certs"
	"touchdown/backend/domain"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/progress"
	"touchdown/steps/site"
)

// siteCertificates puts the certificates for the new names into the cluster, the site's own or ones of the cluster's signers.
// Nothing refers to them until siteDomain does.
type siteCertificates struct{ Site *site.Config }

var (
	_ Skipper = (*siteCertificates)(nil)
	_ Planner = (*siteCertificates)(nil)
	_ Undoer  = (*siteCertificates)(nil)
	_ Reader  = (*siteCertificates)(nil)
)

// ID names the step in the journal.
func (*siteCertificates) ID() string { return "certificates" }

// Title says what the step does.
func (*siteCertificates) Title() message.Text {
	return message.T("Install certificates for the new names")
}

// Reads names what decides on the certificates.
func (*siteCertificates) Reads() []string {
	return []string{
		"spec.clusterName", "spec.baseDomain", "spec.apiCert.cert", "spec.apiCert.key",
		"spec.ingressCert.cert", "spec.ingressCert.key", "spec.proxy.httpProxy", "spec.proxy.httpsProxy",
	}
}

// Skip applies where no new name was asked for.
func (s *siteCertificates) Skip() message.Text { return noNames(s.Site) }

// Plan tells whose certificates there will be, and which of the owner's stays or goes.
func (s *siteCertificates) Plan(ctx context.Context, node *backend.Node) (Plan, error) {
	d := s.Site.Domain()
	api, apps := ownPairs(s.Site)
	var old []string
	now, noted, err := called(ctx, node)
	if err == nil {
		old = []string{"*." + now.OldApps}
	}
	changes := []Change{
		{What: message.F("Certificate for %s", domain.API(d)), New: planned(api, nil, s.Site, node)},
		{What: message.F("Certificate for *.%s", domain.Apps(d)), New: planned(apps, old, s.Site, node)},
	}
	if err != nil || noted {
		return Plan{Changes: changes}, nil
	}
	in, err := issuing(ctx, node.Kube.Within(formTimeout), s.Site, node)
	if err != nil {
		return Plan{Changes: changes}, nil // an API that does not answer now is asked again before anything is written
	}
	for i, kept := range in.kept {
		if kept != "" {
			changes[i].Old, changes[i].New = message.F("secret %s", kept), message.F("stays; good until %s", day(in.until[i]))
		}
	}
	switch {
	case in.kept[1] != "":
		changes[1].New = message.F("%s. The console and the login get a copy of it: renew the copy whenever you renew the certificate", changes[1].New)
	case in.owners.Router != "":
		changes = append(changes, Change{
			What: message.T("Default certificate of the router"), Old: message.F("secret %s", in.owners.Router),
			New: message.F("the one for *.%s; undo gives the old one back", domain.Apps(d)),
		})
	}
	return Plan{Changes: changes}, nil
}

func planned(own *certs.Pair, also []string, cfg *site.Config, node *backend.Node) message.Text {
	if own == nil {
		return message.T("signed by the cluster itself")
	}
	leaf, warnings, err := judgeOwn(*own, nil, also, cfg, node)
	if err != nil {
		return message.F("the site's own, which cannot be used: %s", problem.From(err).Summary)
	}
	text := message.F("the site's own, good until %s", day(leaf.NotAfter))
	for _, w := range warnings {
		text = message.F("%s. %s", text, w)
	}
	return text
}

// Run installs both and reads them back. It begins with what could stop Domain: then nothing at all is written for the names.
func (s *siteCertificates) Run(ctx context.Context, node *backend.Node, report Report) error {
	c := node.Kube.WithProgress(report.Progress)
	in, err := issuing(ctx, c, s.Site, node)
	if err != nil {
		return err
	}
	if _, err := in.names.Fits(ctx, c); err != nil {
		return fmt.Errorf("asking whether the cluster can serve the names: %w", err)
	}
	o := newOriginals(report)
	for i, w := range in.wants {
		report.Progress(progress.Progress{Done: int64(i), Total: int64(len(in.wants)), Unit: "certificates", Waiting: message.F("the certificate for %s", w.Names[0])})
		if w.Secret == in.kept[i] { // the owner's own Secret is never written
			report.Say(message.F("The certificate in the secret %s stays, good until %s.", w.Secret, day(in.until[i])))
			continue
		}
		got, err := certs.Install(ctx, c, w, o.save)
		if err != nil {
			return fmt.Errorf("installing the certificate for %s: %w", w.Names[0], err)
		}
		if got.Issued {
			report.Say(message.F("Issued a certificate for %s, good until %s.", w.Names[0], day(got.Leaf.NotAfter)))
		}
	}
	report.Progress(progress.Progress{Done: int64(len(in.wants)), Total: int64(len(in.wants)), Unit: "certificates"})
	return nil
}

// Undo takes them out again. Domain was undone before, so nothing refers to them any more.
func (s *siteCertificates) Undo(ctx context.Context, node *backend.Node, report Report) error {
	_, err := newOriginals(report).restore(ctx, node.Kube.WithProgress(report.Progress))
	return err
}

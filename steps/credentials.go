package steps

import (
	"context"
	"crypto/x509"
	"strings"

	"touchdown/backend"
	"touchdown/backend/certs"
	"touchdown/backend/check"
	"touchdown/backend/domain"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/value"
	"touchdown/steps/dated"
	"touchdown/steps/site"
	"touchdown/steps/site/pin"
)

// siteCredentials asks for what a site may bring: registry credentials, certificates, a PIN for the consoles. PullSecret and Certificates
// put them into the cluster; the engine locks the consoles.
type siteCredentials struct{ Site *site.Config }

var (
	_ asker     = (*siteCredentials)(nil)
	_ Inspector = (*siteCredentials)(nil)
	_ Planner   = (*siteCredentials)(nil)
	_ Reader    = (*siteCredentials)(nil)
)

// ID names the step in the journal.
func (*siteCredentials) ID() string { return "credentials" }

// Title says what the step is about.
func (*siteCredentials) Title() message.Text {
	return message.T("Add the site's certificates and credentials")
}

// Fields asks for what may all stay empty.
func (s *siteCredentials) Fields() []Field {
	api := func() bool { return s.Site.Spec.APICert.Cert != "" }
	apps := func() bool { return s.Site.Spec.IngressCert.Cert != "" }
	return []Field{
		{
			Path: "spec.pullSecret", Kind: Secret, Long: true, Label: message.T("Pull secret"), Optional: true, Check: site.PullSecret,
			Help: message.T("Registry credentials, JSON. Empty: the factory's stay."),
		},
		{
			Path: "spec.apiCert.cert", Kind: PEM, Label: message.T("API certificate"), Optional: true, Check: site.Certificate,
			Help: message.T("For api.NAME.DOMAIN. Empty: made here."),
		},
		{
			Path: "spec.apiCert.key", Kind: PEM, Label: message.T("Key of the API certificate"), Check: site.PrivateKey, Visible: api,
			Help: message.T("Its private key, not encrypted."),
		},
		{
			Path: "spec.ingressCert.cert", Kind: PEM, Label: message.T("Apps certificate"), Optional: true, Check: site.Certificate,
			Help: message.T("For *.apps.NAME.DOMAIN. Empty: made here."),
		},
		{
			Path: "spec.ingressCert.key", Kind: PEM, Label: message.T("Key of the apps certificate"), Check: site.PrivateKey, Visible: apps,
			Help: message.T("Its private key, not encrypted."),
		},
		{
			Path: "spec.ingressCert.ca", Kind: PEM, Label: message.T("CA of the apps certificate"), Optional: true, Check: site.CABundle, Visible: apps,
			Help: message.T("The root, when it is not public."),
		},
		{
			Path: pinPath, Kind: Secret, Label: pinLabel(), Optional: true, Example: "739215",
			Help: message.T("6 to 64 digits or letters. From the start, consoles that nobody uses ask for it."),
		},
		s.pinAgain(),
	}
}

// pinAgain asks once more for a PIN that was typed, which nobody saw: a typing error would lock all consoles. One of a document was
// not typed here; where its source was lost, a new PIN is the way out.
func (s *siteCredentials) pinAgain() Field {
	return Field{
		Path: "console.pinAgain", Kind: Secret, Label: message.T("PIN again"), Repeats: pinPath,
		Help:    message.T("Type the same PIN again: a typing error would lock you out of every console. Or type a new PIN."),
		Visible: func() bool { return s.Site.Spec.Console.PIN != "" && site.ByHand(s.Site.Sources[pinPath]) }, // its file may be lost, and its source not
		Check: func(typed string) error {
			if is := pin.Hash(s.Site.Spec.Console.PIN); typed == string(is) || is.Matches(typed) {
				return nil
			}
			return &site.Error{Msg: message.T("The two PINs differ. Type both again.")}
		},
	}
}

// Reads names the answers that own certificates have to fit.
func (*siteCredentials) Reads() []string { return []string{"spec.clusterName", "spec.baseDomain"} }

// Inspect checks own certificates against the names and the clock.
func (s *siteCredentials) Inspect(ctx context.Context, node *backend.Node, report Report) error {
	d := s.Site.Domain()
	if d == "" {
		return nil
	}
	api, apps := ownPairs(s.Site)
	if api != nil {
		report.Check(ownCheck("api-cert", message.T("Own certificate for the API"), *api, []string{domain.API(d)}, nil, s.Site, node))
	}
	if apps == nil {
		return nil
	}
	var old []string
	if now, err := domain.Read(ctx, node.Kube.Within(formTimeout)); err == nil {
		old = []string{"*." + now.OldApps}
	}
	report.Check(ownCheck("apps-cert", message.T("Own certificate for the apps"), *apps, []string{"*." + domain.Apps(d)}, old, s.Site, node))
	return nil
}

// Plan tells of the PIN. The engine sets it when the work starts.
func (s *siteCredentials) Plan(context.Context, *backend.Node) (Plan, error) {
	if s.Site.Spec.Console.PIN == "" {
		return Plan{}, nil
	}
	return Plan{Changes: []Change{{What: message.T("PIN of the consoles"), New: message.T("set")}}}, nil
}

// Run has nothing to do.
func (*siteCredentials) Run(context.Context, *backend.Node, Report) error { return nil }

func ownCheck(id string, title message.Text, pair certs.Pair, names, also []string, cfg *site.Config, node *backend.Node) check.Check {
	ch := check.Check{ID: id, Title: title, Status: check.Pass, Expected: message.F("for %s", strings.Join(names, ", "))}
	leaf, warnings, err := judgeOwn(pair, names, also, cfg, node)
	switch {
	case err != nil:
		p := problem.From(err)
		ch.Status, ch.Observed, ch.Fix = check.Fail, p.Summary, p.Fix
	case len(warnings) > 0:
		ch.Status, ch.Observed = check.Warn, message.Join(warnings, " ")
	default:
		ch.Observed = message.F("good until %s", leaf.NotAfter.UTC().Format("2006-01-02"))
	}
	return ch
}

// judgeOwn is certs.Check by the time that is known before the landing sets the clock, which it does before a certificate is served: one
// that begins within what a clock is set ahead without asking is worth a warning.
func judgeOwn(pair certs.Pair, names, also []string, cfg *site.Config, node *backend.Node) (*x509.Certificate, []message.Text, error) {
	by, begins := dated.By(node.Host, node.Now(), cfg), certs.Begins(pair)
	early := !by.IsZero() && by.Before(begins) && !by.Add(value.MaxForward).Before(begins)
	if early {
		by = begins
	}
	leaf, warnings, err := certs.Check(pair, names, also, by)
	if early && err == nil {
		warnings = append(warnings, message.F("The certificate is not valid before %s, and the clock is set before it is used.", begins.UTC().Format("2006-01-02 15:04 UTC")))
	}
	return leaf, warnings, err
}

// ownPairs returns the certificates that the site brings, nil for each that it does not.
func ownPairs(cfg *site.Config) (api, apps *certs.Pair) {
	pair := func(p site.KeyPair) *certs.Pair {
		if p.Cert == "" {
			return nil
		}
		return &certs.Pair{Cert: []byte(p.Cert), Key: []byte(p.Key)}
	}
	return pair(cfg.Spec.APICert), pair(cfg.Spec.IngressCert.KeyPair)
}

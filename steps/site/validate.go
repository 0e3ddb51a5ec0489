package site

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"slices"
	"strings"
	"time"

	"touchdown/backend/message"
	"touchdown/backend/value"
)

// soon is how long before its end a certificate is worth a warning.
const soon = 30 * 24 * time.Hour

// Validate judges the whole Config: each field alone, then the fields against each other and against the time.
// Errors stop a landing; warnings are for a person to judge. Both are in the order of the document. Where now is zero, which is that nobody
// knows it, no date is judged.
func (c *Config) Validate(now time.Time) (errs, warnings Errors) {
	v := &judge{config: c, now: now}
	for i := range schema {
		if e := &schema[i]; e.at != nil {
			v.field(e, e.Path)
		}
	}
	v.network()
	judgeWiring(v)
	v.relocation()
	v.domain()
	v.certificate("spec.apiCert", "api."+c.Domain(), c.Spec.APICert)
	v.certificate("spec.ingressCert", "*.apps."+c.Domain(), c.Spec.IngressCert.KeyPair)
	if chain, bad := parseCerts(c.Spec.APICert.Cert); bad == nil {
		judgeClients(v, "spec.apiCert.cert", chain)
	}
	if chain, bad := parseCerts(c.Spec.IngressCert.Cert); bad == nil {
		judgeRouter(v, "spec.ingressCert.cert", chain)
		judgeBrowsers(v, "spec.ingressCert.cert", chain)
	}
	v.ingressCA()
	v.credentials()
	v.monitor()
	judgeServers(v)
	judgeNames(v)
	return v.errs.sorted(), v.warnings.sorted()
}

// judge collects what is wrong with one Config.
type judge struct {
	config         *Config
	now            time.Time
	errs, warnings Errors
}

func (v *judge) fail(path string, f *Error) {
	v.errs = append(v.errs, v.config.whereabouts(path).at(path, f))
}

func (v *judge) warn(path string, f *Error) {
	v.warnings = append(v.warnings, v.config.whereabouts(path).at(path, f))
}

// whereabouts returns the place of a value, or of the list's item in which it is missing.
func (c *Config) whereabouts(path string) position {
	if place, ok := c.places[path]; ok {
		return place
	}
	if item := strings.LastIndex(path, "]."); item > 0 {
		return c.places[path[:item+1]]
	}
	return position{}
}

// field judges one value alone. Steps write through pointers, so what Set would have refused is looked for too.
func (v *judge) field(e *entry, path string) {
	if e.Type == typeGroups {
		v.items(e)
		return
	}
	value, _ := v.config.Get(path)
	if f := e.holds(value); f != nil {
		v.fail(path, f)
		return
	}
	if e.check == nil || value == "" && !e.Required {
		return
	}
	if err := e.check(value); err != nil {
		v.fail(path, asFault(err))
	}
}

// items judges each value of each item of a list of groups.
func (v *judge) items(e *entry) {
	list, _ := e.at(v.config).(groups)
	for i := range list.size() {
		for _, cell := range cells(e.Path) {
			if cell.into == "" {
				_, key := ownerOf(cell.Path)
				v.field(cell, itemPath(e.Path, i)+"."+key)
			}
		}
	}
}

func (v *judge) domain() {
	s := v.config.Spec
	path := "spec.baseDomain"
	if v.config.Domain() == "" || v.errs.At(path) != nil || v.errs.At("spec.clusterName") != nil {
		return
	}
	if inCluster(v.config.Domain()) {
		v.fail(path, fault(message.T("use the domain of the site"), message.F("gives with the cluster name %s, the domain of the services inside every cluster", shown(v.config.Domain()))))
	}
	if most := maxDNSName - len(longestRoute); len(v.config.Domain()) > most {
		v.fail(path, fault(message.T("choose a shorter cluster name or domain"), message.F("gives with the cluster name a domain of %d characters; with the cluster's own host names in front %d are the most", len(v.config.Domain()), most)))
	}
	if s.BaseDomain == "local" || strings.HasSuffix(s.BaseDomain, ".local") {
		v.warn(path, fault(message.T("use another domain if the site can"), message.T("ends with .local, which many computers look up by multicast instead of DNS (RFC 6762)")))
	}
	if s.BaseDomain == s.ClusterName || strings.HasPrefix(s.BaseDomain, s.ClusterName+".") {
		v.warn(path, fault(message.T("leave the cluster name out of the base domain"), message.F("starts with the cluster name, so the domain is %s", shown(v.config.Domain()))))
	}
}

// certificate judges a pair that is complete and whose parts are fine alone.
func (v *judge) certificate(path, host string, pair KeyPair) {
	switch {
	case pair.Cert == "" && pair.Key == "":
		return
	case pair.Cert == "":
		v.fail(path+".cert", fault(message.T("give both, or neither to have a certificate made"), message.T("is missing, but there is a key")))
		return
	case pair.Key == "":
		v.fail(path+".key", fault(message.T("give both, or neither to have a certificate made"), message.T("is missing, but there is a certificate")))
		return
	}
	chain, bad := parseCerts(pair.Cert)
	if bad != nil {
		return
	}
	leaf := chain[0]
	if key, bad := parseKey(string(pair.Key)); bad == nil && !matches(leaf, key) {
		mismatch(v, path, chain, key)
	}
	if v.errs.At(path+".cert") == nil {
		judgeChain(v, path+".cert", chain)
	}
	dates(v, path+".cert", chain)
	usage(v, path+".cert", leaf)
	if v.config.Domain() != "" {
		v.names(path+".cert", host, leaf)
	}
}

func matches(cert *x509.Certificate, key crypto.Signer) bool {
	public, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool })
	return ok && public.Equal(cert.PublicKey)
}

func mismatch(v *judge, path string, chain []*x509.Certificate, key crypto.Signer) {
	if i := slices.IndexFunc(chain, func(c *x509.Certificate) bool { return matches(c, key) }); i > 0 {
		if v.errs.At(path+".cert") == nil {
			v.fail(path+".cert", fault(message.T("put that certificate first"), message.F("does not start with the key's certificate, which is number %d", i+1)))
		}
		return
	}
	v.fail(path+".key", fault(message.T("give the key that the certificate was made with"), message.T("does not belong to the certificate")))
}

// dates judges how long certificates are good, by the worst of them: one that ends soon does not hide one that has ended. One that is not
// valid yet by less than value.MaxForward is a warning: the landing sets the clock ahead by that without asking, before any of them is served.
func dates(v *judge, path string, certs []*x509.Certificate) {
	if v.now.IsZero() { // nobody knows the time yet
		return
	}
	expired := slices.IndexFunc(certs, func(c *x509.Certificate) bool { return !v.now.Before(c.NotAfter) })
	ending := slices.IndexFunc(certs, func(c *x509.Certificate) bool { return c.NotAfter.Sub(v.now) < soon })
	last := 0 // the last to begin
	for i, c := range certs {
		if c.NotBefore.After(certs[last].NotBefore) {
			last = i
		}
	}
	begins := certs[last].NotBefore
	early := func() *Error {
		return fault(message.T("check the clock"), message.F("is not valid before %s (certificate %d)", day(begins), last+1))
	}
	switch {
	case expired >= 0:
		v.fail(path, fault(message.T("have a new one made, or set the clock"), message.F("has expired on %s (certificate %d)", day(certs[expired].NotAfter), expired+1)))
	case v.now.Add(value.MaxForward).Before(begins):
		v.fail(path, early())
	case v.now.Before(begins):
		v.warn(path, early())
	case ending >= 0:
		v.warn(path, fault(message.T("have a new one made soon"), message.F("expires on %s (certificate %d)", day(certs[ending].NotAfter), ending+1)))
	}
}

// trusted judges how long the certificates of a bundle of authorities are good. One that has ended harms nothing that another one has signed:
// a company's bundle, or that of an operating system, holds a hundred of them.
func trusted(v *judge, path string, cas []*x509.Certificate) {
	ended := func(c *x509.Certificate) bool { return !v.now.Before(c.NotAfter) }
	good := func(c *x509.Certificate) bool { return !ended(c) && !v.now.Add(value.MaxForward).Before(c.NotBefore) }
	bad := slices.IndexFunc(cas, func(c *x509.Certificate) bool { return !good(c) })
	if v.now.IsZero() || bad < 0 || !slices.ContainsFunc(cas, good) {
		dates(v, path, cas)
		return
	}
	what := message.F("holds a certificate that is not valid before %s, number %d; the others count", day(cas[bad].NotBefore), bad+1)
	if ended(cas[bad]) {
		what = message.F("holds a certificate that has expired on %s, number %d; the others count", day(cas[bad].NotAfter), bad+1)
	}
	v.warn(path, fault(message.T("remove it if nothing needs it"), what))
}

func day(t time.Time) string { return t.UTC().Format("2 January 2006 15:04 UTC") }

func usage(v *judge, path string, leaf *x509.Certificate) {
	usages := leaf.ExtKeyUsage
	if len(usages)+len(leaf.UnknownExtKeyUsage) > 0 &&
		!slices.Contains(usages, x509.ExtKeyUsageServerAuth) && !slices.Contains(usages, x509.ExtKeyUsageAny) {
		v.fail(path, fault(message.T("have one made for a TLS server"), message.T("is not meant for servers (extended key usage without serverAuth)")))
	}
	const forTLS = x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment | x509.KeyUsageKeyAgreement
	if leaf.KeyUsage != 0 && leaf.KeyUsage&forTLS == 0 { // OpenSSL refuses it (x509_purp.c, KU_TLS)
		v.fail(path, fault(message.T("have one made for a TLS server"), message.T("is not meant for servers (key usage without digitalSignature)")))
	}
}

func (v *judge) names(path, host string, leaf *x509.Certificate) {
	// VerifyHostname takes no pattern. A host below apps.D that nobody has is served by the wildcard alone.
	probe := strings.Replace(host, "*", "touchdown-probe", 1)
	if leaf.VerifyHostname(probe) == nil {
		return
	}
	if len(leaf.DNSNames) == 0 {
		v.fail(path, fault(message.F("have one made with %s as subject alternative name", host), message.T("has no subject alternative name; the common name does not count")))
		return
	}
	const most = 3
	names := strings.Join(leaf.DNSNames[:min(most, len(leaf.DNSNames))], ", ")
	v.fail(path, fault(message.T("have one made for that name, or correct the domain"), message.F("is not for %s but for %s", host, shown(names))))
}

func (v *judge) ingressCA() {
	path, cert := "spec.ingressCert.ca", v.config.Spec.IngressCert
	if cert.CA == "" || v.errs.At(path) != nil {
		return
	}
	if cert.Cert == "" {
		v.fail(path, fault(message.T("give the certificate too, or leave the CA out"), message.T("is given, but there is no certificate")))
		return
	}
	cas, _ := parseCerts(cert.CA)
	chain, bad := parseCerts(cert.Cert)
	if i := slices.IndexFunc(cas, func(c *x509.Certificate) bool { return !c.IsCA }); i >= 0 {
		v.warn(path, fault(message.T("give the certificate of the authority"), message.F("holds a certificate that is not an authority, number %d", i+1)))
	}
	trusted(v, path, cas)
	if bad == nil && !slices.ContainsFunc(cas, func(ca *x509.Certificate) bool { return issues(ca, chain) }) {
		v.warn(path, fault(message.T("give the root that signed the certificate"), message.T("did not sign spec.ingressCert.cert")))
	}
}

// issues reports whether ca is in the chain or signed its last certificate.
func issues(ca *x509.Certificate, chain []*x509.Certificate) bool {
	return signedBy(chain[len(chain)-1], ca) || slices.ContainsFunc(chain, func(c *x509.Certificate) bool { return bytes.Equal(c.Raw, ca.Raw) })
}

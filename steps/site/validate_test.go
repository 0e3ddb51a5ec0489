package site

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"strings"
	"testing"
	"time"

	"touchdown/backend/message"
)

// valid returns a Config without a mistake, for the domain a.b.
func valid() *Config {
	c := New()
	c.Spec.ClusterName, c.Spec.BaseDomain = "a", "b"
	return c
}

func TestValidate(t *testing.T) {
	root := issue(t, "root", nil, ecKey(t), ca)
	good := func(names ...string) *issued { return issue(t, "leaf", root, ecKey(t), server(names...)) }
	spoilt := func(change func(*x509.Certificate)) *issued {
		return issue(t, "leaf", root, ecKey(t), func(c *x509.Certificate) {
			c.DNSNames = []string{"api.a.b"}
			change(c)
		})
	}
	api := func(i *issued) func(*Config) {
		return func(c *Config) { c.Spec.APICert = KeyPair{Cert: i.pem, Key: Secret(pkcs8(t, i.key))} }
	}
	apps := func(i *issued, ca string) func(*Config) {
		return func(c *Config) {
			c.Spec.IngressCert = IngressCert{KeyPair{Cert: i.pem, Key: Secret(pkcs8(t, i.key))}, ca}
		}
	}
	other := good("api.a.b")
	swapped := *other
	swapped.pem = root.pem + other.pem
	expired := today().Add(-time.Hour)
	cases := []struct {
		name           string
		change         func(*Config)
		errs, warnings string
	}{
		{
			"nothing", func(c *Config) { *c = *New() },
			"spec.clusterName: is missing; write it like store0042\nspec.baseDomain: is missing; write it like example.com", "",
		},
		{"least", func(*Config) {}, "", ""},
		{
			"local", func(c *Config) { c.Spec.BaseDomain = "site.local" }, "",
			"spec.baseDomain: ends with .local, which many computers look up by multicast instead of DNS (RFC 6762); use another domain if the site can",
		},
		{
			"cluster name twice", func(c *Config) { c.Spec.ClusterName, c.Spec.BaseDomain = "store", "store.example.com" }, "",
			`spec.baseDomain: starts with the cluster name, so the domain is "store.store.example.com"; leave the cluster name out of the base domain`,
		},
		{"longest domain", func(c *Config) {
			c.Spec.ClusterName, c.Spec.BaseDomain = strings.Repeat("c", 54), strings.Repeat("d", 63)+"."+strings.Repeat("e", 63)+"."+strings.Repeat("f", 20)
		}, "", ""},
		{"domain too long", func(c *Config) {
			c.Spec.ClusterName, c.Spec.BaseDomain = strings.Repeat("c", 54), strings.Repeat("d", 63)+"."+strings.Repeat("e", 63)+"."+strings.Repeat("f", 21)
		}, "spec.baseDomain: gives with the cluster name a domain of 204 characters; with the cluster's own host names in front 203 are the most; choose a shorter cluster name or domain", ""},
		{
			"the cluster's inner domain", func(c *Config) { c.Spec.ClusterName, c.Spec.BaseDomain = "cluster", "local" },
			`spec.baseDomain: gives with the cluster name "cluster.local", the domain of the services inside every cluster; use the domain of the site`,
			"spec.baseDomain: ends with .local, which many computers look up by multicast instead of DNS (RFC 6762); use another domain if the site can",
		},
		{
			"the machine as time server", func(c *Config) { c.Spec.AdditionalNTPSources = []string{"ntp.localhost"} },
			`spec.additionalNTPSources: is "ntp.localhost", a name of the machine itself; write the name of the site's server`, "",
		},
		{
			"the machine as proxy", func(c *Config) { c.Spec.Proxy.HTTPSProxy, c.Spec.Proxy.NoProxy = "http://localhost:3128", "localhost" },
			"spec.proxy.httpsProxy: names no proxy: neither a host name nor an address; write it like http://proxy.example.com:3128", "",
		},
		{"written past Set", func(c *Config) { c.Metadata.Name = "a\x1bb" }, "metadata.name: has a control character (U+001B); remove it", ""},
		{"stability", func(c *Config) { c.Spec.Policy.StabilityWindow = time.Hour }, `spec.policy.stabilityWindow: is "1h", outside of 1s to 30m; write 1s to 30m`, ""},
		{
			"pull secret", func(c *Config) { c.Spec.PullSecret = planted },
			"spec.pullSecret: is not a pull secret; paste all of it, from { to }", "",
		},
		{"api certificate", api(good("api.a.b")), "", ""},
		{"api wildcard", api(good("*.a.b")), "", ""},
		{"without key", func(c *Config) { c.Spec.APICert.Cert = root.pem }, "spec.apiCert.key: is missing, but there is a certificate; give both, or neither to have a certificate made", ""},
		{
			"without certificate", func(c *Config) { c.Spec.IngressCert.Key = Secret(pkcs8(t, root.key)) },
			"spec.ingressCert.cert: is missing, but there is a key; give both, or neither to have a certificate made", "",
		},
		{"other key", func(c *Config) {
			api(good("api.a.b"))(c)
			c.Spec.APICert.Key = Secret(pkcs8(t, root.key))
		}, "spec.apiCert.key: does not belong to the certificate; give the key that the certificate was made with", ""},
		{"wrong order", api(&swapped), "spec.apiCert.cert: has its certificates in the wrong order: number 2 did not sign number 1; put the server's certificate first, then the one that signed it, and so on\n" +
			"spec.apiCert.cert: has no subject alternative name; the common name does not count; have one made with api.a.b as subject alternative name", ""},
		{"key of the second certificate", func(c *Config) {
			c.Spec.APICert = KeyPair{Cert: other.pem + root.pem, Key: Secret(pkcs8(t, root.key))}
		}, "spec.apiCert.cert: does not start with the key's certificate, which is number 2; put that certificate first", ""},
		{
			"expired", api(spoilt(func(c *x509.Certificate) { c.NotAfter = expired })),
			"spec.apiCert.cert: has expired on 1 June 2026 11:00 UTC (certificate 1); have a new one made, or set the clock", "",
		},
		{
			"not yet", api(spoilt(func(c *x509.Certificate) { c.NotBefore = today().Add(25 * time.Hour) })),
			"spec.apiCert.cert: is not valid before 2 June 2026 13:00 UTC (certificate 1); check the clock", "",
		},
		{
			"by a clock that is some hours behind", api(spoilt(func(c *x509.Certificate) { c.NotBefore = today().Add(11 * time.Hour) })), "",
			"spec.apiCert.cert: is not valid before 1 June 2026 23:00 UTC (certificate 1); check the clock",
		},
		{
			"soon, before an authority that has expired", func(c *Config) {
				dead := issue(t, "intermediate", root, ecKey(t), func(c *x509.Certificate) { c.IsCA, c.NotAfter = true, expired })
				leaf := issue(t, "leaf", dead, ecKey(t), func(c *x509.Certificate) { c.DNSNames, c.NotAfter = []string{"api.a.b"}, today().AddDate(0, 0, 29) })
				api(&issued{leaf.cert, leaf.key, leaf.pem + dead.pem})(c)
				c.Spec.AdditionalTrustBundle = issue(t, "ends", nil, ecKey(t), func(c *x509.Certificate) { c.IsCA, c.NotAfter = true, today().AddDate(0, 0, 9) }).pem + dead.pem
			},
			"spec.apiCert.cert: has expired on 1 June 2026 11:00 UTC (certificate 2); have a new one made, or set the clock",
			"spec.additionalTrustBundle: holds a certificate that has expired on 1 June 2026 11:00 UTC, number 2; the others count; remove it if nothing needs it",
		},
		{
			"authorities that have all expired", func(c *Config) {
				c.Spec.AdditionalTrustBundle = issue(t, "dead", nil, ecKey(t), func(c *x509.Certificate) { c.IsCA, c.NotAfter = true, expired }).pem
			},
			"spec.additionalTrustBundle: has expired on 1 June 2026 11:00 UTC (certificate 1); have a new one made, or set the clock", "",
		},
		{
			"an authority of the day after tomorrow", func(c *Config) {
				c.Spec.AdditionalTrustBundle = root.pem + issue(t, "next", nil, ecKey(t), func(c *x509.Certificate) { c.IsCA, c.NotBefore = true, today().AddDate(0, 0, 2) }).pem
			},
			"", "spec.additionalTrustBundle: holds a certificate that is not valid before 3 June 2026 12:00 UTC, number 2; the others count; remove it if nothing needs it",
		},
		{
			"soon", api(spoilt(func(c *x509.Certificate) { c.NotAfter = today().AddDate(0, 0, 29) })), "",
			"spec.apiCert.cert: expires on 30 June 2026 12:00 UTC (certificate 1); have a new one made soon",
		},
		{"other name", api(good("api.c.d", "x.y")), `spec.apiCert.cert: is not for api.a.b but for "api.c.d, x.y"; have one made for that name, or correct the domain`, ""},
		{
			"no name", api(spoilt(func(c *x509.Certificate) { c.DNSNames = nil })),
			"spec.apiCert.cert: has no subject alternative name; the common name does not count; have one made with api.a.b as subject alternative name", "",
		},
		{
			"for clients", api(spoilt(func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} })),
			"spec.apiCert.cert: is not meant for servers (extended key usage without serverAuth); have one made for a TLS server", "",
		},
		{
			"for signing alone", api(spoilt(func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageCertSign })),
			"spec.apiCert.cert: is not meant for servers (key usage without digitalSignature); have one made for a TLS server", "",
		},
		{"for signing, too", api(spoilt(func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature })), "", ""},
		{"apps", apps(good("*.apps.a.b"), root.pem), "", ""},
		{
			"apps without wildcard", apps(good("console.apps.a.b"), ""),
			`spec.ingressCert.cert: is not for *.apps.a.b but for "console.apps.a.b"; have one made for that name, or correct the domain`, "",
		},
		{
			"apps with a wildcard too high", apps(good("*.a.b"), ""),
			`spec.ingressCert.cert: is not for *.apps.a.b but for "*.a.b"; have one made for that name, or correct the domain`, "",
		},
		{
			"other root", apps(good("*.apps.a.b"), issue(t, "root", nil, ecKey(t), ca).pem), "",
			"spec.ingressCert.ca: did not sign spec.ingressCert.cert; give the root that signed the certificate",
		},
		{
			"no authority", apps(good("*.apps.a.b"), other.pem), "",
			"spec.ingressCert.ca: holds a certificate that is not an authority, number 1; give the certificate of the authority\n" +
				"spec.ingressCert.ca: did not sign spec.ingressCert.cert; give the root that signed the certificate",
		},
		{
			"root alone", func(c *Config) { c.Spec.IngressCert.CA = root.pem },
			"spec.ingressCert.ca: is given, but there is no certificate; give the certificate too, or leave the CA out", "",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			config := valid()
			c.change(config)
			errs, warnings := config.Validate(today())
			if errs.Error() != c.errs {
				t.Errorf("errors\n got %s\nwant %s", errs, c.errs)
			}
			if warnings.Error() != c.warnings {
				t.Errorf("warnings\n got %s\nwant %s", warnings, c.warnings)
			}
		})
	}
}

func TestValidateNamesThePlace(t *testing.T) {
	c, err := Parse([]byte(head+"spec:\n  pullSecretFile: ps.json\n  baseDomain: Example.com\n"), "site.yaml", folder())
	if err != nil {
		t.Fatal(err)
	}
	errs, _ := c.Validate(today())
	want := "spec.clusterName: is missing; write it like store0042\n" +
		"site.yaml:4:3: spec.pullSecret: has no registry in its auths; download the pull secret again\n" +
		`site.yaml:5:3: spec.baseDomain: is "Example.com", which has upper-case letters in it; write example.com`
	if errs.Error() != want {
		t.Errorf("got\n%s\nwant\n%s", errs, want)
	}
	if err := c.Set("spec.baseDomain", "x_y"); err != nil {
		t.Fatal(err)
	}
	errs, _ = c.Validate(today())
	if got := errs.At("spec.baseDomain").Error(); strings.HasPrefix(got, "site.yaml") {
		t.Errorf("a typed value is blamed on the document: %s", got)
	}
}

func TestWeakSignature(t *testing.T) {
	v := &judge{config: New()}
	judgeClients(v, "spec.apiCert.cert", []*x509.Certificate{{SignatureAlgorithm: x509.SHA1WithRSA, RawIssuer: []byte("ca")}, {SignatureAlgorithm: x509.SHA1WithRSA}})
	if want := "spec.apiCert.cert: is signed with SHA1-RSA, which clients refuse (certificate 1); have one made with SHA-256"; v.errs.Error() != want {
		t.Errorf("got %s", v.errs)
	}
}

// TestTheRouterStarts holds that a chain is refused with which HAProxy does not start, whichever certificate of it is the weak one. That
// of the API is another program's.
func TestTheRouterStarts(t *testing.T) {
	short, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	root := issue(t, "root", nil, ecKey(t), ca)
	between := issue(t, "between", root, short, ca)
	leaf := issue(t, "leaf", between, ecKey(t), server("*.apps.a.b", "api.a.b"))
	pair := KeyPair{Cert: leaf.pem + between.pem, Key: Secret(pkcs8(t, leaf.key))}
	c := valid()
	c.Spec.IngressCert.KeyPair, c.Spec.APICert = pair, pair
	errs, _ := c.Validate(today())
	if want := "spec.ingressCert.cert: has an RSA key of 1024 bits, with which the router does not start (certificate 2); have one made with longer keys"; errs.Error() != want {
		t.Errorf("got %s", errs)
	}
	v := &judge{config: New()}
	sha1 := &x509.Certificate{SignatureAlgorithm: x509.SHA1WithRSA, RawSubject: []byte("a"), RawIssuer: []byte("b")}
	judgeRouter(v, "p", []*x509.Certificate{leaf.cert, sha1})
	if want := "p: is signed with SHA1-RSA, with which the router does not start (certificate 2); have one made with SHA-256"; v.errs.Error() != want {
		t.Errorf("got %s", v.errs)
	}
	v, sha1.RawIssuer = &judge{config: New()}, sha1.RawSubject
	if judgeRouter(v, "p", []*x509.Certificate{leaf.cert, sha1}); len(v.errs) > 0 {
		t.Errorf("a root is judged by its own signature: %s", v.errs)
	}
}

// TestBrowsersOpenTheConsole: a key that Chrome does not know is warned of where people open pages with it, and nowhere else.
func TestBrowsersOpenTheConsole(t *testing.T) {
	large, err := ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	root := issue(t, "root", nil, ecKey(t), ca)
	leaf := issue(t, "leaf", root, large, server("*.apps.a.b", "api.a.b"))
	pair := KeyPair{Cert: leaf.pem, Key: Secret(pkcs8(t, large))}
	c := valid()
	c.Spec.IngressCert.KeyPair, c.Spec.APICert = pair, pair
	errs, warnings := c.Validate(today())
	if want := "spec.ingressCert.cert: has a key of the curve P-521, with which Chrome and Edge do not open the cluster's console; have one made with P-256 or P-384"; len(errs) > 0 || warnings.Error() != want {
		t.Errorf("got %s; %s", errs, warnings)
	}
}

func TestErrors(t *testing.T) {
	if err := (Errors{}).Err(); err != nil {
		t.Errorf("no mistake is an error: %v", err)
	}
	e := &Error{File: "f", Line: 1, Column: 2, Path: "p", Msg: message.T("m"), Fix: message.T("x")}
	err := Errors{e, {Msg: message.T("other")}}.Err()
	var first *Error
	if !errors.As(err, &first) || first != e || err.Error() != "f:1:2: p: m; x\nother" {
		t.Errorf("got %v", err)
	}
}

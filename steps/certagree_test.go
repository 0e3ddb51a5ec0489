package steps

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"touchdown/backend/certs"
	"touchdown/steps/site"
)

// TestTheSiteConfigRefusesWhatTheClusterWould holds that a certificate which certs.Check refuses, in the middle of a landing, is refused where
// the site config is judged: before the review.
func TestTheSiteConfigRefusesWhatTheClusterWould(t *testing.T) {
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	make := func(parent *made, key crypto.Signer, change func(*x509.Certificate)) *made {
		template := &x509.Certificate{
			SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "x"}, NotBefore: now.AddDate(0, -1, 0), NotAfter: now.AddDate(1, 0, 0),
			BasicConstraintsValid: true, DNSNames: []string{"api.store.example.com", "*.apps.store.example.com"},
		}
		change(template)
		issuer, signer := template, key
		if parent != nil {
			issuer, signer = parent.cert, parent.key
		}
		der, err := x509.CreateCertificate(rand.Reader, template, issuer, key.Public(), signer)
		if err != nil {
			t.Fatal(err)
		}
		cert, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		return &made{cert, key, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))}
	}
	same := func(*x509.Certificate) {}
	authority := func(c *x509.Certificate) { c.IsCA, c.Subject.CommonName, c.DNSNames = true, "ca", nil }
	ec, long := curveKey(t), longKey(t)
	root := make(nil, curveKey(t), authority)
	foreign := make(root, curveKey(t), func(c *x509.Certificate) { authority(c); c.IsCA = false; c.Subject.CommonName = "no ca" })
	noSigner := make(root, curveKey(t), func(c *x509.Certificate) {
		authority(c)
		c.KeyUsage, c.Subject.CommonName = x509.KeyUsageCRLSign, "crl"
	})
	for name, chain := range map[string][]*made{
		"good":                           {make(root, ec, same)},
		"good, self-signed":              {make(nil, ec, same)},
		"good, with its root":            {make(root, ec, same), root},
		"openssl req -x509":              {make(nil, ec, func(c *x509.Certificate) { c.IsCA = true })},
		"behind another server":          {make(foreign, ec, same), foreign},
		"behind what may not sign":       {make(noSigner, ec, same), noSigner},
		"one host in place of all":       {make(root, ec, func(c *x509.Certificate) { c.DNSNames[1] = "any.apps.store.example.com" })},
		"an RSA key of more than 8192":   {make(root, long, same)},
		"behind a key of more than 8192": {make(make(root, long, authority), ec, same), make(root, long, authority)},
		"an unknown critical extension": {make(root, ec, func(c *x509.Certificate) {
			c.ExtraExtensions = []pkix.Extension{{Id: asn1.ObjectIdentifier{1, 2, 3, 4}, Critical: true, Value: []byte{5, 0}}}
		})},
		"expired":               {make(root, ec, func(c *x509.Certificate) { c.NotAfter = now })},
		"not yet valid":         {make(root, ec, func(c *x509.Certificate) { c.NotBefore = now.AddDate(0, 0, 2) })}, // within a day it is a warning: the clock is set first
		"for another name":      {make(root, ec, func(c *x509.Certificate) { c.DNSNames = []string{"example.com"} })},
		"in the wrong order":    {root, make(root, ec, same)},
		"with an unrelated one": {make(root, ec, same), make(nil, curveKey(t), authority), root},
	} {
		var text string
		for _, c := range chain {
			text += c.pem
		}
		der, err := x509.MarshalPKCS8PrivateKey(chain[0].key)
		if err != nil {
			t.Fatal(err)
		}
		key := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
		for path, host := range map[string]string{"spec.apiCert": "api.store.example.com", "spec.ingressCert": "*.apps.store.example.com"} {
			_, _, refused := certs.Check(certs.Pair{Cert: []byte(text), Key: []byte(key)}, []string{host}, nil, now)
			cfg := site.New()
			failed := false
			for at, value := range map[string]string{"spec.clusterName": "store", "spec.baseDomain": "example.com", path + ".cert": text, path + ".key": key} {
				failed = cfg.Set(at, value) != nil || failed
			}
			errs, _ := cfg.Validate(now)
			if failed = failed || len(errs) > 0; failed != (refused != nil) {
				t.Errorf("%s, %s: the cluster's judge says %v, the site config's %v", name, path, refused, errs)
			}
		}
	}
}

// made is a certificate with its key.
type made struct {
	cert *x509.Certificate
	key  crypto.Signer
	pem  string
}

func curveKey(t *testing.T) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// longKey has 8320 bits. It is made of many primes, because two of that size take a minute to find.
func longKey(t *testing.T) crypto.Signer {
	t.Helper()
	key, err := rsa.GenerateMultiPrimeKey(rand.Reader, 16, 8320) //nolint:staticcheck // any key of that length will do
	if err != nil {
		t.Fatal(err)
	}
	return key
}

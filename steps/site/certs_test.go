package site

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"
)

// today is the clock of these tests.
func today() time.Time { return time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC) }

// issued is a certificate with its key.
type issued struct {
	cert *x509.Certificate
	key  crypto.Signer
	pem  string
}

func ecKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// issue makes a certificate that is good for a year around today; change may spoil it.
func issue(t testing.TB, name string, parent *issued, key crypto.Signer, change func(*x509.Certificate)) *issued {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: today().AddDate(0, -6, 0), NotAfter: today().AddDate(0, 6, 0),
		BasicConstraintsValid: true,
	}
	if change != nil {
		change(template)
	}
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
	return &issued{cert, key, block("CERTIFICATE", der)}
}

func block(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func pkcs8(t testing.TB, key crypto.PrivateKey) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return block("PRIVATE KEY", der)
}

func ca(c *x509.Certificate) { c.IsCA = true }

func server(names ...string) func(*x509.Certificate) {
	return func(c *x509.Certificate) { c.DNSNames = names }
}

func TestKeyForms(t *testing.T) {
	ec := ecKey(t)
	sec1, err := x509.MarshalECPrivateKey(ec)
	if err != nil {
		t.Fatal(err)
	}
	long, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	short, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	old, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := issue(t, "x", nil, ec, nil).pem
	whole := block("EC PRIVATE KEY", sec1)
	cases := []struct{ name, key, want string }{
		{"SEC 1", whole, ""},
		{"SEC 1 with parameters", block("EC PARAMETERS", []byte{6, 0}) + whole, ""},
		{"PKCS 8 EC", pkcs8(t, ec), ""},
		{"PKCS 8 RSA", pkcs8(t, long), ""},
		{"PKCS 1", block("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(long)), ""},
		{"Windows line ends", strings.ReplaceAll(whole, "\n", "\r\n"), ""},
		{"short RSA", pkcs8(t, short), "is an RSA key of 1024 bits, less than 2048; have a certificate made with a longer key"},
		{"P-224", pkcs8(t, old), "is of the curve P-224, which TLS 1.3 does not know; use a key of the curve P-256, P-384 or P-521"},
		{"Ed25519", pkcs8(t, ed), "is of a kind that OpenShift does not take; use an RSA or EC key"},
		{"OpenSSH", block("OPENSSH PRIVATE KEY", sec1), "is of a kind that OpenShift does not take; use an RSA or EC key"},
		{"encrypted PKCS 8", block("ENCRYPTED PRIVATE KEY", sec1), "is encrypted with a password; decrypt it: openssl pkey -in OLD -out NEW"},
		{
			"encrypted PKCS 1", "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\nAAAA\n-----END RSA PRIVATE KEY-----\n",
			"is encrypted with a password; decrypt it: openssl pkey -in OLD -out NEW",
		},
		{"wrong label", block("RSA PRIVATE KEY", sec1), "cannot be read; copy it again, from BEGIN to END"},
		{"damaged", block("PRIVATE KEY", []byte(planted)), "cannot be read; copy it again, from BEGIN to END"},
		{"cut off", whole[:len(whole)-20], "is cut off or damaged; copy it again, from BEGIN to END"},
		{"two keys", whole + whole, "holds two private keys; keep the one that belongs to the certificate"},
		{"certificate too", whole + cert, "holds a block that is not a private key; keep only the PRIVATE KEY block in it"},
		{"only a certificate", cert, "holds a block that is not a private key; keep only the PRIVATE KEY block in it"},
		{"no PEM", planted, "holds no private key; give it as PEM, which starts with -----BEGIN and PRIVATE KEY-----"},
	}
	for _, c := range cases {
		got := ""
		if err := checked("spec.apiCert.key", c.key); err != nil {
			got = strings.TrimPrefix(err.Error(), "spec.apiCert.key: ")
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestChainThatNoClientTakes: an authority for other names or other purposes, or below one that allows none below it.
func TestChainThatNoClientTakes(t *testing.T) {
	root := issue(t, "root", nil, ecKey(t), ca)
	other := issue(t, "other", root, ecKey(t), func(c *x509.Certificate) {
		ca(c)
		c.PermittedDNSDomains, c.PermittedDNSDomainsCritical = []string{"other.example"}, true
	})
	clients := issue(t, "clients", root, ecKey(t), func(c *x509.Certificate) {
		ca(c)
		c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	})
	alone := issue(t, "alone", nil, ecKey(t), func(c *x509.Certificate) {
		ca(c)
		c.BasicConstraintsValid, c.MaxPathLenZero = true, true
	})
	below := issue(t, "below", alone, ecKey(t), ca)
	ours := issue(t, "ours", root, ecKey(t), func(c *x509.Certificate) {
		ca(c)
		c.PermittedDNSDomains, c.PermittedDNSDomainsCritical = []string{"site.example"}, true
	})
	for name, c := range map[string]struct {
		authority, root *issued
		refused         bool
	}{
		"for other names": {other, root, true}, "for clients": {clients, root, true}, "too deep": {below, alone, true}, "for our names": {ours, root, false},
	} {
		key := ecKey(t)
		leaf := issue(t, "leaf", c.authority, key, server("api.store1.site.example"))
		cfg := New()
		for path, value := range map[string]string{
			"spec.clusterName": "store1", "spec.baseDomain": "site.example",
			"spec.apiCert.cert": leaf.pem + c.authority.pem + c.root.pem, "spec.apiCert.key": pkcs8(t, key),
		} {
			if err := cfg.Set(path, value); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		errs, _ := cfg.Validate(time.Now())
		if got := errs.At("spec.apiCert.cert"); (got != nil && strings.Contains(got.Error(), "no client takes")) != c.refused {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestCertificateForms(t *testing.T) {
	root := issue(t, "root", nil, ecKey(t), ca)
	middle := issue(t, "middle", root, ecKey(t), ca)
	leaf := issue(t, "leaf", middle, ecKey(t), server("api.a.b"))
	cases := []struct{ name, cert, want string }{
		{"chain", leaf.pem + middle.pem + root.pem, ""},
		{"leaf alone", leaf.pem, ""},
		{"with words between", "Certificate:\n    Data:\n" + leaf.pem + "next\n" + middle.pem, ""},
		{"root first", root.pem + middle.pem + leaf.pem, "has its certificates in the wrong order: number 2 did not sign number 1; put the server's certificate first, then the one that signed it, and so on"},
		{"middle left out", leaf.pem + root.pem, "has its certificates in the wrong order: number 2 did not sign number 1; put the server's certificate first, then the one that signed it, and so on"},
		{"key in it", leaf.pem + pkcs8(t, leaf.key), "holds a private key; keep only the CERTIFICATE blocks in it"},
		{"request", block("CERTIFICATE REQUEST", nil), "holds a block that is not a certificate; keep only the CERTIFICATE blocks in it"},
		{"damaged", leaf.pem + block("CERTIFICATE", []byte("x")), "has a certificate that cannot be read, number 2; copy it again"},
		{"cut off", leaf.pem + middle.pem[:100], "has a block that is cut off or damaged, number 2; copy it again, from BEGIN to END"},
		{"cut off in the middle", leaf.pem + middle.pem[:100] + "\n" + root.pem, "has a block that is cut off or damaged, number 2; copy it again, from BEGIN to END"},
		{"no line end between", leaf.pem + middle.pem[:len(middle.pem)-1] + root.pem, "has a block that is cut off or damaged, number 2; copy it again, from BEGIN to END"},
		{"no PEM", "hello", "holds no certificate; give it as PEM, which starts with -----BEGIN CERTIFICATE-----"},
	}
	for _, c := range cases {
		got := ""
		if err := checked("spec.apiCert.cert", c.cert); err != nil {
			got = strings.TrimPrefix(err.Error(), "spec.apiCert.cert: ")
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestNoAuthorityIsLost: a bundle of three of which one cannot be read is refused. Registries' authorities are of the same check.
func TestNoAuthorityIsLost(t *testing.T) {
	var a, b, c string
	for _, to := range []*string{&a, &b, &c} {
		*to = issue(t, "root", nil, ecKey(t), ca).pem
	}
	for name, bundle := range map[string]string{
		"no line end": a + b[:len(b)-1] + c, "cut off": a + b[:100] + "\n" + c, "indented": a + " " + strings.ReplaceAll(b, "\n", "\n ") + "\n" + c,
	} {
		for _, path := range []string{"spec.additionalTrustBundle", "spec.ingressCert.ca", "spec.monitor.ca"} {
			if err := checked(path, bundle); err == nil || !strings.Contains(err.Error(), "has a block that is cut off or damaged, number 2") {
				t.Errorf("%s with one that has its lines wrong (%s): %v", path, name, err)
			}
			if err := checked(path, a+b+c); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}

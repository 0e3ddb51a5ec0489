package certs_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"slices"
	"testing"
	"time"

	"touchdown/backend/certs"
	"touchdown/backend/kube"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/problem"
)

const (
	signerPath = "/api/v1/namespaces/openshift-kube-apiserver-operator/secrets/loadbalancer-serving-signer"
	config     = "/api/v1/namespaces/openshift-config/secrets/"
)

// ca is a signer with its key.
type ca struct {
	cert *x509.Certificate
	key  crypto.Signer
}

func newCA(t *testing.T, key crypto.Signer, start, end time.Time) ca {
	t.Helper()
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "signer"}, NotBefore: start, NotAfter: end,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return ca{cert, key}
}

func ecKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func block(kind string, b []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}) }

// leaf makes a pair as a site would bring it.
func (c ca) leaf(t *testing.T, start, end time.Time, names ...string) certs.Pair {
	t.Helper()
	key := ecKey(t)
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(2), NotBefore: start, NotAfter: end, DNSNames: names}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, c.cert, key.Public(), c.key)
	if err != nil {
		t.Fatal(err)
	}
	b, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return certs.Pair{Cert: append(block("CERTIFICATE", der), block("CERTIFICATE", c.cert.Raw)...), Key: block("EC PRIVATE KEY", b)}
}

func tls(t *testing.T, p certs.Pair) string {
	t.Helper()
	b, err := json.Marshal(map[string]any{"type": "kubernetes.io/tls", "data": map[string][]byte{"tls.crt": p.Cert, "tls.key": p.Key}})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func nothing(kube.Ref, []byte) error { return nil }

func TestCheck(t *testing.T) {
	now := time.Now()
	signer := newCA(t, ecKey(t), now.Add(-time.Hour), now.Add(1000*24*time.Hour))
	year := func(names ...string) certs.Pair {
		return signer.leaf(t, now.Add(-time.Hour), now.Add(365*24*time.Hour), names...)
	}
	good := year("api.x.example", "*.apps.x.example")
	other := year("api.x.example")
	second := pemTail(good.Cert)
	for name, test := range map[string]struct {
		pair  certs.Pair
		names []string
		code  string
		warns int
	}{
		"good":                     {good, []string{"api.x.example"}, "", 0},
		"good wildcard":            {good, []string{"*.apps.x.example"}, "", 0},
		"wildcard not covered":     {good, []string{"*.apps.y.example"}, "CERT-SAN", 0},
		"single is not a wildcard": {year("console.apps.x.example"), []string{"*.apps.x.example"}, "CERT-SAN", 0},
		"other name":               {good, []string{"api.y.example"}, "CERT-SAN", 0},
		"expired":                  {signer.leaf(t, now.Add(-2*time.Hour), now.Add(-time.Hour), "api.x.example"), []string{"api.x.example"}, "CERT-AGE", 0},
		"not yet":                  {signer.leaf(t, now.Add(time.Hour), now.Add(2*time.Hour), "api.x.example"), []string{"api.x.example"}, "CERT-AGE", 0},
		"soon over":                {signer.leaf(t, now.Add(-time.Hour), now.Add(20*24*time.Hour), "api.x.example"), []string{"api.x.example"}, "", 1},
		"key of another":           {certs.Pair{Cert: good.Cert, Key: other.Key}, nil, "CERT-KEY", 0},
		"no key":                   {certs.Pair{Cert: good.Cert}, nil, "CERT-KEY", 0},
		"encrypted key":            {certs.Pair{Cert: good.Cert, Key: block("ENCRYPTED PRIVATE KEY", []byte("x"))}, nil, "CERT-KEY", 0},
		"no certificate":           {certs.Pair{Key: good.Key}, nil, "CERT-PEM", 0},
		"damaged":                  {certs.Pair{Cert: block("CERTIFICATE", []byte("x")), Key: good.Key}, nil, "CERT-PEM", 0},
		"damaged in the middle":    {certs.Pair{Cert: slices.Concat(good.Cert, second[:100], []byte("\n"), second), Key: good.Key}, nil, "CERT-PEM", 0},
		"CA first":                 {certs.Pair{Cert: append(slices.Clone(second), good.Cert...), Key: good.Key}, nil, "CERT-KEY", 0},
		"leaf twice":               {certs.Pair{Cert: append(slices.Clone(good.Cert), other.Cert...), Key: good.Key}, nil, "CERT-SEQ", 0},
	} {
		t.Run(name, func(t *testing.T) {
			_, warnings, err := certs.Check(test.pair, test.names, nil, now)
			code := ""
			if err != nil {
				code = problem.From(err).Code
			}
			if code != test.code || len(warnings) != test.warns {
				t.Error(code, warnings, err)
			}
		})
	}
	if _, warnings, _ := certs.Check(good, nil, []string{"*.apps.old.example"}, now); len(warnings) != 1 {
		t.Error(warnings)
	}
}

func pemTail(b []byte) []byte {
	_, rest := pem.Decode(b)
	return rest
}

func TestSignerKeys(t *testing.T) {
	now := time.Now()
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ec := ecKey(t)
	sec1, _ := x509.MarshalECPrivateKey(ec)
	pkcs8, _ := x509.MarshalPKCS8PrivateKey(rsaKey)
	for name, test := range map[string]struct {
		key crypto.Signer
		pem []byte
	}{
		"PKCS #1": {rsaKey, block("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rsaKey))},
		"PKCS #8": {rsaKey, block("PRIVATE KEY", pkcs8)},
		"SEC 1":   {ec, append(block("EC PARAMETERS", []byte{1}), block("EC PRIVATE KEY", sec1)...)},
	} {
		t.Run(name, func(t *testing.T) {
			api, c := kubetest.New(t)
			end := now.Add(400 * 24 * time.Hour)
			signer := newCA(t, test.key, now.Add(-time.Hour), end)
			api.Put(signerPath, tls(t, certs.Pair{Cert: block("CERTIFICATE", signer.cert.Raw), Key: test.pem}))
			s, err := certs.APISigner(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			pair, err := s.Issue([]string{"api.x.example"}, now)
			if err != nil {
				t.Fatal(err)
			}
			leaf, _, err := certs.Check(pair, []string{"api.x.example"}, nil, now)
			if err != nil {
				t.Fatal(err)
			}
			if leaf.NotAfter.After(signer.cert.NotAfter) || leaf.SerialNumber.BitLen() < 64 || leaf.IsCA ||
				leaf.KeyUsage != x509.KeyUsageDigitalSignature|x509.KeyUsageKeyEncipherment ||
				!slices.Equal(leaf.ExtKeyUsage, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}) {
				t.Errorf("%+v", leaf)
			}
			if _, err := leaf.Verify(x509.VerifyOptions{DNSName: "api.x.example", Roots: s.Roots(), CurrentTime: now}); err != nil {
				t.Error(err)
			}
			if _, err := s.Issue([]string{"a"}, end.Add(-time.Hour)); problem.From(err).Code != "CERT-SGN" {
				t.Error(err)
			}
		})
	}
}

func TestInstallIsRepeatable(t *testing.T) {
	now := time.Now()
	api, c := kubetest.New(t)
	key := ecKey(t)
	signer := newCA(t, key, now.Add(-time.Hour), now.Add(4000*24*time.Hour))
	b, _ := x509.MarshalECPrivateKey(key)
	api.Put(signerPath, tls(t, certs.Pair{Cert: block("CERTIFICATE", signer.cert.Raw), Key: block("EC PRIVATE KEY", b)}))
	s, err := certs.APISigner(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	want := certs.Want{
		Secret: certs.APISecret("x.example"), Namespaces: []string{"openshift-config", "openshift-ingress"},
		Names: []string{"api.x.example"}, Signer: s, Now: now,
	}
	install := func(w certs.Want, issued bool, writes int) certs.Installed {
		t.Helper()
		api.Changes()
		got, err := certs.Install(t.Context(), c, w, nothing)
		if err != nil {
			t.Fatal(err)
		}
		if changes := api.Changes(); got.Issued != issued || len(changes) != writes {
			t.Errorf("issued %v, changes %v", got.Issued, changes)
		}
		return got
	}
	first := install(want, true, 2)
	install(want, false, 0)
	api.Drop(config + want.Secret) // one of the two was lost: the other is used again
	if again := install(want, false, 1); !again.Leaf.Equal(first.Leaf) {
		t.Error("another certificate")
	}
	late := want
	late.Now = first.Leaf.NotAfter.Add(-10 * 24 * time.Hour)
	install(late, true, 2)
	more := want
	more.Names = []string{"api.x.example", "api.y.example"}
	install(more, true, 2)
	own := want
	pair := signer.leaf(t, now.Add(-time.Hour), now.Add(365*24*time.Hour), "api.x.example")
	own.Own, own.Signer = &pair, nil
	install(own, false, 2)
	install(own, false, 0)
	api.Put(config+want.Secret, tls(t, signer.leaf(t, now, now.Add(99*24*time.Hour), "evil.example")))
	if _, err := certs.ReadBack(t.Context(), c, own); problem.From(err).Code != "CERT-BCK" {
		t.Error(err)
	}
	wrong := own
	wrong.Names = []string{"api.z.example"}
	if _, err := certs.Install(t.Context(), c, wrong, nothing); problem.From(err).Code != "CERT-SAN" {
		t.Error(err)
	}
}

package certs_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"testing"
	"time"

	"touchdown/backend/certs"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/problem"
)

// A certificate whose key or signature the router would not serve, on a FIPS cluster or on any, is refused before it is installed.
func TestWhatTheRouterDoesNotServe(t *testing.T) {
	now := time.Now()
	signer := newCA(t, ecKey(t), now.Add(-time.Hour), now.Add(time.Hour))
	pair := func(key crypto.Signer) certs.Pair {
		leaf := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a"}, DNSNames: []string{"a.example"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour)}
		der, err := x509.CreateCertificate(rand.Reader, leaf, signer.cert, key.Public(), signer.key)
		if err != nil {
			t.Fatal(err)
		}
		private, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		return certs.Pair{Cert: block("CERTIFICATE", der), Key: block("PRIVATE KEY", private)}
	}
	rsaKey := func(bits int) crypto.Signer {
		key, err := rsa.GenerateKey(rand.Reader, bits)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	ec := func(curve elliptic.Curve) crypto.Signer {
		key, err := ecdsa.GenerateKey(curve, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		key  crypto.Signer
		code string
	}{
		"RSA 2048": {rsaKey(2048), ""},
		"RSA 1024": {rsaKey(1024), "CERT-KEY"},
		"P-256":    {ec(elliptic.P256()), ""},
		"P-384":    {ec(elliptic.P384()), ""},
		"P-224":    {ec(elliptic.P224()), "CERT-KEY"},
		"Ed25519":  {ed, "CERT-KEY"},
	} {
		if _, _, err := certs.Check(pair(test.key), []string{"a.example"}, nil, now); err == nil && test.code != "" || err != nil && problem.From(err).Code != test.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := certs.Check(certs.Pair{Cert: []byte(sha1Leaf), Key: []byte(sha1Key)}, []string{"a.example"}, nil, time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)); err == nil || problem.From(err).Code != "CERT-ALG" {
		t.Errorf("signed with SHA-1: %v", err)
	}
}

// A certificate that is signed with SHA-1, which Go does not make any more, and its key, which is used for nothing else.
const (
	sha1Leaf = `-----BEGIN CERTIFICATE-----
MIIBczCCARmgAwIBAgITdo6RNMtpWmGp1ardGdmW/1eVUzAJBgcqhkjOPQQBMA0x
CzAJBgNVBAMMAmNhMCAXDTI2MTEyMzA2MTg0NVoYDzIxMjYxMDMwMDYxODQ1WjAM
MQowCAYDVQQDDAFhMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAERJhgHhX/WaqC
TTDywfQCaxVxjfa6s4retq61tb+M1GRTVlve98/7IqXrYgdXZg8AoTSI26frCQn+
ZqfcFb70GqNYMFYwFAYDVR0RBA0wC4IJYS5leGFtcGxlMB0GA1UdDgQWBBTuej/M
8c1w5DqxIzjgBqke/JWPETAfBgNVHSMEGDAWgBTiYZVHglJuLSOpMC7LcvovRAt3
RTAJBgcqhkjOPQQBA0kAMEYCIQDR7iTjn26WOrvR8AuBwokDEZcsr9fhoVOCak3o
LqhVEAIhAOhlI+EaQF2EhXECSr2V3uX4e88zSmtNB52yLyNgOkHG
-----END CERTIFICATE-----
`
	sha1Key = `-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIPu0AY5sy443oF5EafYfMJnAlnll8HGcF6AmlYxAJGNsoAoGCCqGSM49
AwEHoUQDQgAERJhgHhX/WaqCTTDywfQCaxVxjfa6s4retq61tb+M1GRTVlve98/7
IqXrYgdXZg8AoTSI26frCQn+ZqfcFb70Gg==
-----END EC PRIVATE KEY-----
`
)

// What Touchdown issues itself is good for a FIPS cluster and for the ciphers of each TLS profile: RSA of 2048 bits, signed with SHA-256.
func TestIssuedCertificatesAreStrong(t *testing.T) {
	now := time.Now()
	api, c := kubetest.New(t)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ca := newCA(t, key, now.Add(-time.Hour), now.Add(400*24*time.Hour))
	api.Put(signerPath, tls(t, certs.Pair{Cert: block("CERTIFICATE", ca.cert.Raw), Key: block("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key))}))
	s, err := certs.APISigner(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := s.Issue([]string{"a.example"}, now)
	if err != nil {
		t.Fatal(err)
	}
	leaf, _, err := certs.Check(pair, []string{"a.example"}, nil, now)
	if err != nil {
		t.Fatal(err)
	}
	if key, ok := leaf.PublicKey.(*rsa.PublicKey); !ok || key.N.BitLen() < 2048 || leaf.SignatureAlgorithm != x509.SHA256WithRSA {
		t.Errorf("%T, %s", leaf.PublicKey, leaf.SignatureAlgorithm)
	}
}

package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"touchdown/backend/problem"
)

// FuzzPair judges certificates and keys that someone pasted.
func FuzzPair(f *testing.F) {
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"api.example.com"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		f.Fatal(err)
	}
	sec1, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		f.Fatal(err)
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	f.Add(cert, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: sec1}), "api.example.com")
	f.Add(cert, cert, "*.example.com")
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), []byte("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"), "")
	f.Fuzz(func(t *testing.T, cert, key []byte, name string) {
		leaf, _, err := Check(Pair{Cert: cert, Key: key}, []string{name}, nil, now)
		if err == nil && (leaf == nil || !covers(leaf, name)) {
			t.Errorf("a certificate that is not for %q was taken", name)
		}
		if err != nil && len(problem.From(err).Summary.String()) > 4<<10+len(name) {
			t.Errorf("a summary of %d bytes", len(problem.From(err).Summary.String()))
		}
	})
}

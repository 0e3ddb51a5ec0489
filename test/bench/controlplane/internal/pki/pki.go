// Package pki makes the certificates of the bench's cluster: the signers an OpenShift cluster keeps in its own Secrets, and what they sign.
package pki

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// Pair is a certificate with its RSA key, both as PEM too. The key is PKCS#1, as library-go writes it.
type Pair struct {
	Cert    *x509.Certificate
	CertPEM []byte
	KeyPEM  []byte
	key     *rsa.PrivateKey
}

// Spec says what a certificate is for.
type Spec struct {
	Name   string   // common name
	Groups []string // organizations; a client's groups
	Hosts  []string // DNS names and addresses; a server's
	Life   time.Duration
}

// NewAuthority makes a self-signed signer.
func NewAuthority(s Spec) (*Pair, error) { return issue(nil, s, true) }

// Authority makes a signer that p signs.
func (p *Pair) Authority(s Spec) (*Pair, error) { return issue(p, s, true) }

// Issue makes a leaf: a server's where the spec has hosts, else a client's.
func (p *Pair) Issue(s Spec) (*Pair, error) { return issue(p, s, false) }

func issue(parent *Pair, s Spec, authority bool) (*Pair, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, fmt.Errorf("making the key of %s: %w", s.Name, err)
	}
	tmpl, err := template(s, authority)
	if err != nil {
		return nil, err
	}
	signer, signerKey := tmpl, key
	if parent != nil {
		signer, signerKey = parent.Cert, parent.key
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, signer, &key.PublicKey, signerKey)
	if err != nil {
		return nil, fmt.Errorf("signing the certificate of %s: %w", s.Name, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("reading back the certificate of %s: %w", s.Name, err)
	}
	p := &Pair{Cert: cert, key: key}
	p.CertPEM = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if parent != nil && !authority {
		p.CertPEM = append(p.CertPEM, parent.CertPEM...)
	}
	p.KeyPEM = pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	return p, nil
}

func template(s Spec, authority bool) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 63))
	if err != nil {
		return nil, fmt.Errorf("drawing a serial number: %w", err)
	}
	t := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: s.Name, Organization: s.Groups},
		NotBefore:             time.Now().Add(-time.Minute),
		NotAfter:              time.Now().Add(s.Life),
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
	}
	switch {
	case authority:
		t.IsCA = true
		t.KeyUsage |= x509.KeyUsageCertSign
	case len(s.Hosts) > 0:
		t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	default:
		t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	}
	for _, host := range s.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
			// Clients older than the SAN rule for addresses look for them among the names; OpenShift lists both.
			t.DNSNames = append(t.DNSNames, host)
			continue
		}
		t.DNSNames = append(t.DNSNames, host)
	}
	return t, nil
}

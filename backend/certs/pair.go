// Package certs issues, checks and installs the certificates that the cluster shows under its new names.
package certs

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"
	"time"

	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/value"
)

// soon is how long a certificate must still be good to be kept, and below which an own one is warned about.
const soon = 30 * 24 * time.Hour

// Pair is a certificate chain, leaf first, and the leaf's key, both PEM.
type Pair struct{ Cert, Key []byte }

// parsed is a Pair whose halves belong together.
type parsed struct {
	chain []*x509.Certificate
	key   crypto.Signer
}

func (p *parsed) leaf() *x509.Certificate { return p.chain[0] }

// Check judges a certificate that a person brought: key, order, dates and names. It returns the leaf, and sentences about
// what is allowed but worth knowing; also are names that are only worth a warning. With a zero now the dates are not judged: the
// time is not known yet.
func Check(p Pair, names, also []string, now time.Time) (leaf *x509.Certificate, warnings []message.Text, err error) {
	own, err := parse(p)
	if err != nil {
		return nil, nil, err
	}
	leaf = own.leaf()
	if err := checkChain(own.chain, now); err != nil {
		return nil, nil, err
	}
	if err := checkStrength(own); err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		if !covers(leaf, name) {
			return nil, nil, &problem.Problem{
				Code:    "CERT-SAN",
				Summary: message.F("The certificate is not for %s; it is for %s.", name, someOf(leaf.DNSNames)),
				Fix:     message.F("Ask for a certificate whose subject alternative names contain %s.", name),
			}
		}
	}
	for _, name := range also {
		if !covers(leaf, name) {
			warnings = append(warnings, message.F("The certificate is not for the old name %s; whoever still uses it will be warned.", name))
		}
	}
	if left := leaf.NotAfter.Sub(now); !now.IsZero() && left < soon {
		warnings = append(warnings, message.F("The certificate is good for only %d more days.", int(left.Hours()/24)))
	}
	return leaf, warnings, nil
}

// Begins is when a chain begins to be valid: the last of its certificates does. It is zero for what cannot be read.
func Begins(p Pair) (begins time.Time) {
	chain, _ := parseChain(p.Cert)
	for _, cert := range chain {
		if cert.NotBefore.After(begins) {
			begins = cert.NotBefore
		}
	}
	return begins
}

// someOf keeps a list that someone else wrote short.
func someOf(names []string) message.Text {
	const most = 5
	if len(names) <= most {
		return message.Data(fmt.Sprintf("%.200s", strings.Join(names, ", ")))
	}
	return message.F("%s and %d more", fmt.Sprintf("%.200s", strings.Join(names[:most], ", ")), len(names)-most)
}

// covers reports whether the leaf is for a name, which may be a wildcard.
func covers(leaf *x509.Certificate, name string) bool {
	if rest, wild := strings.CutPrefix(name, "*."); wild {
		return leaf.VerifyHostname("touchdown-probe."+rest) == nil
	}
	return leaf.VerifyHostname(name) == nil
}

func checkChain(chain []*x509.Certificate, now time.Time) error {
	for i, cert := range chain {
		known := !now.IsZero()
		switch {
		case known && now.Before(cert.NotBefore):
			return &problem.Problem{
				Code:    "CERT-AGE",
				Summary: message.F("Certificate %d of the chain is not valid before %s.", i+1, day(cert.NotBefore)),
				Fix:     message.T("Check the node's clock."),
			}
		case known && !now.Before(cert.NotAfter):
			return &problem.Problem{
				Code:    "CERT-AGE",
				Summary: message.F("Certificate %d of the chain has expired on %s.", i+1, day(cert.NotAfter)),
				Fix:     message.T("Ask for a new certificate, or leave it out: the cluster then makes its own."),
			}
		case i > 0 && !bytes.Equal(chain[i-1].RawIssuer, cert.RawSubject), i > 0 && chain[i-1].CheckSignatureFrom(cert) != nil:
			return &problem.Problem{
				Code:    "CERT-SEQ",
				Summary: message.F("Certificate %d of the chain did not sign certificate %d.", i+1, i),
				Fix:     message.T("Put the server's certificate first, then the one that signed it, and so on."),
			}
		}
	}
	if chain[0].IsCA {
		return &problem.Problem{
			Code:    "CERT-SEQ",
			Summary: message.T("The first certificate is a CA's, not a server's."),
			Fix:     message.T("Put the server's certificate first, then the one that signed it, and so on."),
		}
	}
	if err := value.Serves(chain); err != nil {
		return &problem.Problem{
			Code: "CERT-CHN", Summary: message.T("No client takes this chain of certificates."),
			Fix: message.T("Ask for a certificate of an authority that may sign it, for these names and for servers."), Err: err,
		}
	}
	return nil
}

// parse reads both halves and checks that they belong together.
func parse(p Pair) (*parsed, error) {
	chain, err := parseChain(p.Cert)
	if err != nil {
		return nil, &problem.Problem{
			Code:    "CERT-PEM",
			Summary: message.T("The certificate cannot be read."),
			Fix:     message.T("Give it as PEM, from BEGIN CERTIFICATE to END CERTIFICATE."),
			Err:     err,
		}
	}
	key, err := parseKey(p.Key)
	if err != nil {
		return nil, &problem.Problem{
			Code:    "CERT-KEY",
			Summary: message.T("The certificate's key cannot be read."),
			Fix:     message.T("Give an unencrypted RSA or EC key as PEM; openssl pkey -in OLD -out NEW decrypts one."),
			Err:     err,
		}
	}
	if public, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool }); !ok || !public.Equal(chain[0].PublicKey) {
		return nil, &problem.Problem{
			Code:    "CERT-KEY",
			Summary: message.T("The key does not belong to the certificate."),
			Fix:     message.T("Give the key with which this certificate was requested; the server's certificate comes first."),
		}
	}
	return &parsed{chain, key}, nil
}

func parseChain(b []byte) ([]*x509.Certificate, error) {
	var chain []*x509.Certificate
	blocks, torn := value.PEM(b)
	if torn > 0 {
		return nil, fmt.Errorf("block %d is cut off or damaged", torn)
	}
	for _, block := range blocks {
		if block.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("a %s among the certificates", block.Type)
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("parsing certificate %d: %w", len(chain)+1, err)
		}
		chain = append(chain, cert)
	}
	if len(chain) == 0 {
		return nil, fmt.Errorf("no certificate in it")
	}
	return chain, nil
}

// parseKey takes the three forms in which OpenShift and its users keep keys: PKCS #1, PKCS #8 and SEC 1.
func parseKey(b []byte) (crypto.Signer, error) {
	for {
		var block *pem.Block
		if block, b = pem.Decode(b); block == nil {
			return nil, fmt.Errorf("no private key in it")
		}
		var key any
		var err error
		switch {
		case strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED") || block.Type == "ENCRYPTED PRIVATE KEY":
			return nil, fmt.Errorf("the key is encrypted")
		case block.Type == "RSA PRIVATE KEY":
			key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
		case block.Type == "EC PRIVATE KEY":
			key, err = x509.ParseECPrivateKey(block.Bytes)
		case block.Type == "PRIVATE KEY":
			key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
		default: // openssl writes EC PARAMETERS in front of a key
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("parsing the key: %w", err)
		}
		if signer, ok := key.(crypto.Signer); ok {
			return signer, nil
		}
		return nil, fmt.Errorf("a key of the kind %T", key)
	}
}

func day(t time.Time) string { return t.UTC().Format("2006-01-02") }

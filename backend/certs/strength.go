package certs

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"

	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/value"
)

// leastRSA is what a FIPS cluster's router starts with: with a shorter key it does not (openshift/origin pull request 26803).
const leastRSA = 2048

// checkStrength refuses what the API server would take and the router would not: keys other than RSA and ECDSA, and signatures by MD5 or SHA-1
// (openshift/router 4b401a86d, pkg/router/routeapihelpers/validation.go: privateKeyBlockVerifier, since release-4.14, and
// validateCertSignatureAlgorithms, since release-4.16: a cluster before that would lose its router at the update).
// A signature of a certificate by its own key is not checked there either.
func checkStrength(p *parsed) error {
	var what message.Text
	switch key := p.key.Public().(type) {
	case *rsa.PublicKey:
		if bits := key.N.BitLen(); bits < leastRSA {
			what = message.F("an RSA key of %d bits", bits)
		}
	case *ecdsa.PublicKey:
		if key.Curve == elliptic.P224() {
			what = message.T("an ECDSA key of the curve P-224")
		}
	default:
		what = message.F("a key of the kind %s", p.leaf().PublicKeyAlgorithm)
	}
	if what != (message.Text{}) {
		return &problem.Problem{
			Code:    "CERT-KEY",
			Summary: message.F("The certificate has %s, which OpenShift's router does not serve.", what),
			Fix:     message.F("Ask for a certificate with an RSA key of %d bits or more, or an ECDSA key of the curve P-256, P-384 or P-521.", leastRSA),
		}
	}
	for i, cert := range p.chain {
		if err := checkTaken(i, cert); err != nil {
			return err
		}
		if bytes.Equal(cert.RawIssuer, cert.RawSubject) {
			continue
		}
		switch cert.SignatureAlgorithm {
		case x509.MD2WithRSA, x509.MD5WithRSA, x509.SHA1WithRSA, x509.DSAWithSHA1, x509.ECDSAWithSHA1:
			return &problem.Problem{
				Code:    "CERT-ALG",
				Summary: message.F("Certificate %d of the chain is signed with %s, which OpenShift's router does not serve.", i+1, cert.SignatureAlgorithm),
				Fix:     message.T("Ask for a certificate that is signed with SHA-256 or better."),
			}
		}
	}
	return nil
}

// checkTaken refuses what Go's programs, which oc and the operators are, do not take from a server (crypto/tls, checkKeySize;
// crypto/x509, UnhandledCriticalExtension).
func checkTaken(i int, cert *x509.Certificate) error {
	if key, ok := cert.PublicKey.(*rsa.PublicKey); ok && key.N.BitLen() > value.MostRSA {
		return &problem.Problem{
			Code:    "CERT-KEY",
			Summary: message.F("Certificate %d of the chain has an RSA key of %d bits; OpenShift's own programs take %d at most.", i+1, key.N.BitLen(), value.MostRSA),
			Fix:     message.F("Ask for a certificate with RSA keys of %d to %d bits.", leastRSA, value.MostRSA),
		}
	}
	if len(cert.UnhandledCriticalExtensions) > 0 {
		return &problem.Problem{
			Code:    "CERT-ALG",
			Summary: message.F("Certificate %d of the chain has the critical extension %s, which OpenShift's own programs refuse.", i+1, cert.UnhandledCriticalExtensions[0].String()),
			Fix:     message.T("Ask for a certificate without it."),
		}
	}
	return nil
}

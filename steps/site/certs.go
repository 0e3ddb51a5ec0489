package site

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"slices"
	"strings"

	"touchdown/backend/message"
	"touchdown/backend/value"
)

// minRSA is the shortest RSA key that the DEFAULT crypto policy of RHEL 9 accepts; the router does not start with less.
const minRSA = 2048

// Certificate reports what is wrong with a server's certificate chain, as far as its text alone tells.
func Certificate(s string) error {
	chain, f := parseCerts(s)
	if f != nil {
		return f
	}
	if f := checkOrder(chain); f != nil {
		return f
	}
	return nil
}

// PrivateKey reports what is wrong with a certificate's key. Its errors never hold any of it.
func PrivateKey(s string) error {
	if _, f := parseKey(s); f != nil {
		return f
	}
	return nil
}

// CABundle reports what is wrong with a text of CA certificates.
func CABundle(s string) error {
	if _, f := parseCerts(s); f != nil {
		return f
	}
	return nil
}

// parseCerts reads the certificates of a PEM text, which may have words between its blocks as openssl x509 -text has.
func parseCerts(s string) ([]*x509.Certificate, *Error) {
	var certs []*x509.Certificate
	blocks, torn := value.PEM([]byte(s))
	if torn > 0 {
		return nil, fault(message.T("copy it again, from BEGIN to END"), message.F("has a block that is cut off or damaged, number %d", torn))
	}
	for _, block := range blocks {
		switch {
		case strings.HasSuffix(block.Type, "PRIVATE KEY"):
			return nil, fault(message.T("keep only the CERTIFICATE blocks in it"), message.T("holds a private key"))
		case block.Type != "CERTIFICATE":
			return nil, fault(message.T("keep only the CERTIFICATE blocks in it"), message.T("holds a block that is not a certificate"))
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fault(message.T("copy it again"), message.F("has a certificate that cannot be read, number %d", len(certs)+1))
		}
		certs = append(certs, cert)
	}
	switch {
	case len(certs) == 0 && s == "":
		return nil, fault(message.T("give the certificate as PEM"), message.T("is missing"))
	case len(certs) == 0:
		return nil, fault(message.T("give it as PEM, which starts with -----BEGIN CERTIFICATE-----"), message.T("holds no certificate"))
	}
	return certs, nil
}

// checkOrder wants the server's own certificate first, and behind each the one that signed it.
func checkOrder(chain []*x509.Certificate) *Error {
	fix := message.T("put the server's certificate first, then the one that signed it, and so on")
	for i := 0; i+1 < len(chain); i++ {
		if !signedBy(chain[i], chain[i+1]) {
			return fault(fix, message.F("has its certificates in the wrong order: number %d did not sign number %d", i+2, i+1))
		}
	}
	return nil
}

// signedBy goes by the names alone where Go no longer computes the signature (SHA-1).
func signedBy(cert, issuer *x509.Certificate) bool {
	if !bytes.Equal(cert.RawIssuer, issuer.RawSubject) {
		return false
	}
	err := issuer.CheckSignature(cert.SignatureAlgorithm, cert.RawTBSCertificate, cert.Signature)
	var insecure x509.InsecureAlgorithmError
	return err == nil || errors.As(err, &insecure)
}

// parseKey reads the one key of a PEM text: PKCS #1, PKCS #8 or SEC 1.
func parseKey(s string) (crypto.Signer, *Error) {
	var key crypto.Signer
	blocks, torn := value.PEM([]byte(s))
	if torn > 0 {
		return nil, fault(message.T("copy it again, from BEGIN to END"), message.T("is cut off or damaged"))
	}
	for _, block := range blocks {
		if block.Type == "EC PARAMETERS" { // openssl ecparam -genkey writes it in front of the key
			continue
		}
		if !strings.HasSuffix(block.Type, "PRIVATE KEY") {
			return nil, fault(message.T("keep only the PRIVATE KEY block in it"), message.T("holds a block that is not a private key"))
		}
		if key != nil {
			return nil, fault(message.T("keep the one that belongs to the certificate"), message.T("holds two private keys"))
		}
		var f *Error
		if key, f = parseKeyBlock(block); f != nil {
			return nil, f
		}
	}
	switch {
	case key == nil && s == "":
		return nil, fault(message.T("give the key as PEM"), message.T("is missing"))
	case key == nil:
		return nil, fault(message.T("give it as PEM, which starts with -----BEGIN and PRIVATE KEY-----"), message.T("holds no private key"))
	}
	return key, nil
}

func parseKeyBlock(block *pem.Block) (crypto.Signer, *Error) {
	if block.Type == "ENCRYPTED PRIVATE KEY" || strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED") {
		return nil, fault(message.T("decrypt it: openssl pkey -in OLD -out NEW"), message.T("is encrypted with a password"))
	}
	var parsed any
	var err error
	switch block.Type {
	case "RSA PRIVATE KEY":
		parsed, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		parsed, err = x509.ParseECPrivateKey(block.Bytes)
	case "PRIVATE KEY":
		parsed, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	default:
		return nil, fault(message.T("use an RSA or EC key"), message.T("is of a kind that OpenShift does not take"))
	}
	if err != nil {
		return nil, fault(message.T("copy it again, from BEGIN to END"), message.T("cannot be read"))
	}
	switch key := parsed.(type) {
	case *rsa.PrivateKey:
		if key.N.BitLen() < minRSA {
			return nil, fault(message.T("have a certificate made with a longer key"), message.F("is an RSA key of %d bits, less than %d", key.N.BitLen(), minRSA))
		}
		return key, nil
	case *ecdsa.PrivateKey:
		if key.Curve == elliptic.P224() { // crypto/tls has no signature of TLS 1.3 for it (signatureSchemesForCertificate)
			return nil, fault(message.T("use a key of the curve P-256, P-384 or P-521"), message.T("is of the curve P-224, which TLS 1.3 does not know"))
		}
		return key, nil
	}
	return nil, fault(message.T("use an RSA or EC key"), message.T("is of a kind that OpenShift does not take"))
}

// oldDigests are the signatures that clients refuse, and OpenSSL at the security level of RHEL's DEFAULT crypto policy, too.
var oldDigests = []x509.SignatureAlgorithm{x509.MD2WithRSA, x509.MD5WithRSA, x509.SHA1WithRSA, x509.ECDSAWithSHA1, x509.DSAWithSHA1}

// judgeChain wants what every client of the cluster takes: a server's certificate behind which authorities stand, with keys and extensions that
// Go's programs know, which the cluster's operators and oc are. certs.Check refuses the same, when the cluster is changed already.
func judgeChain(v *judge, path string, chain []*x509.Certificate) {
	before := len(v.errs)
	if chain[0].IsCA {
		v.fail(path, fault(message.T("have one made for a TLS server"), message.T("begins with the certificate of an authority (CA:TRUE), not of a server")))
	}
	for i, cert := range chain {
		if i > 0 && !mayIssue(cert) {
			v.fail(path, fault(message.T("give the certificate of the authority"), message.F("holds a certificate that is not an authority, number %d", i+1)))
		}
		if key, ok := cert.PublicKey.(*rsa.PublicKey); ok && key.N.BitLen() > value.MostRSA {
			v.fail(path, fault(message.F("have one made with RSA keys of %d to %d bits", minRSA, value.MostRSA), message.F("has an RSA key of %d bits, more than OpenShift's own programs take (certificate %d)", key.N.BitLen(), i+1)))
		}
		if len(cert.UnhandledCriticalExtensions) > 0 {
			v.fail(path, fault(message.T("have one made without it"), message.F("has the critical extension %s, which OpenShift's own programs refuse (certificate %d)", cert.UnhandledCriticalExtensions[0].String(), i+1)))
		}
	}
	if len(v.errs) > before {
		return
	}
	if err := value.Serves(chain); err != nil {
		v.fail(path, fault(message.T("have one made by an authority that may sign it"), message.F("is a chain that no client takes: %s", message.Detail(err))))
	}
}

// mayIssue tells whether a certificate is an authority's, as Certificate.CheckSignatureFrom of crypto/x509 wants it.
func mayIssue(cert *x509.Certificate) bool {
	const v3 = 3
	return cert.IsCA && (cert.KeyUsage == 0 || cert.KeyUsage&x509.KeyUsageCertSign != 0) || cert.Version < v3
}

// judgeClients wants signatures that Go's programs take (crypto/x509, InsecureAlgorithmError). That of a root on itself counts for nothing.
func judgeClients(v *judge, path string, chain []*x509.Certificate) {
	for i, cert := range chain {
		if slices.Contains(oldDigests, cert.SignatureAlgorithm) && !bytes.Equal(cert.RawIssuer, cert.RawSubject) {
			v.fail(path, fault(message.T("have one made with SHA-256"), message.F("is signed with %s, which clients refuse (certificate %d)", cert.SignatureAlgorithm, i+1)))
		}
	}
}

// judgeRouter wants a chain that the router loads. HAProxy does not start with another one (OpenSSL, ssl_security_cert: "ca md too weak",
// "ca key too small"), and no route of the cluster answers then. The signature of a root on itself counts for nothing.
func judgeRouter(v *judge, path string, chain []*x509.Certificate) {
	for i, cert := range chain {
		if key, ok := cert.PublicKey.(*rsa.PublicKey); ok && key.N.BitLen() < minRSA {
			v.fail(path, fault(message.T("have one made with longer keys"), message.F("has an RSA key of %d bits, with which the router does not start (certificate %d)", key.N.BitLen(), i+1)))
		}
		if slices.Contains(oldDigests, cert.SignatureAlgorithm) && !bytes.Equal(cert.RawIssuer, cert.RawSubject) {
			v.fail(path, fault(message.T("have one made with SHA-256"), message.F("is signed with %s, with which the router does not start (certificate %d)", cert.SignatureAlgorithm, i+1)))
		}
	}
}

// judgeBrowsers warns of a key with which the console does not open in a browser made from Chromium, which offers no signature of the curve P-521
// (BoringSSL, ssl/extensions.cc, kVerifySignatureAlgorithms). Go's programs, OpenSSL and Firefox take it.
func judgeBrowsers(v *judge, path string, chain []*x509.Certificate) {
	if key, ok := chain[0].PublicKey.(*ecdsa.PublicKey); ok && key.Curve == elliptic.P521() {
		v.warn(path, fault(message.T("have one made with P-256 or P-384"), message.T("has a key of the curve P-521, with which Chrome and Edge do not open the cluster's console")))
	}
}

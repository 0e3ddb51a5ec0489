package login

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"time"
)

// skew lets a server whose clock is a little behind take a new certificate at once.
const skew = time.Hour

// signerName begins the name of each CA that Touchdown makes for a kubeconfig.
const signerName = "touchdown_admin-kubeconfig-signer@"

// client is a client certificate of the cluster's administrator with its key, and the CA that signed it; all PEM. The key of that
// CA is gone: it signs nothing else, so that to take it out of the cluster's bundle revokes this certificate and no other.
type client struct{ ca, cert, key []byte }

// newClient makes them. User and group are those of the installer's kubeconfig; keys are RSA, as all of OpenShift's are.
func newClient(now, end time.Time) (client, error) {
	caKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return client{}, fmt.Errorf("making a key: %w", err)
	}
	ca := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: fmt.Sprint(signerName, now.Unix())},
		NotBefore: now.Add(-skew), NotAfter: end, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
	}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		return client{}, fmt.Errorf("making a CA: %w", err)
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return client{}, fmt.Errorf("making a key: %w", err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: "system:admin", Organization: []string{"system:masters"}},
		NotBefore: now.Add(-skew), NotAfter: end, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, BasicConstraintsValid: true,
	}, ca, key.Public(), caKey)
	if err != nil {
		return client{}, fmt.Errorf("making a client certificate: %w", err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return client{}, fmt.Errorf("encoding a key: %w", err)
	}
	return client{ca: encode("CERTIFICATE", caDER), cert: encode("CERTIFICATE", der), key: encode("PRIVATE KEY", pkcs8)}, nil
}

func serial() *big.Int {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // it never fails: crypto/rand
	return new(big.Int).Add(new(big.Int).SetBytes(b), big.NewInt(1))
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// fingerprint names a certificate, given as PEM.
func fingerprint(text []byte) string {
	block, _ := pem.Decode(text)
	if block == nil {
		return ""
	}
	sum := sha256.Sum256(block.Bytes)
	return hex.EncodeToString(sum[:])
}

// without takes the certificates out of a bundle that drop says; what else is in it stays to the byte.
func without(bundle string, drop func(*x509.Certificate, string) bool) string {
	for rest := []byte(bundle); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return bundle
		}
		text := encode(block.Type, block.Bytes)
		cert, err := x509.ParseCertificate(block.Bytes)
		if err == nil && drop(cert, fingerprint(text)) {
			bundle = strings.Replace(bundle, string(text), "", 1)
		}
	}
}

// with puts a certificate behind a bundle.
func with(bundle string, cert []byte) string {
	if bundle != "" && !strings.HasSuffix(bundle, "\n") {
		bundle += "\n"
	}
	return bundle + string(cert)
}

package certs

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// skew lets a client whose clock is a little behind use a new certificate at once.
const skew = time.Hour

// Lives of the certificates that Touchdown issues. Nothing renews them, so they are long: as long as the CRO's for the
// API; for browsers the most that Apple's accept. The signer's own end always comes first.
const (
	apiLife  = 10 * 365 * 24 * time.Hour
	appsLife = 825 * 24 * time.Hour
)

// Signer is a CA of the cluster itself, which its clients already trust.
type Signer struct {
	chain []*x509.Certificate
	key   crypto.Signer
	life  time.Duration
}

// APISigner is the CA that every kubeconfig of the cluster trusts.
func APISigner(ctx context.Context, c *kube.Cluster) (*Signer, error) {
	return loadSigner(ctx, c, kube.Secret("openshift-kube-apiserver-operator", "loadbalancer-serving-signer"), apiLife)
}

// AppsSigner is the CA of the router.
func AppsSigner(ctx context.Context, c *kube.Cluster) (*Signer, error) {
	return loadSigner(ctx, c, kube.Secret("openshift-ingress-operator", "router-ca"), appsLife)
}

func loadSigner(ctx context.Context, c *kube.Cluster, ref kube.Ref, life time.Duration) (*Signer, error) {
	secret, err := readSecret(ctx, c, ref)
	if err != nil {
		return nil, err
	}
	p, err := parse(Pair{secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey]})
	if err != nil {
		return nil, &problem.Problem{
			Code:    "CERT-SGN",
			Summary: message.F("The cluster's own signer %s cannot be used.", ref.String()),
			Fix:     message.T("Bring your own certificate for the new names."),
			Err:     err,
		}
	}
	return &Signer{p.chain, p.key, life}, nil
}

func readSecret(ctx context.Context, c *kube.Cluster, ref kube.Ref) (*corev1.Secret, error) {
	var secret *corev1.Secret
	err := c.Do(ctx, "reading "+ref.String(), func(ctx context.Context) error {
		var err error
		secret, err = c.Core.Secrets(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		return err
	})
	return secret, err
}

// Roots is what a client trusts that trusts this signer.
func (s *Signer) Roots() *x509.CertPool {
	pool := x509.NewCertPool()
	for _, ca := range s.chain {
		pool.AddCert(ca)
	}
	return pool
}

// Fingerprint is the SHA-256 of a certificate, in hex.
func Fingerprint(cert *x509.Certificate) string {
	sum := sha256.Sum256(cert.Raw)
	return hex.EncodeToString(sum[:])
}

// Issue makes a certificate for names. The key is RSA because all of OpenShift's own are: a cluster whose TLS profile
// lists only RSA ciphers could not serve an ECDSA one.
func (s *Signer) Issue(names []string, now time.Time) (Pair, error) {
	ca := s.chain[0]
	end := now.Add(s.life)
	if ca.NotAfter.Before(end) {
		end = ca.NotAfter
	}
	if end.Sub(now) < soon || now.Before(ca.NotBefore) {
		return Pair{}, &problem.Problem{
			Code:    "CERT-SGN",
			Summary: message.F("The cluster's own signer is good from %s to %s only.", day(ca.NotBefore), day(ca.NotAfter)),
			Fix:     message.T("Check the node's clock, or bring your own certificate for the new names."),
		}
	}
	start := now.Add(-skew)
	if start.Before(ca.NotBefore) {
		start = ca.NotBefore
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return Pair{}, fmt.Errorf("making a key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 128))
	if err != nil {
		return Pair{}, fmt.Errorf("making a serial number: %w", err)
	}
	cert, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber:          serial.Add(serial, big.NewInt(1)), // never zero
		Subject:               pkix.Name{CommonName: commonName(names)},
		DNSNames:              names,
		NotBefore:             start,
		NotAfter:              end,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}, ca, key.Public(), s.key)
	if err != nil {
		return Pair{}, fmt.Errorf("issuing a certificate for %v: %w", names, err)
	}
	return s.pair(cert, key)
}

// pair puts the signer behind the leaf: the ingress operator publishes the router's chain as the CA that the console
// and the login trust.
func (s *Signer) pair(leaf []byte, key *rsa.PrivateKey) (Pair, error) {
	chain := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf})
	for _, ca := range s.chain {
		chain = append(chain, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Raw})...)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, fmt.Errorf("encoding the key: %w", err)
	}
	return Pair{Cert: chain, Key: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})}, nil
}

// commonName is the first name, which older clients still show; X.509 allows 64 characters there.
func commonName(names []string) string {
	if len(names) == 0 || len(names[0]) > 64 {
		return ""
	}
	return names[0]
}

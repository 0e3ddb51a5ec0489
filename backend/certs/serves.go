package certs

import (
	"context"
	"crypto/x509"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"touchdown/backend/kube"
)

// Serves returns the certificate of a Secret that can go on serving names, nil when it cannot: it is a TLS Secret, the key is the
// certificate's, the chain is in order, it is for all of names, and has more than 30 days to go. Who signed it does not matter.
func Serves(ctx context.Context, c *kube.Cluster, ref kube.Ref, names []string, now time.Time) (*Pair, *x509.Certificate, error) {
	secret, err := readSecret(ctx, c, ref)
	if apierrors.IsNotFound(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	pair := Pair{secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey]}
	leaf, _, err := Check(pair, names, nil, now)
	if err != nil || secret.Type != corev1.SecretTypeTLS || leaf.NotAfter.Sub(now) < soon {
		return nil, nil, nil //nolint:nilerr // the verdict is that it cannot
	}
	return &pair, leaf, nil
}

// Anchor is the last certificate of a chain, whose signer a client has to trust or which it has to trust itself; nil when there is none.
func (p Pair) Anchor() *x509.Certificate {
	chain, err := parseChain(p.Cert)
	if err != nil {
		return nil
	}
	return chain[len(chain)-1]
}

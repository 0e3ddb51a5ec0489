package certs

import (
	"context"
	"crypto/x509"
	"strings"
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

// Brought returns the certificate that an earlier landing of the site brought into the Secret of a Want and that can go on serving its names,
// nil where there is none: the cluster's signer did not sign it, nor one that it had before, which no client trusts any more. It is
// for a landing that brings none; its key may be nowhere else.
func Brought(ctx context.Context, c *kube.Cluster, w Want) (*Pair, *x509.Certificate, error) {
	for _, namespace := range w.Namespaces {
		secret, err := readSecret(ctx, c, kube.Secret(namespace, w.Secret))
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		pair := Pair{secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey]}
		if leaf, _, err := Check(pair, w.Names, nil, w.Now); err == nil && secret.Type == corev1.SecretTypeTLS && !w.Signer.signed(leaf) {
			return &pair, leaf, nil
		}
	}
	return nil, nil, nil
}

// signed tells whether the signer, or one that the cluster had in its place before, issued a certificate. Their names differ in what
// follows the @, the time at which they were made (openshift/library-go pkg/operator/certrotation/signer.go; the ingress operator does the same); the
// installer's first signer of the API has another one (openshift/installer pkg/asset/tls).
func (s *Signer) signed(leaf *x509.Certificate) bool {
	is, _, _ := strings.Cut(s.chain[0].Subject.CommonName, "@")
	by, _, _ := strings.Cut(leaf.Issuer.CommonName, "@")
	return by == is || by == "kube-apiserver-lb-signer" || leaf.CheckSignatureFrom(s.chain[0]) == nil
}

// Anchor is the last certificate of a chain, whose signer a client has to trust or which it has to trust itself; nil when there is none.
func (p Pair) Anchor() *x509.Certificate {
	chain, err := parseChain(p.Cert)
	if err != nil {
		return nil
	}
	return chain[len(chain)-1]
}

package csr

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/kube"
	"touchdown/backend/message"
)

// Where kube-controller-manager has what it signs the kubelet's certificates with. It lives for 30 days.
const (
	signerNamespace = "openshift-kube-controller-manager"
	signerSecret    = "csr-signer"
)

// Unsigned names this node's newest request that is approved and has no certificate: the cluster has not signed it yet. "" where
// there is none. A signer that expired in storage signs nothing (k8s.io/kubernetes pkg/controller/certificates/authority,
// policies.go): the request waits, approved, until the recovery controller beside kube-controller-manager has renewed the signer.
func Unsigned(ctx context.Context, c *kube.Cluster, e Expect) (message.Text, error) {
	items, err := list(ctx, c)
	if err != nil {
		return message.Text{}, err
	}
	var newest *certificatesv1.CertificateSigningRequest
	for i := range items {
		r := &items[i]
		if unsigned(r) && foreign(r, e) == nil && (newest == nil || r.CreationTimestamp.After(newest.CreationTimestamp.Time)) {
			newest = r
		}
	}
	if newest == nil {
		return message.Text{}, nil
	}
	if end, is := signerEnd(ctx, c); is && e.now().After(end) {
		return message.F("the cluster to sign %s: its signer expired on %s, and the cluster renews it within minutes", newest.Name, end.UTC().Format(time.DateOnly)), nil
	}
	return message.F("the cluster to sign %s", newest.Name), nil
}

func unsigned(r *certificatesv1.CertificateSigningRequest) bool {
	is := func(kind certificatesv1.RequestConditionType) bool {
		return slices.ContainsFunc(r.Status.Conditions, func(c certificatesv1.CertificateSigningRequestCondition) bool { return c.Type == kind })
	}
	return len(r.Status.Certificate) == 0 && is(certificatesv1.CertificateApproved) && !is(certificatesv1.CertificateFailed)
}

// signerEnd is when the signer expires; not known where it cannot be read, which stops nothing.
func signerEnd(ctx context.Context, c *kube.Cluster) (end time.Time, known bool) {
	secret, err := c.Core.Secrets(signerNamespace).Get(ctx, signerSecret, metav1.GetOptions{})
	if err != nil {
		return time.Time{}, false
	}
	block, _ := pem.Decode(secret.Data[corev1.TLSCertKey])
	if block == nil {
		return time.Time{}, false
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return time.Time{}, false
	}
	return leaf.NotAfter, true
}

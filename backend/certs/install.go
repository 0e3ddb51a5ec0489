package certs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Want is a certificate that shall lie in the cluster.
type Want struct {
	Secret     string   // its name, in each of Namespaces
	Namespaces []string // where those who serve it look for it
	Names      []string // DNS names that it must be for
	Own        *Pair    // a person's; nil: the signer issues one
	Signer     *Signer  //
	Now        time.Time
}

// Installed is a certificate that lies in the cluster and was read back.
type Installed struct {
	Leaf   *x509.Certificate
	Issued bool // made just now
}

const ownAPI, ownApps = "touchdown-api-", "touchdown-apps-"

// APISecret is the name of the Secret for api.DOMAIN.
func APISecret(domain string) string { return ownAPI + short(domain) }

// AppsSecret is the name of the Secret for *.apps.DOMAIN.
func AppsSecret(domain string) string { return ownApps + short(domain) }

// Ours tells whether a Secret has a name that Touchdown gives, for whatever domain.
func Ours(secret string) bool {
	return strings.HasPrefix(secret, ownAPI) || strings.HasPrefix(secret, ownApps)
}

// short keeps the names of two domains apart and within a label.
func short(domain string) string {
	sum := sha256.Sum256([]byte(domain))
	return hex.EncodeToString(sum[:4])
}

// usable returns the certificate that lies in the cluster already and can stay, or nil: right names, right issuer, its own key,
// and more than 30 days to go.
func usable(ctx context.Context, c *kube.Cluster, w Want) (*Pair, *x509.Certificate, error) {
	for _, namespace := range w.Namespaces {
		secret, err := readSecret(ctx, c, kube.Secret(namespace, w.Secret))
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		pair := Pair{secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey]}
		if leaf := w.keeps(pair); leaf != nil {
			return &pair, leaf, nil
		}
	}
	return nil, nil, nil
}

func (w Want) keeps(pair Pair) *x509.Certificate {
	p, err := parse(pair)
	if err != nil {
		return nil
	}
	leaf := p.leaf()
	switch {
	case w.Own != nil:
		if !bytes.Equal(pair.Cert, w.Own.Cert) || !bytes.Equal(pair.Key, w.Own.Key) {
			return nil
		}
	case leaf.CheckSignatureFrom(w.Signer.chain[0]) != nil, !sameNames(leaf.DNSNames, w.Names),
		leaf.NotAfter.Sub(w.Now) < soon, w.Now.Before(leaf.NotBefore):
		return nil
	}
	return leaf
}

func sameNames(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// Install puts the certificate into its Secrets, unless it is there, and reads each of them back.
func Install(ctx context.Context, c *kube.Cluster, w Want, save kube.Save) (Installed, error) {
	if w.Own != nil {
		if _, _, err := Check(*w.Own, w.Names, nil, w.Now); err != nil {
			return Installed{}, err
		}
	}
	pair, _, err := usable(ctx, c, w)
	if err != nil {
		return Installed{}, err
	}
	issued := false
	switch {
	case pair != nil:
	case w.Own != nil:
		pair = w.Own
	default:
		made, err := w.Signer.Issue(w.Names, w.Now)
		if err != nil {
			return Installed{}, err
		}
		pair, issued = &made, true
	}
	for _, namespace := range w.Namespaces {
		if _, err := c.PutSecret(ctx, secret(namespace, w.Secret, *pair), save); err != nil {
			return Installed{}, err
		}
	}
	leaf, err := ReadBack(ctx, c, w)
	if err != nil {
		return Installed{}, err
	}
	return Installed{Leaf: leaf, Issued: issued}, nil
}

// ReadBack reads the Secrets from the API, parses them and checks that all hold the same certificate, for the wanted names.
// Nothing may refer to a Secret before: the API server does not start with one that it cannot read.
func ReadBack(ctx context.Context, c *kube.Cluster, w Want) (*x509.Certificate, error) {
	var leaf *x509.Certificate
	for _, namespace := range w.Namespaces {
		ref := kube.Secret(namespace, w.Secret)
		secret, err := readSecret(ctx, c, ref)
		if err != nil {
			return nil, err
		}
		pair := Pair{secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey]}
		found, _, err := Check(pair, w.Names, nil, w.Now)
		if err == nil && leaf != nil && !leaf.Equal(found) {
			err = fmt.Errorf("it differs from the one in %s", w.Namespaces[0])
		}
		if err != nil {
			return nil, &problem.Problem{
				Code:    "CERT-BCK",
				Summary: message.F("The certificate in %s is not the one that was put there.", ref.String()),
				Fix:     message.T("Retry; if it happens again, stop whatever else manages this secret."),
				Err:     err,
			}
		}
		leaf = found
	}
	return leaf, nil
}

func secret(namespace, name string, p Pair) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name,
			Labels: map[string]string{"app.kubernetes.io/managed-by": "touchdown"},
		},
		Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{corev1.TLSCertKey: p.Cert, corev1.TLSPrivateKeyKey: p.Key},
	}
}

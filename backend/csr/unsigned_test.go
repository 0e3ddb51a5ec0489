package csr_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/csr"
	"touchdown/backend/kube/kubetest"
)

const clusterSigner = "/api/v1/namespaces/openshift-kube-controller-manager/secrets/csr-signer"

// authority is a certificate that ends at a moment.
func authority(t *testing.T, end time.Time) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	plan := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: subject("kube-csr-signer"), NotBefore: end.Add(-30 * 24 * time.Hour), NotAfter: end, IsCA: true}
	der, err := x509.CreateCertificate(rand.Reader, plan, plan, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// TestUnsignedRequestsAreNamed: of the node's own approved requests the newest without a certificate is what the node waits for, and
// a signer that expired is the reason.
func TestUnsignedRequestsAreNamed(t *testing.T) {
	api, c := kubetest.New(t)
	now := time.Now()
	put := func(name string, made time.Time, make maker, signed bool, conditions ...certificatesv1.RequestConditionType) {
		t.Helper()
		a, spec := make()
		r := a.build(t, spec)
		r.TypeMeta = metav1.TypeMeta{APIVersion: "certificates.k8s.io/v1", Kind: "CertificateSigningRequest"}
		r.Name, r.CreationTimestamp = name, metav1.NewTime(made)
		for _, kind := range conditions {
			r.Status.Conditions = append(r.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{Type: kind, Status: corev1.ConditionTrue})
		}
		if signed {
			r.Status.Certificate = []byte("signed")
		}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		api.Put("/apis/certificates.k8s.io/v1/certificatesigningrequests/"+name, string(b))
	}
	says := func(want string) {
		t.Helper()
		e := sno()
		e.Now = now
		got, err := csr.Unsigned(t.Context(), c, e)
		if err != nil || got.String() != want {
			t.Errorf("it says %q, %v; want %q", got, err, want)
		}
	}
	const approved, failed, denied = certificatesv1.CertificateApproved, certificatesv1.CertificateFailed, certificatesv1.CertificateDenied
	put("undecided", now, client, false)
	put("denied", now, client, false, denied)
	put("refused", now, client, false, approved, failed)
	put("signed", now, client, true, approved)
	put("foreign", now, func() (ask, certificatesv1.CertificateSigningRequestSpec) {
		a, spec := client()
		a.template.Subject = subject("system:node:intruder", "system:nodes")
		return a, spec
	}, false, approved)
	says("")
	put("old", now.Add(-time.Hour), client, false, approved)
	put("new", now.Add(-time.Minute), client, false, approved)
	says("the cluster to sign new")

	secret := func(end time.Time) {
		b, err := json.Marshal(&corev1.Secret{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "openshift-kube-controller-manager", Name: "csr-signer"},
			Data:       map[string][]byte{corev1.TLSCertKey: authority(t, end)},
		})
		if err != nil {
			t.Fatal(err)
		}
		api.Put(clusterSigner, string(b))
	}
	secret(now.Add(time.Hour))
	says("the cluster to sign new")
	ended := now.Add(-300 * 24 * time.Hour)
	secret(ended)
	says("the cluster to sign new: its signer expired on " + ended.UTC().Format(time.DateOnly) + ", and the cluster renews it within minutes")
	api.Put(clusterSigner, strings.ReplaceAll(api.Get(clusterSigner), `"tls.crt":"`, `"tls.crt":"AAAA`))
	says("the cluster to sign new")
}

package steps_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"touchdown/backend/certs"
	"touchdown/backend/domain"
	"touchdown/steps/site"
)

// issuedBy is a certificate of an authority with some name, which nobody else has.
func issuedBy(t *testing.T, authority string, names ...string) certs.Pair {
	t.Helper()
	ca, leaf := newKey(t), newKey(t)
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: authority}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().AddDate(-1, 0, 0), NotAfter: time.Now().AddDate(1, 0, 0),
	}
	cert := &x509.Certificate{SerialNumber: big.NewInt(2), DNSNames: names, NotBefore: root.NotBefore, NotAfter: time.Now().AddDate(0, 0, 9)}
	der, err := x509.CreateCertificate(rand.Reader, cert, root, leaf.Public(), ca)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(leaf)
	if err != nil {
		t.Fatal(err)
	}
	return certs.Pair{Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), Key: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestCertificatesOfAnEarlierLandingStay: a landing that brings none leaves the company's certificates of the one before in service, also where
// one of the Secrets was lost, and its undo too. One of a signer that the cluster had before is replaced.
func TestCertificatesOfAnEarlierLandingStay(t *testing.T) {
	apiName, apps := domain.API(newDomain), "*."+domain.Apps(newDomain)
	api := "/api/v1/namespaces/openshift-config/secrets/" + certs.APISecret(newDomain)
	copied := "/api/v1/namespaces/openshift-config/secrets/" + certs.AppsSecret(newDomain)
	routers := "/api/v1/namespaces/openshift-ingress/secrets/" + certs.AppsSecret(newDomain)
	for authority, stays := range map[string]bool{"Company": true, "": true, "signer@1700000000": false, "kube-apiserver-lb-signer": false} {
		t.Run(authority, func(t *testing.T) {
			t.Parallel()
			o := newOwned(t)
			for path, pair := range map[*site.KeyPair]certs.Pair{&o.site.Spec.APICert: issuedBy(t, authority, apiName), &o.site.Spec.IngressCert.KeyPair: issuedBy(t, authority, apps)} {
				path.Cert, path.Key = string(pair.Cert), site.Secret(pair.Key)
			}
			o.move(t)
			served := func() string { return o.api.Get(api, "data") + o.api.Get(routers, "data") + o.api.Get(copied, "data") }
			first := served()
			o.site.Spec.APICert, o.site.Spec.IngressCert = site.KeyPair{}, site.IngressCert{}
			o.api.Drop(copied)
			review, undo := o.move(t)
			if told := strings.Count(review, "-> stays; good until "); told != 2 && stays || told > 0 && !stays {
				t.Errorf("the review is %s", review)
			}
			if (served() == first) != stays {
				t.Errorf("left as they were: %t", !stays)
			}
			undo()
			o.api.Put(copied, o.api.Get(routers))
			if served() != first {
				t.Error("the undo does not leave the certificates of the earlier landing")
			}
		})
	}
}

package domain_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"testing"
	"time"

	"touchdown/backend/kube/kubetest"
)

// put stores a certificate for names as a Secret, good for a year.
func put(t *testing.T, api *kubetest.API, namespace, secret string, names ...string) {
	t.Helper()
	putPair(t, api, namespace, secret, time.Now().AddDate(1, 0, 0), names...)
}

// putPair stores one that is good until end.
func putPair(t *testing.T, api *kubetest.API, namespace, secret string, end time.Time, names ...string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	fatal(t, err)
	leaf := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: names, NotBefore: time.Now().Add(-time.Hour), NotAfter: end}
	der, err := x509.CreateCertificate(rand.Reader, leaf, leaf, key.Public(), key)
	fatal(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	fatal(t, err)
	text := func(kind string, b []byte) string {
		return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}))
	}
	api.Put("/api/v1/namespaces/"+namespace+"/secrets/"+secret, fmt.Sprintf(
		`{"type":"kubernetes.io/tls","data":{"tls.crt":%q,"tls.key":%q}}`, text("CERTIFICATE", der), text("PRIVATE KEY", private)))
}

package bench_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	configclient "github.com/openshift/client-go/config/clientset/versioned"
	operatorclient "github.com/openshift/client-go/operator/clientset/versioned"
	routeclient "github.com/openshift/client-go/route/clientset/versioned"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"touchdown/test/bench"
)

// site is a cluster with the clients the program under test would use.
type site struct {
	*bench.Cluster
	kube     kubernetes.Interface
	config   configclient.Interface
	operator operatorclient.Interface
	route    routeclient.Interface
}

func start(t *testing.T, o bench.Options) *site {
	t.Helper()
	s := &site{Cluster: bench.Start(t, o)}
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig)
	check(t, err)
	config.UserAgent, config.QPS = "touchdown/test", -1
	s.connect(t, config)
	return s
}

func (s *site) connect(t *testing.T, config *rest.Config) {
	t.Helper()
	var err error
	s.kube, err = kubernetes.NewForConfig(config)
	check(t, err)
	s.config, err = configclient.NewForConfig(config)
	check(t, err)
	s.operator, err = operatorclient.NewForConfig(config)
	check(t, err)
	s.route, err = routeclient.NewForConfig(config)
	check(t, err)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// secret makes a TLS Secret for a name and returns the certificate's serial number.
func (s *site) secret(t *testing.T, namespace, name string, hosts ...string) *big.Int {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	check(t, err)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: hosts[0]}, DNSNames: hosts,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}, &x509.Certificate{Subject: pkix.Name{CommonName: "test"}}, &key.PublicKey, key)
	check(t, err)
	keyDER, err := x509.MarshalECPrivateKey(key)
	check(t, err)
	_, err = s.kube.CoreV1().Secrets(namespace).Create(t.Context(), &v1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Type: v1.SecretTypeTLS, Data: map[string][]byte{
		v1.TLSCertKey:       pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		v1.TLSPrivateKeyKey: pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}),
	}}, metav1.CreateOptions{})
	check(t, err)
	return serial
}

func (s *site) nameCertificate(t *testing.T, host, secret string) {
	t.Helper()
	patch := fmt.Appendf(nil, `{"spec":{"servingCerts":{"namedCertificates":[{"names":[%q],"servingCertificate":{"name":%q}}]}}}`, host, secret)
	_, err := s.config.ConfigV1().APIServers().Patch(t.Context(), "cluster", types.MergePatchType, patch, metav1.PatchOptions{})
	check(t, err)
}

func (s *site) serves(ctx context.Context, port, host string, serial *big.Int) bool {
	leaf, err := s.Leaf(ctx, port, host)
	return err == nil && leaf.SerialNumber.Cmp(serial) == 0
}

func (s *site) operatorIs(ctx context.Context, name string, kind configv1.ClusterStatusConditionType, want configv1.ConditionStatus) bool {
	co, err := s.config.ConfigV1().ClusterOperators().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return false
	}
	for _, c := range co.Status.Conditions {
		if c.Type == kind {
			return c.Status == want
		}
	}
	return false
}

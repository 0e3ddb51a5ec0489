package health_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"net"
	"strings"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/check"
	requests "touchdown/backend/csr"
	"touchdown/backend/health"
	"touchdown/backend/message"
)

// needless judges requests as the step csrs does, with what the kubelet's files say.
func needless(k *requests.Kubelet) func([]corev1.Node, []certificatesv1.CertificateSigningRequest) map[string]message.Text {
	return func(nodes []corev1.Node, all []certificatesv1.CertificateSigningRequest) map[string]message.Text {
		e, _ := requests.SelfOf(nodes, "node")
		e.Now, e.Kubelet = now, k
		return requests.Needless(all, e)
	}
}

// asked is a request as a kubelet writes it.
func asked(name string, age time.Duration, ips []net.IP, spec certificatesv1.CertificateSigningRequestSpec, conditions []certificatesv1.RequestConditionType) certificatesv1.CertificateSigningRequest {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: "system:node:node", Organization: []string{"system:nodes"}}, IPAddresses: ips,
	}, key)
	if err != nil {
		panic(err)
	}
	spec.Request = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
	r := certificatesv1.CertificateSigningRequest{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: ago(age)}, Spec: spec}
	for _, c := range conditions {
		r.Status.Conditions = append(r.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{Type: c})
	}
	return r
}

// csr is the node's request for its serving certificate.
func csr(age time.Duration, conditions ...certificatesv1.RequestConditionType) certificatesv1.CertificateSigningRequest {
	return asked("csr-1", age, []net.IP{nodeIP.AsSlice()}, certificatesv1.CertificateSigningRequestSpec{
		SignerName: certificatesv1.KubeletServingSignerName, Username: "system:node:node", Groups: []string{"system:nodes", "system:authenticated"},
		Usages: []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageServerAuth},
	}, conditions)
}

// clientCSR is one for its client certificate, with the bootstrap token.
func clientCSR(name string, age time.Duration, conditions ...certificatesv1.RequestConditionType) certificatesv1.CertificateSigningRequest {
	return asked(name, age, nil, certificatesv1.CertificateSigningRequestSpec{
		SignerName: certificatesv1.KubeAPIServerClientKubeletSignerName,
		Username:   "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper",
		Groups:     []string{"system:serviceaccounts", "system:serviceaccounts:openshift-machine-config-operator", "system:authenticated"},
		Usages:     []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageClientAuth},
	}, conditions)
}

// Whoever has the bootstrap token can ask in the node's name, and blocks no landing: a kubelet with a valid certificate does not use the token.
func TestAHolderOfTheToken(t *testing.T) {
	s := healthy()
	s.CSRs = []certificatesv1.CertificateSigningRequest{clientCSR("csr-stranger", time.Hour)}
	for _, c := range []struct {
		kubelet *requests.Kubelet
		want    check.Status
	}{{&requests.Kubelet{Good: true}, check.Warn}, {&requests.Kubelet{}, check.Fail}} {
		for _, got := range health.Judge(s, health.Options{Domain: domain, Needless: needless(c.kubelet)}) {
			if got.ID == "csrs" && (got.Status != c.want || !strings.Contains(got.Observed.String(), "csr-stranger")) {
				t.Errorf("with %+v it is %s: %s", *c.kubelet, got.Status, got.Observed)
			}
		}
	}
}

package seed

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"net"

	certv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"touchdown/test/bench/controlplane/internal/cluster"
)

// Bootstrapper is who a kubelet without a certificate asks as.
const Bootstrapper = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper"

type certRequest struct {
	name, signer, user string
	groups             []string
	subject            pkix.Name
	dns                []string
	ips                []net.IP
	usage              certv1.KeyUsage
}

// requestCertificates leaves three pending CSRs: the two of a node that was off for long, and one that nobody must approve.
func requestCertificates(ctx context.Context, c *cluster.Clients, v *Values) error {
	nodes := func(name string) pkix.Name {
		return pkix.Name{CommonName: "system:node:" + name, Organization: []string{"system:nodes"}}
	}
	bootstrap := []string{"system:serviceaccounts", "system:serviceaccounts:openshift-machine-config-operator", "system:authenticated"}
	for _, r := range []certRequest{
		{
			name: "csr-8wq2t", signer: certv1.KubeAPIServerClientKubeletSignerName, user: Bootstrapper, groups: bootstrap,
			subject: nodes(v.Node), usage: certv1.UsageClientAuth,
		},
		{
			name: "csr-d5x7k", signer: certv1.KubeletServingSignerName, user: "system:node:" + v.Node, groups: []string{"system:nodes", "system:authenticated"},
			subject: nodes(v.Node), dns: []string{v.Node}, ips: []net.IP{net.ParseIP(v.Address)}, usage: certv1.UsageServerAuth,
		},
		{
			name: "csr-foreign", signer: certv1.KubeAPIServerClientKubeletSignerName, user: Bootstrapper, groups: bootstrap,
			subject: nodes("intruder"), usage: certv1.UsageClientAuth,
		},
	} {
		if err := r.send(ctx, c.REST); err != nil {
			return fmt.Errorf("requesting certificate %s: %w", r.name, err)
		}
	}
	return nil
}

// send creates the request as its user, because the API writes who asks into it.
func (r certRequest) send(ctx context.Context, as *rest.Config) error {
	config := rest.CopyConfig(as)
	config.Impersonate = rest.ImpersonationConfig{UserName: r.user, Groups: r.groups}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: r.subject, DNSNames: r.dns, IPAddresses: r.ips}, key)
	if err != nil {
		return err
	}
	_, err = client.CertificatesV1().CertificateSigningRequests().Create(ctx, &certv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: r.name},
		Spec: certv1.CertificateSigningRequestSpec{
			SignerName: r.signer, Usages: []certv1.KeyUsage{certv1.UsageDigitalSignature, r.usage},
			Request: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
		},
	}, metav1.CreateOptions{})
	return err
}

package node_test

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	certv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"touchdown/test/bench/node"
	"touchdown/test/wait"
)

func installed(t *testing.T) string {
	t.Helper()
	begun := time.Now()
	image, err := node.Installed(wait.Within(t, 5*time.Minute))
	node.Require(t, err)
	t.Logf("image %s after %.1f s", image, time.Since(begun).Seconds())
	return image
}

// TestInstalledClusterComesBack: the installed node has its pods ready after its first boot and after a power cut, on its internal address.
func TestInstalledClusterComesBack(t *testing.T) {
	t.Parallel()
	image := installed(t)
	begun := time.Now()
	m := node.Start(t, node.Options{Image: image})
	serveFactory(t, m)
	t.Logf("systemd after %.1f s", time.Since(begun).Seconds())
	await(t, m, 30*time.Second, "systemctl is-active getty@tty1")
	t.Logf("console after %.1f s", time.Since(begun).Seconds())
	ready := func(what string) {
		t.Helper()
		if err := m.PodsReady(wait.Within(t, 90*time.Second)); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: pods ready after %.1f s", what, time.Since(begun).Seconds())
	}
	ready("first boot")
	if got := must(t, m, "cat /run/nodeip-configuration/primary-ip; echo; hostname"); got != node.InternalAddress+"\n"+node.HostName {
		t.Errorf("node IP and host name: %q", got)
	}
	// The API answers on the external address too.
	conn, err := m.DialLAN(wait.Within(t, 5*time.Second), "tcp", node.FactoryAddress+":6443")
	if err != nil {
		t.Error(err)
	} else {
		conn.Close()
	}
	must(t, m, "systemctl stop kubelet")
	if got := must(t, m, "systemctl is-active controlplane"); got != "active" {
		t.Errorf("the control plane after a stop of the kubelet: %s", got)
	}
	begun = time.Now()
	if err := m.PowerCut(wait.Within(t, 30*time.Second), true); err != nil {
		t.Fatal(err)
	}
	if err := m.Boot(wait.Within(t, 30*time.Second)); err != nil {
		t.Fatal(err)
	}
	ready("power cut")
}

// TestExpiredCertificates: a kubelet with expired certificates asks as the bootstrapper, waits until someone approves, and is served then.
func TestExpiredCertificates(t *testing.T) {
	t.Parallel()
	image := installed(t)
	m, err := node.New(t.Context(), node.Options{Image: image})
	node.Require(t, err)
	m.EndsWith(t)
	if err := m.ExpireKubeletCertificates(t.Context(), time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := m.Boot(wait.Within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	serveFactory(t, m)
	config, err := m.Kubernetes()
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	pending := waitForRequest(t, client)
	if pending.Spec.Username != "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper" {
		t.Errorf("the kubelet asks as %s", pending.Spec.Username)
	}
	time.Sleep(2 * time.Second) // nobody decides
	if r := waitForRequest(t, client); len(r.Status.Conditions) > 0 {
		t.Errorf("someone decided on the request: %v", r.Status.Conditions)
	}
	wait.Until(t, "valid certificates after the approval", func(ctx context.Context) error {
		_, err := m.Approve(ctx)
		if err == nil && (!valid(m, node.KubeletClient) || !valid(m, node.KubeletServing)) {
			err = errors.New("they are not valid yet")
		}
		return err
	})
	if err := m.PodsReady(wait.Within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
}

// waitForRequest waits for a client certificate request that is not older than this node's boot.
func waitForRequest(t *testing.T, client kubernetes.Interface) certv1.CertificateSigningRequest {
	t.Helper()
	var request certv1.CertificateSigningRequest
	wait.Until(t, "a certificate request", func(ctx context.Context) error {
		all, err := client.CertificatesV1().CertificateSigningRequests().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		at := slices.IndexFunc(all.Items, func(r certv1.CertificateSigningRequest) bool {
			return r.Spec.SignerName == certv1.KubeAPIServerClientKubeletSignerName && strings.HasPrefix(r.Name, "csr-") && len(r.Status.Certificate) == 0
		})
		if at < 0 {
			return fmt.Errorf("none among %d", len(all.Items))
		}
		request = all.Items[at]
		return nil
	})
	return request
}

func valid(m *node.Machine, name string) bool {
	data, err := m.ReadFile(name)
	if err != nil {
		return false
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return false
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	return err == nil && time.Now().Before(cert.NotAfter)
}

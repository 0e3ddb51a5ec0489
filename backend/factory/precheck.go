package factory

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"path"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/check"
	"touchdown/backend/host"
	"touchdown/backend/kube"
	"touchdown/backend/layout"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/message"
)

// How long a node may be stored, from the cluster's own rotation: the first signer of the kubelet's certificates lives 24 hours, later ones
// 30 days. A node that ships inside the first day wakes up with a kubelet that nobody believes.
const (
	firstSigner = 25 * time.Hour
	storageTime = 25 * 24 * time.Hour
)

var kubeletCertificates = []string{"kubelet-client-current.pem", "kubelet-server-current.pem"}

func certificate(m *host.Machine, name string) (*x509.Certificate, error) {
	data, err := m.ReadFile(path.Join(rhcos.KubeletPKI, name))
	if err != nil {
		return nil, err
	}
	for rest := data; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return nil, fmt.Errorf("%s holds no certificate", name)
		}
		if block.Type == "CERTIFICATE" {
			leaf, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				return nil, fmt.Errorf("reading %s: %w", name, err)
			}
			return leaf, nil
		}
	}
}

// Precheck looks whether the cluster can be baked now. An error is one that no look would change; warnings are about the
// storage life of what would ship.
func Precheck(ctx context.Context, m *host.Machine, c *kube.Cluster, now time.Time) ([]check.Check, error) {
	cluster, err := Look(ctx, c)
	if err != nil {
		return nil, err
	}
	checks := []check.Check{{ID: "bake-node", Title: message.T("One node, with its own address"), Status: check.Pass, Observed: message.F("%s %s", cluster.Node, cluster.Own.String())}}
	p, nodes, err := c.Pool(ctx, layout.Pool)
	if err != nil {
		return nil, err
	}
	stable := check.Check{ID: "bake-pool", Title: message.T("Configuration of the machine at rest"), Status: check.Pass, Observed: message.T("no change is pending")}
	stuck, pending := kube.PoolUnrendered(p), kube.PoolPending(p, nodes, "")
	switch {
	case stuck != "":
		stable.Status, stable.Observed = check.Warn, message.Data(stuck)
		stable.Fix = message.T("Correct the MachineConfig that this names. Unless it is one of Touchdown's, the bake is refused before that.")
	case p.Spec.Paused:
		stable.Status, stable.Observed = check.Warn, pending
		stable.Fix = message.T("Find out why it is paused: the bake ends only a pause that it began.")
	case pending.String() != "":
		stable.Status, stable.Observed = check.Warn, pending
		stable.Fix = message.T("Nothing: the bake waits for it.")
	}
	checks = append(checks, stable)
	for _, name := range kubeletCertificates {
		checks = append(checks, storageLife(m, name, now))
	}
	signer, err := signerLife(ctx, c)
	return append(checks, signer), err
}

func storageLife(m *host.Machine, name string, now time.Time) check.Check {
	c := check.Check{
		ID: "bake-" + name, Title: message.F("Lifetime of %s", name), Status: check.Pass, Expected: message.T("25 days or more"), Source: message.T("kubelet certificates live 30 days"),
	}
	leaf, err := certificate(m, name)
	if err != nil {
		c.Status, c.Observed = check.Skip, message.Detail(err)
		return c
	}
	left := leaf.NotAfter.Sub(now)
	c.Observed = message.F("%.1f days", left.Hours()/24)
	if left < storageTime {
		c.Status = check.Warn
		c.Fix = message.T("Leave the node on until kubelet has renewed it; at the site Touchdown renews an expired one.")
	}
	return c
}

// signerLife looks at the signer of kubelet's certificates: they end with it, whatever they say.
func signerLife(ctx context.Context, c *kube.Cluster) (check.Check, error) {
	out := check.Check{
		ID: "bake-signer", Title: message.T("Signer of the kubelet's certificates"), Status: check.Pass, Expected: message.T("not the first day's"),
		Source: message.T("the installation's csr-signer-signer lives 24 hours"),
	}
	var secret *corev1.Secret
	err := c.Do(ctx, "reading the signer of kubelet's certificates", func(ctx context.Context) error {
		var err error
		secret, err = c.Core.Secrets("openshift-kube-controller-manager-operator").Get(ctx, "csr-signer-signer", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			secret = nil
			return nil
		}
		return err
	})
	if err != nil {
		return out, err
	}
	leaf, err := leafOf(secret)
	if err != nil {
		out.Status, out.Observed = check.Skip, message.Detail(err)
		return out, nil
	}
	life := leaf.NotAfter.Sub(leaf.NotBefore)
	out.Observed = message.F("lives %.1f days, until %s", life.Hours()/24, leaf.NotAfter.UTC().Format("2006-01-02"))
	if life <= firstSigner {
		out.Status = check.Warn
		out.Fix = message.T("Let the cluster run for a day before it ships, or have its first signer rotated.")
	}
	return out, nil
}

func leafOf(secret *corev1.Secret) (*x509.Certificate, error) {
	if secret == nil {
		return nil, errors.New("there is none")
	}
	block, _ := pem.Decode(secret.Data[corev1.TLSCertKey])
	if block == nil {
		return nil, errors.New("it holds no certificate")
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("parsing it: %w", err)
	}
	return leaf, nil
}

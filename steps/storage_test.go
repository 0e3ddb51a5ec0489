package steps_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend"
	"touchdown/backend/kube"
	"touchdown/steps"
	benchnode "touchdown/test/bench/node"
	"touchdown/test/wait"
)

// stored is the booted node with what the engine on it finds: its own kubeconfig, and the cluster's recovery beside that.
func stored(t *testing.T, m *benchnode.Machine) *backend.Node {
	t.Helper()
	files, err := m.RecoveryFiles(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	root, server := t.TempDir(), intoNode(t, m)
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), "localhost:6443", server)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	n := real(t, m)
	pace := n.Kube.Pace
	if n.Kube, err = kube.Open(filepath.Join(root, "kube-apiserver-certs/secrets/node-kubeconfigs/localhost.kubeconfig"), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	n.Kube.Pace = pace
	return n
}

// showSigner puts the signer of certificate requests that the control plane has into its Secret.
func showSigner(ctx context.Context, t *testing.T, n *backend.Node, m *benchnode.Machine) {
	t.Helper()
	cert, err := m.ReadFile("/var/lib/bench/controlplane/pki/csr-signer.crt")
	if err != nil {
		t.Fatal(err)
	}
	err = n.Kube.Do(ctx, "showing the signer", func(ctx context.Context) error {
		secrets := n.Kube.Core.Secrets("openshift-kube-controller-manager")
		s, err := secrets.Get(ctx, "csr-signer", metav1.GetOptions{})
		if err != nil {
			return err
		}
		s.Data[corev1.TLSCertKey] = cert
		_, err = secrets.Update(ctx, s, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// waitsFor waits until a step tells that it waits for something.
func (r *clusterReport) waitsFor(ctx context.Context, t *testing.T, what string) {
	t.Helper()
	err := wait.For(ctx, "the step to wait for "+what, func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.progress) == 0 {
			return errors.New("it says nothing")
		}
		if last := r.progress[len(r.progress)-1].Waiting.String(); !strings.Contains(last, what) {
			return fmt.Errorf("it waits for %s", last)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestANodeComesBackFromLongStorage: whatever lives for less than ten years has expired when the node is switched on, clients, servers and
// signers. The cluster's recovery controllers, which need no operator, renew it step by step; the node says what it waits for
// meanwhile, signs in by the recovery account, and approves its kubelet's request once there is one.
func TestANodeComesBackFromLongStorage(t *testing.T) {
	ctx := wait.Within(t, 10*time.Minute)
	m := gated(ctx, t)
	ended := time.Now().Add(-300 * 24 * time.Hour)
	if err := m.ExpireCluster(ctx, ended); err != nil {
		t.Fatal(err)
	}
	inFactory(ctx, t, m)
	n := stored(t, m)
	begun := time.Now()
	release, renew, r := &steps.Kubelet{Limit: 3 * time.Minute}, &steps.CSRs{Limit: 8 * time.Minute}, newReport()
	if err := release.Run(ctx, n, r); err != nil {
		t.Fatal(err)
	}
	t.Logf("the API answers %.1f s after the release", time.Since(begun).Seconds())
	if d := n.Kube.Detour().String(); !strings.Contains(d, "client certificate expired") || !strings.Contains(d, "recovery account") {
		t.Errorf("the way into the cluster: %q", d)
	}
	showSigner(ctx, t, n, m)
	done := make(chan error, 1)
	go func() { done <- renew.Run(ctx, n, r) }()
	r.waitsFor(ctx, t, "the kubelet's client certificate has expired")

	// The servers are good again: the kubelet reaches the API and asks.
	if err := m.RenewControlPlane(ctx); err != nil {
		t.Fatal(err)
	}
	r.waitsFor(ctx, t, "its signer expired on "+ended.UTC().Format(time.DateOnly))
	t.Logf("its request is approved and not signed %.1f s after the release", time.Since(begun).Seconds())
	if err := m.RenewRequestSigners(ctx); err != nil {
		t.Fatal(err)
	}
	showSigner(ctx, t, n, m)
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-ctx.Done():
		t.Fatal(context.Cause(ctx))
	}
	t.Logf("node ready with new certificates %.1f s after the release: %s", time.Since(begun).Seconds(), strings.Join(r.said, " "))
	if !slices.ContainsFunc(r.said, func(s string) bool { return strings.Contains(s, "Approved the node's own") }) {
		t.Error("nothing was approved")
	}
	if err := m.PodsReady(wait.Within(t, time.Minute)); err != nil {
		t.Error(err)
	}
}

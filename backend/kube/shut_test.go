package kube_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/kube"
	"touchdown/backend/problem"
)

// TestShut fails when a kubeconfig that a power cut emptied counts as an API that is away.
func TestShut(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, why := kube.Open(empty, nil)
	if why == nil {
		t.Fatal("an empty kubeconfig was opened")
	}
	c := kube.Shut(empty, slog.New(slog.DiscardHandler))
	calls := 0
	err := c.Do(t.Context(), "reading the nodes", func(ctx context.Context) error {
		calls++
		_, err := c.Core.Nodes().List(ctx, metav1.ListOptions{})
		return err
	})
	p, ok := errors.AsType[*problem.Problem](err)
	if !ok || p.Code != "CLU-KCFG" || !strings.Contains(err.Error(), why.Error()) {
		t.Errorf("the error is %v", err)
	}
	if calls != 1 || c.Writes() != 0 || c.Address() != "localhost:6443" {
		t.Errorf("%d calls, %d writes, address %s", calls, c.Writes(), c.Address())
	}
}

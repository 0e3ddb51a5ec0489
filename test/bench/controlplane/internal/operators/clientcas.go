package operators

import (
	"bytes"
	"context"
	"fmt"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/test/bench/controlplane/internal/durable"
)

// ClientCAs are the CAs whose client certificates kube-apiserver accepts: it reads the file again when it changes.
type ClientCAs struct {
	File string
	Own  []byte // those of the cluster's own clients; those of administrators' kubeconfigs come from the API
}

// runClientCAs plays what brings the CAs of administrators' kubeconfigs to kube-apiserver, without a revision: its operator combines
// them with the others (openshift/cluster-kube-apiserver-operator, targetconfigcontroller.go, ManageClientCABundle), and the
// certificate syncer lays them beside it.
func runClientCAs(ctx context.Context, e *Env) {
	e.loop(ctx, "client-ca", []resource{core("configmaps")}, func(ctx context.Context) error { return reconcileClientCAs(ctx, e) })
}

func reconcileClientCAs(ctx context.Context, e *Env) error {
	admins, err := e.Kube.CoreV1().ConfigMaps("openshift-config").Get(ctx, "admin-kubeconfig-client-ca", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the CAs of administrators: %w", err)
	}
	now, err := os.ReadFile(e.ClientCAs.File)
	if err != nil {
		return fmt.Errorf("reading the CAs of clients: %w", err)
	}
	want := append(bytes.Clone(e.ClientCAs.Own), admins.Data["ca-bundle.crt"]...)
	if bytes.Equal(now, want) {
		return nil
	}
	if err := e.Pace.Sleep(ctx, observe); err != nil {
		return err
	}
	if err := durable.WriteFile(e.ClientCAs.File, want, 0o600); err != nil {
		return fmt.Errorf("writing the CAs of clients: %w", err)
	}
	return nil
}

package run

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"touchdown/test/bench/controlplane/internal/cluster"
	"touchdown/test/bench/controlplane/internal/durable"
	"touchdown/test/bench/controlplane/internal/pki"
	"touchdown/test/bench/controlplane/internal/seed"
)

// writeOwnKubeconfigs writes what the installer pod of kube-apiserver leaves on a node: the node's kubeconfigs, which all hold
// the same client certificate, and in the folder of the revision what the certificate syncer signs in with
// (openshift/cluster-kube-apiserver-operator, bindata/assets/kube-apiserver: node-kubeconfigs.yaml, kubeconfig-cm.yaml, pod.yaml).
func (b *bench) writeOwnKubeconfigs(ctx context.Context, root, host string, pairs pki.Cluster) error {
	own := filepath.Join(root, "kube-apiserver-certs/secrets/node-kubeconfigs")
	if err := os.MkdirAll(own, 0o755); err != nil {
		return fmt.Errorf("making the folder of the node's kubeconfigs: %w", err)
	}
	admin, local := pairs["node-system-admin-client"], "https://"+net.JoinHostPort(host, "6443")
	for file, config := range map[string]cluster.Kubeconfig{
		"localhost.kubeconfig":          {Server: local},
		"localhost-recovery.kubeconfig": {Server: local, Name: recoveryName},
		"lb-int.kubeconfig":             {Server: "https://api-int." + b.id.Domain + ":6443"},
		"lb-ext.kubeconfig":             {Server: "https://api." + b.id.Domain + ":6443"},
	} {
		// All of them hold the whole of kube-apiserver-server-ca.
		config.CA, config.User, config.Cert, config.Key = pairs.Bundle(seed.ServerSigners()...), "system:admin", admin.CertPEM, admin.KeyPEM
		if err := config.Write(filepath.Join(own, file)); err != nil {
			return err
		}
	}
	return b.writeRecovery(ctx, filepath.Join(root, fmt.Sprintf("kube-apiserver-pod-%d", seed.Revision)), local, pairs)
}

// recoveryName is the server name for which kube-apiserver shows the certificate that lives for ten years.
const recoveryName = "localhost-recovery"

// writeRecovery writes the account of the cluster's own recovery into the folder of a revision.
func (b *bench) writeRecovery(ctx context.Context, revision, server string, pairs pki.Cluster) error {
	var token []byte
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		s, err := b.clients.Kube.CoreV1().Secrets("openshift-kube-apiserver").Get(ctx, "localhost-recovery-client-token", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		token = s.Data["token"]
		return len(token) > 0, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the recovery account's token: %w", err)
	}
	// The kubeconfig names its files as the static pod sees them.
	const inPod, ca, secret = "/etc/kubernetes/static-pod-resources/", "configmaps/kube-apiserver-server-ca/ca-bundle.crt", "secrets/localhost-recovery-client-token/token"
	for file, data := range map[string][]byte{ca: pairs.Bundle(seed.ServerSigners()...), secret: token} {
		path := filepath.Join(revision, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("making a folder of the revision: %w", err)
		}
		if err := durable.WriteFile(path, data, 0o600); err != nil {
			return fmt.Errorf("writing a file of the revision: %w", err)
		}
	}
	config := api.NewConfig()
	config.Clusters["loopback"] = &api.Cluster{Server: server, TLSServerName: recoveryName, CertificateAuthority: inPod + ca}
	config.AuthInfos["kube-apiserver-cert-syncer"] = &api.AuthInfo{TokenFile: inPod + secret}
	config.Contexts["kube-apiserver-cert-syncer"] = &api.Context{Cluster: "loopback", AuthInfo: "kube-apiserver-cert-syncer"}
	config.CurrentContext = "kube-apiserver-cert-syncer"
	path := filepath.Join(revision, "configmaps/kube-apiserver-cert-syncer-kubeconfig/kubeconfig")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("making a folder of the revision: %w", err)
	}
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return fmt.Errorf("writing the syncer's kubeconfig: %w", err)
	}
	return nil
}

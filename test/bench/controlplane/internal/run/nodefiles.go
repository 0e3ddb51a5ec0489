package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	authv1 "k8s.io/api/authentication/v1"
	certv1 "k8s.io/api/certificates/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"touchdown/test/bench/controlplane/internal/cluster"
	"touchdown/test/bench/controlplane/internal/durable"
	"touchdown/test/bench/controlplane/internal/pki"
	"touchdown/test/bench/controlplane/internal/seed"
)

// bootstrapLife is how long the kubelet can ask for certificates with what the installer left, in seconds: ten years, as on a cluster.
const bootstrapLife = 10 * 365 * 24 * 3600

// writeNodeFiles writes what the installer and the operators leave of the cluster in the node's own files.
func (b *bench) writeNodeFiles(ctx context.Context, pairs pki.Cluster) error {
	kubernetes := filepath.Join(b.NodeRoot, "etc/kubernetes")
	if err := os.MkdirAll(filepath.Join(kubernetes, "manifests"), 0o755); err != nil {
		return fmt.Errorf("making a folder of the node: %w", err)
	}
	if err := b.writeOwnKubeconfigs(ctx, filepath.Join(kubernetes, "static-pod-resources"), "localhost", pairs); err != nil {
		return err
	}
	if err := durable.WriteFile(filepath.Join(kubernetes, "kubelet-ca.crt"), pairs.Bundle(seed.ClientSigners()...), 0o644); err != nil {
		return fmt.Errorf("writing the kubelet's client CAs: %w", err)
	}
	for _, p := range seed.StaticPods() {
		if err := writeManifest(filepath.Join(kubernetes, "manifests"), p); err != nil {
			return err
		}
	}
	return b.writeBootstrap(ctx, filepath.Join(kubernetes, "kubeconfig"), pairs)
}

// writeBootstrap writes the kubeconfig with which a kubelet asks for its first certificate.
func (b *bench) writeBootstrap(ctx context.Context, path string, pairs pki.Cluster) error {
	life := int64(bootstrapLife)
	token, err := b.clients.Kube.CoreV1().ServiceAccounts("openshift-machine-config-operator").CreateToken(ctx, "node-bootstrapper",
		&authv1.TokenRequest{Spec: authv1.TokenRequestSpec{ExpirationSeconds: &life}}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("making the kubelet's bootstrap token: %w", err)
	}
	config := api.NewConfig()
	config.Clusters["local"] = &api.Cluster{
		Server: "https://api-int." + b.id.Domain + ":6443", CertificateAuthorityData: pairs.Bundle(seed.ServerSigners()...),
	}
	config.AuthInfos["kubelet"] = &api.AuthInfo{Token: token.Status.Token}
	config.Contexts["kubelet"] = &api.Context{Cluster: "local", AuthInfo: "kubelet"}
	config.CurrentContext = "kubelet"
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return fmt.Errorf("writing the kubelet's bootstrap kubeconfig: %w", err)
	}
	return nil
}

// writeManifest writes a static pod. Its container only waits: the real server is a service of the bench.
func writeManifest(dir string, p seed.StaticPod) error {
	const text = `apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: %s, labels: {app: %s}}
spec:
  hostNetwork: true
  containers: [{name: %s, image: '%s', imagePullPolicy: IfNotPresent}]
`
	name := strings.TrimSuffix(p.Name, "-"+seed.Node)
	data := fmt.Appendf(nil, text, name, p.Namespace, p.App, p.App, seed.NodePodImage)
	if err := durable.WriteFile(filepath.Join(dir, p.App+"-pod.yaml"), data, 0o600); err != nil {
		return fmt.Errorf("writing the manifest of %s: %w", p.App, err)
	}
	return nil
}

// ApproveRequests approves all certificate requests that nobody has decided yet, and returns their names.
func ApproveRequests(ctx context.Context, state string) ([]string, error) {
	clients, err := cluster.Connect(filepath.Join(state, "stand-ins.kubeconfig"))
	if err != nil {
		return nil, err
	}
	requests := clients.Kube.CertificatesV1().CertificateSigningRequests()
	all, err := requests.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing certificate requests: %w", err)
	}
	var approved []string
	var problems []error
	for _, r := range all.Items {
		if len(r.Status.Conditions) > 0 {
			continue
		}
		r.Status.Conditions = []certv1.CertificateSigningRequestCondition{{Type: certv1.CertificateApproved, Status: v1.ConditionTrue, Reason: "BenchApprove"}}
		if _, err := requests.UpdateApproval(ctx, r.Name, &r, metav1.UpdateOptions{}); err != nil {
			problems = append(problems, fmt.Errorf("approving %s: %w", r.Name, err))
			continue
		}
		approved = append(approved, r.Name)
	}
	return approved, errors.Join(problems...)
}

package apiserver

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/certificates/approver"
	"k8s.io/kubernetes/pkg/controller/certificates/signer"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
	tokens "k8s.io/kubernetes/pkg/serviceaccount"

	"touchdown/test/bench/controlplane/internal/seed"
)

// runControllers waits for the API, says when it is ready, and starts the loops of kube-controller-manager that the bench needs.
func runControllers(ctx context.Context, dir string, ready chan<- struct{}) {
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(dir, "stand-ins.kubeconfig"))
	if err != nil {
		slog.Error("starting controllers", "error", err)
		return
	}
	config.QPS, config.Burst = 200, 400
	config.UserAgent = "bench-controllers"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		slog.Error("starting controllers", "error", err)
		return
	}
	for client.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error() != nil {
		select {
		case <-ctx.Done():
			return
		case <-time.After(30 * time.Millisecond):
		}
	}
	close(ready)
	if err := startControllers(ctx, config, client, dir); err != nil {
		slog.Error("starting controllers", "error", err)
	}
}

func startControllers(ctx context.Context, config *rest.Config, client kubernetes.Interface, dir string) error {
	meta, err := metadata.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making the metadata client: %w", err)
	}
	shared := informers.NewSharedInformerFactory(client, 0)
	if err := startSigners(ctx, client, shared, filepath.Join(dir, "pki")); err != nil {
		return err
	}
	accounts, err := serviceaccount.NewServiceAccountsController(shared.Core().V1().ServiceAccounts(), shared.Core().V1().Namespaces(), client,
		serviceaccount.DefaultServiceAccountsControllerOptions())
	if err != nil {
		return fmt.Errorf("making the service account controller: %w", err)
	}
	go accounts.Run(ctx, 2)
	if err := startTokens(ctx, client, shared, filepath.Join(dir, "pki")); err != nil {
		return err
	}
	spaces := namespace.NewNamespaceController(ctx, client, meta, client.Discovery().ServerPreferredNamespacedResources,
		shared.Core().V1().Namespaces(), time.Minute, v1.FinalizerKubernetes)
	go spaces.Run(ctx, 4)

	started := make(chan struct{})
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	both := informerfactory.NewInformerFactory(shared, metadatainformer.NewSharedInformerFactory(meta, 0))
	garbage, err := garbagecollector.NewGarbageCollector(ctx, client, meta, mapper, garbagecollector.DefaultIgnoredResources(), both, started)
	if err != nil {
		return fmt.Errorf("making the garbage collector: %w", err)
	}
	shared.Start(ctx.Done())
	close(started)
	go garbage.Run(ctx, 4, 10*time.Second)
	go garbage.Sync(ctx, client.Discovery(), 10*time.Second)
	return nil
}

// startTokens starts what fills the Secrets of type service-account-token.
func startTokens(ctx context.Context, client kubernetes.Interface, shared informers.SharedInformerFactory, pki string) error {
	key, err := keyutil.PrivateKeyFromFile(filepath.Join(pki, "service-account.key"))
	if err != nil {
		return fmt.Errorf("reading the service account key: %w", err)
	}
	generator, err := tokens.JWTTokenGenerator(tokens.LegacyIssuer, key)
	if err != nil {
		return fmt.Errorf("making the token generator: %w", err)
	}
	var roots []byte
	for _, name := range seed.ServerSigners() {
		root, err := os.ReadFile(filepath.Join(pki, name+".crt"))
		if err != nil {
			return fmt.Errorf("reading the signers of the server: %w", err)
		}
		roots = append(roots, root...)
	}
	controller, err := serviceaccount.NewTokensController(klog.FromContext(ctx), shared.Core().V1().ServiceAccounts(), shared.Core().V1().Secrets(), client,
		serviceaccount.TokensControllerOptions{TokenGenerator: generator, RootCA: roots})
	if err != nil {
		return fmt.Errorf("making the token controller: %w", err)
	}
	go controller.Run(ctx, 1)
	return nil
}

// startSigners starts the CSR loops. They sign with csr-signer, whose own end bounds what it signs, as on a cluster.
func startSigners(ctx context.Context, client kubernetes.Interface, shared informers.SharedInformerFactory, pki string) error {
	requests := shared.Certificates().V1().CertificateSigningRequests()
	cert, key := filepath.Join(pki, "csr-signer.crt"), filepath.Join(pki, "csr-signer.key")
	const life = 30 * 24 * time.Hour
	serving, err := signer.NewKubeletServingCSRSigningController(ctx, client, requests, cert, key, life)
	if err != nil {
		return fmt.Errorf("making the kubelet-serving signer: %w", err)
	}
	kubelet, err := signer.NewKubeletClientCSRSigningController(ctx, client, requests, cert, key, life)
	if err != nil {
		return fmt.Errorf("making the kubelet client signer: %w", err)
	}
	clients, err := signer.NewKubeAPIServerClientCSRSigningController(ctx, client, requests, cert, key, life)
	if err != nil {
		return fmt.Errorf("making the client signer: %w", err)
	}
	go serving.Run(ctx, 1)
	go kubelet.Run(ctx, 1)
	go clients.Run(ctx, 1)
	go approver.NewCSRApprovingController(ctx, client, requests).Run(ctx, 1)
	return nil
}

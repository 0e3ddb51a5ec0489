// Package apiserver runs the real etcd, the real kube-apiserver and five real controller loops in one process.
package apiserver

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

// Options say where a server lives and what it serves.
type Options struct {
	Dir     string   // state: pki/, certs/, etcd/
	Address string   // of the node
	Listen  string   // where the server listens; empty: at the node's address
	SNI     []string // file pairs with their names, in the form of --tls-sni-cert-key
	Hold    bool     // requests before readiness wait for it instead of being sent away
}

// Serve runs until the process gets SIGTERM or a part fails.
func Serve(o Options) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	// Only the node's own server talks to etcd.
	at := o.Address
	if o.Listen == "" {
		o.Listen = o.Address
	}
	if o.Listen != o.Address {
		at = "127.0.0.1"
	}
	etcd, endpoint, err := startEtcd(ctx, o.Dir, at)
	if err != nil {
		return err
	}
	// Open watches would hold up a graceful stop for many seconds; etcd has everything on disk, so closing it and leaving is clean.
	defer etcd.Close()
	gate := newGate(o.Hold)
	if err := gate.listen(filepath.Join(o.Dir, "serve.sock")); err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() { failed <- runAPIServer(ctx, o.flags(endpoint), gate) }()
	go runControllers(ctx, o.Dir, gate.ready)
	select {
	case err := <-failed:
		return fmt.Errorf("running kube-apiserver: %w", err)
	case <-ctx.Done():
		return nil
	}
}

// runAPIServer does what app.Run does, with the gate in front of the handler chain.
func runAPIServer(ctx context.Context, flags []string, gate *gate) error {
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	opts := options.NewServerRunOptions()
	for _, set := range opts.Flags().FlagSets {
		set.ParseErrorsWhitelist.UnknownFlags = true
		if err := set.Parse(flags); err != nil {
			return fmt.Errorf("parsing flags: %w", err)
		}
	}
	if err := opts.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return fmt.Errorf("setting feature gates: %w", err)
	}
	completed, err := opts.Complete(ctx)
	if err != nil {
		return fmt.Errorf("completing options: %w", err)
	}
	if errs := completed.Validate(); len(errs) > 0 {
		return fmt.Errorf("checking options: %v", errs)
	}
	config, err := app.NewConfig(completed)
	if err != nil {
		return fmt.Errorf("making the configuration: %w", err)
	}
	// The aggregator's chain is the outermost: every request passes here once, before authentication.
	build := config.Aggregator.GenericConfig.BuildHandlerChainFunc
	config.Aggregator.GenericConfig.BuildHandlerChainFunc = func(h http.Handler, c *genericapiserver.Config) http.Handler {
		return gate.wrap(build(h, c), c.RequestInfoResolver)
	}
	whole, err := config.Complete()
	if err != nil {
		return fmt.Errorf("completing the configuration: %w", err)
	}
	chain, err := app.CreateServerChain(whole)
	if err != nil {
		return fmt.Errorf("making the server chain: %w", err)
	}
	prepared, err := chain.PrepareRun()
	if err != nil {
		return fmt.Errorf("preparing the server: %w", err)
	}
	return prepared.Run(ctx)
}

func (o Options) flags(etcd string) []string {
	pki := func(name string) string { return filepath.Join(o.Dir, "pki", name) }
	flags := []string{
		"--etcd-servers=" + etcd,
		"--bind-address=" + o.Listen, "--secure-port=6443", "--advertise-address=" + o.Address,
		"--tls-cert-file=" + pki("localhost-serving-cert-certkey.crt"), "--tls-private-key-file=" + pki("localhost-serving-cert-certkey.key"),
		"--client-ca-file=" + pki("client-ca.pem"),
		"--requestheader-client-ca-file=" + pki("aggregator-client-signer.crt"),
		"--requestheader-allowed-names=system:openshift-aggregator", "--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group", "--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + pki("aggregator-client.crt"), "--proxy-client-key-file=" + pki("aggregator-client.key"),
		"--kubelet-client-certificate=" + pki("kubelet-client.crt"), "--kubelet-client-key=" + pki("kubelet-client.key"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + pki("service-account.pub"), "--service-account-signing-key-file=" + pki("service-account.key"),
		"--service-cluster-ip-range=172.30.0.0/16", "--authorization-mode=Node,RBAC", "--allow-privileged=true",
		"--disable-admission-plugins=ServiceAccount", "--endpoint-reconciler-type=none",
		"--enable-priority-and-fairness=false", "--profiling=false", "--shutdown-delay-duration=0s",
	}
	for _, name := range []string{"external-loadbalancer", "internal-loadbalancer", "service-network", "localhost-recovery"} {
		flags = append(flags, "--tls-sni-cert-key="+pki(name+"-serving-certkey.crt")+","+pki(name+"-serving-certkey.key"))
	}
	for _, pair := range o.SNI {
		flags = append(flags, "--tls-sni-cert-key="+pair)
	}
	return flags
}

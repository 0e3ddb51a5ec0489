package operators

import (
	"context"
	"crypto/tls"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What the router's only pod does. It has the host's ports, so with maxSurge 0 the next one comes after it (openshift/cluster-ingress-operator,
// pkg/operator/controller/ingress/deployment.go).
const (
	RouterEnds   = "ends"   // it was told to end: it serves what it has, and admits no route any more
	RouterAway   = "away"   // its haproxy has let go of the ports
	RouterServes = "serves" // the next one is ready
)

// RouterPod is what someone who runs a real router tells of its pod.
type RouterPod struct {
	Phase      string `json:"phase"`
	Generation int64  `json:"generation"` // of the Deployment that the pod is of
	Secret     string `json:"secret"`     // with the default certificate that the pod mounts
}

// RouterIs takes what the pod of a real router does.
func (e *Env) RouterIs(p RouterPod) error {
	if !e.isReal(router) || !slices.Contains([]string{RouterEnds, RouterAway, RouterServes}, p.Phase) {
		return fmt.Errorf("the router cannot be %q here", p.Phase)
	}
	e.Log.Info("the real router", "phase", p.Phase, "generation", p.Generation, "certificate", p.Secret)
	e.routerAway.Store(p.Phase != RouterServes)
	if p.Phase == RouterServes {
		e.routerSecret.set(p.Secret)
		e.routerGeneration.Store(p.Generation)
	}
	e.Router.Away(p.Phase == RouterAway)
	return nil
}

// replaceRouter plays the pod that goes and the one that comes.
func (e *Env) replaceRouter(ctx context.Context, comes func(context.Context) error) error {
	e.routerAway.Store(true)
	if err := e.Pace.Sleep(ctx, routerEnds); err != nil {
		return err
	}
	e.Router.Away(true)
	if err := e.Pace.Sleep(ctx, routerDrains); err != nil {
		return err
	}
	if err := e.retry(ctx, func() error { // whoever schedules the next pod does it by way of the API
		_, err := e.Kube.CoreV1().Namespaces().Get(ctx, "openshift-ingress", metav1.GetOptions{})
		return err
	}); err != nil {
		return err
	}
	if err := e.Pace.Sleep(ctx, routerStarts); err != nil {
		return err
	}
	if err := e.retry(ctx, func() error { return comes(ctx) }); err != nil { // the whole change again would make the outage longer
		return err
	}
	e.routerComes()
	return e.Pace.Sleep(ctx, routerReady)
}

func (e *Env) routerComes() {
	e.routerAway.Store(false)
	e.Router.Away(false)
}

// runRouterDeployment plays the router's pods for a real operator, or waits for those of a real router. The one that is there serves
// the certificate that its volume names.
func runRouterDeployment(ctx context.Context, e *Env) {
	d := deployment{"ingress", "openshift-ingress", "router-default", 0}
	replace := func(ctx context.Context, now *appsv1.Deployment) error {
		if !e.isReal(router) {
			return e.replaceRouter(ctx, func(ctx context.Context) error { return e.serveVolume(ctx, now) })
		}
		if err := e.until(ctx, func() bool { return e.routerGeneration.Load() >= now.Generation }); err != nil {
			return err
		}
		return e.Pace.Sleep(ctx, routerReady)
	}
	e.loop(ctx, "deployment "+d.name, []resource{deploymentsResource(), core("secrets")}, func(ctx context.Context) error {
		return e.followDeployment(ctx, d, replace, e.serveVolume)
	})
}

// serveVolume gives the router the certificate that its pods mount.
func (e *Env) serveVolume(ctx context.Context, d *appsv1.Deployment) error {
	name := e.routerSecret.get() // of a real pod, which may be older than the Deployment
	for _, volume := range d.Spec.Template.Spec.Volumes {
		if !e.isReal(router) && volume.Name == "default-certificate" && volume.Secret != nil {
			name = volume.Secret.SecretName
		}
	}
	if name == "" {
		return nil
	}
	secret, err := e.Kube.CoreV1().Secrets(d.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the default certificate: %w", err)
	}
	cert, key := secret.Data[v1.TLSCertKey], secret.Data[v1.TLSPrivateKeyKey]
	if _, err := tls.X509KeyPair(cert, key); err != nil {
		return nil // a router goes on with the one before
	}
	return e.Router.SetDefault(cert, key)
}

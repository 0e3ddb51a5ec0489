package operators

import (
	"context"
	"fmt"

	routev1 "github.com/openshift/api/route/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ownedRoutes are the routes operators keep without naming a host; those of the console and the OAuth server have their own stand-ins.
func ownedRoutes() []*routev1.Route {
	var all []*routev1.Route
	for _, name := range []string{"alertmanager-main", "prometheus-k8s", "prometheus-k8s-federate", "thanos-querier"} {
		all = append(all, operatorRoute("openshift-monitoring", name, name, "", routev1.TLSTerminationReencrypt))
	}
	return all
}

// canaryRoute has a subdomain and no host, so it stays below the router's domain whatever the cluster is called.
func canaryRoute() *routev1.Route {
	r := operatorRoute("openshift-ingress-canary", "canary", "canary", "", routev1.TLSTerminationPassthrough)
	r.Spec.Subdomain = "canary-openshift-ingress-canary"
	r.Spec.Port = &routev1.RoutePort{TargetPort: intstr.FromString("8443-tcp")}
	return r
}

// runOwnedRoutes recreates operators' routes after a deletion, without a host, so that they get one of the current domain.
func runOwnedRoutes(ctx context.Context, e *Env) {
	e.loop(ctx, "owned-routes", []resource{routev1.GroupVersion.WithResource("routes")}, func(ctx context.Context) error {
		return e.keepRoutes(ctx, ownedRoutes())
	})
}

// runCanary plays the ingress operator's canary: its route never has a host.
func runCanary(ctx context.Context, e *Env) {
	e.loop(ctx, "canary", []resource{routev1.GroupVersion.WithResource("routes")}, func(ctx context.Context) error {
		if err := e.withdrawHost(ctx, canaryRoute()); err != nil {
			return err
		}
		return e.keepRoutes(ctx, []*routev1.Route{canaryRoute()})
	})
}

// keepRoutes makes those that are missing.
func (e *Env) keepRoutes(ctx context.Context, owned []*routev1.Route) error {
	var missing []*routev1.Route
	for _, want := range owned {
		_, err := e.Route.Routes(want.Namespace).Get(ctx, want.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			missing = append(missing, want)
		} else if err != nil {
			return fmt.Errorf("reading route %s: %w", want.Name, err)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if err := e.Pace.Sleep(ctx, routeOwner); err != nil {
		return err
	}
	for _, want := range missing {
		if err := e.applyRoute(ctx, want); err != nil {
			return fmt.Errorf("making route %s again: %w", want.Name, err)
		}
	}
	return nil
}

// withdrawHost deletes a route whose host was set by hand: the API server ignores attempts to clear spec.host.
func (e *Env) withdrawHost(ctx context.Context, want *routev1.Route) error {
	have, err := e.Route.Routes(want.Namespace).Get(ctx, want.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading route %s: %w", want.Name, err)
	}
	if have.Spec.Host == "" {
		return nil
	}
	return e.deleteRoute(ctx, want.Namespace, want.Name)
}

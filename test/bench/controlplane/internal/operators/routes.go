package operators

import (
	"context"
	"fmt"

	routev1 "github.com/openshift/api/route/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// runRoutes plays what the API server and the router do with routes: a host for those without, admission, and service.
func runRoutes(ctx context.Context, e *Env) {
	watched := append(configResources("ingresses"), routev1.GroupVersion.WithResource("routes"), core("secrets"))
	e.loop(ctx, "routes", watched, func(ctx context.Context) error { return reconcileRoutes(ctx, e) })
}

func reconcileRoutes(ctx context.Context, e *Env) error {
	if err := e.until(ctx, func() bool { return e.hostDomain.get() != "" }); err != nil {
		return err
	}
	list, err := e.Route.Routes("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing routes: %w", err)
	}
	var served []Served
	for i := range list.Items {
		r := &list.Items[i]
		if r.Spec.Host == "" {
			if r, err = e.giveHost(ctx, r); err != nil {
				return err
			}
		}
		if err := e.admit(ctx, r); err != nil {
			return err
		}
		s, err := e.serve(ctx, r)
		if err != nil {
			return err
		}
		served = append(served, s)
	}
	return e.Router.SetRoutes(served)
}

// giveHost writes the host that openshift-apiserver would have written before the route was stored.
func (e *Env) giveHost(ctx context.Context, r *routev1.Route) (*routev1.Route, error) {
	r = r.DeepCopy()
	r.Spec.Host = r.Name + "-" + r.Namespace + "." + e.hostDomain.get()
	if r.Annotations == nil {
		r.Annotations = map[string]string{}
	}
	r.Annotations["openshift.io/host.generated"] = "true"
	r, err := e.Route.Routes(r.Namespace).Update(ctx, r, metav1.UpdateOptions{})
	if err != nil {
		return nil, fmt.Errorf("giving a route its host: %w", err)
	}
	return r, nil
}

func (e *Env) admit(ctx context.Context, r *routev1.Route) error {
	for _, in := range r.Status.Ingress {
		if in.Host == r.Spec.Host && in.RouterName == "default" {
			return nil
		}
	}
	if err := e.Pace.Sleep(ctx, admit); err != nil {
		return err
	}
	now := metav1.Now()
	r.Status.Ingress = []routev1.RouteIngress{{
		Host: r.Spec.Host, RouterName: "default", RouterCanonicalHostname: "router-default.apps." + e.Domain, WildcardPolicy: routev1.WildcardPolicyNone,
		Conditions: []routev1.RouteIngressCondition{{Type: routev1.RouteAdmitted, Status: v1.ConditionTrue, LastTransitionTime: &now}},
	}}
	if _, err := e.Route.Routes(r.Namespace).UpdateStatus(ctx, r, metav1.UpdateOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("admitting a route: %w", err)
	}
	return nil
}

// serve finds the certificate of a route: its own, or for the OAuth server, whose TLS the router passes through, the one of its component route.
func (e *Env) serve(ctx context.Context, r *routev1.Route) (Served, error) {
	s := Served{Host: r.Spec.Host, Namespace: r.Namespace, Name: r.Name}
	if r.Spec.TLS != nil && r.Spec.TLS.Certificate != "" {
		s.Cert, s.Key = []byte(r.Spec.TLS.Certificate), []byte(r.Spec.TLS.Key)
	}
	if r.Namespace == authNamespace && r.Name == oauthRoute {
		ingress, err := e.Config.Ingresses().Get(ctx, "cluster", metav1.GetOptions{})
		if err != nil {
			return s, fmt.Errorf("reading the Ingress: %w", err)
		}
		want, err := e.customRoute(ctx, ingress, authNamespace, oauthRoute)
		if err != nil {
			return s, err
		}
		if want.problem == "" {
			s.Cert, s.Key = want.cert, want.key
		}
	}
	return s, nil
}

type ownedRoute struct {
	namespace, name string
	termination     routev1.TLSTerminationType
}

// ownedRoutes are the routes operators keep without naming a host; those of the console and the OAuth server have stand-ins of their own.
func ownedRoutes() []ownedRoute {
	all := []ownedRoute{{"openshift-ingress-canary", "canary", routev1.TLSTerminationEdge}}
	for _, name := range []string{"alertmanager-main", "prometheus-k8s", "prometheus-k8s-federate", "thanos-querier"} {
		all = append(all, ownedRoute{"openshift-monitoring", name, routev1.TLSTerminationReencrypt})
	}
	return all
}

// runOwnedRoutes makes operators' routes again after somebody deleted them; without a host, so they come back in the domain of the day.
func runOwnedRoutes(ctx context.Context, e *Env) {
	e.loop(ctx, "owned-routes", []resource{routev1.GroupVersion.WithResource("routes")}, func(ctx context.Context) error {
		var missing []ownedRoute
		for _, o := range ownedRoutes() {
			_, err := e.Route.Routes(o.namespace).Get(ctx, o.name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				missing = append(missing, o)
			} else if err != nil {
				return fmt.Errorf("reading route %s: %w", o.name, err)
			}
		}
		if len(missing) == 0 {
			return nil
		}
		if err := e.Pace.Sleep(ctx, routeOwner); err != nil {
			return err
		}
		for _, o := range missing {
			if err := e.applyRoute(ctx, operatorRoute(o.namespace, o.name, o.name, "", o.termination)); err != nil {
				return fmt.Errorf("making route %s again: %w", o.name, err)
			}
		}
		return nil
	})
}

package operators

import (
	"context"
	"fmt"

	routev1 "github.com/openshift/api/route/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// runRoutes plays what the API server and the router do with routes: a host for those without, admission unless the router is a real one,
// and service.
func runRoutes(ctx context.Context, e *Env) {
	watched := append(configResources("ingresses"), routev1.GroupVersion.WithResource("routes"), core("secrets"))
	e.loop(ctx, "routes", watched, func(ctx context.Context) error { return reconcileRoutes(ctx, e) })
}

func reconcileRoutes(ctx context.Context, e *Env) error {
	if err := e.until(ctx, func() bool { return e.hostDomain.get() != "" && !e.routerAway.Load() }); err != nil {
		return err
	}
	list, err := e.Route.Routes("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing routes: %w", err)
	}
	domain, err := e.routerDomain(ctx)
	if err != nil {
		return err
	}
	var served []Served
	for i := range list.Items {
		r := &list.Items[i]
		if r.Spec.Host == "" && r.Spec.Subdomain == "" {
			if r, err = e.giveHost(ctx, r); err != nil {
				return err
			}
		}
		host := hostOf(r, domain)
		if e.isReal(router) {
			if host = admitted(r); host == "" {
				continue
			}
		} else if err := e.admit(ctx, r, host); err != nil {
			return err
		}
		s, err := e.serve(ctx, r, host)
		if err != nil {
			return err
		}
		served = append(served, s)
	}
	return e.Router.SetRoutes(served)
}

// routerDomain is what the router appends to a subdomain: status.domain of its IngressController, which never changes.
func (e *Env) routerDomain(ctx context.Context) (string, error) {
	ic, err := e.Operator.IngressControllers("openshift-ingress-operator").Get(ctx, "default", metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("reading the IngressController: %w", err)
	}
	return ic.Status.Domain, nil
}

// hostOf is the host under which the router serves a route.
func hostOf(r *routev1.Route, routerDomain string) string {
	if r.Spec.Host != "" {
		return r.Spec.Host
	}
	return r.Spec.Subdomain + "." + routerDomain
}

// admitted is the host under which a real router took a route.
func admitted(r *routev1.Route) string {
	for _, in := range r.Status.Ingress {
		for _, c := range in.Conditions {
			if in.RouterName == "default" && c.Type == routev1.RouteAdmitted && c.Status == v1.ConditionTrue {
				return in.Host
			}
		}
	}
	return ""
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

func (e *Env) admit(ctx context.Context, r *routev1.Route, host string) error {
	for _, in := range r.Status.Ingress {
		if in.Host == host && in.RouterName == "default" {
			return nil
		}
	}
	if err := e.Pace.Sleep(ctx, admit); err != nil {
		return err
	}
	now := metav1.Now()
	r.Status.Ingress = []routev1.RouteIngress{{
		Host: host, RouterName: "default", RouterCanonicalHostname: "router-default.apps." + e.Domain, WildcardPolicy: routev1.WildcardPolicyNone,
		Conditions: []routev1.RouteIngressCondition{{Type: routev1.RouteAdmitted, Status: v1.ConditionTrue, LastTransitionTime: &now}},
	}}
	if _, err := e.Route.Routes(r.Namespace).UpdateStatus(ctx, r, metav1.UpdateOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("admitting a route: %w", err)
	}
	return nil
}

// serve finds the certificate of a route: its own, or for the OAuth server, whose TLS the router passes through, the one of its component route.
func (e *Env) serve(ctx context.Context, r *routev1.Route, host string) (Served, error) {
	s := Served{Host: host, Namespace: r.Namespace, Name: r.Name}
	if r.Spec.Port != nil {
		s.Port = r.Spec.Port.TargetPort.String()
	}
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

package operators

import (
	"context"
	"crypto/tls"
	"fmt"

	configv1 "github.com/openshift/api/config/v1"
	routev1 "github.com/openshift/api/route/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// custom is what an administrator wants of one component's route; empty where nothing is said.
type custom struct {
	host      string
	secret    string
	cert, key []byte
	problem   string // why the Secret cannot be used
}

// customRoute reads what the Ingress says of a component, with the certificate it names.
func (e *Env) customRoute(ctx context.Context, ingress *configv1.Ingress, namespace, name string) (custom, error) {
	for _, c := range ingress.Spec.ComponentRoutes {
		if c.Namespace != namespace || c.Name != name {
			continue
		}
		want := custom{host: string(c.Hostname), secret: c.ServingCertKeyPairSecret.Name}
		if want.secret == "" {
			return want, nil
		}
		secret, err := e.Kube.CoreV1().Secrets("openshift-config").Get(ctx, want.secret, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			want.problem = fmt.Sprintf("secret %q not found", want.secret)
			return want, nil
		}
		if err != nil {
			return want, fmt.Errorf("reading the certificate of route %s: %w", name, err)
		}
		want.cert, want.key = secret.Data[v1.TLSCertKey], secret.Data[v1.TLSPrivateKeyKey]
		if _, err := tls.X509KeyPair(want.cert, want.key); err != nil {
			want.problem = fmt.Sprintf("error validating secret openshift-config/%s: %v", want.secret, err)
		}
		return want, nil
	}
	return custom{}, nil
}

// applyRoute makes a route what it should be; the host of an existing one changes in place.
func (e *Env) applyRoute(ctx context.Context, want *routev1.Route) error {
	return e.retry(ctx, func() error {
		routes := e.Route.Routes(want.Namespace)
		have, err := routes.Get(ctx, want.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			_, err = routes.Create(ctx, want.DeepCopy(), metav1.CreateOptions{})
			return err
		}
		if err != nil || equality.Semantic.DeepEqual(have.Spec, want.Spec) {
			return err
		}
		have.Spec = want.Spec
		_, err = routes.Update(ctx, have, metav1.UpdateOptions{})
		return err
	})
}

func (e *Env) deleteRoute(ctx context.Context, namespace, name string) error {
	err := e.retry(ctx, func() error { return e.Route.Routes(namespace).Delete(ctx, name, metav1.DeleteOptions{}) })
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// operatorRoute is a route as the component's operator writes it.
func operatorRoute(namespace, name, service, host string, termination routev1.TLSTerminationType) *routev1.Route {
	weight := int32(100)
	return &routev1.Route{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": service}},
		Spec: routev1.RouteSpec{
			Host: host, WildcardPolicy: routev1.WildcardPolicyNone,
			To:  routev1.RouteTargetReference{Kind: "Service", Name: service, Weight: &weight},
			TLS: &routev1.TLSConfig{Termination: termination, InsecureEdgeTerminationPolicy: routev1.InsecureEdgeTerminationPolicyRedirect},
		},
	}
}

// reportComponent writes a component's entry in the status of the Ingress.
func (e *Env) reportComponent(ctx context.Context, namespace, name, current, problem string) error {
	return e.retry(ctx, func() error {
		ingress, err := e.Config.Ingresses().Get(ctx, "cluster", metav1.GetOptions{})
		if err != nil {
			return err
		}
		before := ingress.DeepCopy()
		for i := range ingress.Status.ComponentRoutes {
			c := &ingress.Status.ComponentRoutes[i]
			if c.Namespace != namespace || c.Name != name {
				continue
			}
			c.CurrentHostnames = []configv1.Hostname{configv1.Hostname(current)}
			condition := metav1.Condition{Type: "Degraded", Status: metav1.ConditionFalse, Reason: "AsExpected"}
			if problem != "" {
				condition.Status, condition.Reason, condition.Message = metav1.ConditionTrue, "CustomRouteError", problem
			}
			meta.SetStatusCondition(&c.Conditions, condition)
		}
		if equality.Semantic.DeepEqual(before.Status, ingress.Status) {
			return nil
		}
		_, err = e.Config.Ingresses().UpdateStatus(ctx, ingress, metav1.UpdateOptions{})
		return err
	})
}

// setConfigMap writes one key of a ConfigMap that operators share.
func (e *Env) setConfigMap(ctx context.Context, namespace, name, key, value string) error {
	err := e.retry(ctx, func() error {
		maps := e.Kube.CoreV1().ConfigMaps(namespace)
		cm, err := maps.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			cm = &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string]string{key: value}}
			_, err = maps.Create(ctx, cm, metav1.CreateOptions{})
			return err
		}
		if err != nil || cm.Data[key] == value {
			return err
		}
		if cm.Data == nil {
			cm.Data = map[string]string{}
		}
		cm.Data[key] = value
		_, err = maps.Update(ctx, cm, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("writing ConfigMap %s/%s: %w", namespace, name, err)
	}
	return nil
}

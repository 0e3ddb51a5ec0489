package operators

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/domain"
)

// canary tells the hosts of the ingress operator's own route.
func (b *bed) canary() string {
	b.t.Helper()
	r, err := b.c.Route.Routes("openshift-ingress-canary").Get(b.t.Context(), "canary", metav1.GetOptions{})
	fatal(b.t, err)
	served := "nothing"
	if len(r.Status.Ingress) > 0 {
		served = r.Status.Ingress[0].Host
	}
	return fmt.Sprintf("host %q, subdomain %q, served as %s", r.Spec.Host, r.Spec.Subdomain, served)
}

// consoles tells the hosts of the console's routes.
func (b *bed) consoles() string {
	b.t.Helper()
	list, err := b.c.Route.Routes("openshift-console").List(b.t.Context(), metav1.ListOptions{})
	fatal(b.t, err)
	var all []string
	for _, r := range list.Items {
		all = append(all, r.Name+" "+r.Spec.Host)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// publishes tells whether the cluster trusts the router's new certificate.
func (b *bed) publishes(n domain.Names) string {
	b.t.Helper()
	cm, err := b.c.Core.ConfigMaps("openshift-config-managed").Get(b.t.Context(), "default-ingress-cert", metav1.GetOptions{})
	fatal(b.t, err)
	secret, err := b.c.Core.Secrets(domain.RouterNamespace).Get(b.t.Context(), n.AppsSecret, metav1.GetOptions{})
	fatal(b.t, err)
	if strings.TrimSpace(cm.Data["ca-bundle.crt"]) == strings.TrimSpace(string(secret.Data["tls.crt"])) {
		return "the chain of the new certificate"
	}
	return "something else"
}

// routerGoesFirst checks how the real operator has the router's only pod replaced: the next one comes after it, as the bench plays
// it for both.
func (b *bed) routerGoesFirst() {
	b.t.Helper()
	d, err := b.kube.AppsV1().Deployments(domain.RouterNamespace).Get(b.t.Context(), "router-default", metav1.GetOptions{})
	fatal(b.t, err)
	rolling := d.Spec.Strategy.RollingUpdate
	if rolling == nil || rolling.MaxSurge == nil || rolling.MaxSurge.IntValue() != 0 || !d.Spec.Template.Spec.HostNetwork {
		b.t.Errorf("the router is replaced in another way: %+v", d.Spec.Strategy)
	}
}

package operators

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/certs"
	"touchdown/backend/domain"
	"touchdown/backend/kube"
	"touchdown/test/wait"
)

// unmanaged sets the console's operator aside: a move is refused, and rightly, as that operator then moves no host.
func (b *bed) unmanaged(next domain.Names) {
	b.t.Helper()
	undo := b.change(kube.Ref{Group: "operator.openshift.io", Version: "v1", Resource: "consoles", Name: "cluster"}, func(spec map[string]any) {
		spec["managementState"] = "Unmanaged"
	})
	_, err := next.Fits(b.t.Context(), b.c)
	b.saw(qUnmanaged, outcome(err))
	if slices.Contains(b.real, "console") {
		before := b.consoles()
		back := b.change(ingresses, func(spec map[string]any) {
			for _, route := range spec["componentRoutes"].([]any) {
				if entry := route.(map[string]any); entry["name"] == "console" {
					entry["hostname"] = "other." + domain.Apps(site)
				}
			}
		})
		if b.within(20*time.Second, func() bool { return b.consoles() != before }) {
			b.t.Errorf("an unmanaged operator moves the console: %s", b.consoles())
		}
		back()
	}
	undo()
}

// sharded gives the router a selector: a move is refused, as the real operator has that router take these routes alone.
func (b *bed) sharded(next domain.Names) {
	b.t.Helper()
	undo := b.change(router, func(spec map[string]any) {
		spec["routeSelector"] = map[string]any{"matchLabels": map[string]any{"shard": "a"}}
	})
	_, err := next.Fits(b.t.Context(), b.c)
	b.saw(qSharded, outcome(err))
	if slices.Contains(b.real, "ingress") {
		wait.Until(b.t, "the router to be told its routes", func() bool { return b.routerEnv("ROUTE_LABELS") == "shard=a" })
	}
	undo()
	if slices.Contains(b.real, "ingress") {
		wait.Until(b.t, "the router to take all routes again", func() bool { return b.routerEnv("ROUTE_LABELS") == "" })
	}
}

// routerEnv is a variable of the router's pods.
func (b *bed) routerEnv(name string) string {
	b.t.Helper()
	d, err := b.kube.AppsV1().Deployments(domain.RouterNamespace).Get(b.t.Context(), "router-default", metav1.GetOptions{})
	fatal(b.t, err)
	for _, env := range d.Spec.Template.Spec.Containers[0].Env {
		if env.Name == name {
			return env.Value
		}
	}
	return ""
}

// withOwners moves to another domain, with a router's certificate for the new names, ciphers and a proxy of the cluster's owner: all stay.
func (b *bed) withOwners() {
	b.t.Helper()
	next := b.certificates(secondSite)
	signer, err := certs.AppsSigner(b.t.Context(), b.c)
	fatal(b.t, err)
	_, err = certs.Install(b.t.Context(), b.c, certs.Want{
		Secret: "their-apps", Namespaces: []string{domain.RouterNamespace}, Names: []string{"*." + domain.Apps(next.Domain), "*." + domain.Apps(b.Domain)},
		Signer: signer, Now: time.Now(),
	}, func(kube.Ref, []byte) error { return nil })
	fatal(b.t, err)
	b.change(router, func(spec map[string]any) { spec["defaultCertificate"] = map[string]any{"name": "their-apps"} })
	b.change(apiServers, func(spec map[string]any) {
		spec["tlsSecurityProfile"] = map[string]any{"type": "Custom", "custom": map[string]any{"ciphers": []any{cipher}, "minTLSVersion": "VersionTLS12"}}
	})
	b.change(proxies, func(spec map[string]any) { spec["httpsProxy"], spec["noProxy"] = plantProxy, "."+b.Domain })
	wait.Until(b.t, "the proxy to be in force", func() bool { return b.proxy() != "" })
	_, err = next.Fits(b.t.Context(), b.c)
	b.saw(qProxied, outcome(err))
	b.change(proxies, func(spec map[string]any) { spec["noProxy"] = "." + b.Domain + ",." + next.Domain })
	wait.Until(b.t, "its exceptions to be in force", func() bool {
		_, err := next.Fits(b.t.Context(), b.c)
		return err == nil
	})
	owners, err := next.Owners(b.t.Context(), b.c)
	fatal(b.t, err)
	next.RouterSecret = owners.Router
	_, err = b.move(next)
	b.saw(qOwners, outcome(err)+", "+b.serves("6443", domain.API(next.Domain))+", "+b.serves("443", domain.Console(next.Domain)))
	b.saw(qKept, b.ownersKept())
	if slices.Contains(b.real, "kube-apiserver") {
		b.forced(next)
	}
}

// cipher is the only one that the owner allows, by OpenSSL's name.
const cipher = "ECDHE-RSA-AES128-GCM-SHA256"

var proxies = kube.Config("proxies")

// proxy is the cluster's, as its operators have it.
func (b *bed) proxy() string {
	b.t.Helper()
	proxy, err := b.c.Config.Proxies().Get(b.t.Context(), "cluster", metav1.GetOptions{})
	fatal(b.t, err)
	return proxy.Status.HTTPSProxy
}

// ownersKept tells which of the owner's settings are in force.
func (b *bed) ownersKept() string {
	b.t.Helper()
	ic, err := b.c.Operator.IngressControllers("openshift-ingress-operator").Get(b.t.Context(), "default", metav1.GetOptions{})
	fatal(b.t, err)
	api, err := b.c.Config.APIServers().Get(b.t.Context(), "cluster", metav1.GetOptions{})
	fatal(b.t, err)
	if slices.Contains(b.real, "kube-apiserver") { // what its operator makes of the cipher and of the proxy
		observed := string(b.operator().Spec.ObservedConfig.Raw)
		for _, part := range []string{"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", b.proxy()} {
			if !strings.Contains(observed, part) {
				b.t.Errorf("the API server's operator observes no %s", part)
			}
		}
	}
	return fmt.Sprintf("router %s, %s, %s", ic.Spec.DefaultCertificate.Name, api.Spec.TLSSecurityProfile.Custom.Ciphers, b.proxy())
}

package domain

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/kube"
	"touchdown/backend/problem"
)

// The namespaces in which the parts of the cluster look for their certificates.
const (
	ConfigNamespace = "openshift-config"  // the API server, the console, the log-in
	RouterNamespace = "openshift-ingress" // the router
)

// Names is what the cluster shall be called, and the Secrets with the certificates for that.
type Names struct {
	Domain     string
	APISecret  string // in openshift-config
	AppsSecret string // in openshift-config and in openshift-ingress
}

// Apply adds the new names to the router, the cluster's ingress configuration and the API server, one right after the other
// so that the API server rolls out as few revisions as possible. Entries of others stay. It reads the Secrets first and
// writes nothing when one of them is not good: an API server with a bad one does not start.
func Apply(ctx context.Context, c *kube.Cluster, n Names, save kube.Save) (changed bool, err error) {
	if err := n.guard(ctx, c); err != nil {
		return false, err
	}
	for _, write := range []struct {
		ref    kube.Ref
		change func(map[string]any) error
	}{
		{kube.IngressController("default"), n.router},
		{kube.Config("ingresses"), n.ingress},
		{kube.Config("apiservers"), n.apiServer},
	} {
		did, err := c.ChangeSpec(ctx, write.ref, write.change, save)
		changed = changed || did
		if err != nil {
			return changed, err
		}
	}
	return changed, nil
}

// guard reads each Secret that will be referred to and checks it as the server that loads it would.
func (n Names) guard(ctx context.Context, c *kube.Cluster) error {
	if strings.HasPrefix(API(n.Domain), "api-int.") {
		return fmt.Errorf("serving %s: the internal name of the API is not for us to serve", API(n.Domain))
	}
	for _, want := range []struct{ namespace, secret, name string }{
		{RouterNamespace, n.AppsSecret, "touchdown-probe." + Apps(n.Domain)},
		{ConfigNamespace, n.AppsSecret, Console(n.Domain)},
		{ConfigNamespace, n.APISecret, API(n.Domain)},
	} {
		err := c.Do(ctx, "reading back "+kube.Secret(want.namespace, want.secret).String(), func(ctx context.Context) error {
			secret, err := c.Core.Secrets(want.namespace).Get(ctx, want.secret, metav1.GetOptions{})
			if err != nil {
				return err
			}
			return loadable(secret, want.name)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func loadable(secret *corev1.Secret, name string) error {
	pair, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
	if err == nil {
		var leaf *x509.Certificate
		if leaf, err = x509.ParseCertificate(pair.Certificate[0]); err == nil {
			err = leaf.VerifyHostname(name)
		}
	}
	if err == nil && secret.Type != corev1.SecretTypeTLS {
		err = fmt.Errorf("its type is %s", secret.Type)
	}
	if err == nil {
		return nil
	}
	return &problem.Problem{
		Code:    "CERT-BCK",
		Summary: fmt.Sprintf("The secret %s/%s cannot be served as %s.", secret.Namespace, secret.Name, name),
		Fix:     "Retry the certificates; nothing refers to this secret yet.",
		Err:     err,
	}
}

func (n Names) router(spec map[string]any) error {
	spec["defaultCertificate"] = map[string]any{"name": n.AppsSecret}
	return nil
}

func (n Names) ingress(spec map[string]any) error {
	spec["appsDomain"] = Apps(n.Domain)
	routes, err := list(spec, "componentRoutes")
	if err != nil {
		return err
	}
	for _, part := range components {
		entry := map[string]any{}
		i := slices.IndexFunc(routes, func(e any) bool {
			m, ok := e.(map[string]any)
			return ok && m["namespace"] == part.namespace && m["name"] == part.name
		})
		if i >= 0 {
			entry, _ = routes[i].(map[string]any) // keys of newer releases stay
		} else {
			routes = append(routes, entry)
		}
		entry["namespace"], entry["name"] = part.namespace, part.name
		entry["hostname"] = part.host + "." + Apps(n.Domain)
		entry["servingCertKeyPairSecret"] = map[string]any{"name": n.AppsSecret}
	}
	spec["componentRoutes"] = routes
	return nil
}

func (n Names) apiServer(spec map[string]any) error {
	serving, ok := spec["servingCerts"].(map[string]any)
	if !ok {
		serving = map[string]any{}
		spec["servingCerts"] = serving
	}
	certs, err := list(serving, "namedCertificates")
	if err != nil {
		return err
	}
	ours := map[string]any{"names": []any{API(n.Domain)}, "servingCertificate": map[string]any{"name": n.APISecret}}
	i := slices.IndexFunc(certs, func(e any) bool { return only(e, API(n.Domain)) })
	switch {
	case i >= 0:
		certs[i] = ours
	case slices.ContainsFunc(certs, func(e any) bool { return slices.Contains(namesOf(e), API(n.Domain)) }):
		certs = slices.Insert(certs, 0, any(ours)) // the first entry for a name wins
	default:
		certs = append(certs, ours)
	}
	serving["namedCertificates"] = certs
	return nil
}

// only reports whether an entry is for this one name.
func only(entry any, name string) bool { return slices.Equal(namesOf(entry), []string{name}) }

func namesOf(entry any) []string {
	m, _ := entry.(map[string]any)
	raw, _ := m["names"].([]any)
	names := make([]string, 0, len(raw))
	for _, n := range raw {
		s, _ := n.(string)
		names = append(names, s)
	}
	return names
}

func list(tree map[string]any, key string) ([]any, error) {
	switch v := tree[key].(type) {
	case nil:
		return nil, nil
	case []any:
		return v, nil
	}
	return nil, fmt.Errorf("%s is no list", key)
}

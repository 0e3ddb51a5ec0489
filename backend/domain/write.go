package domain

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// The namespaces in which the parts of the cluster look for their certificates.
const (
	ConfigNamespace = "openshift-config"  // the API server, the console, the login
	RouterNamespace = "openshift-ingress" // the router
)

// Names is what the cluster shall be called, and the Secrets with the certificates for that.
type Names struct {
	Domain       string
	APISecret    string // in openshift-config
	AppsSecret   string // in openshift-config, and in openshift-ingress when the router has no other
	RouterSecret string // in openshift-ingress; "" is AppsSecret
	// Ours tells whether Touchdown made a Secret, for whatever domain; nil: it made none.
	Ours func(secret string) bool
	// Proxied says that the site brings a proxy, whose exceptions have the domain before the names are written.
	Proxied bool
}

func (n Names) ours(secret string) bool { return n.Ours != nil && n.Ours(secret) }

// router is the Secret of the router's default certificate.
func (n Names) router() string {
	if n.RouterSecret != "" {
		return n.RouterSecret
	}
	return n.AppsSecret
}

// metadataLimit is how long the API server's certificate waits for the login's new host; then the move goes on and may cost one more
// restart.
const metadataLimit = time.Minute

// Apply adds the new names to the cluster's ingress configuration, the API server and the router. Entries of others stay. It reads
// the Secrets first and writes nothing when one of them is not good: an API server with a bad one does not start. Neither does it
// where the API server's operator would refuse the list.
//
// The order is for one restart of the API server, which has two reasons to: its certificate, and the metadata of the login, which the
// authentication operator publishes once the router has admitted the login's new host. Each makes a revision at once, and a revision
// that is available before the installer of the one before has done its work takes its place (library-go,
// pkg/operator/staticpod/controller/installer, newNodeStateForInstallInProgress; the installer pod waits 30 s before it installs,
// installerpod/cmd.go, 4.14 to 4.21). So both have to come close together: the certificate is written as soon as the metadata is
// there, and the router, which admits nothing for a minute or more while its pod is replaced, gets its certificate last.
func Apply(ctx context.Context, c *kube.Cluster, n Names, save kube.Save) (changed bool, err error) {
	if err := n.guard(ctx, c); err != nil {
		return false, err
	}
	if _, err := n.Fits(ctx, c); err != nil {
		return false, err
	}
	hosts, err := n.Hosts(ctx, c)
	if err != nil {
		return false, err
	}
	if err := n.resolved(ctx, c, hosts); err != nil {
		return false, err
	}
	ingress := func(spec map[string]any) error { return n.ingress(spec, hosts) }
	published := func(ctx context.Context, c *kube.Cluster) error { return published(ctx, c, hosts.OAuth()) }
	for i, write := range []struct {
		change func(map[string]any) error
		await  func(context.Context, *kube.Cluster) error // before it
	}{{ingress, nil}, {n.apiServer, published}, {n.defaultCertificate, nil}} {
		if write.await != nil {
			if err := write.await(ctx, c); err != nil {
				return changed, err
			}
		}
		did, err := c.ChangeSpec(ctx, order[i], write.change, save)
		changed = changed || did
		if err != nil {
			return changed, err
		}
	}
	return changed, nil
}

// published waits for the metadata of the login's next host, but not for ever: it saves a restart, no more. Without the cluster's own
// login there is none.
func published(ctx context.Context, c *kube.Cluster, oauth Host) error {
	begin := time.Now()
	w := kube.Wait{What: message.T("the login's host"), Limit: 2 * metadataLimit, Usual: 15 * time.Second, Code: "ANS-LATE", Fix: message.T("Retry.")}
	return c.Until(ctx, w, func(ctx context.Context) (kube.Progress, bool, error) {
		var metadata string
		err := c.Do(ctx, "reading the metadata of the login", func(ctx context.Context) (err error) {
			metadata, err = valueOf(ctx, c, "openshift-config-managed", "oauth-openshift", "oauthMetadata")
			return err
		})
		done := metadata == "" || oauth.Absent || tells(metadata, oauth.Name) || time.Since(begin) >= metadataLimit
		return kube.Progress{Waiting: message.F("the login to take the host %s", oauth.Name)}, done, err
	})
}

// guard reads each Secret that will be referred to and checks it as the server that loads it would.
func (n Names) guard(ctx context.Context, c *kube.Cluster) error {
	if strings.HasPrefix(API(n.Domain), "api-int.") {
		return fmt.Errorf("serving %s: the internal name of the API is not for us to serve", API(n.Domain))
	}
	for _, want := range []struct{ namespace, secret, name string }{
		{RouterNamespace, n.router(), "touchdown-probe." + Apps(n.Domain)},
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
		Summary: message.F("The secret %s/%s cannot be served as %s.", secret.Namespace, secret.Name, name),
		Fix:     message.T("Retry the certificates; nothing refers to this secret yet."),
		Err:     err,
	}
}

func (n Names) defaultCertificate(spec map[string]any) error {
	spec["defaultCertificate"] = map[string]any{"name": n.router()}
	return nil
}

func (n Names) ingress(spec map[string]any, hosts Served) error {
	routes, err := list(spec, "componentRoutes")
	if err != nil {
		return err
	}
	for _, part := range components {
		if hosts[part.name].Owner {
			continue
		}
		entry := part.entry(spec) // keys of newer releases stay
		if entry == nil {
			entry = map[string]any{}
			routes = append(routes, entry)
		}
		entry["namespace"], entry["name"] = part.namespace, part.name
		entry["hostname"] = hosts[part.name].Name
		entry["servingCertKeyPairSecret"] = map[string]any{"name": n.AppsSecret}
	}
	spec["appsDomain"], spec["componentRoutes"] = Apps(n.Domain), routes
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
	serving["namedCertificates"], _, err = place(certs, API(n.Domain), n.APISecret)
	return err
}

func list(tree map[string]any, key string) ([]any, error) {
	switch v := tree[key].(type) {
	case nil:
		return nil, nil
	case []any:
		return v, nil
	}
	return nil, fmt.Errorf("%s is not a list", key)
}

package operators

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/test/bench/controlplane/internal/pki"
)

const kas = "kube-apiserver"

// runKubeAPIServer plays the static pod operator: what its configuration is made of changes, a revision is made, and the single server goes down and comes back with it.
func runKubeAPIServer(ctx context.Context, e *Env) {
	watched := append(configResources("apiservers", "proxies"), core("secrets"), core("configmaps"))
	e.loop(ctx, kas, watched, func(ctx context.Context) error { return reconcileKubeAPIServer(ctx, e) })
}

func reconcileKubeAPIServer(ctx context.Context, e *Env) error {
	in, err := readKASInput(ctx, e)
	if err != nil {
		return err
	}
	applied, known, err := e.applied(ctx, kas)
	if err != nil {
		return err
	}
	if !known {
		if err := e.setApplied(ctx, kas, in.hash()); err != nil {
			return err
		}
		return e.noteRevision(ctx)
	}
	if in.hash() == applied {
		if err := e.noteRevision(ctx); err != nil {
			return err
		}
		// The power may have failed before all was said of a revision that arrived.
		switch r := e.Stats.Report().Revision; {
		case r.Target != 0:
			e.Stats.begin(kas)
			return e.arrived(ctx, r)
		case r.Current == r.Latest:
			if err := e.atRest(ctx, r); err != nil {
				return err
			}
		}
		// A Secret in use is copied beneath the running server, which takes it up by itself. After a fall-back none is in use.
		dir := e.certDir(e.Stats.Report().Revision.Current)
		if slices.Equal(in.sni(dir), e.API.SNI()) {
			return e.syncCerts(ctx, in, dir, certSync)
		}
		return nil
	}
	if err := e.Pace.Sleep(ctx, observe); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(coalesce):
	}
	if in, err = readKASInput(ctx, e); err != nil {
		return err
	}
	return newRevision(ctx, e, in)
}

// kasInput is what a revision of kube-apiserver is made of.
type kasInput struct {
	spec     configv1.APIServerSpec
	metadata string
	proxy    configv1.ProxyStatus
}

func (in kasInput) hash() string { return fingerprint(in.spec, in.metadata, in.proxy) }

func readKASInput(ctx context.Context, e *Env) (in kasInput, err error) {
	api, err := e.Config.APIServers().Get(ctx, "cluster", metav1.GetOptions{})
	if err != nil {
		return in, fmt.Errorf("reading the APIServer: %w", err)
	}
	meta, err := e.Kube.CoreV1().ConfigMaps("openshift-config-managed").Get(ctx, "oauth-openshift", metav1.GetOptions{})
	if err != nil {
		return in, fmt.Errorf("reading the OAuth metadata: %w", err)
	}
	proxy, err := e.Config.Proxies().Get(ctx, "cluster", metav1.GetOptions{})
	if err != nil {
		return in, fmt.Errorf("reading the Proxy: %w", err)
	}
	return kasInput{spec: api.Spec, metadata: meta.Data["oauthMetadata"], proxy: proxy.Status}, nil
}

func (in kasInput) sni(dir string) []string {
	var all []string
	for i, named := range in.spec.ServingCerts.NamedCertificates {
		base := filepath.Join(dir, certName(i))
		pair := base + ".crt," + base + ".key"
		if len(named.Names) > 0 {
			pair += ":" + strings.Join(named.Names, ",")
		}
		all = append(all, pair)
	}
	return all
}

func certName(i int) string { return fmt.Sprintf("user-serving-cert-%03d", i) }

// certDir is where a revision finds its certificates. On a node all revisions share one folder; here each has its own, so that a fall-back always finds what it served before.
func (e *Env) certDir(revision int32) string { return filepath.Join(e.CertDir, fmt.Sprint(revision)) }

// syncCerts copies the Secrets of namedCertificates to the server's files. One that is missing has no file, as on a node; a bad one is copied as it is.
func (e *Env) syncCerts(ctx context.Context, in kasInput, dir string, wait time.Duration) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the folder of serving certificates: %w", err)
	}
	for i, named := range in.spec.ServingCerts.NamedCertificates {
		secret, err := e.Kube.CoreV1().Secrets("openshift-config").Get(ctx, named.ServingCertificate.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			_ = os.Remove(filepath.Join(dir, certName(i)+".crt"))
			_ = os.Remove(filepath.Join(dir, certName(i)+".key"))
			continue
		}
		if err != nil {
			return fmt.Errorf("reading a serving certificate: %w", err)
		}
		if current, err := os.ReadFile(filepath.Join(dir, certName(i)+".crt")); err == nil && string(current) == string(secret.Data[v1.TLSCertKey]) {
			continue
		}
		if err := e.Pace.Sleep(ctx, wait); err != nil {
			return err
		}
		if err := pki.SavePair(dir, certName(i), secret.Data[v1.TLSCertKey], secret.Data[v1.TLSPrivateKeyKey]); err != nil {
			return err
		}
	}
	return nil
}

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
	operatorv1 "github.com/openshift/api/operator/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

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

// newRevision plays one revision from its making to the end, good or bad.
func newRevision(ctx context.Context, e *Env, in kasInput) error {
	e.Stats.begin(kas)
	var r Revision
	err := e.updateRevision(ctx, func(s *operatorv1.StaticPodOperatorStatus) {
		n := &s.NodeStatuses[0]
		if s.LatestAvailableRevision == n.CurrentRevision || s.LatestAvailableRevision == n.LastFailedRevision {
			s.LatestAvailableRevision++
		}
		n.TargetRevision = s.LatestAvailableRevision
		r = Revision{Current: n.CurrentRevision, Target: n.TargetRevision, Latest: s.LatestAvailableRevision}
	})
	if err != nil {
		return err
	}
	e.Log.Info("revision begins", "revision", r.Latest)
	message := fmt.Sprintf("NodeInstallerProgressing: 1 node is at revision %d; 0 nodes have achieved new revision %d", r.Current, r.Latest)
	if err := e.condition(ctx, kas, configv1.OperatorProgressing, true, "NodeInstaller", message); err != nil {
		return err
	}
	if err := e.Pace.Sleep(ctx, installer); err != nil {
		return err
	}
	if err := e.Faults.unstuck(ctx, kas); err != nil {
		return err
	}
	dir := e.certDir(r.Latest)
	if err := e.syncCerts(ctx, in, dir, 0); err != nil {
		return err
	}
	old := e.API.SNI()
	outage := func(ctx context.Context) error { return e.Pace.Sleep(ctx, apiOutage) }
	if err := e.API.RollOut(ctx, in.sni(dir), outage); err != nil {
		return fallBack(ctx, e, in, r, old, err)
	}
	return arrive(ctx, e, in, r)
}

func arrive(ctx context.Context, e *Env, in kasInput, r Revision) error {
	if err := e.Pace.Sleep(ctx, startupMonitor); err != nil {
		return err
	}
	if err := e.setApplied(ctx, kas, in.hash()); err != nil {
		return err
	}
	err := e.updateRevision(ctx, func(s *operatorv1.StaticPodOperatorStatus) {
		s.NodeStatuses[0].CurrentRevision, s.NodeStatuses[0].TargetRevision = r.Latest, 0
	})
	if err != nil {
		return err
	}
	if err := e.degraded(ctx, kas, false, "AsExpected", ""); err != nil {
		return err
	}
	message := fmt.Sprintf("NodeInstallerProgressing: 1 node is at revision %d", r.Latest)
	if err := e.condition(ctx, kas, configv1.OperatorProgressing, false, "AsExpected", message); err != nil {
		return err
	}
	e.Stats.done(kas)
	e.Log.Info("revision ends", "revision", r.Latest)
	return nil
}

// fallBack plays a server that does not come up: the API is away until the startup monitor goes back to the last good revision, and the operator says why.
func fallBack(ctx context.Context, e *Env, in kasInput, r Revision, old []string, cause error) error {
	e.Log.Warn("revision does not start", "revision", r.Latest, "error", cause)
	wait := func(ctx context.Context) error { return e.Pace.Sleep(ctx, fallback) }
	if err := e.API.RollOut(ctx, old, wait); err != nil {
		return fmt.Errorf("falling back: %w", err)
	}
	if err := e.setApplied(ctx, kas, in.hash()); err != nil { // a revision that crashed is not tried again before something changes
		return err
	}
	err := e.updateRevision(ctx, func(s *operatorv1.StaticPodOperatorStatus) {
		n, now := &s.NodeStatuses[0], metav1.Now()
		n.TargetRevision, n.LastFailedRevision, n.LastFailedReason, n.LastFailedTime = 0, r.Latest, "OperandFailedFallback", &now
		n.LastFallbackCount++
		n.LastFailedRevisionErrors = []string{cause.Error()}
	})
	if err != nil {
		return err
	}
	if err := e.markFallback(ctx, r.Latest, cause); err != nil {
		return err
	}
	message := fmt.Sprintf("StaticPodFallbackRevisionDegraded: a static pod was rolled back to revision %d due to waiting for kube-apiserver static pod to listen on port 6443: %v", r.Current, cause)
	if err := e.degraded(ctx, kas, true, "StaticPodFallbackRevision_StaticPodFallbackRevision", message); err != nil {
		return err
	}
	e.Stats.fail(kas)
	return nil
}

// markFallback writes on the static pod what the startup monitor writes there.
func (e *Env) markFallback(ctx context.Context, revision int32, cause error) error {
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"startup-monitor.static-pods.openshift.io/fallback-for-revision":"%d",`+
		`"startup-monitor.static-pods.openshift.io/fallback-reason":"NetworkError","startup-monitor.static-pods.openshift.io/fallback-message":%q}}}`, revision, cause.Error())
	err := e.retry(ctx, func() error {
		_, err := e.Kube.CoreV1().Pods("openshift-kube-apiserver").Patch(ctx, "kube-apiserver-"+e.Node, types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// updateRevision changes the status of the KubeAPIServer operator resource.
func (e *Env) updateRevision(ctx context.Context, change func(*operatorv1.StaticPodOperatorStatus)) error {
	err := e.retry(ctx, func() error {
		o, err := e.Operator.KubeAPIServers().Get(ctx, "cluster", metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(&o.Status.StaticPodOperatorStatus)
		o, err = e.Operator.KubeAPIServers().UpdateStatus(ctx, o, metav1.UpdateOptions{})
		if err == nil {
			e.Stats.setRevision(revisionOf(o))
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("changing the revision of kube-apiserver: %w", err)
	}
	return nil
}

func (e *Env) noteRevision(ctx context.Context) error {
	o, err := e.Operator.KubeAPIServers().Get(ctx, "cluster", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the revision of kube-apiserver: %w", err)
	}
	e.Stats.setRevision(revisionOf(o))
	return nil
}

func revisionOf(o *operatorv1.KubeAPIServer) Revision {
	n := o.Status.NodeStatuses[0]
	return Revision{Current: n.CurrentRevision, Target: n.TargetRevision, Latest: o.Status.LatestAvailableRevision}
}

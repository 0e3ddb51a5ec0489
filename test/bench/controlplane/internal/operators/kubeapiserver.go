package operators

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/test/bench/controlplane/internal/pki"
)

const kas = "kube-apiserver"

// runKubeAPIServerRevisions plays the revision controller: as soon as an input differs from the newest revision's copy there is
// another revision. It does not wait for further changes: what comes later makes one more.
func runKubeAPIServerRevisions(ctx context.Context, e *Env) {
	e.loop(ctx, kas+"-revisions", []resource{core("configmaps")}, func(ctx context.Context) error { return reviseKubeAPIServer(ctx, e) })
}

func reviseKubeAPIServer(ctx context.Context, e *Env) error {
	op, err := e.Operator.KubeAPIServers().Get(ctx, "cluster", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the revision of kube-apiserver: %w", err)
	}
	latest := op.Status.LatestAvailableRevision
	want, there, err := e.kasInputs(ctx, 0)
	if err != nil || !there {
		return err
	}
	have, _, err := e.kasInputs(ctx, latest)
	if err != nil || maps.Equal(have, want) {
		return err
	}
	// These two are among the first that are copied, so they hold what there is at the beginning.
	if err := e.putInputs(ctx, latest+1, want); err != nil {
		return err
	}
	if err := e.Pace.Sleep(ctx, newRevisionIn); err != nil {
		return err
	}
	return e.updateRevision(ctx, func(s *operatorv1.StaticPodOperatorStatus) { s.LatestAvailableRevision = latest + 1 })
}

// runKubeAPIServer plays the installer controller: the single server goes down and comes back with the newest revision.
func runKubeAPIServer(ctx context.Context, e *Env) {
	watched := []resource{operatorv1.GroupVersion.WithResource("kubeapiservers"), core("secrets")}
	first := true
	e.loop(ctx, kas, watched, func(ctx context.Context) error {
		err := installKubeAPIServer(ctx, e, first)
		first = first && err != nil
		return err
	})
}

// installKubeAPIServer installs what is newest. In the first look after a start of the bench a revision under way is one whose
// end the power cut.
func installKubeAPIServer(ctx context.Context, e *Env, first bool) error {
	r, failed, err := e.readRevision(ctx)
	if err != nil {
		return err
	}
	e.Stats.setRevision(r)
	if r.Latest == r.Current && r.Target == 0 || r.Latest == failed {
		if r.Latest == r.Current {
			if err := e.atRest(ctx, r); err != nil {
				return err
			}
		}
		return e.syncRunning(ctx)
	}
	in, there, err := e.kasInputs(ctx, r.Latest)
	if err != nil || !there {
		return err
	}
	if first && r.Target == r.Latest && e.runs(in["config"], r.Latest) {
		e.Stats.begin(kas)
		if err := e.clearFallback(ctx); err != nil {
			return err
		}
		return e.arrived(ctx, r)
	}
	return e.install(ctx, r)
}

// runs says whether the server was started with a revision's certificates.
func (e *Env) runs(config string, revision int32) bool {
	named, err := namedIn(config)
	return err == nil && strings.Join(sni(named, e.certDir(revision)), " ") == strings.Join(e.API.SNI(), " ")
}

// namedIn returns the named certificates of the cluster's owner in a configuration.
func namedIn(config string) ([]observedCertificate, error) {
	var c kasConfiguration
	if err := json.Unmarshal([]byte(config), &c); err != nil {
		return nil, fmt.Errorf("decoding the configuration of kube-apiserver: %w", err)
	}
	var named []observedCertificate
	for _, n := range c.ServingInfo.NamedCertificates {
		if strings.HasPrefix(n.CertFile, kasPods+"user-serving-cert-") {
			named = append(named, n)
		}
	}
	return named, nil
}

func sni(named []observedCertificate, dir string) []string {
	var all []string
	for i, n := range named {
		base := filepath.Join(dir, certName(i))
		pair := base + ".crt," + base + ".key"
		if len(n.Names) > 0 {
			pair += ":" + strings.Join(n.Names, ",")
		}
		all = append(all, pair)
	}
	return all
}

func certName(i int) string { return fmt.Sprintf("user-serving-cert-%03d", i) }

// certDir is where a revision finds its certificates. On a node all revisions share one folder; here each has its own, so that a fall-back always finds what it served before.
func (e *Env) certDir(revision int32) string { return filepath.Join(e.CertDir, fmt.Sprint(revision)) }

// syncCerts copies the Secrets of n named certificates to a revision's files, whatever is in them.
func (e *Env) syncCerts(ctx context.Context, n int, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the folder of serving certificates: %w", err)
	}
	for i := range n {
		secret, err := e.Kube.CoreV1().Secrets(kasNamespace).Get(ctx, certName(i), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			_ = os.Remove(filepath.Join(dir, certName(i)+".crt"))
			_ = os.Remove(filepath.Join(dir, certName(i)+".key"))
			continue
		}
		if err != nil {
			return fmt.Errorf("reading a serving certificate: %w", err)
		}
		if err := pki.SavePair(dir, certName(i), secret.Data[v1.TLSCertKey], secret.Data[v1.TLSPrivateKeyKey]); err != nil {
			return err
		}
	}
	return nil
}

// syncRunning copies the Secrets of the running server to its files; it takes them up without a restart. A pair that cannot be
// loaded stays away: on a node the server goes on with the one before.
func (e *Env) syncRunning(ctx context.Context) error {
	for i, pair := range e.API.SNI() {
		file, _, _ := strings.Cut(pair, ",")
		secret, err := e.Kube.CoreV1().Secrets(kasNamespace).Get(ctx, certName(i), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("reading a serving certificate: %w", err)
		}
		cert, key := secret.Data[v1.TLSCertKey], secret.Data[v1.TLSPrivateKeyKey]
		if _, err := tls.X509KeyPair(cert, key); err != nil {
			continue
		}
		if current, err := os.ReadFile(file); err == nil && string(current) == string(cert) {
			continue
		}
		if err := e.Pace.Sleep(ctx, certSync); err != nil {
			return err
		}
		if err := pki.SavePair(filepath.Dir(file), certName(i), cert, key); err != nil {
			return err
		}
	}
	return nil
}

// install plays the roll-out of a revision to its end, good or bad. One that is overtaken before its installer is done is not
// installed at all: library-go deletes the installer pod and goes for the newer revision (newNodeStateForInstallInProgress).
func (e *Env) install(ctx context.Context, r Revision) error {
	e.Stats.begin(kas)
	for {
		var err error
		if r, err = e.pickTarget(ctx); err != nil {
			return err
		}
		newer, err := e.overtaken(ctx, r, installer, 0)
		if err != nil {
			return err
		}
		if !newer {
			break
		}
	}
	if err := e.Faults.unstuck(ctx, kas); err != nil {
		return err
	}
	in, _, err := e.kasInputs(ctx, r.Latest)
	if err != nil {
		return err
	}
	named, err := namedIn(in["config"])
	if err != nil {
		return err
	}
	dir, old := e.certDir(r.Latest), e.API.SNI()
	if err := e.syncCerts(ctx, len(named), dir); err != nil {
		return err
	}
	outage := func(ctx context.Context) error { return e.Pace.Sleep(ctx, apiOutage) }
	if err := e.API.RollOut(ctx, sni(named, dir), outage); err != nil {
		return fallBack(ctx, e, r, old, err)
	}
	if err := e.clearFallback(ctx); err != nil {
		return err
	}
	// The installer controller does nothing before the server has been ready for half a minute. Where a newer revision is there by
	// then, this one never becomes the current one. It does not wait for the startup monitor: WithStartupMonitorSupport has no caller.
	newer, err := e.overtaken(ctx, r, minReady, minReady)
	if err != nil {
		return err
	}
	if newer {
		e.Stats.done(kas)
		return nil
	}
	return e.arrived(ctx, r)
}

// pickTarget makes the newest revision the one to reach.
func (e *Env) pickTarget(ctx context.Context) (r Revision, err error) {
	err = e.updateRevision(ctx, func(s *operatorv1.StaticPodOperatorStatus) {
		n := &s.NodeStatuses[0]
		n.TargetRevision = s.LatestAvailableRevision
		tellInstalled(s)
		r = Revision{Current: n.CurrentRevision, Target: n.TargetRevision, Latest: s.LatestAvailableRevision}
	})
	if err != nil {
		return r, err
	}
	e.Log.Info("revision begins", "revision", r.Latest)
	message := fmt.Sprintf("NodeInstallerProgressing: 1 node is at revision %d; 0 nodes have achieved new revision %d", r.Current, r.Latest)
	return r, e.condition(ctx, kas, configv1.OperatorProgressing, true, "NodeInstaller", message)
}

// overtaken waits for d, and says whether a newer revision was there after least.
func (e *Env) overtaken(ctx context.Context, r Revision, d, least time.Duration) (bool, error) {
	const step = time.Second
	for gone := time.Duration(0); ; gone += step {
		if gone >= least {
			now, _, err := e.readRevision(ctx)
			if err == nil && now.Latest > r.Latest {
				return true, nil
			}
		}
		if gone >= d {
			return false, nil
		}
		if err := e.Pace.Sleep(ctx, step); err != nil {
			return false, err
		}
	}
}

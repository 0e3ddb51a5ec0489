package staticpod

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/certs"
	"touchdown/backend/domain"
	"touchdown/test/bench"
	"touchdown/test/wait"
)

const (
	site     = "store1.site.example"
	notAPair = "not-a-pair" // a Secret
)

// TestTheStandInRollsOutAsLibraryGo plays a move, a configuration that does not start, its repair and the undo on a cluster with
// library-go's controllers and on one with the stand-in. Both have to end with the same number of starts, and to tell the same.
func TestTheStandInRollsOutAsLibraryGo(t *testing.T) {
	wait.Slow(t)
	var beds [2]map[string]map[string]string
	t.Run("both", func(t *testing.T) {
		for i, real := range [][]string{{"static-pods"}, nil} {
			t.Run([]string{"library-go", "stand-in"}[i], func(t *testing.T) {
				t.Parallel()
				beds[i] = scenario(newBed(t, bench.Options{Real: real}))
			})
		}
	})
	if t.Failed() || beds[0] == nil || beds[1] == nil {
		return
	}
	for _, moment := range slices.Sorted(maps.Keys(beds[0])) {
		real, standIn := beds[0][moment], beds[1][moment]
		for _, fact := range slices.Sorted(maps.Keys(real)) {
			t.Logf("%s: %s: %s", moment, fact, real[fact])
			if real[fact] != standIn[fact] {
				t.Errorf("%s: %s\n  library-go: %s\n  stand-in:   %s", moment, fact, real[fact], standIn[fact])
			}
		}
	}
}

// scenario returns what the operator said at each moment.
func scenario(b *bed) map[string]map[string]string {
	said := map[string]map[string]string{}
	fatal(b.t, b.SetDelay(fmt.Sprint(pace)))
	before := b.state()
	names := b.certificates()
	_, err := domain.Apply(b.t.Context(), b.c, names, b.save)
	fatal(b.t, err)
	said["1 on the way"] = b.until("the revision to be on its way", map[string]string{
		"current": "current", "target": "latest", "NodeInstallerProgressing": "True", "ClusterOperator Progressing": "True",
	})
	fatal(b.t, domain.Noticed(b.t.Context(), b.c, domain.Usual()))
	fatal(b.t, domain.WaitRolledOut(b.t.Context(), b.c, names.Domain, domain.Usual()))
	said["2 moved"] = b.until("the operator to be at rest", atRest)
	after := b.state()
	said["2 moved"]["starts"] = fmt.Sprint(after.Restarts - before.Restarts)

	fatal(b.t, b.SetDelay("zero")) // what it falls back to does not depend on the pace
	b.brokenCertificate()
	said["3 fallen back"] = b.until("the operator to tell the fall-back", map[string]string{
		"current": "current", "failed": "latest", "StaticPodFallbackRevisionDegraded": "True", "NodeInstallerProgressing": "True", "Touchdown sees": "fallen back: true pending: true",
	})
	delete(said["3 fallen back"], "ClusterOperator Degraded") // two minutes late where it is real, and at once at this pace

	b.serveBroken(false)
	said["4 repaired"] = b.until("the operator to be at rest", atRest)

	// Without delays a revision can start with a configuration whose certificate is already removed.
	fatal(b.t, b.SetDelay(fmt.Sprint(pace)))
	before = b.state()
	fatal(b.t, domain.Restore(b.t.Context(), b.c, b.saved))
	fatal(b.t, domain.Noticed(b.t.Context(), b.c, domain.Usual()))
	fatal(b.t, domain.WaitRolledOut(b.t.Context(), b.c, "", domain.Usual()))
	said["5 undone"] = b.until("the operator to be at rest", atRest)
	after = b.state()
	said["5 undone"]["starts"] = fmt.Sprint(after.Restarts - before.Restarts)
	return said
}

var atRest = map[string]string{"Touchdown sees": "fallen back: false pending: false", "current": "latest", "target": "none", "NodeInstallerProgressing": "False", "ClusterOperator Progressing": "False", "ClusterOperator Degraded": "False"}

// certificates makes those of a new domain, and returns its names.
func (b *bed) certificates() domain.Names {
	b.t.Helper()
	ctx := b.t.Context()
	n := domain.Names{Domain: site, APISecret: certs.APISecret(site), AppsSecret: certs.AppsSecret(site), Ours: certs.Ours}
	api, err := certs.APISigner(ctx, b.c)
	fatal(b.t, err)
	apps, err := certs.AppsSigner(ctx, b.c)
	fatal(b.t, err)
	for _, w := range []certs.Want{
		{Secret: n.APISecret, Namespaces: []string{domain.ConfigNamespace}, Names: []string{domain.API(site)}, Signer: api, Now: time.Now()},
		{
			Secret: n.AppsSecret, Namespaces: []string{domain.ConfigNamespace, domain.RouterNamespace},
			Names: []string{"*." + domain.Apps(site), "*." + domain.Apps(b.Domain)}, Signer: apps, Now: time.Now(),
		},
	} {
		_, err := certs.Install(ctx, b.c, w, b.save)
		fatal(b.t, err)
	}
	return n
}

// brokenCertificate has the API server serve a pair that it cannot load, beside Touchdown's.
func (b *bed) brokenCertificate() {
	b.t.Helper()
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: notAPair}, Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{corev1.TLSCertKey: []byte("x"), corev1.TLSPrivateKeyKey: []byte("y")},
	}
	_, err := b.kube.CoreV1().Secrets(domain.ConfigNamespace).Create(b.t.Context(), secret, metav1.CreateOptions{})
	fatal(b.t, err)
	b.serveBroken(true)
}

// serveBroken adds or removes the entry of the broken certificate. It looks first: an answer may be lost over a restart.
func (b *bed) serveBroken(on bool) {
	b.t.Helper()
	wait.Until(b.t, "the API server to take its named certificates", func() error {
		api, err := b.c.Config.APIServers().Get(b.t.Context(), "cluster", metav1.GetOptions{})
		if err != nil {
			return err
		}
		named := slices.DeleteFunc(slices.Clone(api.Spec.ServingCerts.NamedCertificates), func(n configv1.APIServerNamedServingCert) bool {
			return n.ServingCertificate.Name == notAPair
		})
		if on {
			named = append(named, configv1.APIServerNamedServingCert{Names: []string{"other.site.example"}, ServingCertificate: configv1.SecretNameReference{Name: notAPair}})
		}
		if len(named) == len(api.Spec.ServingCerts.NamedCertificates) {
			return nil
		}
		api.Spec.ServingCerts.NamedCertificates = named
		_, err = b.c.Config.APIServers().Update(b.t.Context(), api, metav1.UpdateOptions{})
		return err
	})
}

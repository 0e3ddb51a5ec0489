package bench_test

import (
	"crypto/x509"
	"os"
	"strings"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	routev1 "github.com/openshift/api/route/v1"
	certv1 "k8s.io/api/certificates/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"touchdown/test/bench"
	"touchdown/test/wait"
)

// TestSeed looks at the factory cluster as the product would meet it.
func TestSeed(t *testing.T) {
	t.Parallel()
	s := start(t, bench.Options{})
	list, err := s.config.ConfigV1().ClusterOperators().List(t.Context(), metav1.ListOptions{})
	check(t, err)
	if len(list.Items) != 34 {
		t.Errorf("%d ClusterOperators, want 34", len(list.Items))
	}
	csrs, err := s.kube.CertificatesV1().CertificateSigningRequests().List(t.Context(), metav1.ListOptions{})
	check(t, err)
	requesters := map[string]string{}
	for _, c := range csrs.Items {
		if len(c.Status.Conditions) > 0 {
			t.Errorf("request %s is not pending", c.Name)
		}
		requesters[c.Name] = c.Spec.Username
	}
	if len(requesters) != 3 || requesters["csr-d5x7k"] != "system:node:sno-factory" {
		t.Errorf("pending requests: %v", requesters)
	}
	t.Run("a request that is approved is signed", func(t *testing.T) {
		csr, err := s.kube.CertificatesV1().CertificateSigningRequests().Get(t.Context(), "csr-d5x7k", metav1.GetOptions{})
		check(t, err)
		csr.Status.Conditions = append(csr.Status.Conditions, certv1.CertificateSigningRequestCondition{Type: certv1.CertificateApproved, Status: v1.ConditionTrue, Reason: "Test"})
		_, err = s.kube.CertificatesV1().CertificateSigningRequests().UpdateApproval(t.Context(), csr.Name, csr, metav1.UpdateOptions{})
		check(t, err)
		wait.Until(t, "the request is signed", func() bool {
			csr, err := s.kube.CertificatesV1().CertificateSigningRequests().Get(t.Context(), "csr-d5x7k", metav1.GetOptions{})
			return err == nil && len(csr.Status.Certificate) > 0
		})
	})
	t.Run("signers", func(t *testing.T) { s.testSigners(t) })
	t.Run("faults", func(t *testing.T) { s.testFaults(t) })
	t.Run("pull secret", func(t *testing.T) { s.testPullSecret(t) })
	t.Run("apps", func(t *testing.T) { s.testApps(t) })
}

// testSigners checks that what the cluster serves is signed by the Secrets it holds.
func (s *site) testSigners(t *testing.T) {
	for host, where := range map[string][3]string{
		"api." + s.Domain:        {"6443", "openshift-kube-apiserver-operator", "loadbalancer-serving-signer"},
		"x.apps." + s.Domain:     {"443", "openshift-ingress-operator", "router-ca"},
		"kubernetes.default.svc": {"6443", "openshift-kube-apiserver-operator", "service-network-serving-signer"},
	} {
		leaf, err := s.Leaf(t.Context(), where[0], host)
		check(t, err)
		secret, err := s.kube.CoreV1().Secrets(where[1]).Get(t.Context(), where[2], metav1.GetOptions{})
		check(t, err)
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(secret.Data[v1.TLSCertKey])
		if _, err := leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: roots}); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
}

func (s *site) testFaults(t *testing.T) {
	get := func() error {
		_, err := s.config.ConfigV1().ClusterVersions().Get(t.Context(), "version", metav1.GetOptions{})
		return err
	}
	check(t, s.SetFault(bench.Fault{Kind: bench.Forbidden, Resource: "clusterversions"}))
	if err := get(); !apierrors.IsForbidden(err) {
		t.Errorf("forbidden: %v", err)
	}
	check(t, s.ClearFaults())
	check(t, s.SetFault(bench.Fault{Kind: bench.Conflict, Times: 1}))
	write := func() error {
		_, err := s.config.ConfigV1().OAuths().Patch(t.Context(), "cluster", types.MergePatchType, []byte(`{"metadata":{"annotations":{"a":"b"}}}`), metav1.PatchOptions{})
		return err
	}
	if err := write(); !apierrors.IsConflict(err) {
		t.Errorf("conflict: %v", err)
	}
	check(t, write())
	check(t, s.SetFault(bench.Fault{Kind: bench.Slow, Millis: 300, Verb: "get", Times: 1}))
	begun := time.Now()
	check(t, get())
	if took := time.Since(begun); took < 300*time.Millisecond {
		t.Errorf("slow: took %v", took)
	}
	check(t, s.SetFault(bench.Fault{Kind: bench.Throttled, Millis: 1000, Verb: "get", Times: 1}))
	begun = time.Now()
	check(t, get()) // client-go obeys Retry-After automatically
	if took := time.Since(begun); took < time.Second {
		t.Errorf("throttled: took %v", took)
	}
	check(t, s.SetFault(bench.Fault{Kind: bench.Degraded, Operator: "dns"}))
	wait.Until(t, "dns is degraded", func() bool {
		return s.operatorIs(t.Context(), "dns", configv1.OperatorDegraded, configv1.ConditionTrue)
	})
	check(t, s.ClearFaults())
	wait.Until(t, "dns is well again", func() bool {
		return s.operatorIs(t.Context(), "dns", configv1.OperatorDegraded, configv1.ConditionFalse)
	})

	before, err := s.State()
	check(t, err)
	check(t, write())
	after, err := s.State()
	check(t, err)
	if n := after.Writes["PATCH oauths"] - before.Writes["PATCH oauths"]; n != 1 {
		t.Errorf("one PATCH counted as %d", n)
	}
	check(t, s.KillAPI(200*time.Millisecond))
	wait.Until(t, "the API was away", func() bool { // counted: the outage itself is too short for a busy machine
		st, err := s.State()
		return err == nil && st.Restarts > after.Restarts
	})
	wait.Until(t, "the API is back", func() bool { return get() == nil })
	again, err := s.State()
	check(t, err)
	if again.Writes["PATCH oauths"] != after.Writes["PATCH oauths"] {
		t.Errorf("counts lost over the outage: %v", again.Writes)
	}
}

func (s *site) testPullSecret(t *testing.T) {
	patch := []byte(`{"stringData":{".dockerconfigjson":"{\"auths\":{\"registry.site.example\":{\"auth\":\"dTpw\"}}}"}}`)
	_, err := s.kube.CoreV1().Secrets("openshift-config").Patch(t.Context(), "pull-secret", types.MergePatchType, patch, metav1.PatchOptions{})
	check(t, err)
	wait.Until(t, "both pools are rendered again", func() bool {
		st, err := s.State()
		return err == nil && st.Renders == 2 && st.RollOuts["machine-config-master"].Done == 1
	})
	node, err := s.kube.CoreV1().Nodes().Get(t.Context(), "sno-factory", metav1.GetOptions{})
	check(t, err)
	const mco = "machineconfiguration.openshift.io/"
	if a := node.Annotations; a[mco+"currentConfig"] != a[mco+"desiredConfig"] || a[mco+"state"] != "Done" || node.Spec.Unschedulable {
		t.Errorf("node after the update: %v", a)
	}
}

// testApps moves the applications' domain and looks at what follows it and what does not.
func (s *site) testApps(t *testing.T) {
	ctx := t.Context()
	patch := []byte(`{"spec":{"appsDomain":"apps.site.example"}}`)
	_, err := s.config.ConfigV1().Ingresses().Patch(ctx, "cluster", types.MergePatchType, patch, metav1.PatchOptions{})
	check(t, err)
	wait.Until(t, "openshift-apiserver rolled out", func() bool {
		st, err := s.State()
		return err == nil && st.RollOuts["openshift-apiserver"].Done == 1
	})
	for _, at := range [][2]string{{"openshift-monitoring", "thanos-querier"}, {"openshift-console", "console"}} {
		check(t, s.route.RouteV1().Routes(at[0]).Delete(ctx, at[1], metav1.DeleteOptions{}))
	}
	host := func(namespace, name string) string {
		r, err := s.route.RouteV1().Routes(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil || len(r.Status.Ingress) == 0 || r.Status.Ingress[0].Host != r.Spec.Host {
			return ""
		}
		return r.Spec.Host
	}
	wait.Until(t, "the querier's route is back in the new domain", func() bool {
		return host("openshift-monitoring", "thanos-querier") == "thanos-querier-openshift-monitoring.apps.site.example"
	})
	wait.Until(t, "the console's route is back in the old domain", func() bool {
		return host("openshift-console", "console") == "console-openshift-console.apps."+s.Domain
	})
	if got := host("plant", "portal"); got != "portal.plant.example" {
		t.Errorf("the user's own host became %s", got)
	}
	if code, _, err := s.Get(ctx, "nobody.apps.site.example", "/"); err != nil || code != 503 {
		t.Errorf("unknown host: %d, %v", code, err)
	}
	s.testCanary(t)
}

// testCanary checks that the canary stays below the router's domain: its route has a subdomain, and a host that is set by
// hand is withdrawn.
func (s *site) testCanary(t *testing.T) {
	routes, host := s.route.RouteV1().Routes("openshift-ingress-canary"), "canary-openshift-ingress-canary.apps."+s.Domain
	served := func(not types.UID) bool {
		r, err := routes.Get(t.Context(), "canary", metav1.GetOptions{})
		return err == nil && r.UID != not && r.Spec.Host == "" && len(r.Status.Ingress) == 1 && r.Status.Ingress[0].Host == host
	}
	before, err := routes.Get(t.Context(), "canary", metav1.GetOptions{})
	check(t, err)
	if !served("") {
		t.Errorf("the canary has the host %q, status %+v", before.Spec.Host, before.Status.Ingress)
	}
	_, err = routes.Patch(t.Context(), "canary", types.MergePatchType, []byte(`{"spec":{"host":"canary.apps.site.example"}}`), metav1.PatchOptions{})
	check(t, err)
	wait.Until(t, "the canary is made again without a host", func() bool { return served(before.UID) })
	if code, _, err := s.Get(t.Context(), host, "/"); err != nil || code != 200 {
		t.Errorf("the canary answers %d, %v", code, err)
	}
}

// TestRollOut gives the API a certificate for a new name and follows it through the outage.
func TestRollOut(t *testing.T) {
	t.Parallel()
	s := start(t, bench.Options{})
	ctx := t.Context()
	serial := s.secret(t, "openshift-config", "site-api", "api.site.example")
	s.nameCertificate(t, "api.site.example", "site-api")
	wait.Until(t, "the new certificate is served", func() bool { return s.serves(ctx, "6443", "api.site.example", serial) })
	if st, err := s.State(); err != nil || st.Restarts == 0 {
		t.Errorf("the API server was not restarted: %+v, %v", st, err)
	}
	wait.Until(t, "the node has the new revision", func() bool {
		st, err := s.State()
		return err == nil && st.Revision == bench.Revision{Current: 8, Latest: 8} && st.RollOuts["kube-apiserver"].Done == 1
	})
	wait.Until(t, "the operator is done", func() bool {
		return s.operatorIs(ctx, "kube-apiserver", configv1.OperatorProgressing, configv1.ConditionFalse)
	})
	t.Run("a secret that is missing is refused", func(t *testing.T) {
		s.nameCertificate(t, "api.site.example", "no-such-secret")
		s.refused(t, `secret "no-such-secret" not found`)
		s.nameCertificate(t, "api.site.example", "site-api")
		s.refused(t, "")
	})
	t.Run("a name in two entries is refused", func(t *testing.T) {
		patch := []byte(`{"spec":{"servingCerts":{"namedCertificates":[{"names":["api.site.example"],"servingCertificate":{"name":"site-api"}},
			{"names":["x.example","api.site.example"],"servingCertificate":{"name":"site-api"}}]}}}`)
		_, err := s.config.ConfigV1().APIServers().Patch(ctx, "cluster", types.MergePatchType, patch, metav1.PatchOptions{})
		check(t, err)
		s.refused(t, `name "api.site.example" is used by other indexes: [0,1]`)
		if st, err := s.State(); err != nil || st.Revision.Latest != 8 {
			t.Errorf("a refused configuration made a revision: %+v, %v", st.Revision, err)
		}
		s.nameCertificate(t, "api.site.example", "site-api")
		s.refused(t, "")
	})
	t.Run("a secret that cannot be served", func(t *testing.T) {
		_, err := s.kube.CoreV1().Secrets("openshift-config").Create(ctx, &v1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: "not-a-pair"}, Type: v1.SecretTypeTLS,
			Data: map[string][]byte{v1.TLSCertKey: []byte("x"), v1.TLSPrivateKeyKey: []byte("y")},
		}, metav1.CreateOptions{})
		check(t, err)
		s.nameCertificate(t, "other.site.example", "not-a-pair")
		wait.Until(t, "the operator falls back", func() bool {
			op, err := s.operator.OperatorV1().KubeAPIServers().Get(ctx, "cluster", metav1.GetOptions{})
			if err != nil {
				return false
			}
			n := op.Status.NodeStatuses[0]
			return n.CurrentRevision == 8 && n.LastFailedRevision == 9 && s.operatorIs(ctx, "kube-apiserver", configv1.OperatorDegraded, configv1.ConditionTrue)
		})
	})
	t.Run("and put right", func(t *testing.T) {
		s.nameCertificate(t, "api.site.example", "site-api")
		wait.Until(t, "the operator recovers", func() bool {
			return s.operatorIs(ctx, "kube-apiserver", configv1.OperatorDegraded, configv1.ConditionFalse) && s.serves(ctx, "6443", "api.site.example", serial)
		})
	})
}

// refused waits until the operator says that it refuses its configuration, or with "" that it takes it.
func (s *site) refused(t *testing.T, why string) {
	t.Helper()
	wait.Until(t, "the operator says: "+why, func() bool {
		op, err := s.operator.OperatorV1().KubeAPIServers().Get(t.Context(), "cluster", metav1.GetOptions{})
		if err != nil {
			return false
		}
		for _, c := range op.Status.Conditions {
			if c.Type == "ConfigObservationDegraded" {
				return (c.Status == operatorv1.ConditionTrue) == (why != "") && strings.Contains(c.Message, why)
			}
		}
		return false
	})
}

// TestRouter gives the applications their certificate and hosts and the API its name at one time. The
// operator of the API server does not wait: its configuration makes one revision, the login's new host the next one.
func TestRouter(t *testing.T) {
	t.Parallel()
	s := start(t, bench.Options{Older: true})
	ctx := t.Context()
	const apps = "apps.site.example"
	serial := s.secret(t, "openshift-ingress", "site-apps", "*."+apps)
	own := s.secret(t, "openshift-config", "site-apps", "*."+apps)
	patch := []byte(`{"spec":{"defaultCertificate":{"name":"site-apps"}}}`)
	_, err := s.operator.OperatorV1().IngressControllers("openshift-ingress-operator").Patch(ctx, "default", types.MergePatchType, patch, metav1.PatchOptions{})
	check(t, err)
	wait.Until(t, "the router serves the new certificate", func() bool { return s.serves(ctx, "443", "test."+apps, serial) })
	wait.Until(t, "the controller's generation is observed", func() bool {
		ic, err := s.operator.OperatorV1().IngressControllers("openshift-ingress-operator").Get(ctx, "default", metav1.GetOptions{})
		return err == nil && ic.Status.ObservedGeneration == ic.Generation && progressing(ic) == operatorv1.ConditionFalse
	})
	// At a pace at which the login's host is surely later than the configuration.
	api := s.secret(t, "openshift-config", "site-api", "api.site.example")
	check(t, s.SetDelay("10"))
	_, err = s.config.ConfigV1().Ingresses().Patch(ctx, "cluster", types.MergePatchType, []byte(`{"spec":{"componentRoutes":[
		{"namespace":"openshift-console","name":"console","hostname":"console.`+apps+`","servingCertKeyPairSecret":{"name":"site-apps"}},
		{"namespace":"openshift-authentication","name":"oauth-openshift","hostname":"oauth.`+apps+`","servingCertKeyPairSecret":{"name":"site-apps"}}]}}`), metav1.PatchOptions{})
	check(t, err)
	s.nameCertificate(t, "api.site.example", "site-api")
	wait.Until(t, "the OAuth host is in the API server's metadata", func() bool {
		m, err := s.kube.CoreV1().ConfigMaps("openshift-config-managed").Get(ctx, "oauth-openshift", metav1.GetOptions{})
		return err == nil && strings.Contains(m.Data["oauthMetadata"], "https://oauth."+apps)
	})
	check(t, s.SetDelay("zero"))
	for host, path := range map[string]string{"console." + apps: "/", "oauth." + apps: "/healthz"} {
		wait.Until(t, host+" answers with its own certificate", func() bool {
			code, _, err := s.Get(ctx, host, path)
			return err == nil && code == 200 && s.serves(ctx, "443", host, own)
		})
	}
	wait.Until(t, "the console's address is published", func() bool {
		console, err := s.config.ConfigV1().Consoles().Get(ctx, "cluster", metav1.GetOptions{})
		return err == nil && console.Status.ConsoleURL == "https://console."+apps
	})
	wait.Until(t, "the OAuth host and the API's name have made a revision each", func() bool {
		st, err := s.State()
		return err == nil && st.Revision == bench.Revision{Current: 9, Latest: 9} && s.serves(ctx, "6443", "api.site.example", api)
	})
	var r *routev1.Route
	wait.Until(t, "the API is back", func() bool {
		r, err = s.route.RouteV1().Routes("openshift-console").Get(ctx, "console", metav1.GetOptions{})
		return err == nil
	})
	if r.Spec.Host != "console-openshift-console.apps."+s.Domain {
		t.Errorf("the default console route moved to %s", r.Spec.Host)
	}
}

func progressing(ic *operatorv1.IngressController) operatorv1.ConditionStatus {
	for _, c := range ic.Status.Conditions {
		if c.Type == operatorv1.OperatorStatusTypeProgressing {
			return c.Status
		}
	}
	return ""
}

// TestGoesOn stops a cluster in the middle of a roll-out that is stuck and starts it again from its folder.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "bench-")
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := start(t, bench.Options{Dir: dir})
	check(t, s.SetFault(bench.Fault{Kind: bench.Stuck, Operator: "kube-apiserver"}))
	serial := s.secret(t, "openshift-config", "site-api", "api.site.example")
	s.nameCertificate(t, "api.site.example", "site-api")
	wait.Until(t, "the revision is under way", func() bool {
		st, err := s.State()
		return err == nil && st.Revision == bench.Revision{Current: 7, Target: 8, Latest: 8}
	})
	check(t, s.Stop())
	s = start(t, bench.Options{Dir: dir})
	wait.Until(t, "the revision ends after the restart", func() bool {
		st, err := s.State()
		return err == nil && st.Revision == bench.Revision{Current: 8, Latest: 8} && s.serves(t.Context(), "6443", "api.site.example", serial)
	})
}

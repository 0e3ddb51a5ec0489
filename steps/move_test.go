package steps_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"touchdown/backend/check"
	"touchdown/backend/health"
	"touchdown/steps"
	"touchdown/steps/site"
	"touchdown/test/bench"
)

// specs returns all that the steps may change, as JSON.
func (l *land) specs(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	keep := func(name string, v any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(b)
	}
	ctx, k := t.Context(), l.node.Kube
	api, err := k.Config.APIServers().Get(ctx, "cluster", metav1.GetOptions{})
	keep("apiserver", api.Spec, err)
	ingress, err := k.Config.Ingresses().Get(ctx, "cluster", metav1.GetOptions{})
	keep("ingress", ingress.Spec, err)
	ic, err := k.Operator.IngressControllers("openshift-ingress-operator").Get(ctx, "default", metav1.GetOptions{})
	keep("router", ic.Spec, err)
	pull, err := k.Core.Secrets("openshift-config").Get(ctx, "pull-secret", metav1.GetOptions{})
	keep("pull", pull.Data, err)
	routes, err := k.Route.Routes("").List(ctx, metav1.ListOptions{})
	for _, r := range routes.Items {
		keep("route "+r.Namespace+"/"+r.Name, r.Spec, err)
	}
	for _, ns := range []string{"openshift-config", "openshift-ingress"} {
		secrets, err := k.Core.Secrets(ns).List(ctx, metav1.ListOptions{})
		names := []string{}
		for _, s := range secrets.Items {
			names = append(names, s.Name)
		}
		keep("secrets "+ns, names, err)
	}
	return out
}

// addressesAreWell looks at the routes and the sites as the last step does. The canary is served below the router's domain,
// which is the factory's for ever.
func (l *land) addressesAreWell(t *testing.T) {
	t.Helper()
	looked := map[string]bool{}
	o := health.Options{Domain: "store1.site.example"}
	for _, c := range health.Judge(health.Look(t.Context(), l.node.Kube, o), o) {
		if looked[c.ID] = true; c.Status != check.Pass && (c.ID == "routes" || strings.HasPrefix(c.ID, "web-")) {
			t.Errorf("%s is %s after the move: %s", c.ID, c.Status, c.Observed)
		}
		if c.ID == "web-canary" && !strings.Contains(c.Observed.String(), "canary-openshift-ingress-canary.apps."+l.cluster.Domain) {
			t.Errorf("the canary was looked for elsewhere: %s", c.Observed)
		}
	}
	if !looked["routes"] || !looked["web-canary"] {
		t.Errorf("not checked: %v", looked)
	}
}

// The whole way: every name moves, a second run changes nothing, and undo leaves the cluster as it was to the byte.
func TestMoveTwiceAndBack(t *testing.T) {
	l := newLand(t, bench.Options{})
	l.site.Spec.PullSecret = site.Secret(`{"auths":{"mirror.site.example:5000":{"auth":"dXNlcjpwYXNz"}}}`)
	before := l.specs(t)
	if err := l.run(t); err != nil {
		t.Fatal(err)
	}
	for _, c := range l.checks() {
		t.Logf("%s %s: %s", c.Status, c.Title, c.Observed)
		if c.Status != check.Pass {
			t.Errorf("check %s: %+v", c.ID, c)
		}
	}
	for name, spec := range l.specs(t) {
		switch name {
		case "route plant/portal":
			if spec != before[name] {
				t.Errorf("the route with its own host was touched: %s", spec)
			}
		case "route openshift-ingress-canary/canary":
			if spec != before[name] || strings.Contains(spec, `"host"`) {
				t.Errorf("the canary was touched: %s", spec)
			}
		case "route plant/dashboard", "route openshift-monitoring/thanos-querier":
			if !strings.Contains(spec, ".apps.store1.site.example") {
				t.Errorf("%s has no new host: %s", name, spec)
			}
		}
	}
	l.addressesAreWell(t)
	if state, err := l.cluster.State(); err == nil {
		t.Logf("API revisions %+v, restarts %d, writes %v, reads %d", state.Revision, state.Restarts, state.Writes, state.ReadTotal)
	}
	writes := l.node.Kube.Writes()
	if err := l.run(t); err != nil {
		t.Fatal(err)
	}
	if n := l.node.Kube.Writes() - writes; n != 0 {
		t.Errorf("the second run changed the cluster %d times", n)
	}
	if err := l.undo(t); err != nil {
		t.Fatal(err)
	}
	after := l.specs(t)
	for name, was := range before {
		if after[name] != was {
			t.Errorf("%s is not as it was:\n%s\n%s", name, was, after[name])
		}
	}
	if err := l.undo(t); err != nil {
		t.Fatal(err)
	}
}

// A cluster whose named certificates its operator would refuse is told in the review and again when the work begins, and nothing is written.
func TestAFullListStandsAgainstTheMove(t *testing.T) {
	l := newLand(t, bench.Options{})
	named := func(entries string) {
		t.Helper()
		patch := []byte(`{"spec":{"servingCerts":{"namedCertificates":` + entries + `}}}`)
		_, err := l.node.Kube.Config.APIServers().Patch(t.Context(), "cluster", types.MergePatchType, patch, metav1.PatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	named(`[{"names":["api.vanity.example"],"servingCertificate":{"name":"nowhere"}}]`)
	before, move := l.specs(t), l.steps[2].(*steps.Domain)
	if _, err := move.Plan(t.Context(), l.node); err == nil || !strings.Contains(err.Error(), "CERT-ENT") {
		t.Errorf("the review says nothing: %v", err)
	}
	if err := l.run(t); err == nil || !strings.Contains(err.Error(), `step certificates`) || !strings.Contains(err.Error(), "CERT-ENT") {
		t.Errorf("%v", err)
	}
	for name, spec := range l.specs(t) {
		if spec != before[name] {
			t.Errorf("%s was written: %s", name, spec)
		}
	}
	// The operator takes this list, so the API server would restart for it while the review asks.
	if err := l.cluster.SetFault(bench.Fault{Kind: bench.Stuck, Operator: "kube-apiserver"}); err != nil {
		t.Fatal(err)
	}
	named(`[{"names":["api.vanity.example","api.store1.site.example"],"servingCertificate":{"name":"pull-secret"}}]`)
	plan, err := move.Plan(t.Context(), l.node)
	if err != nil || !strings.Contains(fmt.Sprint(plan.Changes), "secret pull-secret, entry 0 of the API server's named certificates") {
		t.Errorf("%+v, %v", plan, err)
	}
	// Each restart that a move brings is named, and about how long it takes.
	var told []string
	for _, d := range plan.Disturbances {
		told = append(told, fmt.Sprint(d.What, " ", d.Seconds))
	}
	want := []string{"API outage 90", "API outage 90", "no applications, console and login 90", "controller manager restart 30", "login and console restart 120"}
	if !slices.Equal(told, want) {
		t.Errorf("the review tells %q", told)
	}
}

// A move that is cut off, then edited to another name while the API goes away, is still undone to the byte.
func TestMoveCutEditedAndBack(t *testing.T) {
	l := newLand(t, bench.Options{})
	before := l.specs(t)
	cut, cancel := context.WithCancel(t.Context())
	if err := l.steps[1].Run(cut, l.node, l.reports["certificates"]); err != nil {
		t.Fatal(err)
	}
	stop := &cutting{clusterReport: l.reports["domain"], after: 3, cut: cancel}
	if err := l.steps[2].Run(cut, l.node, stop); err == nil {
		t.Fatal("the power cut did not come")
	}
	l.site.Spec.ClusterName = "store2"
	if err := l.cluster.KillAPI(2 * time.Second); err != nil {
		t.Fatal(err)
	}
	if err := l.run(t); err != nil {
		t.Fatal(err)
	}
	if spec := l.specs(t)["ingress"]; !strings.Contains(spec, "apps.store2.site.example") || strings.Contains(spec, "store1") {
		t.Error(spec)
	}
	if err := l.undo(t); err != nil {
		t.Fatal(err)
	}
	after := l.specs(t)
	for name, was := range before {
		if after[name] != was {
			t.Errorf("%s is not as it was:\n%s\n%s", name, was, after[name])
		}
	}
}

// cutting ends the work when so many originals were saved, before the change that the last one belongs to.
type cutting struct {
	*clusterReport
	after int
	cut   func()
}

func (r *cutting) Save(key string, original []byte) error {
	if strings.HasPrefix(key, "change-") {
		if r.after--; r.after == 0 {
			defer r.cut()
		}
	}
	return r.clusterReport.Save(key, original)
}

// Before the cluster runs, and while it is away, forms and review come at once.
func TestPlanWithoutCluster(t *testing.T) {
	l := newLand(t, bench.Options{})
	plan := func() (lines []string) {
		t.Helper()
		begin := time.Now()
		for _, s := range append(l.steps, &steps.CSRs{}, &steps.Names{Site: l.site}, &steps.Credentials{Site: l.site}) {
			if i, ok := s.(steps.Inspector); ok {
				if err := i.Inspect(t.Context(), l.node, newReport()); err != nil {
					t.Error(err)
				}
			}
			p, ok := s.(steps.Planner)
			if !ok {
				continue
			}
			got, err := p.Plan(t.Context(), l.node)
			if err != nil {
				t.Error(s.ID(), err)
			}
			for _, c := range got.Changes {
				lines = append(lines, c.What.String()+": "+c.Old.String()+" -> "+c.New.String())
			}
		}
		t.Logf("%.1f s", time.Since(begin).Seconds())
		return lines
	}
	l.site.Spec.PullSecret = `{"auths":{"mirror.site.example:5000":{"auth":"dXNlcjpwYXNz"}}}`
	own, key := selfSigned(t, "*.apps.store1.site.example")
	l.site.Spec.IngressCert.Cert, l.site.Spec.IngressCert.Key = own, site.Secret(key)
	up := strings.Join(plan(), "\n")
	t.Log(up)
	for _, want := range []string{
		"api.sno.factory.example -> api.store1.site.example", "not for the old name *.apps.sno.factory.example",
		"plant/dashboard", "set for mirror.site.example:5000; the others stay",
	} {
		if !strings.Contains(up, want) {
			t.Errorf("the plan lacks %q", want)
		}
	}
	if n := l.node.Kube.Writes(); n != 0 {
		t.Errorf("looking changed the cluster %d times", n)
	}
	if err := l.cluster.KillAPI(time.Minute); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if down := plan(); len(down) < 5 || time.Since(begin) > 3*time.Minute {
		t.Error(time.Since(begin), down)
	}
}

func selfSigned(t *testing.T, name string) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(9000 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, k.Public(), k)
	if err != nil {
		t.Fatal(err)
	}
	b, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: b}))
}

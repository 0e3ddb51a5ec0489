package steps_test

import (
	"encoding/json"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/check"
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
				t.Errorf("the route with a host of its own was touched: %s", spec)
			}
		case "route plant/dashboard", "route openshift-ingress-canary/canary", "route openshift-monitoring/thanos-querier":
			if !strings.Contains(spec, ".apps.store1.site.example") {
				t.Errorf("%s has no new host: %s", name, spec)
			}
		}
	}
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

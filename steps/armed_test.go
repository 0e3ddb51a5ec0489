package steps_test

import (
	"net/http"
	"strings"
	"testing"

	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/layout"
	"touchdown/steps"
	"touchdown/steps/site"
)

// TestPlanOfAnArmedNode: the cluster is held back, so the old names come from the factory's record and the node's disk.
// Once it was let run, what the factory noted may be out of date and is not shown.
func TestPlanOfAnArmedNode(t *testing.T) {
	m := hosttest.New(t)
	api, c := kubetest.New(t)
	api.Fault = func(w http.ResponseWriter, _ *http.Request) bool {
		return kubetest.Refuse(w, 503, "ServiceUnavailable", "held back")
	}
	m.File(layout.Armed, "")
	m.File(layout.FactoryRecord, `{"format": 1, "domain": "sno.factory.example"}`)
	m.File("/var/lib/kubelet/config.json", `{"auths":{"reg.factory.example":{"auth":"dXNlcjpwYXNz"}}}`)
	cfg := site.New()
	cfg.Spec.ClusterName, cfg.Spec.BaseDomain = "store1", "site.example"
	cfg.Spec.PullSecret = `{"auths":{"reg.site.example":{"auth":"dXNlcjpwYXNz"}}}`
	own, key := selfSigned(t, "*.apps.store1.site.example")
	cfg.Spec.IngressCert.Cert, cfg.Spec.IngressCert.Key, cfg.Spec.IngressCert.CA = own, site.Secret(key), own
	look := func() string {
		t.Helper()
		var lines []string
		for _, s := range []steps.Planner{&steps.Domain{Site: cfg}, &steps.PullSecret{Site: cfg}, &steps.Certificates{Site: cfg}} {
			plan, err := s.Plan(t.Context(), node(m, c))
			if err != nil {
				t.Fatal(err)
			}
			for _, change := range plan.Changes {
				lines = append(lines, change.What.String()+": "+change.Old.String()+" -> "+change.New.String())
			}
		}
		r := newReport()
		if err := (&steps.Names{Site: cfg}).Inspect(t.Context(), node(m, c), r); err != nil {
			t.Fatal(err)
		}
		if err := (&steps.Credentials{Site: cfg}).Inspect(t.Context(), node(m, c), r); err != nil {
			t.Fatal(err)
		}
		// Trust and NodeConfig add the CA to the node's and the cluster's trust, so there is nothing to say about it.
		for id, ch := range r.checks {
			if id != "names-now" && id != "apps-cert" {
				t.Errorf("the check %s says %s: %s", id, ch.Status, ch.Observed)
			}
		}
		seen := r.checks["names-now"]
		return strings.Join(append(lines, string(seen.Status)+": "+seen.Observed.String()), "\n")
	}
	armed := look()
	for _, want := range []string{
		"API: api.sno.factory.example -> api.store1.site.example",
		"Apps: apps.sno.factory.example -> *.apps.store1.site.example",
		"Console: console-openshift-console.apps.sno.factory.example -> ",
		"Registry credentials: reg.factory.example -> set for reg.site.example; the others stay",
		"not for the old name *.apps.sno.factory.example",
		"skip: sno.factory.example, by the factory's record",
	} {
		if !strings.Contains(armed, want) {
			t.Errorf("the review lacks %q:\n%s", want, armed)
		}
	}
	if err := m.Remove(layout.Armed); err != nil {
		t.Fatal(err)
	}
	if later := look(); strings.Contains(later, "sno.factory.example") {
		t.Errorf("after it was let run once:\n%s", later)
	}
}

package steps_test

import (
	"strings"
	"testing"

	"touchdown/backend"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/layout"
	"touchdown/steps"
)

// anotherHub lands the node a second time, with what a newer hub gives: another secret, and a definition whose new field the object beside it
// has already. That is taken, and the undo brings the first hub's back.
func anotherHub(t *testing.T, n *backend.Node) {
	t.Helper()
	newer := strings.NewReplacer(
		"{mode: {type: string}}", "{mode: {type: string}, level: {type: string}}", "spec: {mode: Default}", "spec: {mode: Other, level: high}",
		"PLANTED-kubeconfig", "PLANTED-other", "resources: [configmaps]", "resources: [configmaps, secrets]",
	).Replace(registration)
	cfg, r := brings(t, newer), newReport()
	if err := step(t, cfg, "manifests-check").Run(t.Context(), n, r); err != nil {
		t.Errorf("a newer definition beside its object is refused: %v", err)
	}
	if k := r.checks["manifests"]; !strings.Contains(k.Observed.String(), "cannot judge yet: Agent agent") {
		t.Errorf("tried: %s", k.Observed)
	}
	apply := step(t, cfg, "manifests")
	for range 2 {
		if err := apply.Run(t.Context(), n, r); err != nil {
			t.Fatal(err)
		}
	}
	told := func() (all []any) {
		for ref, key := range map[kube.Ref]string{
			{Group: "hub.example.com", Version: "v1", Resource: "agents", Name: "agent"}: "spec", kube.Secret("hub-agent", "bootstrap"): "data",
			{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles", Name: "hub:agent"}: "rules",
		} {
			o, err := n.Kube.Get(t.Context(), ref)
			if err != nil || o == nil {
				t.Errorf("%s: %v", ref, err)
			}
			all = append(all, o[key])
		}
		return all
	}
	is := func(level, mode, secret, rule bool) {
		t.Helper()
		for _, value := range told() {
			switch v := value.(type) {
			case map[string]any:
				_, has := v["level"]
				if v["kubeconfig"] == nil && (has != level || (v["mode"] == "Other") != mode) || v["kubeconfig"] != nil && (v["kubeconfig"] == "UExBTlRFRC1vdGhlcg==") != secret {
					t.Errorf("%v", v)
				}
			case []any:
				if (len(v[0].(map[string]any)["resources"].([]any)) == 2) != rule {
					t.Errorf("%v", v)
				}
			}
		}
	}
	is(true, true, true, true)
	for range 2 {
		if err := apply.(steps.Undoer).Undo(t.Context(), n, r); err != nil {
			t.Fatalf("the landing with the newer hub cannot be undone: %v", err)
		}
	}
	is(false, false, false, false)
}

// TestASiteWithoutObjectsRemovesNone: after a hand-over, which wipes spec.manifests with the secrets, a later landing leaves what the first
// one brought, and its review does not tell a removal.
func TestASiteWithoutObjectsRemovesNone(t *testing.T) {
	const path = "/api/v1/namespaces/default/secrets/goes"
	api, c := kubetest.New(t)
	api.Put(path, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"goes","namespace":"default","uid":"1","annotations":{"touchdown.dev/applied":"spec.manifests"},
		"managedFields":[{"manager":"touchdown-manifests","operation":"Apply","apiVersion":"v1","fieldsV1":{"f:data":{}}}]},"data":{"key":"eA=="}}`)
	m := hosttest.New(t)
	const inventory = `[{"apiVersion":"v1","kind":"Secret","resource":"secrets","namespace":"default","name":"goes"}]`
	m.File(layout.SiteObjects, inventory)
	n := node(m, c)
	s, r := wired(t, brings(t, goes).WithoutSecrets(), steps.Wiring{NodeNet: &steps.NodeNetwork{}, Brought: m.Exists}, "manifests"), newReport()
	if why := s.(steps.Skipper).Skip().String(); why != "the site config lists no objects, and those of an earlier landing stay" {
		t.Errorf("the reason to skip it is %q", why)
	}
	if review := reviewed(t, s, n); review != "" {
		t.Errorf("the review tells %s", review)
	}
	if err := s.Run(t.Context(), n, r); err != nil {
		t.Fatal(err)
	}
	if api.Get(path) == "" || m.Content(layout.SiteObjects) != inventory || len(r.checks) > 0 {
		t.Errorf("left are %s and the inventory %s, and told is %v", api.Get(path), m.Content(layout.SiteObjects), r.checks)
	}
}

package steps_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube"
	"touchdown/backend/problem"
	"touchdown/steps"
	"touchdown/steps/site"
	"touchdown/test/bench"
	"touchdown/test/wait"
)

// registration has the shape of what a hub gives for an import: the definition of a kind before the object of that kind, and a namespace
// before what lies in it.
const registration = `# of the hub
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: agents.hub.example.com}
spec:
  group: hub.example.com
  scope: Cluster
  names: {kind: Agent, plural: agents, singular: agent}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {mode: {type: string}}}
---
apiVersion: v1
kind: Namespace
metadata: {name: hub-agent}
---
apiVersion: v1
kind: Secret
metadata: {name: bootstrap, namespace: hub-agent}
type: Opaque
stringData: {kubeconfig: PLANTED-kubeconfig}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: "hub:agent"}
rules:
- {apiGroups: [""], resources: [configmaps], verbs: [get]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: owned, namespace: default}
data: {ours: "1"}
---
apiVersion: v1
kind: Secret
metadata: {name: shared, namespace: default}
stringData: {ours: PLANTED-shared}
---
apiVersion: hub.example.com/v1
kind: Agent
metadata: {name: agent}
spec: {mode: Default}
`

// step returns the one of a site's list with an ID.
func step(t *testing.T, cfg *site.Config, id string) steps.Step {
	t.Helper()
	return wired(t, cfg, steps.Wiring{NodeNet: &steps.NodeNetwork{}}, id)
}

// wired is a step of the list that some wiring gives.
func wired(t *testing.T, cfg *site.Config, w steps.Wiring, id string) steps.Step {
	t.Helper()
	for _, stage := range steps.Site(cfg, w) {
		for _, s := range stage.Steps {
			if s.ID() == id {
				return s
			}
		}
	}
	t.Fatalf("there is no step %s", id)
	return nil
}

// brings is a site config with objects for the cluster.
func brings(t *testing.T, text string) *site.Config {
	t.Helper()
	cfg := site.New()
	if err := cfg.Set("spec.manifests", text); err != nil {
		t.Fatal(err)
	}
	return cfg
}

// TestObjectsOfTheSiteOnARealAPI: kube-apiserver takes what a hub gives for an import, in its order, twice; the undo removes what was made
// and leaves what its owner had. What it does not take is refused before anything is there; what it takes and must not have, the site config
// refuses.
func TestObjectsOfTheSiteOnARealAPI(t *testing.T) {
	b := bench.Start(t, bench.Options{})
	c, err := kube.Open(b.Kubeconfig, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	c.Pace = kube.Pace{Limit: wait.Timeout(time.Minute), Pause: 50 * time.Millisecond, Poll: 50 * time.Millisecond}
	n := node(hosttest.New(t), c)
	owned := kube.ConfigMap("default", "owned")
	if _, err := c.Put(t.Context(), owned, kube.New{}, func(o map[string]any) error {
		o["theirs"] = "2"
		return nil
	}, func(kube.Ref, []byte) error { return nil }); err != nil {
		t.Fatal(err)
	}
	shared := kube.Secret("default", "shared")
	if _, err := c.PutSecret(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shared"}, Data: map[string][]byte{"theirs": []byte("2")}},
		func(kube.Ref, []byte) error { return nil }); err != nil {
		t.Fatal(err)
	}
	cfg, r := brings(t, registration), newReport()
	writes := c.Writes()
	if err := step(t, cfg, "manifests-check").Run(t.Context(), n, r); err != nil {
		t.Fatal(err)
	}
	if k := r.checks["manifests"]; k.Status != check.Skip || k.Observed.String() != "the cluster takes 5 of 7; it cannot judge yet: Secret hub-agent/bootstrap, Agent agent" {
		t.Errorf("tried: %s, %s", k.Status, k.Observed)
	}
	agent := kube.Ref{Group: "hub.example.com", Version: "v1", Resource: "agents", Name: "agent"}
	made := []kube.Ref{
		{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions", Name: "agents.hub.example.com"},
		{Version: "v1", Resource: "namespaces", Name: "hub-agent"},
		kube.Secret("hub-agent", "bootstrap"),
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles", Name: "hub:agent"},
		agent,
	}
	for _, ref := range made {
		if o, err := c.Get(t.Context(), ref); err != nil || o != nil {
			t.Errorf("%s is there after the trial (%v)", ref, err)
		}
	}
	t.Logf("%d writes of the trial", c.Writes()-writes)
	apply := step(t, cfg, "manifests")
	for range 2 {
		if err := apply.Run(t.Context(), n, r); err != nil {
			t.Fatal(err)
		}
	}
	for _, ref := range made {
		if o, err := c.Get(t.Context(), ref); err != nil || o == nil {
			t.Errorf("%s is missing (%v)", ref, err)
		}
	}
	for key, text := range r.saved {
		if strings.Contains(string(text), "PLANTED") {
			t.Errorf("%s keeps a secret: %s", key, text)
		}
	}
	denied(t, n)
	again := newReport() // the node moves again, with the same objects
	if err := apply.Run(t.Context(), n, again); err != nil {
		t.Fatal(err)
	}
	if err := apply.(steps.Undoer).Undo(t.Context(), n, again); err != nil {
		t.Errorf("the second landing cannot be undone: %v", err)
	}
	if o, err := c.Get(t.Context(), agent); err != nil || o == nil {
		t.Errorf("the undo of the second landing took what the first one brought (%v)", err)
	}
	anotherHub(t, n)
	c.Pace.Limit = 2 * time.Second // nothing on the bench ends a namespace
	undo := apply.(steps.Undoer)
	for range 2 {
		if err := undo.Undo(t.Context(), n, r); err != nil {
			t.Fatal(err)
		}
	}
	for _, ref := range []kube.Ref{made[0], made[3]} {
		if o, err := c.Get(t.Context(), ref); err != nil || o != nil {
			t.Errorf("%s is there after the undo (%v)", ref, err)
		}
	}
	if ns, err := c.Get(t.Context(), made[1]); err != nil || ns != nil && ns["metadata"].(map[string]any)["deletionTimestamp"] == nil {
		t.Errorf("the namespace stays: %v (%v)", ns, err)
	}
	if s, err := c.Get(t.Context(), shared); err != nil || len(s["data"].(map[string]any)) != 1 {
		t.Errorf("the owner's Secret has %d values (%v)", len(s["data"].(map[string]any)), err)
	}
	o, err := c.Get(t.Context(), owned)
	if data, _ := o["data"].(map[string]any); err != nil || len(data) != 1 || data["theirs"] != "2" {
		t.Errorf("the owner's object has %v (%v)", o["data"], err)
	}
	refusedKinds(t, n)
}

// denied tries what the cluster must not take.
func denied(t *testing.T, n *backend.Node) {
	t.Helper()
	for _, d := range []struct{ what, text, code string }{
		{"a kind that is not there", "apiVersion: hub.example.com/v1\nkind: Other\nmetadata: {name: a}\n", "MNF-KND"},
		{"a field that belongs to someone else", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: owned, namespace: default}\ndata: {theirs: '3'}\n", "MNF-HELD"},
		{"no namespace", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "MNF-SPCE"},
		{"a namespace too much", "apiVersion: v1\nkind: Namespace\nmetadata: {name: a, namespace: b}\n", "MNF-SPCE"},
		{"a namespace that is not there", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: nowhere}\n", "MNF-DENY"},
		{"a field that the kind does not have", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\ndatta: {a: b}\n", "MNF-DENY"},
		{"a field that an object of the site's own kind does not have", "apiVersion: hub.example.com/v1\nkind: Agent\nmetadata: {name: b}\nspec: {mod: a}\n", "MNF-DENY"},
		{"a Secret that is none", "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: default}\ndata: {a: PLANTED!}\n", "MNF-DENY"},
	} {
		cfg := brings(t, d.text)
		for _, id := range []string{"manifests-check", "manifests"} {
			err := step(t, cfg, id).Run(t.Context(), n, newReport())
			p, ok := errors.AsType[*problem.Problem](err)
			if !ok || p.Code != d.code || p.Fix.String() == "" || strings.Contains(err.Error(), "PLANTED") {
				t.Errorf("%s, %s: %v", d.what, id, err)
			}
		}
	}
}

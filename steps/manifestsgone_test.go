package steps_test

import (
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube"
	"touchdown/backend/layout"
	"touchdown/steps"
	"touchdown/steps/site"
	"touchdown/test/bench"
)

// The objects of a first landing: what the second one still has, what it drops, and what holds something by then.
const (
	stays  = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: stays, namespace: default}\ndata: {a: '1'}\n"
	remade = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: remade, namespace: default}\n"
	goes   = `apiVersion: v1
kind: ServiceAccount
metadata: {name: goes, namespace: default}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: "goes:role"}
rules:
- {apiGroups: [""], resources: [configmaps], verbs: [get]}
---
apiVersion: v1
kind: Secret
metadata: {name: goes, namespace: default}
stringData: {key: PLANTED-goes}
`
	held = `apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: default}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: adopted, namespace: default}
data: {a: '1'}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: owner-of-data, namespace: default}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: tracked, namespace: default}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: replaced, namespace: default}
`
)

// definition is the CustomResourceDefinition of registration.
var definition = registration[:strings.Index(registration, "---\napiVersion: v1\nkind: Namespace")]

// seen tells which of some objects are in the cluster, and not on their way out.
func seen(t *testing.T, c *kube.Cluster, refs ...kube.Ref) (there []string) {
	t.Helper()
	for _, ref := range refs {
		o, err := c.Get(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		if o != nil && o["metadata"].(map[string]any)["deletionTimestamp"] == nil {
			there = append(there, ref.String())
		}
	}
	return there
}

var (
	crdRef     = kube.Ref{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions", Name: "agents.hub.example.com"}
	goesRefs   = []kube.Ref{{Version: "v1", Resource: "serviceaccounts", Namespace: "default", Name: "goes"}, {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles", Name: "goes:role"}, kube.Secret("default", "goes")}
	heldRefs   = []kube.Ref{crdRef, {Version: "v1", Resource: "namespaces", Name: "shop"}, {Version: "v1", Resource: "persistentvolumeclaims", Namespace: "default", Name: "data"}, kube.ConfigMap("default", "adopted"), kube.ConfigMap("default", "owner-of-data"), kube.ConfigMap("default", "tracked"), kube.ConfigMap("default", "replaced")}
	staysRef   = kube.ConfigMap("default", "stays")
	remadeRef  = kube.ConfigMap("default", "remade")
	nothing    = func(kube.Ref, []byte) error { return nil }
	unlistened = slog.New(slog.NewTextHandler(io.Discard, nil))
)

// brought lands a site config with objects, and returns the step and its report.
func brought(t *testing.T, n *backend.Node, cfg *site.Config) (steps.Step, *clusterReport) {
	t.Helper()
	s, r := step(t, cfg, "manifests"), newReport()
	if err := s.Run(t.Context(), n, r); err != nil {
		t.Fatal(err)
	}
	return s, r
}

// reviewed are the lines of a step's plan.
func reviewed(t *testing.T, s steps.Step, n *backend.Node) string {
	t.Helper()
	plan, err := s.(steps.Planner).Plan(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, c := range plan.Changes {
		lines = append(lines, fmt.Sprintf("%s: %s", c.What, c.New))
	}
	return strings.Join(lines, "\n")
}

// TestObjectsThatTheSiteNoLongerLists: on a real API, a second landing removes what the first one brought and its site config no longer
// has, as the review says. What holds data of the cluster's owner, or belongs to someone else by then, stays and is told. The undo
// brings all of it back.
func TestObjectsThatTheSiteNoLongerLists(t *testing.T) {
	b := bench.Start(t, bench.Options{})
	c, err := kube.Open(b.Kubeconfig, unlistened)
	if err != nil {
		t.Fatal(err)
	}
	m := hosttest.New(t)
	n := node(m, c)
	brought(t, n, brings(t, stays+"---\n"+remade+"---\n"+definition+"---\n"+held+"---\n"+goes))
	if got := seen(t, c, slices.Concat(goesRefs, heldRefs)...); len(got) != 10 {
		t.Fatalf("the first landing brought %q", got)
	}
	ownersOwn(t, c)
	second := brings(t, stays+"---\n"+remade)
	s, r := step(t, second, "manifests"), newReport()
	review := reviewed(t, s, n)
	for _, want := range []string{
		"ConfigMap default/stays: applied", "Secret default/goes: removed: the site", "ClusterRole goes:role: removed: the site", "ServiceAccount default/goes: removed: the site",
		"Namespace shop: stays, although the site config no longer lists it: with an object of its kind others can go, and their data",
		"PersistentVolumeClaim default/data: stays, although the site config no longer lists it: with an object of its kind others can go, and their data",
		"ConfigMap default/adopted: stays, although the site config no longer lists it: it belongs to argocd as well",
		"ConfigMap default/owner-of-data: stays, although the site config no longer lists it: the data in PersistentVolumeClaim default/theirs would go with it",
		"CustomResourceDefinition agents.hub.example.com: stays, although the site config no longer lists it: with an object of its kind others can go, and their data",
		"ConfigMap default/tracked: stays, although the site config no longer lists it: it belongs to a tool that applies it as well",
	} {
		if !strings.Contains(review, want) {
			t.Errorf("the review lacks %q:\n%s", want, review)
		}
	}
	if strings.Index(review, "Secret default/goes") > strings.Index(review, "ServiceAccount default/goes") {
		t.Errorf("the order of the review is not that of the removal:\n%s", review)
	}
	for range 2 {
		if err := s.Run(t.Context(), n, r); err != nil {
			t.Fatal(err)
		}
	}
	if got := seen(t, c, slices.Concat(goesRefs, heldRefs, []kube.Ref{staysRef})...); len(got) != 8 || slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "goes") }) {
		t.Errorf("after the second landing: %q", got)
	}
	k := r.checks["manifests-dropped"]
	if k.Status != check.Warn || !strings.Contains(k.Observed.String(), "Namespace shop (with an object of its kind others can go, and their data)") || strings.Contains(k.Observed.String(), "replaced") {
		t.Errorf("told: %s", k.Observed)
	}
	if kept := m.Content(layout.SiteObjects); strings.Contains(kept, "PLANTED") || strings.Contains(kept, "replaced") || strings.Contains(kept, "goes:role") || !strings.Contains(kept, "shop") {
		t.Errorf("the inventory is %s", kept)
	}
	for range 2 {
		if err := s.(steps.Undoer).Undo(t.Context(), n, r); err != nil {
			t.Fatal(err)
		}
	}
	if got := seen(t, c, slices.Concat(goesRefs, heldRefs, []kube.Ref{staysRef})...); len(got) != 11 {
		t.Errorf("after the undo: %q", got)
	}
	if !strings.Contains(m.Content(layout.SiteObjects), "goes:role") {
		t.Errorf("the inventory after the undo is %s", m.Content(layout.SiteObjects))
	}
	third, again := step(t, brings(t, stays), "manifests"), newReport() // what came back is Touchdown's again; what its owner made again is not
	if err := third.Run(t.Context(), n, again); err != nil {
		t.Fatal(err)
	}
	if got := seen(t, c, append(slices.Clone(goesRefs), remadeRef)...); !slices.Equal(got, []string{remadeRef.String()}) {
		t.Errorf("of what came back, and of what the owner made again, are there: %q", got)
	}
}

// ownersOwn puts into the cluster what its owner has beside the objects of the first landing.
func ownersOwn(t *testing.T, c *kube.Cluster) {
	t.Helper()
	apply := func(ref kube.Ref, manager, body string) {
		t.Helper()
		path := "/api/v1/namespaces/" + ref.Namespace + "/" + ref.Resource + "/" + ref.Name
		if ref.Group != "" {
			path = "/apis/" + ref.Group + "/" + ref.Version + "/" + ref.Resource + "/" + ref.Name
		}
		if err := c.Core.RESTClient().Patch(types.ApplyPatchType).AbsPath(path).Param("fieldManager", manager).Body([]byte(body)).Do(t.Context()).Error(); err != nil {
			t.Fatal(err)
		}
	}
	apply(kube.ConfigMap("shop", "theirs"), "kubectl", "{apiVersion: v1, kind: ConfigMap, metadata: {name: theirs, namespace: shop}}")
	apply(kube.ConfigMap("default", "adopted"), "argocd", "{apiVersion: v1, kind: ConfigMap, metadata: {name: adopted, namespace: default}, data: {b: '2'}}")
	apply(kube.Ref{Group: "hub.example.com", Version: "v1", Resource: "agents", Name: "theirs"}, "kubectl", "{apiVersion: hub.example.com/v1, kind: Agent, metadata: {name: theirs}}")
	for _, name := range []string{"replaced", "remade"} {
		if _, err := c.Delete(t.Context(), kube.ConfigMap("default", name), nothing); err != nil {
			t.Fatal(err)
		}
		if _, err := c.PutConfigMap(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Data: map[string]string{"theirs": "1"}}, nothing); err != nil {
			t.Fatal(err)
		}
	}
	err := c.Core.RESTClient().Patch(types.MergePatchType).AbsPath("/api/v1/namespaces/default/configmaps/tracked").
		Body([]byte(`{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"}}}`)).Do(t.Context()).Error()
	if err != nil {
		t.Fatal(err)
	}
	owner, err := c.Get(t.Context(), kube.ConfigMap("default", "owner-of-data"))
	if err != nil {
		t.Fatal(err)
	}
	uid := owner["metadata"].(map[string]any)["uid"]
	apply(kube.Ref{Version: "v1", Resource: "persistentvolumeclaims", Namespace: "default", Name: "theirs"}, "kubectl",
		fmt.Sprintf("{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: theirs, namespace: default, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner-of-data, uid: %s}]}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}", uid))
}

// TestDroppedObjectsAfterAPowerCut: wherever the power fails in a second landing, its next run ends as an undisturbed one: what the site
// config has is there, what it no longer has is gone, and the inventory says so; and the undo brings it back.
func TestDroppedObjectsAfterAPowerCut(t *testing.T) {
	b := bench.Start(t, bench.Options{})
	c, err := kube.Open(b.Kubeconfig, unlistened)
	if err != nil {
		t.Fatal(err)
	}
	const old = "apiVersion: v1\nkind: Secret\nmetadata: {name: old, namespace: default}\nstringData: {a: PLANTED}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: old, namespace: default}\n"
	const fresh = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: fresh, namespace: default}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: fresh2, namespace: default}\n"
	refs := []kube.Ref{staysRef, kube.ConfigMap("default", "fresh"), kube.ConfigMap("default", "fresh2"), kube.Secret("default", "old"), kube.ConfigMap("default", "old")}
	s, m := &supply{}, hosttest.New(t)
	n := poweredNode(t, b, m, s)
	for moment := 0; ; moment++ { // the undo of each makes it the second landing again
		s.start(t, -1)
		brought(t, n, brings(t, stays+"---\n"+old))
		second, r := step(t, brings(t, stays+"---\n"+fresh), "manifests"), newReport()
		on := &powered{r, s}
		err := second.Run(s.start(t, moment), n, on)
		failed := s.failed()
		if (err == nil) == failed {
			t.Fatalf("moment %d: the power failed: %v, and the work ended with %v", moment, failed, err)
		}
		s.start(t, -1)
		if failed {
			if err := second.Run(t.Context(), n, on); err != nil {
				t.Fatalf("moment %d: %v", moment, err)
			}
		}
		if got := seen(t, c, refs...); len(got) != 3 || !slices.Equal(got, []string{refs[0].String(), refs[1].String(), refs[2].String()}) {
			t.Errorf("moment %d: %q", moment, got)
		}
		if kept := m.Content(layout.SiteObjects); strings.Contains(kept, "old") || strings.Count(kept, "kind") != 3 {
			t.Errorf("moment %d: the inventory is %s", moment, kept)
		}
		if err := second.(steps.Undoer).Undo(t.Context(), n, on); err != nil {
			t.Fatalf("moment %d: %v", moment, err)
		}
		if got := seen(t, c, refs...); !slices.Equal(got, []string{refs[0].String(), refs[3].String(), refs[4].String()}) {
			t.Errorf("moment %d, after the undo: %q", moment, got)
		}
		if !failed {
			if moment < 20 {
				t.Errorf("only %d moments at which the power can fail", moment)
			}
			return
		}
	}
}

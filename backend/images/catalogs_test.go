package images

import (
	"strings"
	"testing"
	"time"

	"touchdown/backend/images/cri/critest"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/message"
)

// TestCatalogSourcesGetTheirOwnAdvice: nobody can set the pull policy of a default catalog source's pod.
func TestCatalogSourcesGetTheirOwnAdvice(t *testing.T) {
	api, c := kubetest.New(t)
	const sources, pods = "/apis/operators.coreos.com/v1alpha1/namespaces/", "/api/v1/namespaces/"
	notReady := `{"phase":"Pending","conditions":[{"type":"Ready","status":"False"}],"containerStatuses":[{"name":"registry-server","state":{"waiting":{"reason":"ErrImagePull"}}}]}`
	api.Put(sources+"openshift-marketplace/catalogsources/redhat-operators",
		`{"metadata":{"annotations":{"operatorframework.io/managed-by":"marketplace-operator"}},"spec":{"image":"registry.redhat.io/redhat/redhat-operator-index:v4.18"}}`)
	api.Put(sources+"openshift-marketplace/catalogsources/mine", `{"spec":{"image":"mirror.example/index:v1"}}`)
	api.Put(sources+"openshift-marketplace/catalogsources/fine", `{"spec":{"image":"mirror.example/index@sha256:1"}}`)
	for _, name := range []string{"redhat-operators-x7k2p", "mine-abcde", "fine-abcde"} {
		api.Put(pods+"openshift-marketplace/pods/"+name, `{"metadata":{"name":"`+name+`","namespace":"openshift-marketplace"},"status":`+notReady+`}`)
	}
	api.Put(pods+"plant/pods/app", `{"metadata":{"name":"app","namespace":"plant"},"status":`+notReady+`}`)
	w := watching{Node: &Node{kube: c, cri: critest.Start(t).Client(t), now: time.Now}, limit: time.Nanosecond}
	const market, digest, registry = "Switch the default catalog sources off with `touchdown factory bake`", "image of openshift-marketplace/mine by its digest", "reachable"
	for name, test := range map[string]struct {
		before []string
		want   []string
	}{
		"a default one": {[]string{"openshift-marketplace/redhat-operators-x7k2p"}, []string{market}},
		"the user's":    {[]string{"openshift-marketplace/mine-abcde"}, []string{digest}},
		"by digest":     {[]string{"openshift-marketplace/fine-abcde"}, []string{registry}},
		"all": {
			[]string{"openshift-marketplace/redhat-operators-x7k2p", "openshift-marketplace/mine-abcde", "plant/app"},
			[]string{market, digest, registry},
		},
	} {
		missing, err := w.pods(t.Context(), test.before)
		if err != nil || len(missing) != len(test.before) {
			t.Fatalf("%s: %q, %v", name, missing, err)
		}
		r := Rehearsal{Finished: true, NotReady: missing}
		r.Market, r.Tagged = w.catalogs(t.Context(), message.English(missing))
		fix := r.Check().Fix
		for _, words := range []string{market, digest, registry} {
			wanted := false
			for _, want := range test.want {
				wanted = wanted || want == words
			}
			if strings.Contains(fix.String(), words) != wanted {
				t.Errorf("%s: the advice is %q; %q: %v", name, fix, words, wanted)
			}
		}
	}
}

// TestRehearsalEndsWhenOnlyRefusedImagesAreMissing: nobody waits twenty minutes for a pull that every registry refuses. A pod that
// may still come: the list waits for it.
func TestRehearsalEndsWhenOnlyRefusedImagesAreMissing(t *testing.T) {
	for reason, wait := range map[string]time.Duration{"ErrImagePull": pullGrace, "ImagePullBackOff": pullGrace, "ContainerCreating": rehearsalLimit} {
		api, c := kubetest.New(t)
		api.Put("/api/v1/namespaces/plant/pods/app", `{"metadata":{"name":"app","namespace":"plant"},"status":{"phase":"Pending",
			"containerStatuses":[{"name":"a","state":{"waiting":{"reason":"`+reason+`"}}}]}}`)
		begun := time.Now()
		now := begun
		w := watching{Node: &Node{kube: c, cri: critest.Start(t).Client(t), now: func() time.Time { now = now.Add(10 * time.Minute / 40); return now }}, poll: time.Millisecond}
		missing, err := w.pods(t.Context(), []string{"plant/app"})
		if took := now.Sub(begun); err != nil || len(missing) != 1 || took < wait || took > wait+2*time.Minute {
			t.Errorf("%s: given up after %s, want %s: %q, %v", reason, took, wait, missing, err)
		}
	}
}

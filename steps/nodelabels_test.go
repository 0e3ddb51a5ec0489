package steps_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube"
	"touchdown/backend/kube/kubetest"
	"touchdown/steps"
	"touchdown/steps/site"
	"touchdown/test/bench"
)

const labelledNode = "/api/v1/nodes/sno"

// labelled is a node with labels of its owner.
type labelled struct {
	t    *testing.T
	api  *kubetest.API
	m    *hosttest.Fake
	node *backend.Node
}

func newLabelled(t *testing.T) *labelled {
	t.Helper()
	api, c := kubetest.New(t)
	l := &labelled{t: t, api: api, m: hosttest.New(t)}
	l.m.File("/proc/sys/kernel/hostname", "sno\n")
	l.node = node(l.m, c)
	l.is("kubernetes.io/hostname=sno rack=7 zone=factory")
	api.Fault = l.ready
	return l
}

// ready has the API answer that it is.
func (*labelled) ready(w http.ResponseWriter, r *http.Request) bool {
	if r.URL.Path != "/readyz" {
		return false
	}
	_, _ = w.Write([]byte("ok"))
	return true
}

// is gives the node these labels and no others.
func (l *labelled) is(labels string) {
	l.t.Helper()
	all := map[string]string{}
	for item := range strings.FieldsSeq(labels) {
		name, value, _ := strings.Cut(item, "=")
		all[name] = value
	}
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": all}})
	if err != nil {
		l.t.Fatal(err)
	}
	l.api.Put(labelledNode, string(text))
}

// wants holds the node's labels, but for the kubelet's, to what they should be.
func (l *labelled) wants(when, want string) {
	l.t.Helper()
	var all map[string]string
	if err := json.Unmarshal([]byte(l.api.Get(labelledNode, "metadata", "labels")), &all); err != nil {
		l.t.Fatal(err)
	}
	if all["kubernetes.io/hostname"] != "sno" {
		l.t.Errorf("%s the kubelet's label is %q", when, all["kubernetes.io/hostname"])
	}
	delete(all, "kubernetes.io/hostname")
	var got []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		got = append(got, name+"="+all[name])
	}
	if got := strings.Join(got, " "); got != want {
		l.t.Errorf("%s the labels are %q, not %q", when, got, want)
	}
}

// landing is one with those labels in its site config.
func (l *labelled) landing(labels string) steps.Step {
	l.t.Helper()
	cfg := site.New()
	if err := cfg.Set("spec.nodeLabels", labels); err != nil {
		l.t.Fatal(err)
	}
	for _, stage := range steps.Site(cfg, steps.Wiring{NodeNet: &steps.NodeNetwork{}, Brought: l.m.Exists}) {
		for _, s := range stage.Steps {
			if s.ID() == "node-labels" {
				return s
			}
		}
	}
	l.t.Fatal("there is no such step")
	return nil
}

func (l *labelled) run(s steps.Step, r steps.Report) {
	l.t.Helper()
	if err := s.Run(l.t.Context(), l.node, r); err != nil {
		l.t.Fatal(err)
	}
}

func (l *labelled) undo(s steps.Step, r steps.Report) {
	l.t.Helper()
	if err := s.(steps.Undoer).Undo(l.t.Context(), l.node, r); err != nil {
		l.t.Fatal(err)
	}
}

// TestLabelsOfTheNode: a landing sets its labels beside those of others, tells them, and its undo leaves the node as it was.
func TestLabelsOfTheNode(t *testing.T) {
	l := newLabelled(t)
	s, r := l.landing("zone=berlin rack=7 example.com/gpu="), newReport()
	if review := reviewed(t, s, l.node); review != "Label example.com/gpu of the node: set, without a value\nLabel zone of the node: berlin" {
		t.Errorf("the review says\n%s", review)
	}
	for i := range 2 {
		l.api.Changes()
		l.run(s, r)
		if n := len(l.api.Changes()); n != 1-i {
			t.Errorf("run %d makes %d changes", i, n)
		}
	}
	l.wants("after the landing", "example.com/gpu= rack=7 zone=berlin")
	if k := r.checks["node-labels"]; k.Observed.String() != "example.com/gpu=, rack=7, zone=berlin" {
		t.Errorf("the report says %s", k.Observed)
	}
	if review := reviewed(t, s, l.node); review != "" {
		t.Errorf("what is there is planned again:\n%s", review)
	}
	l.is("kubernetes.io/hostname=sno rack=7 zone=berlin example.com/gpu= theirs=1")
	for range 2 {
		l.undo(s, r)
	}
	l.wants("after the undo", "rack=7 theirs=1 zone=factory")
	if l.m.Exists(steps.SiteLabels) {
		t.Errorf("the undo leaves %s", l.m.Content(steps.SiteLabels))
	}
	if l.landing("").(steps.Skipper).Skip().String() == "" {
		t.Error("a site without labels has something to do")
	}
	l.undo(s, newReport()) // of a job that did not come to it
	l.wants("after the undo of another job", "rack=7 theirs=1 zone=factory")
}

// TestLabelsThatTheSiteNoLongerLists: a second landing takes back what the first one set, but not what its owner had or has changed since;
// its undo brings that back.
func TestLabelsThatTheSiteNoLongerLists(t *testing.T) {
	l := newLabelled(t)
	l.run(l.landing("zone=berlin rack=7 gpu= stays=1 row=3"), newReport())
	l.is("kubernetes.io/hostname=sno rack=7 zone=berlin gpu= stays=1 row=4")
	s, r := l.landing("stays=2 rack=8"), newReport()
	if s.(steps.Skipper).Skip().String() != "" {
		t.Error("the second landing has nothing to do")
	}
	const removed = "removed: the site config no longer lists it"
	if review := reviewed(t, s, l.node); review != "Label gpu of the node: "+removed+"\nLabel rack of the node: 8\nLabel stays of the node: 2\nLabel zone of the node: factory" {
		t.Errorf("the review says\n%s", review)
	}
	l.api.Fault = nil // a sealed cluster does not run
	if review := reviewed(t, s, l.node); !strings.Contains(review, "Label gpu of the node: "+removed) || !strings.Contains(review, "Label rack of the node: 8") {
		t.Errorf("the review of a sealed node says\n%s", review)
	}
	for range 2 {
		l.run(s, r)
	}
	l.wants("after the second landing", "rack=8 row=4 stays=2 zone=factory")
	if kept := l.m.Content(steps.SiteLabels); strings.Contains(kept, "zone") || !strings.Contains(kept, "stays") {
		t.Errorf("for the next landing: %s", kept)
	}
	for range 2 {
		l.undo(s, r)
	}
	l.wants("after its undo", "gpu= rack=7 row=4 stays=1 zone=berlin")
	none := l.landing("")
	if none.(steps.Skipper).Skip().String() != "" {
		t.Error("a landing without labels leaves those of earlier ones")
	}
	l.run(none, newReport())
	l.wants("after a landing without labels", "rack=7 row=4 zone=factory")
	if l.m.Exists(steps.SiteLabels) {
		t.Errorf("for the next landing: %s", l.m.Content(steps.SiteLabels))
	}
}

// TestLabelsAfterACut: whatever two cuts leave half done, and whatever the site config says in between and afterwards, the step ends as if they
// had not been, and so does its undo.
func TestLabelsAfterACut(t *testing.T) {
	for n := range 4 {
		for _, earlier := range []string{"", "zone=first gpu=1"} { // what an earlier landing set
			for _, second := range []string{"zone=c row=2", ""} {
				for then, want := range map[string]string{"zone=a": "rack=7 zone=a", "zone=b rack=8": "rack=8 zone=b", "": "rack=7 zone=factory", "undo": ""} {
					l, r, start := newLabelled(t), newReport(), "rack=7 zone=factory"
					if earlier != "" {
						l.run(l.landing(earlier), newReport())
						start = "gpu=1 rack=7 zone=first"
					}
					l.cut(l.landing("zone=a row=1"), r, n&1 != 0)
					if s := l.landing(second); s.(steps.Skipper).Skip().String() == "" {
						l.cut(s, r, n&2 != 0)
					}
					what := fmt.Sprintf("cuts %02b, %q, then %q, then %q:", n, earlier, second, then)
					if then != "undo" {
						if s := l.landing(then); s.(steps.Skipper).Skip().String() == "" {
							l.run(s, r)
						}
						l.wants(what, want)
					}
					l.undo(l.landing(""), r)
					l.wants(what+" undone,", start)
					if has := l.m.Exists(steps.SiteLabels); has != (earlier != "") {
						t.Errorf("%s undone, there is a file for the next landing: %v", what, has)
					}
				}
			}
		}
	}
}

// cut ends the step before its patch or behind it.
func (l *labelled) cut(s steps.Step, r steps.Report, behind bool) {
	l.t.Helper()
	l.api.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPatch {
			return false
		}
		if behind {
			l.api.Fault = l.ready
			l.api.ServeHTTP(httptest.NewRecorder(), r)
		}
		return kubetest.Refuse(w, 400, "BadRequest", "cut")
	}
	_ = s.Run(l.t.Context(), l.node, r) // it ends well where nothing is to be patched
	l.api.Fault = l.ready
}

// TestLabelsWithoutRecords: a damaged file of earlier landings takes nothing from the node.
func TestLabelsWithoutRecords(t *testing.T) {
	l := newLabelled(t)
	l.run(l.landing("gpu=1"), newReport())
	l.m.File(steps.SiteLabels, "{cut o")
	l.run(l.landing("zone=a"), newReport())
	l.wants("after a landing without the records of the first", "gpu=1 rack=7 zone=a")
}

// TestLabelsWaitForTheAPI: the step waits for one that is away, and leaves alone what someone else changes just before it.
func TestLabelsWaitForTheAPI(t *testing.T) {
	l := newLabelled(t)
	l.run(l.landing("gpu=1"), newReport())
	tries := 0
	l.api.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPatch {
			return false
		}
		switch tries++; tries {
		case 1:
			return kubetest.Refuse(w, 503, "ServiceUnavailable", "away")
		case 2: // someone else makes the label theirs
			l.is("kubernetes.io/hostname=sno rack=7 zone=factory gpu=2")
		}
		return false
	}
	l.run(l.landing("zone=a"), newReport())
	l.wants("after a busy API", "gpu=2 rack=7 zone=a")
}

// TestLabelsOnARealAPI: kube-apiserver takes the labels, and takes them away again.
func TestLabelsOnARealAPI(t *testing.T) {
	b := bench.Start(t, bench.Options{})
	c, err := kube.Open(b.Kubeconfig, unlistened)
	if err != nil {
		t.Fatal(err)
	}
	m := hosttest.New(t)
	m.File("/proc/sys/kernel/hostname", "labelled\n")
	l := &labelled{t: t, m: m, node: node(m, c)}
	before := map[string]string{"zone": "factory", "rack": "7"}
	if _, err := c.Core.Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "labelled", Labels: before}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	has := func(when string, want map[string]string) {
		t.Helper()
		n, err := c.Core.Nodes().Get(t.Context(), "labelled", metav1.GetOptions{})
		if err != nil || !maps.Equal(n.Labels, want) {
			t.Errorf("%s the labels are %v (%v)", when, n.Labels, err)
		}
	}
	first := map[string]string{"zone": "berlin", "rack": "7", "example.com/gpu": ""}
	s, r := l.landing("zone=berlin example.com/gpu="), newReport()
	for range 2 {
		l.run(s, r)
	}
	has("after the landing", first)
	s, r = l.landing("rack=8"), newReport()
	l.run(s, r)
	has("after the second landing", map[string]string{"zone": "factory", "rack": "8"})
	l.undo(s, r)
	has("after its undo", first)
	l.run(l.landing(""), newReport())
	has("after a landing without labels", before)
}

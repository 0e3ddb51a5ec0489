package wanted

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"touchdown/backend/check"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/images/cri"
	"touchdown/backend/images/cri/critest"
	"touchdown/backend/images/ref"
	"touchdown/backend/kube"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/message"
)

func at(c string) string { return "@sha256:" + strings.Repeat(c, 64) }

// find returns the one image that has a name.
func find(t *testing.T, r *Result, name string) Image {
	t.Helper()
	var found []Image
	for _, i := range r.Images {
		if slices.Contains(i.Names, name) {
			found = append(found, i)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d images have the name %s, of %s", len(found), name, mustJSON(r))
	}
	return found[0]
}

func mustJSON(v any) string {
	b, _ := json.MarshalIndent(v, "", " ")
	return string(b)
}

func who(i Image) []string {
	var all []string
	for _, n := range i.Needers {
		all = append(all, string(n.Need)+" "+n.Who)
	}
	return distinct(all)
}

func podWith(spec, status, meta string) string {
	return fmt.Sprintf(`{"metadata":{%s},"spec":%s,"status":%s}`, meta, spec, status)
}

// clusterOf is an API with something of each kind.
func clusterOf(t *testing.T) (*kubetest.API, *kube.Cluster) {
	a, c := kubetest.New(t)
	put := func(path, object string) { a.Put(path, object) }
	put("/apis/config.openshift.io/v1/clusterversions/version", `{"status":{"desired":{"image":"quay.io/release`+at("e")+`"}}}`)
	put("/apis/machineconfiguration.openshift.io/v1/machineconfigpools/master", `{"spec":{"configuration":{"name":"rendered-1"}}}`)
	put("/apis/machineconfiguration.openshift.io/v1/machineconfigs/rendered-1", `{"spec":{"osImageURL":"quay.io/os`+at("0")+`","baseOSExtensionsContainerImage":""}}`)
	put("/api/v1/namespaces/openshift-dns/pods/dns-1", podWith(
		`{"priorityClassName":"system-node-critical","initContainers":[{"name":"i","image":"quay.io/init`+at("1")+`"}],"containers":[{"name":"dns","image":"quay.io/dns`+at("2")+`"}],
		"ephemeralContainers":[{"name":"debug","image":"quay.io/debug:1"}],"volumes":[{"name":"m","image":{"reference":"quay.io/model:1","pullPolicy":"Always"}},{"name":"n","emptyDir":{}}]}`,
		`{"phase":"Running","containerStatuses":[{"name":"dns","imageID":"quay.io/dns`+at("2")+`"}],"ephemeralContainerStatuses":[{"name":"debug","imageID":"quay.io/debug`+at("3")+`"}]}`,
		`"ownerReferences":[{"kind":"DaemonSet","name":"dns-default","controller":true}]`))
	put("/api/v1/namespaces/app/pods/web-5d9c-x", podWith(`{"containers":[{"name":"c","image":"quay.io/web:1","imagePullPolicy":"Always"}]}`, `{"phase":"Running"}`,
		`"labels":{"pod-template-hash":"5d9c"},"ownerReferences":[{"kind":"ReplicaSet","name":"web-5d9c","controller":true}]`))
	put("/api/v1/namespaces/app/pods/gone", podWith(`{"containers":[{"name":"x","image":"quay.io/ended`+at("4")+`","imagePullPolicy":"Always"}]}`, `{"phase":"Succeeded"}`, ""))
	put("/api/v1/namespaces/openshift-etcd/pods/etcd-sno", podWith(`{"containers":[{"name":"etcd","image":"quay.io/etcd`+at("5")+`"}]}`, `{}`,
		`"annotations":{"kubernetes.io/config.mirror":"x"},"ownerReferences":[{"kind":"Node","name":"sno","controller":true}]`))
	template := func(image string) string {
		return `"template":{"spec":{"containers":[{"name":"c","image":"` + image + `"}]}}`
	}
	put("/apis/apps/v1/namespaces/app/deployments/web", `{"spec":{"replicas":1,`+strings.Replace(template("quay.io/web:1"), `"image"`, `"imagePullPolicy":"Always","image"`, 1)+`}}`)
	put("/apis/apps/v1/namespaces/app/deployments/off", `{"spec":{"replicas":0,`+template("quay.io/off:1")+`}}`)
	put("/apis/apps/v1/namespaces/app/replicasets/web-old", `{"spec":{"replicas":0,`+template("quay.io/history:1")+`}}`)
	put("/apis/apps/v1/namespaces/app/statefulsets/db", `{"spec":{"replicas":1,`+template("quay.io/db"+at("6"))+`}}`)
	put("/apis/apps/v1/namespaces/openshift-multus/daemonsets/multus", `{"spec":{`+template("quay.io/multus"+at("7"))+`},"status":{"observedGeneration":1,"desiredNumberScheduled":1}}`)
	put("/apis/apps/v1/namespaces/app/daemonsets/gpu", `{"spec":{`+template("quay.io/gpu:1")+`},"status":{"observedGeneration":1,"desiredNumberScheduled":0}}`)
	put("/apis/batch/v1/namespaces/app/jobs/done", `{"spec":{`+template("quay.io/job-done:1")+`},"status":{"conditions":[{"type":"Complete","status":"True"}]}}`)
	put("/apis/batch/v1/namespaces/app/jobs/open", `{"spec":{`+template("quay.io/job-open:1")+`}}`)
	put("/apis/batch/v1/namespaces/app/cronjobs/nightly", `{"spec":{"jobTemplate":{"spec":{`+template("quay.io/nightly:1")+`}}}}`)
	put("/apis/apps.openshift.io/v1/namespaces/app/deploymentconfigs/dc", `{"spec":{"replicas":1,`+template("quay.io/dc:1")+`}}`)
	put("/apis/operators.coreos.com/v1alpha1/namespaces/openshift-marketplace/catalogsources/redhat-operators",
		`{"metadata":{"annotations":{"operatorframework.io/managed-by":"marketplace-operator"}},"spec":{"image":"quay.io/index:v4"}}`)
	put("/api/v1/namespaces/openshift-marketplace/pods/redhat-operators-x", podWith(`{"containers":[{"name":"registry-server","image":"quay.io/index:v4","imagePullPolicy":"Always"}]}`, `{"phase":"Running"}`,
		`"ownerReferences":[{"kind":"CatalogSource","name":"redhat-operators","controller":true}]`))
	put("/apis/operators.coreos.com/v1alpha1/namespaces/m/catalogsources/cs", `{"spec":{"image":"quay.io/catalog:v4"}}`)
	put("/apis/operators.coreos.com/v1alpha1/namespaces/m/clusterserviceversions/op.v1", `{"spec":{"relatedImages":[{"name":"a","image":"quay.io/operand`+at("8")+`"}],
		"install":{"spec":{"deployments":[{"name":"d","spec":{`+template("quay.io/operator"+at("9"))+`}}]}}}}`)
	put("/apis/operators.coreos.com/v1alpha1/namespaces/m/installplans/i", `{"status":{"phase":"Complete","bundleLookups":[{"path":"quay.io/bundle`+at("a")+`"}]}}`)
	put("/api/v1/namespaces/app/pods/broken", `{"spec":{"containers":"not a list"}}`)
	return a, c
}

func TestEverySource(t *testing.T) {
	_, c := clusterOf(t)
	r, err := List(t.Context(), Place{Host: hosttest.New(t).Machine, Kube: c, Runtime: critest.Start(t).Client(t)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"quay.io/release" + at("e"):  "boot ClusterVersion version",
		"quay.io/os" + at("0"):       "spare MachineConfig rendered-1",
		"quay.io/init" + at("1"):     "boot DaemonSet openshift-dns/dns-default",
		"quay.io/dns" + at("2"):      "boot DaemonSet openshift-dns/dns-default",
		"quay.io/debug:1":            "boot DaemonSet openshift-dns/dns-default",
		"quay.io/model:1":            "boot DaemonSet openshift-dns/dns-default",
		"quay.io/web:1":              "run Deployment app/web",
		"quay.io/ended" + at("4"):    "spare Pod app/gone",
		"quay.io/etcd" + at("5"):     "boot static pod openshift-etcd/etcd",
		"quay.io/off:1":              "spare Deployment app/off",
		"quay.io/db" + at("6"):       "run StatefulSet app/db",
		"quay.io/multus" + at("7"):   "boot DaemonSet openshift-multus/multus",
		"quay.io/gpu:1":              "spare DaemonSet app/gpu",
		"quay.io/job-done:1":         "spare Job app/done",
		"quay.io/job-open:1":         "run Job app/open",
		"quay.io/nightly:1":          "run CronJob app/nightly",
		"quay.io/dc:1":               "run DeploymentConfig app/dc",
		"quay.io/catalog:v4":         "run CatalogSource m/cs",
		"quay.io/index:v4":           "run CatalogSource openshift-marketplace/redhat-operators",
		"quay.io/operand" + at("8"):  "run ClusterServiceVersion m/op.v1",
		"quay.io/operator" + at("9"): "run ClusterServiceVersion m/op.v1",
		"quay.io/bundle" + at("a"):   "spare InstallPlan m/i",
	} {
		if got := strings.Join(who(find(t, r, name)), ", "); got != want {
			t.Errorf("%s is needed by %q, want %q", name, got, want)
		}
	}
	if strings.Contains(mustJSON(r.Images), "history") {
		t.Error("an old ReplicaSet's image is in the list")
	}
	if i := find(t, r, "quay.io/debug:1"); i.Digest != at("3")[1:] {
		t.Errorf("the digest that a pod runs is not known: %+v", i)
	}
	if len(r.Unread) != 2 || r.Unread[0].Source != "pods" || !strings.Contains(r.Unread[0].Reason.String(), "app/broken") || r.Unread[1].Source != "release" {
		t.Errorf("unread: %v", r.Unread)
	}
	if s := r.Summary; s.Images != 22 || s.Wanted != 16 || s.Missing != 16 || s.BootMissing != 7 || s.PullAlways != 3 || s.Unsized != 16 {
		t.Errorf("summary: %+v", s)
	}
	if !slices.IsSortedFunc(r.Images, func(a, b Image) int { return a.place() - b.place() }) || !r.Images[0].BootCritical {
		t.Error("the table is not sorted")
	}
}

// One image by digest, by tag, by a mirror's name and by its ID is one line; what CRI-O would not find is told.
func TestUnionByDigest(t *testing.T) {
	s := critest.Start(t)
	s.Pause = "quay.io/pause:1"
	s.Images = []*runtime.Image{
		critest.Image("id-a", 500, "quay.io/a:v1", "quay.io/a"+at("1"), "quay.io/a"+at("2")), // index and manifest
		critest.Image("id-p", 5, "quay.io/pause:1", "quay.io/pause"+at("3")),
		critest.Image("id-n", 7, "quay.io/nobody:1"), critest.Image("id-short", 8, "docker.io/library/busybox:latest", "busybox"),
	}
	a, c := kubetest.New(t)
	for i, image := range []string{
		"quay.io/a:v1", "quay.io/a" + at("1"), "quay.io/a" + at("2"), "quay.io/a:v1" + at("1"), "mirror.example/a" + at("1"), "busybox", "nothing", "Bad Name",
	} {
		a.Put(fmt.Sprintf("/api/v1/namespaces/app/pods/p%d", i), podWith(`{"containers":[{"name":"c","image":"`+image+`","imagePullPolicy":"IfNotPresent"}]}`, `{}`, ""))
	}
	r, err := List(t.Context(), Place{Host: hosttest.New(t).Machine, Kube: c, Runtime: s.Client(t)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	one := find(t, r, "quay.io/a:v1")
	if one.ID != "id-a" || len(one.Needers) != 5 || one.Size != 500 || one.Digest != at("1")[1:] || one.Present || !slices.Equal(one.Missing, []string{"mirror.example/a" + at("1")}) {
		t.Errorf("image: %s", mustJSON(one))
	}
	if len(one.Findings) != 1 || one.Findings[0].Kind != "other-name" || one.Findings[0].Status != check.Warn {
		t.Errorf("findings: %+v", one.Findings)
	}
	if p := find(t, r, "quay.io/pause:1"); !p.Present || !p.BootCritical || who(p)[0] != "boot pause image of CRI-O as it runs" {
		t.Errorf("pause image: %s", mustJSON(p))
	}
	if n := find(t, r, "quay.io/nobody:1"); n.Need != Spare || !n.Present || len(n.Needers) != 0 {
		t.Errorf("what nobody needs: %s", mustJSON(n))
	}
	if b := find(t, r, "busybox"); !b.Present || b.ID != "id-short" || len(b.Findings) != 0 {
		t.Errorf("short name: %s", mustJSON(b))
	}
	for name, kind := range map[string]string{"nothing": "short-name", "Bad Name": "bad-name"} {
		if i := find(t, r, name); i.Present || len(i.Findings) != 1 || i.Findings[0].Kind != kind {
			t.Errorf("%s: %s", name, mustJSON(i))
		}
	}
	if n := s.Asked(); n > 5 {
		t.Errorf("CRI-O was asked %d times; its list knows most", n)
	}
	if w := r.Wants(); len(w) != 3 {
		t.Errorf("to be pulled: %+v", w)
	}
}

func TestPullAlwaysIsToldWithItsFix(t *testing.T) {
	_, c := clusterOf(t)
	r, err := List(t.Context(), Place{Host: hosttest.New(t).Machine, Kube: c, Runtime: critest.Start(t).Client(t)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	web, model, ended := find(t, r, "quay.io/web:1"), find(t, r, "quay.io/model:1"), find(t, r, "quay.io/ended"+at("4"))
	if f := web.Findings; len(f) != 1 || f[0].Status != check.Warn || strings.Count(f[0].Text, "Deployment app/web") != 1 || !strings.Contains(f[0].Fix, "IfNotPresent") {
		t.Errorf("a workload's: %+v", f)
	}
	index := find(t, r, "quay.io/index:v4")
	if f := index.Findings; len(f) != 1 || strings.Contains(f[0].Fix, "IfNotPresent") || !strings.Contains(f[0].Fix, "cannot be set") || !index.PullAlways {
		t.Errorf("a default catalog source's: %+v", f)
	}
	if f := model.Findings; len(f) != 1 || f[0].Status != check.Fail || !strings.Contains(f[0].Text, "volume m") {
		t.Errorf("a boot-critical volume's: %+v", f)
	}
	if ended.PullAlways || len(ended.Findings) != 0 {
		t.Errorf("what ended does not pull again: %+v", ended.Findings)
	}
}

func TestPayload(t *testing.T) {
	_, c := clusterOf(t)
	s := critest.Start(t)
	s.Images = []*runtime.Image{critest.Image("rel", 9, "quay.io/release"+at("e")), critest.Image("here", 9, "quay.io/art"+at("c"))}
	stream := `{"kind":"ImageStream","spec":{"tags":[{"name":"coredns","from":{"kind":"DockerImage","name":"quay.io/art` + at("2") + `"}},
		{"name":"tools","from":{"name":"quay.io/art` + at("b") + `"}},{"name":"cli","from":{"name":"quay.io/art` + at("c") + `"}},{"name":"odd","from":{"name":"quay.io/art:tag"}}]}}`
	content := []byte(stream)
	file := func(_ context.Context, i cri.Image, path string) ([]byte, error) {
		if i.ID != "rel" || path != imageReferences {
			return nil, errors.New("asked for something else")
		}
		return content, nil
	}
	place := Place{Host: hosttest.New(t).Machine, Kube: c, Runtime: s.Client(t)}
	r, err := List(t.Context(), place, Options{File: file})
	if err != nil || r.Summary.PayloadOnly != 1 || find(t, r, "quay.io/dns"+at("2")).Component != "coredns" || find(t, r, "quay.io/art"+at("c")).Component != "cli" {
		t.Errorf("%v, %+v", err, r.Summary)
	}
	r, err = List(t.Context(), place, Options{File: file, Payload: true})
	if err != nil || r.Summary.PayloadOnly != 0 || find(t, r, "quay.io/art"+at("b")).Need != Run {
		t.Errorf("whole release: %v, %+v", err, r.Summary)
	}
	for _, bad := range []string{"", "[]", `{"spec":{"tags":[{"from":5}]}}`, strings.Repeat(" ", payloadLimit+1)} {
		content = []byte(bad)
		if r, err := List(t.Context(), place, Options{File: file}); err != nil || !slices.ContainsFunc(r.Unread, func(u Unread) bool { return u.Source == "release" }) {
			t.Errorf("%.20q: %v, %v", bad, err, r.Unread)
		}
	}
}

// Each source that fails is told, and does not hide the others.
func TestUnreadSources(t *testing.T) {
	a, c := clusterOf(t)
	a.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/deployments") {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(403)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"deployments is forbidden: User cannot list resource \"deployments\""}`)
			return true
		}
		return false
	}
	s := critest.Start(t)
	s.Trouble(errors.New("layer not known"), 0)
	m := hosttest.New(t)
	m.File(manifestDir+"/p.yaml", "kind: Pod\nmetadata: {name: p, namespace: n}\nspec: {containers: [{name: c, image: 'quay.io/static:1'}]}\n")
	r, err := List(t.Context(), Place{Host: m.Machine, Kube: c, Runtime: s.Client(t)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprint(r.Unread)
	for _, want := range []string{"{deployments ", "{crio ", "{pods ", "{release "} {
		if !strings.Contains(text, want) {
			t.Errorf("not told: %s in %s", want, text)
		}
	}
	if r.StoreRead || r.Summary.Missing != 0 || find(t, r, "quay.io/static:1").Need != Boot || find(t, r, "quay.io/db"+at("6")).Need != Run {
		t.Errorf("the others are hidden: %+v", r.Summary)
	}
	r, err = List(t.Context(), Place{Host: m.Machine}, Options{})
	if err != nil || len(r.Unread) != 2 || len(r.Images) != 1 {
		t.Errorf("the node alone: %v, %s", err, mustJSON(r))
	}
}

// TestAnotherLookIsForWhatDidNotAnswer: a name that CRI-O refuses is told, and will be refused again; a CRI-O that is away is asked again.
func TestAnotherLookIsForWhatDidNotAnswer(t *testing.T) {
	_, c := clusterOf(t)
	m := hosttest.New(t)
	m.File(manifestDir+"/p.yaml", "kind: Pod\nmetadata: {name: p, namespace: n}\nspec: {containers: [{name: c, image: busybox}]}\n")
	away := func(s *critest.Server) string {
		t.Helper()
		r, err := List(t.Context(), Place{Host: m.Machine, Kube: c, Runtime: s.Client(t)}, Options{})
		if err != nil || !strings.Contains(fmt.Sprint(r.Gaps()), "{crio ") {
			t.Fatalf("%v: CRI-O's answer is not told: %v", err, r.Gaps())
		}
		return fmt.Sprint(r.Away())
	}
	s := critest.Start(t)
	if s.Short = "busybox"; strings.Contains(away(s), "{crio ") {
		t.Error("CRI-O is asked again for a name that it refuses")
	}
	s = critest.Start(t)
	if s.Trouble(status.Error(codes.Unavailable, "starting"), 0); !strings.Contains(away(s), "{crio ") {
		t.Error("CRI-O is not asked again")
	}
}

func TestEndedCaller(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	_, c := clusterOf(t)
	if _, err := List(ctx, Place{Host: hosttest.New(t).Machine, Kube: c, Runtime: critest.Start(t).Client(t)}, Options{}); err == nil || err.Error() != "enough" {
		t.Errorf("%v", err)
	}
}

// The JSON is a contract: fields of format 1 keep their names.
func TestJSON(t *testing.T) {
	r := &Result{Format: 1, StoreRead: true, Unread: []Unread{{Source: "pods", Reason: message.Data("why")}}, Images: []Image{{
		Digest: "sha256:1", ID: "i", Names: []string{"a:1"}, Component: "c", Need: Boot, BootCritical: true, Missing: []string{"a:1"}, Pinned: true, Size: 1, Download: 2,
		PullAlways: true, Sources: []string{"pods"}, Needers: []Needer{{Who: "Pod a/b", Need: Boot, Source: "pods", Always: "c"}}, Findings: []Finding{{"pull-always", check.Fail, "t", "f"}},
		Blobs: []ref.Blob{{Digest: "x", Size: 2}},
	}}}
	r.Count()
	b, err := json.Marshal(r)
	const want = `{"format":1,"summary":{"images":1,"wanted":1,"bootCritical":1,"missing":1,"bootMissing":1,"pullAlways":1,"size":1,"download":2,"unsized":0,"payloadOnly":0},` +
		`"images":[{"digest":"sha256:1","id":"i","names":["a:1"],"component":"c","need":"boot","bootCritical":true,"needers":[{"who":"Pod a/b","need":"boot","source":"pods","pullAlways":"c"}],` +
		`"present":false,"missing":["a:1"],"pinned":true,"size":1,"download":2,"pullAlways":true,"sources":["pods"],"findings":[{"kind":"pull-always","status":"fail","text":"t","fix":"f"}]}],` +
		`"unread":[{"source":"pods","reason":"why"}],"storeRead":true}`
	if err != nil || string(b) != want {
		t.Errorf("%s\nwant\n%s", b, want)
	}
}

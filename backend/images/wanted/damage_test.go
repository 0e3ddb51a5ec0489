package wanted

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"touchdown/backend/host/hosttest"
	"touchdown/backend/images/cri"
	"touchdown/backend/images/cri/critest"
	"touchdown/backend/kube/kubetest"
	"touchdown/test/imagestore"
	"touchdown/test/wait"
)

// TestClusterThatIsAway: the reason that the caller has stands in the list, and the node's own needs are still in it.
func TestClusterThatIsAway(t *testing.T) {
	m := hosttest.New(t)
	m.File(manifestDir+"/p.yaml", "kind: Pod\nmetadata: {name: p, namespace: n}\nspec: {containers: [{name: c, image: 'quay.io/static:1'}]}\n")
	r, err := List(t.Context(), Place{Host: m.Machine, Away: errors.New("the API does not start")}, Options{})
	if err != nil || len(r.Images) != 1 || !slices.ContainsFunc(r.Unread, func(u Unread) bool {
		return u.Source == "cluster" && strings.Contains(u.Reason.String(), "the API does not start")
	}) {
		t.Errorf("%v: %s", err, mustJSON(r))
	}
}

// TestOddObjects: an object that is not as its kind should be is told by its name, and hides no other; one whose state is odd counts as at
// work, since an image too many is no harm and one too few is a node that does not start.
func TestOddObjects(t *testing.T) {
	a, c := kubetest.New(t)
	template := `"template":{"spec":{"containers":[{"name":"c","image":"quay.io/%s:1"}]}}`
	odd := `"template":{"spec":{"containers":"quay.io/x:1"}}`
	for path, object := range map[string]string{
		"/apis/apps/v1/namespaces/app/deployments/odd":                                     `{"spec":{` + odd + `}}`,
		"/apis/apps/v1/namespaces/app/deployments/well":                                    `{"spec":{"replicas":1,` + fmt.Sprintf(template, "well") + `}}`,
		"/apis/apps/v1/namespaces/app/deployments/many":                                    `{"spec":{"replicas":"none",` + fmt.Sprintf(template, "many") + `}}`,
		"/apis/batch/v1/namespaces/app/jobs/odd":                                           `{"spec":{` + fmt.Sprintf(template, "job") + `},"status":{"conditions":"Complete"}}`,
		"/apis/operators.coreos.com/v1alpha1/namespaces/m/clusterserviceversions/odd":      `{"spec":{"relatedImages":"quay.io/x:1"}}`,
		"/apis/operators.coreos.com/v1alpha1/namespaces/m/installplans/odd":                `{"status":{"bundleLookups":{"path":"quay.io/x:1"}}}`,
		"/apis/operators.coreos.com/v1alpha1/namespaces/m/catalogsources/odd":              `{"spec":{"image":["quay.io/x:1"]}}`,
		"/apis/kubevirt.io/v1/namespaces/app/virtualmachines/vm":                           `{"spec":{"template":{"spec":{"volumes":[{"name":"root","containerDisk":{"image":"quay.io/disk:1","imagePullPolicy":"Always"}}]}}}}`,
		"/api/v1/namespaces/app/pods/ends":                                                 `{"metadata":{"deletionTimestamp":"2026-11-20T12:00:00Z"},"spec":{"containers":[{"name":"c","image":"quay.io/ends:1"}]},"status":{}}`,
		"/apis/config.openshift.io/v1/clusterversions/version":                             `{"status":{"desired":{"image":5}}}`,
		"/apis/machineconfiguration.openshift.io/v1/machineconfigpools/master":             `{"spec":{"configuration":{"name":"rendered-1"}}}`,
		"/apis/machineconfiguration.openshift.io/v1/machineconfigs/rendered-1":             `{"spec":{"osImageURL":{"image":"quay.io/os:1"}}}`,
		"/apis/apps/v1/namespaces/app/daemonsets/without-a-word-of-where-it-is-to-run-yet": `{"spec":{` + fmt.Sprintf(template, "new") + `},"status":{}}`,
	} {
		a.Put(path, object)
	}
	r, err := List(t.Context(), Place{Host: hosttest.New(t).Machine, Kube: c, Runtime: critest.Start(t).Client(t)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]Need{"quay.io/well:1": Run, "quay.io/many:1": Run, "quay.io/job:1": Run, "quay.io/disk:1": Run, "quay.io/new:1": Run} {
		if got := find(t, r, name).Need; got != want {
			t.Errorf("%s is needed as %q, want %q", name, got, want)
		}
	}
	if disk := find(t, r, "quay.io/disk:1"); !disk.PullAlways || disk.Needers[0].Who != "VirtualMachine app/vm" {
		t.Errorf("a virtual machine's disk: %s", mustJSON(disk))
	}
	if len(r.Images) != 5 {
		t.Errorf("%d images: %s", len(r.Images), mustJSON(r.Images))
	}
	for source, what := range map[string]string{
		"deployments": "app/odd", "clusterserviceversions": "m/odd", "installplans": "m/odd", "catalogsources": "m/odd", "release": "does not report its release", "machineconfigs": "",
	} {
		if !slices.ContainsFunc(r.Unread, func(u Unread) bool { return u.Source == source && strings.Contains(u.Reason.String(), what) }) {
			t.Errorf("%s are not told: %s", source, mustJSON(r.Unread))
		}
	}
}

// TestMachineConfigsThatDoNotAnswer: the operating system's images are missing from the list, and the list says so.
func TestMachineConfigsThatDoNotAnswer(t *testing.T) {
	for _, resource := range []string{"/machineconfigpools/", "/machineconfigs/"} {
		a, c := clusterOf(t)
		a.Fault = func(w http.ResponseWriter, r *http.Request) bool {
			return strings.Contains(r.URL.Path, resource) && kubetest.Refuse(w, http.StatusForbidden, "Forbidden", "no right")
		}
		r, err := List(t.Context(), Place{Host: hosttest.New(t).Machine, Kube: c, Runtime: critest.Start(t).Client(t)}, Options{})
		if err != nil || !slices.ContainsFunc(r.Unread, func(u Unread) bool { return u.Source == "machineconfigs" }) {
			t.Errorf("%s: %v, %s", resource, err, mustJSON(r.Unread))
		}
	}
}

// TestManyWhoPullAlways: a finding names three of them, and says how many there are.
func TestManyWhoPullAlways(t *testing.T) {
	a, c := kubetest.New(t)
	for n := range 5 {
		a.Put(fmt.Sprintf("/api/v1/namespaces/app/pods/p%d", n), podWith(`{"containers":[{"name":"c","image":"quay.io/a:1","imagePullPolicy":"Always"}]}`, `{}`, ""))
	}
	r, err := List(t.Context(), Place{Host: hosttest.New(t).Machine, Kube: c, Runtime: critest.Start(t).Client(t)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f := find(t, r, "quay.io/a:1").Findings; len(f) != 1 || !strings.Contains(f[0].Text, "Pod app/p0 (c), Pod app/p1 (c), Pod app/p2 (c) and 2 more asks") {
		t.Errorf("%+v", f)
	}
}

// TestOddFilesOfTheNode: a folder with more files than any node has is read in part, a link that leads to itself is told, and the pod
// that was known to be good is started again after a bad revision.
func TestOddFilesOfTheNode(t *testing.T) {
	m := hosttest.New(t)
	pod := func(image string) string {
		return "kind: Pod\nmetadata: {name: p, namespace: ns}\nspec: {containers: [{name: c, image: '" + image + "'}]}\n"
	}
	m.File(resourcesDir+"/kube-apiserver-last-known-good", pod("r.example/good:1"))
	m.File(resourcesDir+"/kube-apiserver-pod-7/kube-apiserver-pod.yaml", pod("r.example/new:1"))
	link(t, m, filepath.Base(manifestDir)+".yaml", manifestDir+"/"+filepath.Base(manifestDir)+".yaml")
	g := newGathering()
	g.staticPods(m.Machine)
	wantLines(t, told(g), "r.example/good:1: boot static pod ns/p", "r.example/new:1: boot static pod ns/p")
	if len(g.unread) != 1 || g.unread[0].Source != "static-pods" {
		t.Errorf("unread: %v", g.unread)
	}
	for n := range filesLimit + 1 {
		if err := os.WriteFile(m.Path(fmt.Sprintf("%s/file-%d", manifestDir, n)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g = newGathering()
	if all := g.files(m.Machine, "static-pods", manifestDir+"/*"); len(all) != filesLimit || len(g.unread) != 1 {
		t.Errorf("%d files, unread %v", len(all), g.unread)
	}
}

// TestDamagedStore: a store that cannot be opened does not hide the next one, an image without its layer is not read in part, and both are
// told where no store has the file.
func TestDamagedStore(t *testing.T) {
	wait.Root(t) // it unpacks files of other users
	made := imagestore.New(t.TempDir())
	base := made.Layer("", imagestore.File{Name: "low", Size: 10})
	top := made.Layer(base, imagestore.File{Name: "high", Size: 20})
	whole, torn := made.Image(base, "r.example/a:1"), made.Image(top, "r.example/b:1")
	if err := made.Save(); err != nil {
		t.Fatal(err)
	}
	damaged := imagestore.New(t.TempDir())
	damaged.Image(damaged.Layer(""), "r.example/c:1")
	if err := damaged.Save(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(damaged.Path("overlay-images", "images.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(made.Path("overlay", top, "diff")); err != nil {
		t.Fatal(err)
	}
	read := InStores(damaged.Root, made.Root)
	if b, err := read(t.Context(), cri.Image{ID: whole}, "/low"); err != nil || len(b) != 10 {
		t.Errorf("behind a damaged store: %d bytes, %v", len(b), err)
	}
	if b, err := read(t.Context(), cri.Image{ID: torn}, "/low"); err == nil || !strings.Contains(err.Error(), "layer") {
		t.Errorf("without its upper layer: %d bytes, %v", len(b), err)
	}
	if _, err := InStores(damaged.Root)(t.Context(), cri.Image{ID: whole}, "/low"); err == nil || strings.Contains(err.Error(), "no store has the image") {
		t.Errorf("a damaged store alone: %v", err)
	}
}

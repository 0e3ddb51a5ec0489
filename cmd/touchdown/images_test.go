package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"touchdown/backend/images"
	"touchdown/backend/images/cri/critest"
)

// The command on a node without a cluster, with CRI-O and without: what can be told is told.
func TestImagesList(t *testing.T) {
	s := critest.Start(t)
	s.Images = []*runtime.Image{critest.Image("id", 5_000_000, "r.invalid/etcd:1")}
	path := filepath.Join(s.Root, "etc/kubernetes/manifests/etcd.yaml")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	const pod = "kind: Pod\nmetadata: {name: etcd, namespace: openshift-etcd}\nspec: {containers: [{name: c, image: 'r.invalid/etcd:1'}, {name: d, image: 'r.invalid/other'}]}\n"
	if err := os.WriteFile(path, []byte(pod), 0o600); err != nil {
		t.Fatal(err)
	}
	wants := exitOK
	run := func(args ...string) string {
		t.Helper()
		var out bytes.Buffer
		root := newRoot(hooks{root: s.Root})
		root.SetOut(&out)
		root.SetErr(&out)
		args = append([]string{"images", "list", "--kubeconfig", filepath.Join(s.Root, "none")}, args...)
		if code := execute(t.Context(), root, args); code != wants {
			t.Fatalf("%v ended with %d: %s", args, code, out.String())
		}
		return out.String()
	}
	table := run()
	for _, want := range []string{
		"\nother                      static openshift-etcd/etcd           - NO   yes  1\n", "\netcd:1                     static openshift-etcd/etcd      5.0 MB yes  yes\n",
		" 1  other: static pod openshift-etcd/etcd (d) asks the registry at each start", "2 images wanted, 2 of them boot-critical; 1 missing (1 boot-critical), 1 of\nunknown size.",
		"Not read: cluster: reading kubeconfig",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("not there: %q in\n%s", want, table)
		}
	}
	var r images.Wanted
	if err := json.Unmarshal([]byte(run("-o", "json", "--offline")), &r); err != nil || r.Format != 1 || r.Summary.Missing != 1 || len(r.Images) != 2 || !r.Images[0].PullAlways {
		t.Errorf("%v, %+v", err, r)
	}
	s.Stop()
	wants = exitFailed // the list has only the images that the node's own files name
	table = run()
	for _, want := range []string{
		"which are here is not known", "Not read: crio: CRI-O, which runs the node's containers, is not running.",
		"touchdown: neither the cluster nor CRI-O could be read", "cluster: reading kubeconfig",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("without CRI-O there is no %q:\n%s", want, table)
		}
	}
	if lines := run("-o", "json", "--offline"); !strings.Contains(lines, "\n{\"error\":{\"summary\":\"neither the cluster nor CRI-O") {
		t.Errorf("the error is not behind the list: %s", lines)
	}
}

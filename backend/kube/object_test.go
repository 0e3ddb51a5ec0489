package kube_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"touchdown/backend/kube"
	"touchdown/backend/kube/kubetest"
)

func TestPutMakesOrChanges(t *testing.T) {
	api, c := kubetest.New(t)
	const path = "/apis/machineconfiguration.openshift.io/v1/machineconfigs/a"
	ref := kube.MachineConfig("a")
	set := func(value string) func(map[string]any) error {
		return func(spec map[string]any) error {
			spec["config"] = value
			return nil
		}
	}
	var originals [][]byte
	save := func(_ kube.Ref, original []byte) error {
		originals = append(originals, original)
		return nil
	}
	for _, step := range []struct {
		value   string
		pending bool
	}{{"one", true}, {"one", false}, {"two", true}} {
		pending, err := c.Pending(t.Context(), ref, set(step.value))
		if err != nil || pending != step.pending {
			t.Errorf("%s: pending is %v (%v)", step.value, pending, err)
		}
		changed, err := c.Put(t.Context(), ref, kube.New{Kind: "MachineConfig", Labels: map[string]string{"role": "master"}}, set(step.value), save)
		if err != nil || changed != step.pending {
			t.Errorf("%s: changed is %v (%v)", step.value, changed, err)
		}
	}
	if got := api.Get(path, "metadata", "labels", "role") + api.Get(path, "spec") + api.Get(path, "kind"); got != `"master"{"config":"two"}"MachineConfig"` {
		t.Errorf("the object is %s", got)
	}
	for _, original := range slices.Backward(originals) {
		if _, err := c.Restore(t.Context(), original); err != nil {
			t.Fatal(err)
		}
	}
	if got := api.Get(path); got != "" {
		t.Errorf("after undo there is %s", got)
	}
	if _, err := c.Put(t.Context(), ref, kube.New{Kind: "MachineConfig"}, func(map[string]any) error { return errors.New("no") }, save); err == nil {
		t.Error("a change that fails is not an error")
	}
	// Of a ConfigMap it is the data.
	cm := kube.ConfigMap("ns", "b")
	if _, err := c.Put(t.Context(), cm, kube.New{Kind: "ConfigMap"}, set("x"), save); err != nil {
		t.Fatal(err)
	}
	if got := api.Get("/api/v1/namespaces/ns/configmaps/b", "data", "config"); got != `"x"` {
		t.Errorf("the data is %s", got)
	}
}

func TestGetAndListOfWhatIsNotThere(t *testing.T) {
	api, c := kubetest.New(t)
	if o, err := c.Get(t.Context(), kube.MachineConfig("x")); o != nil || err != nil {
		t.Error(o, err)
	}
	if o, served, err := c.List(t.Context(), kube.MachineConfig("")); len(o) != 0 || !served || err != nil {
		t.Error(o, served, err)
	}
	api.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		return strings.Contains(r.URL.Path, "machineconfigs") && kubetest.Refuse(w, 404, "NotFound", "no such kind")
	}
	if _, served, err := c.List(t.Context(), kube.MachineConfig("")); served || err != nil {
		t.Error(served, err)
	}
}

func TestReady(t *testing.T) {
	api, c := kubetest.New(t)
	answer := "ok"
	api.Fault = func(w http.ResponseWriter, _ *http.Request) bool {
		if answer == "down" {
			return kubetest.Refuse(w, 503, "ServiceUnavailable", "starting")
		}
		_, _ = w.Write([]byte(answer))
		return true
	}
	for text, want := range map[string]bool{"ok": true, "etcd failed": false, "down": false} {
		answer = text
		if ready, why := c.Ready(t.Context()); ready != want || (why.String() == "") != want {
			t.Errorf("%s: %v %q", text, ready, why)
		}
	}
}

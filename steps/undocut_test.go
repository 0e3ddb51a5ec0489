package steps_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/nodeconfig"
	"touchdown/backend/registry"
	"touchdown/steps"
	"touchdown/steps/site"
	"touchdown/test/wait"
)

const undoPool = "/apis/machineconfiguration.openshift.io/v1/machineconfigpools/master"

// putPool is a pool that calls itself updated; its newest configuration and the node's were made of source as well.
func putPool(api *kubetest.API, newest, current string, source ...string) {
	made := make([]string, len(source))
	for i, name := range source {
		made[i] = fmt.Sprintf(`{"name":%q}`, name)
	}
	api.Put(undoPool, fmt.Sprintf(`{"spec":{"paused":%t,"configuration":{"name":%q,"source":[%s]}},"status":{"configuration":{"name":%q},"conditions":[
		{"type":"Updated","status":"True"},{"type":"Updating","status":"False"},{"type":"Degraded","status":"False"}]}}`,
		api.Get(undoPool, "spec", "paused") == "true", newest, strings.Join(made, ","), current))
}

// soon does what the operator does, which starts later than the API.
func soon(t *testing.T, do func()) {
	timer := time.AfterFunc(200*time.Millisecond, do)
	t.Cleanup(func() { timer.Stop() })
}

// The power failed after the site's credentials were taken out of the cluster, and before or after the node gave them up. Meanwhile the
// person has edited the answers.
func TestUndoOfThePullSecretAfterACut(t *testing.T) {
	const (
		factory = `{"auths":{"registry.factory.example":{"auth":"Zjpm"}}}`
		object  = "/api/v1/namespaces/openshift-config/secrets/pull-secret"
	)
	for _, rolled := range []bool{false, true} {
		for _, edited := range []site.Secret{"", `{"auths":{"registry.other.example":{"auth":"bzpw"}}}`} {
			api, c := kubetest.New(t)
			m, report := hosttest.New(t), newReport()
			putPool(api, "rendered-1", "rendered-1")
			data := strconv.Quote(base64.StdEncoding.EncodeToString([]byte(factory)))
			api.Put(object, fmt.Sprintf(`{"data":{".dockerconfigjson":%s}}`, data))
			cfg := site.New()
			changed, err := registry.Apply(t.Context(), c, []byte(`{"auths":{"registry.site.example:5000":{"auth":"dTpw"}}}`), func(_ kube.Ref, original []byte) error {
				return report.Save("change-001", original)
			})
			if err != nil || !changed {
				t.Fatal(changed, err)
			}
			m.File(rhcos.PullSecret, `{"auths":{"registry.factory.example":{"auth":"Zjpm"},"registry.site.example:5000":{"auth":"dTpw"}}}`)
			undo := func(ctx context.Context) error { return (&steps.PullSecret{Site: cfg}).Undo(ctx, node(m, c), report) }
			first, cut := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- undo(first) }()
			wait.Until(t, "the factory's credentials in the cluster", func() bool { return api.Get(object, "data", ".dockerconfigjson") == data })
			cut()
			if <-ended == nil {
				t.Error("undone while the node still has the site's credentials")
			}
			cfg.Spec.PullSecret = edited
			took := func() {
				m.File(rhcos.PullSecret, factory)
				putPool(api, "rendered-0", "rendered-0")
			}
			if rolled {
				took()
			} else {
				soon(t, took)
			}
			if err := undo(wait.Within(t, time.Second)); err != nil {
				t.Error(err)
			}
			if has, _ := registry.OnDisk(m.Machine); slices.Contains(has, "registry.site.example:5000") {
				t.Errorf("rolled out %t, edited to %q: the node still has %v", rolled, edited, has)
			}
		}
	}
}

// The same after the batch was put back. Another step has ended its pause meanwhile.
func TestUndoOfABatchAfterACut(t *testing.T) {
	for _, newest := range []string{"rendered-1", "rendered-0"} {
		api, c := kubetest.New(t)
		m, report := hosttest.New(t), newReport()
		putPool(api, newest, "rendered-1")
		if err := report.Save("rendered-001", []byte("rendered-0")); err != nil {
			t.Fatal(err)
		}
		if err := report.Note("pause", []byte("paused")); err != nil {
			t.Fatal(err)
		}
		if err := report.Note("job-pause", []byte("ended")); err != nil {
			t.Fatal(err)
		}
		soon(t, func() { putPool(api, "rendered-0", "rendered-0") })
		limit := wait.Timeout(0)
		s := &steps.NodeConfig{Site: site.New(), Timeouts: nodeconfig.Timeouts{Render: limit, Rest: limit, Roll: limit}}
		begin := time.Now()
		err := s.PrepareUndo(t.Context(), node(m, c), report)
		if got := api.Get(undoPool, "status", "configuration", "name"); err != nil || got != `"rendered-0"` || time.Since(begin) >= limit {
			t.Errorf("from %s: the node has %s after %s (%v)", newest, got, time.Since(begin), err)
		}
		if half(t, s, report) || api.Get(undoPool, "spec", "paused") != "false" {
			t.Errorf("from %s: half %t, paused %s", newest, half(t, s, report), api.Get(undoPool, "spec", "paused"))
		}
	}
}

// A person, or the end of the program, stops the undo after all is put back: the next one waits for the rendering too.
func TestUndoOfABatchAfterAStop(t *testing.T) {
	api, c := kubetest.New(t)
	m, report := hosttest.New(t), newReport()
	putPool(api, "rendered-1", "rendered-1")
	if err := report.Save("rendered-001", []byte("rendered-0")); err != nil {
		t.Fatal(err)
	}
	_, err := c.Put(t.Context(), kube.MachineConfig("99-master-touchdown-ssh"), kube.New{Kind: "MachineConfig"}, func(spec map[string]any) error {
		spec["config"] = map[string]any{}
		return nil
	}, func(_ kube.Ref, original []byte) error { return report.Save("change-001", original) })
	if err != nil {
		t.Fatal(err)
	}
	limit := wait.Timeout(0)
	s := &steps.NodeConfig{Site: site.New(), Timeouts: nodeconfig.Timeouts{Render: limit, Rest: limit, Roll: limit}}
	ctx, stop := context.WithCancel(t.Context())
	api.After = func(method, _ string) {
		if method == http.MethodDelete {
			stop() // the object is gone, and the answer does not arrive
		}
	}
	if err := s.Undo(ctx, node(m, c), report); err == nil || !half(t, s, report) || api.Get(undoPool, "spec", "paused") != "false" {
		t.Errorf("err is %v, half %t, paused %s", err, half(t, s, report), api.Get(undoPool, "spec", "paused"))
	}
	soon(t, func() { putPool(api, "rendered-0", "rendered-0") })
	err = s.PrepareUndo(t.Context(), node(m, c), report)
	if err == nil {
		err = s.Undo(t.Context(), node(m, c), report)
	}
	if got := api.Get(undoPool, "status", "configuration", "name"); err != nil || got != `"rendered-0"` || half(t, s, report) {
		t.Errorf("the node has %s, half %t (%v)", got, half(t, s, report), err)
	}
}

// The MachineConfigs of the bake are gone, and the node still has what was made of them. One that someone else has made under the same
// name is no reason to wait.
func TestUndoOfTheBakeAfterACut(t *testing.T) {
	const mcs = "/apis/machineconfiguration.openshift.io/v1/machineconfigs/"
	const foreign = "50-master-dnsmasq-configuration"
	api, c := kubetest.New(t)
	api.Put(mcs+foreign, `{"metadata":{"labels":{}},"spec":{"config":{}}}`)
	putPool(api, "rendered-1", "rendered-1", "00-master", foreign, "99-master-touchdown-address")
	soon(t, func() { putPool(api, "rendered-0", "rendered-0", "00-master", foreign) })
	err := (&steps.BakeConfiguration{}).Undo(wait.Within(t, time.Second), node(hosttest.New(t), c), newReport())
	if got := api.Get(undoPool, "status", "configuration", "name"); err != nil || got != `"rendered-0"` {
		t.Errorf("the node has %s (%v)", got, err)
	}
}

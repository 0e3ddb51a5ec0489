package factory_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/factory"
	"touchdown/backend/host"
	"touchdown/backend/kube"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/problem"
)

const (
	machineConfigs = "/apis/machineconfiguration.openshift.io/v1/machineconfigs/"
	masterPool     = "/apis/machineconfiguration.openshift.io/v1/machineconfigpools/master"
	controller     = "/apis/apps/v1/namespaces/openshift-machine-config-operator/deployments/machine-config-controller"
)

// pooled is a cluster whose pool says what a test tells; the node has a configuration that was made of the given MachineConfigs.
func pooled(t *testing.T, paused bool, condition string, source ...string) (*kubetest.API, *kube.Cluster) {
	t.Helper()
	api, c := kubetest.New(t)
	made := []map[string]string{}
	for _, name := range source {
		made = append(made, map[string]string{"name": name})
	}
	list, err := json.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}
	conditions := ""
	if condition != "" {
		conditions = fmt.Sprintf(`{"type":%q,"status":"True","reason":"Failed","message":"99-owner: bad"}`, condition)
	}
	api.Put(masterPool, fmt.Sprintf(`{"spec":{"paused":%t},"status":{"configuration":{"name":"rendered-1","source":%s},"conditions":[%s]}}`, paused, list, conditions))
	return api, c
}

func refused(err error) string {
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		return p.Code
	}
	return fmt.Sprint(err)
}

// putBaked lays our MachineConfigs as an earlier bake did.
func putBaked(api *kubetest.API, all []factory.Manifest) (names []string) {
	for _, m := range all {
		api.Put(machineConfigs+m.Name, `{"metadata":{"labels":{"app.kubernetes.io/managed-by":"touchdown"}},"spec":{"config":{"ignition":{"version":"3.2.0"}}}}`)
		names = append(names, m.Name)
	}
	api.Changes()
	return names
}

func manifests(t *testing.T) []factory.Manifest {
	t.Helper()
	all, err := factory.Manifests(host.DefaultOwn)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestABakeLooksBeforeItWrites: what the node's pool would not take is refused before a MachineConfig is written, with the operator's
// reason. Where something of ours is in the cluster, that may be the cause, and a corrected bake gets through.
func TestABakeLooksBeforeItWrites(t *testing.T) {
	wanted := manifests(t)
	for _, test := range []struct {
		name, condition, want, baked string
		paused, idle                 bool
	}{
		{name: "not rendered", condition: "RenderDegraded", want: "NCF-PAST", baked: "<nil>"},
		{name: "not taken by the node", condition: "NodeDegraded", want: "<nil>", baked: "<nil>"},
		{name: "paused", paused: true, want: "NCF-HELD", baked: "NCF-HELD"},
		{name: "nobody renders", idle: true, want: "NCF-REST", baked: "NCF-REST"},
	} {
		for _, baked := range []bool{false, true} {
			api, c := pooled(t, test.paused, test.condition)
			if test.idle {
				api.Put(controller, `{"spec":{"replicas":0}}`)
			}
			want := test.want
			if baked {
				want = test.baked
				putBaked(api, wanted[:1])
				api.Put(machineConfigs+wanted[0].Name, `{"metadata":{"labels":{"app.kubernetes.io/managed-by":"touchdown"}},"spec":{"config":{"ignition":{"version":"3.1.0"}}}}`)
			}
			api.Changes()
			_, err := factory.Configure(t.Context(), c, pausing(), wanted, noSave)
			if refused(err) != want || (want != "<nil>") != (len(api.Changes()) == 0) {
				t.Errorf("%s, baked before %t: %v, want %s, and nothing written with a refusal", test.name, baked, err, want)
			}
			if p, ok := errors.AsType[*problem.Problem](err); ok && test.condition != "" && !strings.Contains(fmt.Sprint(p.Err), "99-owner") {
				t.Errorf("%s: the reason is %v", test.name, p.Err)
			}
		}
	}
}

// TestWhatABakeBrokeCanBeUnbaked: taking our MachineConfigs away is the repair where they are what cannot be rendered or taken, whether or
// not an earlier content of them was.
func TestWhatABakeBrokeCanBeUnbaked(t *testing.T) {
	for _, condition := range []string{"RenderDegraded", "NodeDegraded"} {
		for _, rendered := range []bool{false, true} {
			wanted, source := manifests(t), []string{"00-master"}
			if rendered {
				for _, m := range wanted {
					source = append(source, m.Name)
				}
			}
			api, c := pooled(t, false, condition, source...)
			names := putBaked(api, wanted)
			changed, err := factory.Remove(t.Context(), c, pausing(), noSave)
			if err != nil || !changed || slices.ContainsFunc(names, func(n string) bool { return api.Get(machineConfigs+n) != "" }) {
				t.Errorf("%s: changed is %t, %v", condition, changed, err)
			}
		}
	}
}

// TestARefusalEndsOurPause: a batch that was cut off in its pause and cannot continue leaves no paused pool behind.
func TestARefusalEndsOurPause(t *testing.T) {
	api, c := pooled(t, true, "")
	api.Put(controller, `{"spec":{"replicas":0}}`)
	pause := pausing()
	pause.Ours, pause.Made = true, true
	_, err := factory.Configure(t.Context(), c, pause, manifests(t), noSave)
	if refused(err) != "NCF-REST" || api.Get(masterPool, "spec", "paused") != "false" {
		t.Errorf("%v, paused %s", err, api.Get(masterPool, "spec", "paused"))
	}
}

// TestTheBakeCheckTellsWhatIsStuck: a pool that nothing but its owner gets going is not told as one that the bake waits for.
func TestTheBakeCheckTellsWhatIsStuck(t *testing.T) {
	for _, test := range []struct {
		condition, observed, fix string
		paused                   bool
	}{
		{condition: "RenderDegraded", observed: "99-owner", fix: "Correct the MachineConfig"},
		{observed: "paused", fix: "why it is paused", paused: true},
		{observed: "still has its old configuration", fix: "the bake waits for it"},
	} {
		api, c := pooled(t, test.paused, test.condition)
		api.Put("/api/v1/nodes/n", `{"status":{"addresses":[{"type":"InternalIP","address":"192.168.127.10"}]}}`)
		api.Put("/apis/config.openshift.io/v1/dnses/cluster", `{"spec":{"baseDomain":"sno.factory.example"}}`)
		api.Put("/apis/config.openshift.io/v1/infrastructures/cluster", `{"status":{"platformStatus":{"type":"None"}}}`)
		checks, err := factory.Precheck(t.Context(), host.Open(host.Options{Root: t.TempDir()}), c, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(checks, func(c check.Check) bool { return c.ID == "bake-pool" })
		if pool := checks[at]; pool.Status != check.Warn || !strings.Contains(pool.Observed.String(), test.observed) || !strings.Contains(pool.Fix.String(), test.fix) {
			t.Errorf("%s: %s, %s", pool.Status, pool.Observed, pool.Fix)
		}
	}
}

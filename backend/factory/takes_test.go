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

// TestABakeLooksBeforeItWrites: what the node's pool would not take is refused before a MachineConfig is written, or removed, with the
// operator's reason. Once a configuration has all of ours, what fails is not ours, so that a pause of ours before excuses nothing.
func TestABakeLooksBeforeItWrites(t *testing.T) {
	wanted := manifests(t)
	var source []string
	for _, m := range wanted {
		source = append(source, m.Name)
	}
	for _, test := range []struct {
		name, condition, want string
		paused, idle          bool
	}{
		{name: "not rendered", condition: "RenderDegraded", want: "NCF-OLD"},
		{name: "not taken", condition: "NodeDegraded", want: "NCF-NODE"},
		{name: "paused", paused: true, want: "NCF-HELD"},
		{name: "nobody renders", idle: true, want: "NCF-IDLE"},
	} {
		for _, made := range []bool{false, true} {
			api, c := pooled(t, test.paused, test.condition, source...)
			if test.idle {
				api.Put(controller, `{"spec":{"replicas":0}}`)
			}
			api.Changes()
			pause := pausing()
			pause.Made = made
			look := func(what string, err error) {
				t.Helper()
				if refused(err) != test.want || len(api.Changes()) > 0 {
					t.Errorf("%s, %s, paused before %t: %v, want %s and nothing written", test.name, what, made, err, test.want)
				}
				if p, ok := errors.AsType[*problem.Problem](err); ok && test.condition != "" && !strings.Contains(fmt.Sprint(p.Err), "99-owner") {
					t.Errorf("%s, %s: the reason is %v", test.name, what, p.Err)
				}
			}
			_, err := factory.Configure(t.Context(), c, pause, wanted, noSave)
			look("bake", err)
			putBaked(api, wanted)
			_, err = factory.Remove(t.Context(), c, pause, noSave)
			look("unbake", err)
		}
	}
}

// TestWhatABakeBrokeCanBeUnbaked: where no configuration has our MachineConfigs yet, they may be what cannot be rendered or taken, and taking
// them away is the repair.
func TestWhatABakeBrokeCanBeUnbaked(t *testing.T) {
	for _, condition := range []string{"RenderDegraded", "NodeDegraded"} {
		api, c := pooled(t, false, condition, "00-master")
		names := putBaked(api, manifests(t))
		pause := pausing()
		pause.Made = true
		changed, err := factory.Remove(t.Context(), c, pause, noSave)
		if err != nil || !changed || slices.ContainsFunc(names, func(n string) bool { return api.Get(machineConfigs+n) != "" }) {
			t.Errorf("%s: changed is %t, %v", condition, changed, err)
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
	if refused(err) != "NCF-IDLE" || api.Get(masterPool, "spec", "paused") != "false" {
		t.Errorf("%v, paused %s", err, api.Get(masterPool, "spec", "paused"))
	}
}

// TestTheBakeCheckTellsWhatIsStuck: a pool that nothing but its owner gets going is not told as one that the bake waits for.
func TestTheBakeCheckTellsWhatIsStuck(t *testing.T) {
	for _, test := range []struct {
		condition, observed, fix string
		paused                   bool
	}{
		{condition: "RenderDegraded", observed: "99-owner", fix: "has to correct"},
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

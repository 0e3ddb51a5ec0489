package nodeconfig_test

import (
	"strings"
	"testing"

	"touchdown/backend/kube"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/nodeconfig"
)

const (
	mcAPI          = "/apis/machineconfiguration.openshift.io/v1/"
	runtimeConfigs = mcAPI + "containerruntimeconfigs/"
	runtimeCRD     = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/containerruntimeconfigs.machineconfiguration.openshift.io"
	gates          = "/apis/config.openshift.io/v1/featuregates/cluster"
	storage        = `{"metadata":{"labels":{"machineconfiguration.openshift.io/role":"master"}},"spec":{"config":{"storage":{"files":[
		{"path":"/etc/containers/storage.conf","contents":{"source":"data:,%5Bstorage%5D%0A"}}]}}}}`
	ofMaster = `{"matchLabels":{"pools.operator.machineconfiguration.openshift.io/master":""}}`
)

// knowing is a cluster whose release has the field of the API, and the operator's pool.
func knowing(t *testing.T) (*kubetest.API, *kube.Cluster) {
	api, c := kubetest.New(t)
	api.Put(runtimeCRD, `{"spec":{"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"properties":{"spec":{"properties":
		{"containerRuntimeConfig":{"properties":{"additionalImageStores":{"type":"array"},"pidsLimit":{"type":"integer"}}}}}}}}}]}}`)
	api.Put(pool, `{"metadata":{"labels":{"pools.operator.machineconfiguration.openshift.io/master":""}},"spec":{}}`)
	return api, c
}

// wayOfStore is the object to which the store would be written, and the writing of it.
func wayOfStore(t *testing.T, c *kube.Cluster) nodeconfig.Change {
	t.Helper()
	changes, err := nodeconfig.Changes(t.Context(), c, nodeconfig.Want{ImageStore: ourStore, Storage: "[storage]\n"})
	if err != nil || len(changes) != 1 {
		t.Fatalf("%+v, %v", changes, err)
	}
	return changes[0]
}

func TestImageStoreGoesIntoTheFieldWhereThereIsOne(t *testing.T) {
	for name, c := range map[string]struct {
		put    map[string]string // more of the cluster
		object string            // written; "": the MachineConfig
		want   string            // in its spec
	}{
		"no such object yet": {nil, "touchdown-imagestore", `"machineConfigPoolSelector":` + ofMaster},
		"one of the pool's own": {
			map[string]string{runtimeConfigs + "mine": `{"spec":{"machineConfigPoolSelector":` + ofMaster + `,"containerRuntimeConfig":{"pidsLimit":4096,"additionalImageStores":[{"path":"/srv/a"}]}}}`},
			"mine", `[{"path":"/srv/a"},{"path":"` + ourStore + `"}],"pidsLimit":4096`,
		},
		"one of another pool": {
			map[string]string{runtimeConfigs + "theirs": `{"spec":{"machineConfigPoolSelector":{"matchLabels":{"pools.operator.machineconfiguration.openshift.io/worker":""}}}}`},
			"touchdown-imagestore", ourStore,
		},
		"two of the pool": {
			map[string]string{
				runtimeConfigs + "a": `{"spec":{"machineConfigPoolSelector":` + ofMaster + `}}`,
				runtimeConfigs + "b": `{"spec":{"machineConfigPoolSelector":` + ofMaster + `}}`,
			}, "", "",
		},
		"a pool made by hand": {map[string]string{pool: `{"metadata":{"labels":{"mine":""}},"spec":{}}`}, "", ""},
		"an older release": {map[string]string{runtimeCRD: `{"spec":{"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"properties":{"spec":{"properties":
			{"containerRuntimeConfig":{"properties":{"pidsLimit":{}}}}}}}}}]}}`}, "", ""},
		"a file of someone": {map[string]string{mcs + "50-storage": `{"metadata":{"labels":{"machineconfiguration.openshift.io/role":"master"}},"spec":{"config":{"storage":{"files":[
			{"path":"/etc/containers/storage.conf","contents":{"source":"data:,"}}]}}}}`}, "", ""},
		"the file of the operator's template": {map[string]string{mcs + "00-master": storage}, "touchdown-imagestore", ourStore},
		"the file that the operator made of such an object": {map[string]string{
			mcs + "00-master": storage, mcs + "99-master-generated-containerruntime": storage,
			runtimeConfigs + "mine": `{"spec":{"machineConfigPoolSelector":` + ofMaster + `,"containerRuntimeConfig":{}}}`,
		}, "mine", ourStore},
		"a gate that is off":              {map[string]string{gates: `{"status":{"featureGates":[{"version":"4.22.1","enabled":[],"disabled":[{"name":"AdditionalStorageConfig"}]}]}}`}, "", ""},
		"a gate that is on":               {map[string]string{gates: `{"status":{"featureGates":[{"version":"4.22.1","enabled":[{"name":"AdditionalStorageConfig"}]}]}}`}, "touchdown-imagestore", ourStore},
		"our file from before an upgrade": {map[string]string{mcs + "99-master-touchdown-imagestore": `{"metadata":{"labels":{"machineconfiguration.openshift.io/role":"master"}},"spec":{}}`}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			api, cluster := knowing(t)
			for path, object := range c.put {
				api.Put(path, object)
			}
			ch := wayOfStore(t, cluster)
			if !ch.Pending || !ch.Renders || !ch.Ours || ch.File != "/etc/containers/storage.conf" {
				t.Errorf("the change is %+v", ch)
			}
			path := mcs + "99-master-touchdown-imagestore"
			if c.object != "" {
				path = runtimeConfigs + c.object
			}
			before := api.Get(path, "spec")
			var saved []byte
			if _, err := ch.Write(t.Context(), cluster, func(_ kube.Ref, original []byte) error { saved = original; return nil }); err != nil {
				t.Fatal(err)
			}
			if got := api.Get(path, "spec"); got == "" || !strings.Contains(got, c.want) {
				t.Errorf("%s: %s, want %s", path, got, c.want)
			}
			if wayOfStore(t, cluster).Pending {
				t.Error("written, and still pending")
			}
			if _, err := cluster.Restore(t.Context(), saved); err != nil || api.Get(path, "spec") != before {
				t.Errorf("after undo: %s, before %s (%v)", api.Get(path, "spec"), before, err)
			}
		})
	}
}

// TestImageStoreInTheFieldIsWaitedFor: it is there when the operator's storage.conf names the store, whatever else is in it.
func TestImageStoreInTheFieldIsWaitedFor(t *testing.T) {
	_, c := knowing(t)
	in := wayOfStore(t, c).In
	for conf, want := range map[string]bool{
		"": false, "[storage.options]\nadditionalimagestores = []\n": false, "not = = toml": false,
		"[storage]\nnew = true\n[storage.options]\nadditionalimagestores = [\"/srv/a\", \"" + ourStore + "\"]\n": true,
	} {
		if got := in(nodeconfig.Config{Files: map[string]string{"/etc/containers/storage.conf": conf}}); got != want {
			t.Errorf("%q: %v, want %v", conf, got, want)
		}
	}
}

package steps_test

import (
	"strings"
	"testing"

	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube/kubetest"
	"touchdown/steps"
)

// TestARefusedBakeWritesNothing: where the operator cannot render what the cluster has already, a bake changes nothing of the cluster, not
// even its node disruption policies.
func TestARefusedBakeWritesNothing(t *testing.T) {
	api, c := kubetest.New(t)
	api.Put("/api/v1/nodes/n", `{"status":{"addresses":[{"type":"InternalIP","address":"192.168.127.10"}]}}`)
	api.Put("/apis/config.openshift.io/v1/dnses/cluster", `{"spec":{"baseDomain":"sno.factory.example"}}`)
	api.Put("/apis/config.openshift.io/v1/infrastructures/cluster", `{"status":{"platformStatus":{"type":"None"}}}`)
	api.Put("/apis/operator.openshift.io/v1/machineconfigurations/cluster", `{"spec":{"managementState":"Managed"}}`)
	api.Put("/apis/machineconfiguration.openshift.io/v1/machineconfigpools/master", `{"spec":{"paused":false},"status":{"conditions":[
		{"type":"RenderDegraded","status":"True","reason":"Failed","message":"99-owner: bad ignition"}]}}`)
	api.Changes()
	err := (&steps.BakeConfiguration{}).Run(t.Context(), node(hosttest.New(t), c), newReport())
	if changes := api.Changes(); err == nil || !strings.Contains(err.Error(), "NCF-PAST") || len(changes) > 0 {
		t.Errorf("%v, and it wrote %v", err, changes)
	}
}

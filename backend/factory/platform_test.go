package factory_test

import (
	"strings"
	"testing"

	"touchdown/backend/factory"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/problem"
)

// TestPlatformsThatChooseTheAddress: the bake would fight with OpenShift over address and name server.
func TestPlatformsThatChooseTheAddress(t *testing.T) {
	for platform, code := range map[string]string{
		`,"platformStatus":{"type":"None"}`: "", `,"platformStatus":{"type":"External"}`: "", "": "",
		`,"platformStatus":{"type":"BareMetal"}`: "FAC-PLAT", `,"platformStatus":{"type":"VSphere"}`: "FAC-PLAT",
	} {
		api, c := kubetest.New(t)
		api.Put("/api/v1/nodes/n", `{"status":{"addresses":[{"type":"InternalIP","address":"192.0.2.10"}]}}`)
		api.Put("/apis/config.openshift.io/v1/dnses/cluster", `{"kind":"DNS","apiVersion":"config.openshift.io/v1","spec":{"baseDomain":"sno.factory.example"}}`)
		api.Put("/apis/config.openshift.io/v1/infrastructures/cluster", `{"kind":"Infrastructure","apiVersion":"config.openshift.io/v1","status":{"controlPlaneTopology":"SingleReplica"`+platform+`}}`)
		_, err := factory.Look(t.Context(), c)
		if err == nil && code == "" {
			continue
		}
		if p := problem.From(err); p.Code != code || !strings.Contains(p.Fix.String(), "none") {
			t.Errorf("%s: %v", platform, err)
		}
	}
}

package factory_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"touchdown/backend/factory"
	"touchdown/backend/host"
	"touchdown/backend/kube/kubetest"
)

// TestTheNodeKnowsTheClustersNetworks: the MachineConfig of a cluster that names masquerade networks has them.
func TestTheNodeKnowsTheClustersNetworks(t *testing.T) {
	api, c := kubetest.New(t)
	api.Put("/api/v1/nodes/n", `{"status":{"addresses":[{"type":"InternalIP","address":"192.168.127.10"}]}}`)
	api.Put("/apis/config.openshift.io/v1/dnses/cluster", `{"spec":{"baseDomain":"sno.factory.example"}}`)
	api.Put("/apis/config.openshift.io/v1/infrastructures/cluster", `{"status":{"controlPlaneTopology":"SingleReplica","platformStatus":{"type":"None"}}}`)
	api.Put("/apis/operator.openshift.io/v1/networks/cluster", `{"spec":{"defaultNetwork":{"ovnKubernetesConfig":{"ipv4":{"internalJoinSubnet":"10.99.0.0/16"},"gatewayConfig":{
		"ipv4":{"internalMasqueradeSubnet":"198.18.0.0/24"},"ipv6":{"internalMasqueradeSubnet":"fd55::/112"}}}}}}`)
	all, err := factory.Wanted(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	named := false
	for _, m := range all {
		for _, f := range m.Files {
			named = named || f.Path == host.OwnFile && strings.HasSuffix(string(f.Data), "TOUCHDOWN_INSIDE=\"198.18.0.0/24 fd55::/112\"\n")
		}
	}
	if !named {
		t.Errorf("%s does not name them", host.OwnFile)
	}
}

// The objects are the network operator's, of 4.14 with the older field and of 4.18 with the newer ones.
func TestNetworksThatTheClusterNames(t *testing.T) {
	const ovn = `{"spec":{"defaultNetwork":{"type":"OVNKubernetes","ovnKubernetesConfig":`
	for name, test := range map[string]struct {
		object string
		want   map[string]string
	}{
		"as installed":   {ovn + `{"mtu":1400,"genevePort":6081,"gatewayConfig":{"ipv4":{},"ipv6":{},"routingViaHost":false}}}}}`, nil},
		"no such object": {`null`, nil},
		"OpenShiftSDN":   {`{"spec":{"defaultNetwork":{"type":"OpenShiftSDN","openshiftSDNConfig":{"mtu":1450}}}}`, nil},
		"older field":    {ovn + `{"v4InternalSubnet":"100.68.0.0/16"}}}}`, map[string]string{"OVN join IPv4": "100.68.0.0/16"}},
		"newer fields": {ovn + `{"ipv4":{"internalJoinSubnet":"10.99.0.0/16","internalTransitSwitchSubnet":"10.98.0.0/16"},"ipv6":{"internalJoinSubnet":"fd96::/64"},
			"gatewayConfig":{"ipv4":{"internalMasqueradeSubnet":"198.18.0.0/24"}}}}}}`, map[string]string{
			"OVN join IPv4": "10.99.0.0/16", "OVN transit IPv4": "10.98.0.0/16", "OVN join IPv6": "fd96::/64", "OVN masquerade IPv4": "198.18.0.0/24",
		}},
		"both":                 {ovn + `{"v4InternalSubnet":"100.68.0.0/16","ipv4":{"internalJoinSubnet":"100.69.0.0/16"}}}}}`, map[string]string{"OVN join IPv4": "100.69.0.0/16"}},
		"what nobody can read": {ovn + `{"v4InternalSubnet":"fd00::/64","ipv4":{"internalJoinSubnet":7},"gatewayConfig":[]}}}}`, nil},
	} {
		var operator map[string]any
		if err := json.Unmarshal([]byte(test.object), &operator); err != nil {
			t.Fatal(name, err)
		}
		if got := factory.InsideNetworks(operator); !maps.Equal(got, test.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

package factory

import (
	"net/netip"
	"slices"

	"touchdown/backend/kube"
)

// ovnNetworks are the fields of spec.defaultNetwork.ovnKubernetesConfig by which a cluster names the networks that OVN-Kubernetes uses inside the node; of
// several for one network the last wins (openshift/cluster-network-operator pkg/network/ovn_kubernetes.go, renderOVNKubernetes;
// openshift/api operator/v1/types_network.go, 4.14 to 4.21).
var ovnNetworks = []struct {
	name string
	ipv6 bool
	path []string
}{
	{"OVN join", false, []string{"v4InternalSubnet"}},
	{"OVN join", true, []string{"v6InternalSubnet"}},
	{"OVN join", false, []string{"ipv4", "internalJoinSubnet"}},
	{"OVN join", true, []string{"ipv6", "internalJoinSubnet"}},
	{"OVN transit", false, []string{"ipv4", "internalTransitSwitchSubnet"}},
	{"OVN transit", true, []string{"ipv6", "internalTransitSwitchSubnet"}},
	{"OVN masquerade", false, []string{"gatewayConfig", "ipv4", "internalMasqueradeSubnet"}},
	{"OVN masquerade", true, []string{"gatewayConfig", "ipv6", "internalMasqueradeSubnet"}},
}

// networkOperator names the configuration of the network operator.
func networkOperator() kube.Ref {
	return kube.Ref{Group: "operator.openshift.io", Version: "v1", Resource: "networks", Name: "cluster"}
}

// onBridge are those of InsideNetworks whose addresses OVN-Kubernetes puts on br-ex.
func onBridge(named map[string]string) (all []netip.Prefix) {
	for _, name := range []string{"OVN masquerade IPv4", "OVN masquerade IPv6"} {
		if p, err := netip.ParsePrefix(named[name]); err == nil {
			all = append(all, p)
		}
	}
	return all
}

// InsideNetworks reads which networks inside the node the network operator's configuration names: prefixes by "OVN join IPv4" and the
// like. nil where it names none, or where there is no such object.
func InsideNetworks(operator map[string]any) map[string]string {
	var named map[string]string
	for _, n := range ovnNetworks {
		var value any = operator
		for _, key := range slices.Concat([]string{"spec", "defaultNetwork", "ovnKubernetesConfig"}, n.path) {
			tree, _ := value.(map[string]any)
			value = tree[key]
		}
		text, _ := value.(string)
		if p, err := netip.ParsePrefix(text); err != nil || p.Addr().Is4() == n.ipv6 {
			continue
		}
		if named == nil {
			named = map[string]string{}
		}
		key := n.name + " IPv4"
		if n.ipv6 {
			key = n.name + " IPv6"
		}
		named[key] = text
	}
	return named
}

package site

import (
	"strings"
	"testing"
)

// TestNetworkConfigIsJudgedAsOnTheNode: what the node refuses of a desired state is refused in the office, with its line and what to do; what
// depends on the node's cluster is a warning there. backend/netconfig has the cases.
func TestNetworkConfigIsJudgedAsOnTheNode(t *testing.T) {
	const port = "interfaces:\n- name: eno1\n  type: ethernet\n  state: up\n  ipv4: {enabled: true, dhcp: false, address: [{ip: 198.51.100.10, prefix-length: 24}]}\n" +
		"routes:\n  config:\n  - {destination: 0.0.0.0/0, next-hop-address: 198.51.100.1, next-hop-interface: eno1}\n"
	for name, c := range map[string]struct {
		values         map[string]string
		errs, warnings string
	}{
		"a port": {map[string]string{networkConfig: port}, "", ""},
		"a script as root": {
			map[string]string{networkConfig: strings.Replace(port, "  state: up\n", "  state: up\n  dispatch: {post-activation: touch /owned}\n", 1)},
			"spec.networkConfig: interfaces[0].dispatch cannot be set by a site's document, in its line 5; " +
				"leave it out; a site describes its ports, bonds and VLANs, their addresses, routes and rules, and its name servers", "",
		},
		"the pods' network": {
			map[string]string{networkConfig: strings.ReplaceAll(port, "198.51.100.", "10.128.0.")},
			"",
			"spec.networkConfig: the subnet 10.128.0.0/24 overlaps the cluster's network 10.128.0.0/14, unless this cluster has another, in its line 5; " +
				"ask who installed the cluster: the node refuses a network of its own cluster",
		},
		"the services' network, in spec.network": {
			map[string]string{"spec.network.ipv4.method": Static, "spec.network.ipv4.address": "172.30.0.10", "spec.network.ipv4.prefixLength": "24"},
			"",
			"spec.network.ipv4.address: the subnet 172.30.0.0/24 overlaps the services' network 172.30.0.0/16, unless this cluster has another; " +
				"ask who installed the cluster: the node refuses a network of its own cluster",
		},
		"the first of two addresses": {
			network("ipv4.prefixLength", "31", "ipv4.gateway", "198.51.100.11"),
			"",
			"spec.network.ipv4.address: pods get no answers from 198.51.100.11, the other address of 198.51.100.10/31, which their network takes for the broadcast address; " +
				"swap the addresses of node and router, or use a larger subnet",
		},
		"the last of two addresses": {network("ipv4.prefixLength", "31", "ipv4.address", "198.51.100.11", "ipv4.gateway", "198.51.100.10"), "", ""},
		"a small MTU": {
			map[string]string{"spec.network.mtu": "1400"},
			"",
			"spec.network.mtu: the MTU is less than the 1458 bytes that the network of the pods needs, unless this cluster was installed with a smaller one; " +
				"ask who installed the cluster: the node refuses an MTU that is too small for it",
		},
		"the cluster's name server": {
			map[string]string{"spec.network.ipv4.method": DHCP, "spec.network.dnsServers": "172.30.0.10"},
			"",
			"spec.network.dnsServers: the subnet 172.30.0.10/32 overlaps the services' network 172.30.0.0/16, unless this cluster has another; " +
				"ask who installed the cluster: the node refuses a network of its own cluster",
		},
		"the cluster's time server": {
			map[string]string{"spec.additionalNTPSources": "ntp.example.com,198.51.100.123,10.128.0.7"},
			"",
			"spec.additionalNTPSources: the subnet 10.128.0.7/32 overlaps the cluster's network 10.128.0.0/14, unless this cluster has another; " +
				"give the site's server, or ask who installed the cluster which networks it has",
		},
		"the cluster's proxy": {
			map[string]string{"spec.proxy.httpProxy": "http://[fd98::7]:3128"},
			"",
			"spec.proxy.httpProxy: the subnet fd98::7/128 overlaps the OVN join network fd98::/64, unless this cluster has another; " +
				"give the site's server, or ask who installed the cluster which networks it has",
		},
	} {
		t.Run(name, func(t *testing.T) {
			errs, warnings := verdicts(t, c.values)
			if errs != c.errs || warnings != c.warnings {
				t.Errorf("errors\n got %s\nwant %s\nwarnings\n got %s\nwant %s", errs, c.errs, warnings, c.warnings)
			}
		})
	}
}

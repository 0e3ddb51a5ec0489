package site

import (
	"fmt"
	"strings"
	"testing"

	"touchdown/backend/netconfig"
)

// TestImportOfPortsByMAC: port names in documents for the installer need not be the node's. The MAC addresses in them identify the ports.
func TestImportOfPortsByMAC(t *testing.T) {
	const (
		macs = "[{name: eno1, macAddress: 'AA:00:00:00:00:02'}, {name: eno2, macAddress: 'aa-00-00-00-00-01'}, {name: eno9, macAddress: 'aa:00:00:00:00:09'}]"
		two  = "{interfaces: [{name: eno1, type: ethernet, state: up, ipv4: {enabled: true, dhcp: true}}, {name: eno2, type: ethernet, state: up}]}"
		bond = "{interfaces: [{name: bond0, type: bond, state: up, link-aggregation: {mode: active-backup, port: [eno1, eno2]}, ipv4: {enabled: true, dhcp: true}}]}"
		vlan = "{interfaces: [{name: out, type: vlan, state: up, vlan: {base-iface: eno2, id: 7}, ipv4: {enabled: true, dhcp: true}}, {name: eno3, type: ethernet, state: up}]}"
	)
	kinds := map[string]string{
		"agent config":    "kind: AgentConfig\nhosts: [{hostname: a, interfaces: %s, networkConfig: %s}]\n",
		"ClusterInstance": "apiVersion: siteconfig.open-cluster-management.io/v1alpha1\nkind: ClusterInstance\nspec: {clusterName: c, baseDomain: example.com, nodes: [{hostName: a, nodeNetwork: {interfaces: %s, config: %s}}]}\n",
		"SiteConfig":      "apiVersion: ran.openshift.io/v1\nkind: SiteConfig\nspec: {baseDomain: example.com, clusters: [{clusterName: c, nodes: [{hostName: a, nodeNetwork: {interfaces: %s, config: %s}}]}]}\n",
		"NMStateConfig":   "apiVersion: agent-install.openshift.io/v1beta1\nkind: NMStateConfig\nspec: {interfaces: %s, config: %s}\n",
	}
	for kind, doc := range kinds {
		for name, c := range map[string]struct {
			config string
			ports  string // name=MAC address of each port that is described
			note   string
		}{
			"swapped names":   {two, "eno1=aa:00:00:00:00:02 eno2=aa:00:00:00:00:01", `interfaces[0] is now in spec.networkConfig: "eno1" is found by this MAC address`},
			"ports of a bond": {bond, "bond0= eno1=aa:00:00:00:00:02 eno2=aa:00:00:00:00:01", "interfaces[2] is left out: no network settings name that port"},
			"a VLAN's port":   {vlan, "out= eno3= eno2=aa:00:00:00:00:01", `"eno3" has no MAC address in`},
			"its own word": {
				strings.Replace(two, "{name: eno1,", "{name: eno1, identifier: mac-address, mac-address: 'aa:00:00:00:00:05',", 1),
				"eno1=aa:00:00:00:00:05 eno2=aa:00:00:00:00:01", "",
			},
			"a MAC address to set": {
				strings.Replace(two, "{name: eno1,", "{name: eno1, mac-address: 'aa:00:00:00:00:05',", 1),
				"eno1=aa:00:00:00:00:02 eno2=aa:00:00:00:00:01", `the mac-address of "eno1" is left out`,
			},
		} {
			text := fmt.Sprintf(doc, macs, c.config)
			config, notes, err := Import([]byte(text), "doc", ImportChoice{})
			if err != nil {
				t.Errorf("%s, %s: %v", kind, name, err)
				continue
			}
			d, err := netconfig.Parse([]byte(config.Spec.NetworkConfig))
			if err != nil {
				t.Fatal(err)
			}
			var ports []string
			for _, i := range d.List("interfaces") {
				mac := ""
				if i["identifier"] == "mac-address" {
					mac = fmt.Sprint(i["mac-address"])
				}
				ports = append(ports, fmt.Sprint(i["name"])+"="+mac)
			}
			if got := strings.Join(ports, " "); got != c.ports {
				t.Errorf("%s, %s: ports are %s, want %s", kind, name, got, c.ports)
			}
			if all := strings.Join(notes, "\n"); !strings.Contains(all, c.note) {
				t.Errorf("%s, %s: says\n%s\nwithout %q", kind, name, all, c.note)
			}
			if err := NetworkConfig(string(config.Spec.NetworkConfig)); err != nil {
				t.Errorf("%s, %s: %v", kind, name, err)
			}
			everyLeafIsTold(t, text, []byte(text), notes)
		}
	}
}

// TestImportOfPortsWithoutANetwork: MAC addresses of names that nothing uses are left out with the reason.
func TestImportOfPortsWithoutANetwork(t *testing.T) {
	_, notes, err := Import([]byte("kind: AgentConfig\nmetadata: {name: c}\nhosts: [{hostname: a, interfaces: [{name: eno1, macAddress: 'AA:00:00:00:00:02'}]}]\n"), "doc", ImportChoice{})
	if all := strings.Join(notes, "\n"); err != nil || !strings.Contains(all, "hosts[0].interfaces is left out: they are the MAC addresses of names") {
		t.Errorf("%v, says\n%s", err, all)
	}
}

package site

import (
	"fmt"
	"strings"
	"testing"
)

func TestImport(t *testing.T) {
	pull := `{\"auths\":{\"q.io\":{\"username\":\"u\",\"password\":\"` + planted + `\"}}}`
	cases := []struct {
		name string
		from string
		doc  string
	}{
		{"seed reconfiguration", seedReconfiguration, `{"api_version":1,"base_domain":"example.com","cluster_name":"store","pull_secret":"` + pull +
			`","hostname":"h","KubeconfigCryptoRetention":{"KubeAPICrypto":{}},"` + planted + `":1}`},
		{"seed reconfiguration of version 2", seedReconfiguration, `{"api_version":2}`},
		{"seed reconfiguration with a list", seedReconfiguration, `{"api_version":1,"base_domain":["` + planted + `"]}`},
		{"seed reconfiguration with a mark", seedReconfiguration, `{"api_version":1,"pull_secret":"<set>"}`},
		{"seed reconfiguration cut off", seedReconfiguration, `{"api_version":1,"pull_secret":"` + planted},
		{"cluster relocation", clusterRelocation, "apiVersion: rhsyseng.github.io/v1beta1\nkind: ClusterRelocation\nmetadata: {name: cluster}\n" +
			"spec:\n  domain: store.example.com\n  pullSecretRef: {name: ps}\n  apiCertRef: {name: api}\n  sshKeys: [a]\nstatus: {}\n"},
		{"cluster relocation without dot", clusterRelocation, "apiVersion: rhsyseng.github.io/v1beta1\nkind: ClusterRelocation\nspec: {domain: store}\n"},
		{"cluster relocation without spec", clusterRelocation, "apiVersion: rhsyseng.github.io/v1beta1\nkind: ClusterRelocation\n"},
		{"another kind", clusterRelocation, "apiVersion: rhsyseng.github.io/v1beta1\nkind: Other\n"},
		{"another version", clusterRelocation, "apiVersion: rhsyseng.github.io/v1\nkind: ClusterRelocation\n"},
		{"install config", installConfig, "apiVersion: v1\nmetadata:\n  name: store\nbaseDomain: example.com\ncontrolPlane: {replicas: 1}\npullSecret: \"" + pull + "\"\nsshKey: a\n"},
		{"seed reconfiguration with all", seedReconfiguration, `{"api_version":1,"base_domain":"example.com","cluster_name":"store","hostname":"node","ssh_key":"` + publicKey +
			`","raw_nm_state_config":"interfaces:\n- name: enp1s0\n  802.1x: {password: ` + planted + `}\n","chrony_config":"# time\nserver ntp.example.com iburst\npool 198.51.100.123\ndriftfile /x\n",` +
			`"proxy":{"httpProxy":"http://u:` + planted + `@proxy.example.com:3128","noProxy":".example.com","other":1},"status_proxy":{"httpProxy":"x"},` +
			`"additionalTrustBundle":{"userCaBundle":"x","proxyConfigmapName":"user-ca-bundle"},"node_ip":"198.51.100.10"}`},
		{"seed reconfiguration with texts that are documents", seedReconfiguration, `{"api_version":1,"base_domain":"example.com","cluster_name":"store",` +
			`"raw_nm_state_config":"hostname: {config: node, running: old}\ninterfaces: [{name: enp1s0}]\novs-db: {a: b}\n","chrony_config":"driftfile /x\n",` +
			`"additionalTrustBundle":{"userCaBundle":"x","proxyConfigmapName":"other","proxyConfigmapBundle":"y"}}`},
		{"seed reconfiguration with two names", seedReconfiguration, `{"api_version":1,"hostname":"one","raw_nm_state_config":"hostname: {config: two}"}`},
		{"image-based installation", imageBasedConfig, "apiVersion: v1beta1\nkind: ImageBasedInstallationConfig\nsshKey: a\n"},
		{"seed reconfiguration with a broken text", seedReconfiguration, `{"api_version":1,"raw_nm_state_config":"interfaces: [` + planted + `"}`},
		{"seed reconfiguration with a list in a text", seedReconfiguration, `{"api_version":1,"raw_nm_state_config":"- ` + planted + `"}`},
		{"seed reconfiguration with a private key", seedReconfiguration, `{"api_version":1,"ssh_key":"-----BEGIN OPENSSH PRIVATE KEY-----\n` + planted + `"}`},
		{"cluster relocation with all", clusterRelocation, "apiVersion: rhsyseng.github.io/v1beta1\nkind: ClusterRelocation\n" +
			"spec:\n  domain: store.example.com\n  sshKeys:\n  - " + publicKey + "\n  - " + otherKey + "\n" +
			"  imageDigestMirrors:\n  - source: a.b\n    mirrors: ['c.d:5000/x']\n    mirrorSourcePolicy: NeverContactSource\n    colour: red\n" +
			"  registryCert: {registryHostname: registry.example.com, registryPort: '5000', certificate: x, colour: red}\n  catalogSources: []\n"},
		{"cluster relocation of the first releases", clusterRelocation, "apiVersion: rhsyseng.github.io/v1beta1\nkind: ClusterRelocation\n" +
			"spec:\n  domain: store.example.com\n  imageDigestSources: [{source: a.b, mirrors: [c.d]}]\n  registryCert: {registryHostname: r.example.com, certificate: x}\n"},
		{"cluster relocation with a broken port", clusterRelocation, "apiVersion: rhsyseng.github.io/v1beta1\nkind: ClusterRelocation\n" +
			"spec:\n  domain: store.example.com\n  registryCert: {registryHostname: r.example.com, registryPort: five, certificate: x}\n"},
		{"install config with all", installConfig, "apiVersion: v1\nmetadata: {name: store}\nbaseDomain: example.com\nsshKey: |\n  " + publicKey + "\n  " + otherKey + "\n" +
			"proxy: {httpProxy: 'http://proxy.example.com:3128', httpsProxy: 'http://u:" + planted + "@proxy.example.com:3128', noProxy: .example.com}\n" +
			"additionalTrustBundle: |\n  x\n  y\nadditionalTrustBundlePolicy: Always\n" +
			"imageDigestSources:\n- source: a.b\n  mirrors: [c.d]\n  sourcePolicy: AllowContactingSource\n" +
			"networking: {machineNetwork: [{cidr: 198.51.100.0/24}]}\nplatform: {baremetal: {additionalNTPServers: [ntp.example.com], apiVIPs: [198.51.100.5]}}\n"},
		{"install config before 4.14", installConfig, "apiVersion: v1\nmetadata: {name: store}\nbaseDomain: example.com\nimageContentSources: [{source: a.b, mirrors: [c.d]}]\nplatform: {none: {}}\n"},
		{"install config with mirrors as text", installConfig, "apiVersion: v1\nimageDigestSources: a\n"},
		{"install config with mistyped mirrors", installConfig, "apiVersion: v1\nimageDigestSources: [{source: [a], mirrors: b}]\n"},
		{"agent config", agentConfig, "apiVersion: v1beta1\nkind: AgentConfig\nmetadata: {name: store}\nrendezvousIP: 198.51.100.10\nadditionalNTPSources: [ntp.example.com, 198.51.100.123]\n" +
			"hosts:\n- hostname: node\n  role: master\n  rootDeviceHints: {deviceName: /dev/sda}\n  interfaces: [{name: eth0, macAddress: '00:53:00:12:34:56'}]\n" +
			"  networkConfig:\n    interfaces: # the port\n    - name: eth0\n      type: ethernet\n      ipv4: {enabled: true, dhcp: true}\n"},
		{"agent config with options behind a time server", agentConfig, "kind: AgentConfig\nadditionalNTPSources: [ntp.example.com, 'server 198.51.100.123 iburst']\n"},
		{"agent config of two hosts", agentConfig, "kind: AgentConfig\nhosts: [{hostname: a}, {hostname: b}]\n"},
		{"agent config with alias", agentConfig, "kind: AgentConfig\nhosts: [{networkConfig: {interfaces: &a [], routes: *a}}]\n"},
		{"no agent config", agentConfig, "kind: Other\n"},
		{"empty install config", installConfig, ""},
		{"list", installConfig, "- a\n"},
		{"anchors", installConfig, "apiVersion: v1\nbaseDomain: &a b\npullSecret: *a\n"},
	}
	var b strings.Builder
	for _, c := range cases {
		fmt.Fprintf(&b, "== %s\n", c.name)
		config, notes, err := Import([]byte(c.doc), "old", ImportChoice{From: c.from})
		if err != nil {
			b.WriteString(err.Error() + "\n")
			continue
		}
		data, err := config.Marshal(true)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range config.Paths() {
			if source := config.Sources[path]; source != "" && source != Default {
				fmt.Fprintf(&b, "%s: %s\n", path, source)
			}
		}
		fmt.Fprintf(&b, "%s\n%s", strings.Join(notes, "\n"), data)
	}
	golden(t, "testdata/import.golden", b.String())
}

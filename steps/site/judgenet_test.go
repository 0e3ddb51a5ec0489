package site

import (
	"reflect"
	"strings"
	"testing"
)

// verdicts sets values on a Config that is valid otherwise and returns what Validate says.
func verdicts(t *testing.T, values map[string]string) (errs, warnings string) {
	t.Helper()
	c := valid()
	for path, value := range values {
		if err := c.Set(path, value); err != nil {
			t.Fatal(err)
		}
	}
	e, w := c.Validate(today())
	return e.Error(), w.Error()
}

// network returns the values of a good static network, changed as told; "" takes a value away.
func network(changes ...string) map[string]string {
	values := map[string]string{
		"ipv4.method": "static", "ipv4.address": "198.51.100.10", "ipv4.prefixLength": "24", "ipv4.gateway": "198.51.100.1", "dnsServers": "198.51.100.53",
	}
	for i := 0; i+1 < len(changes); i += 2 {
		values[changes[i]] = changes[i+1]
	}
	full := map[string]string{}
	for path, value := range values {
		full["spec.network."+path] = value
	}
	return full
}

func TestNetworkTogether(t *testing.T) {
	none := []string{"ipv4.method", "", "ipv4.address", "", "ipv4.prefixLength", "", "ipv4.gateway", "", "dnsServers", ""}
	but := func(changes ...string) map[string]string {
		return network(append(none[:len(none):len(none)], changes...)...)
	}
	cases := []struct {
		name           string
		values         map[string]string
		errs, warnings string
	}{
		{"static", network(), "", ""},
		{"nothing", but(), "", ""},
		{"port alone", but("interface", "enp2s0"), "", ""},
		{"DHCP", but("ipv4.method", "dhcp"), "", ""},
		{"DHCP and autoconf", but("ipv4.method", "dhcp", "ipv6.method", "autoconf"), "", ""},
		{"dual stack", network("ipv6.method", "static", "ipv6.address", "2001:db8:51::10", "ipv6.prefixLength", "64", "ipv6.gateway", "fe80::1"), "", ""},
		{"IPv6 alone", but("ipv4.method", "disabled", "ipv6.method", "autoconf"), "", ""},
		{"static IPv6 beside DHCP", but("ipv4.method", "dhcp", "ipv6.method", "static", "ipv6.address", "2001:db8::7", "ipv6.prefixLength", "64"), "", ""},
		{"subnet of two", network("ipv4.address", "198.51.100.1", "ipv4.gateway", "198.51.100.0", "ipv4.prefixLength", "31"), "", ""},
		{"single IPv6 address", but("ipv6.method", "static", "ipv6.address", "2001:db8::7", "ipv6.prefixLength", "128", "ipv6.gateway", "fe80::1", "dnsServers", "2001:db8::53"), "", ""},
		{
			"gateway is the node, written otherwise", but("ipv4.method", "dhcp", "ipv6.method", "static", "ipv6.address", "2001:DB8:0::7", "ipv6.prefixLength", "64", "ipv6.gateway", "2001:db8::7"),
			"spec.network.ipv6.gateway: is the node's own address; write the address of the site's router", "",
		},
		{
			"name server is the node, written otherwise", but("ipv6.method", "static", "ipv6.address", "2001:DB8:0::7", "ipv6.prefixLength", "64", "dnsServers", "2001:db8::7"),
			"spec.network.dnsServers: has 2001:db8::7, the node's own address; write the site's name server", "",
		},
		{
			"every name leads to the node", network("dnsSearch", "example.com, apps.a.b"),
			"spec.network.dnsSearch: has \"apps.a.b\": every name below it leads to this node, so pods would find nothing else; remove it", "",
		},
		{
			"every name leads to the node, below", network("dnsSearch", "x.apps.a.b"),
			"spec.network.dnsSearch: has \"x.apps.a.b\": every name below it leads to this node, so pods would find nothing else; remove it", "",
		},
		{"the cluster's own domain", network("dnsSearch", "store.example.com, myapps.a.b"), "", ""},
		{"netmask", network("ipv4.prefixLength", "255.255.255.128"), "", ""},
		{
			"no address", network("ipv4.address", "", "ipv4.prefixLength", ""),
			"spec.network.ipv4.address: is missing, but the method is static; write the node's address at the site\n" +
				"spec.network.ipv4.prefixLength: is missing, but the method is static; write the size of the subnet, for example 24", "",
		},
		{"no gateway", network("ipv4.gateway", ""), "", ""},
		{"gateway outside", network("ipv4.gateway", "198.51.101.1"), "spec.network.ipv4.gateway: is 198.51.101.1, outside of the node's subnet 198.51.100.0/24; check gateway, address and prefix length", ""},
		{
			"gateway outside by a longer prefix", network("ipv4.prefixLength", "30"),
			"spec.network.ipv4.gateway: is 198.51.100.1, outside of the node's subnet 198.51.100.8/30; check gateway, address and prefix length", "",
		},
		{"gateway is the node", network("ipv4.gateway", "198.51.100.10"), "spec.network.ipv4.gateway: is the node's own address; write the address of the site's router", ""},
		{"gateway is the subnet", network("ipv4.gateway", "198.51.100.0"), "spec.network.ipv4.gateway: is 198.51.100.0, the network address of the subnet 198.51.100.0/24; write the address of the site's router", ""},
		{"network address", network("ipv4.address", "198.51.100.0"), "spec.network.ipv4.address: is 198.51.100.0, the network address of the subnet 198.51.100.0/24; write the node's own address", ""},
		{"broadcast address", network("ipv4.address", "198.51.100.127", "ipv4.prefixLength", "25"), "spec.network.ipv4.address: is 198.51.100.127, the broadcast address of the subnet 198.51.100.0/25; write the node's own address", ""},
		{
			"routers' address", but("ipv6.method", "static", "ipv6.address", "2001:db8::", "ipv6.prefixLength", "64", "ipv6.gateway", "fe80::1", "dnsServers", "2001:db8::53"),
			"spec.network.ipv6.address: is 2001:db8::, the routers' common address of the subnet 2001:db8::/64; write the node's own address", "",
		},
		{"any router", but("ipv6.method", "static", "ipv6.address", "2001:db8::7", "ipv6.prefixLength", "64", "ipv6.gateway", "2001:db8::", "dnsServers", "2001:db8::53"), "", ""},
		{"address with DHCP", network("ipv4.method", "dhcp"), `spec.network.ipv4.address: is given, but the method is "dhcp"; remove it, or write spec.network.ipv4.method: static`, ""},
		{"gateway with disabled", but("ipv6.method", "disabled", "ipv6.gateway", "fe80::1"), `spec.network.ipv6.gateway: is given, but the method is "disabled"; remove it, or write spec.network.ipv6.method: static`, ""},
		{"address without method", network("ipv4.method", ""), "spec.network.ipv4.address: is given without a method; add spec.network.ipv4.method: static", ""},
		{
			"both disabled", but("ipv4.method", "disabled", "ipv6.method", "disabled"),
			"spec.network.ipv6.method: is disabled, and so is spec.network.ipv4.method: the node would have no address; choose another method for one of the two", "",
		},
		{"no name server", network("dnsServers", ""), "", ""},
		{"no gateway and no name server", network("ipv4.gateway", "", "dnsServers", ""), "", ""},
		{
			"name server behind no gateway", network("ipv4.gateway", "", "dnsServers", "203.0.113.53"),
			"spec.network.dnsServers: has 203.0.113.53, which is outside of the node's subnet 198.51.100.0/24, and there is no gateway; add spec.network.ipv4.gateway, or remove the name server", "",
		},
		{"name server by DHCP", network("dnsServers", "", "ipv6.method", "autoconf"), "", ""},
		{"name server is the node", network("dnsServers", "198.51.100.10"), "spec.network.dnsServers: has 198.51.100.10, the node's own address; write the site's name server", ""},
		{
			"name server of a family that is off", network("ipv6.method", "disabled", "dnsServers", "2001:db8::53"),
			"spec.network.dnsServers: has 2001:db8::53, which cannot be reached: spec.network.ipv6.method is disabled; write one of the other family", "",
		},
		{"bond", network("bond.mode", "active-backup", "bond.ports", "enp1s0,enp2s0", "vlanID", "100"), "", ""},
		{"bond with a port twice", network("bond.mode", "active-backup", "bond.ports", "52:54:00:00:00:0a, 5254.0000.000a"), `spec.network.bond.ports: has "5254.0000.000a" twice; keep one of them`, ""},
		{"bond with a port twice, in upper case", network("bond.mode", "active-backup", "bond.ports", "52:54:00:00:00:0a, 52-54-00-00-00-0A"), `spec.network.bond.ports: has "52-54-00-00-00-0A" twice; keep one of them`, ""},
		{"bond without ports", network("bond.mode", "active-backup"), "spec.network.bond.ports: is missing, but there is a mode; name at least one port, or remove the bond's mode", ""},
		{"bond without mode", network("bond.ports", "enp1s0"), "spec.network.bond.mode: is missing, but there are ports; write the mode that the switch is set to, for example active-backup", ""},
		{"bond and port", network("bond.mode", "802.3ad", "bond.ports", "enp1s0", "interface", "enp2s0"), "spec.network.interface: is given as well as a bond; remove it; the bond's ports lead to the site", ""},
		{"a wrong value once", network("ipv4.gateway", "198.51.100.300"), `spec.network.ipv4.gateway: is "198.51.100.300", which is not an IP address; write it like 198.51.100.10`, ""},
		{
			"nmstate beside it",
			map[string]string{"spec.networkConfig": "interfaces: [{name: enp1s0, ipv4: {enabled: true, dhcp: true}}]", "spec.network.mtu": "1500"},
			"spec.networkConfig: is given as well as spec.network (spec.network.mtu); keep one of the two", "",
		},
		{"nmstate alone", map[string]string{"spec.networkConfig": "interfaces: [{name: enp1s0, ipv4: {enabled: true, dhcp: true}}]"}, "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			errs, warnings := verdicts(t, c.values)
			if errs != c.errs || warnings != c.warnings {
				t.Errorf("errors\n got %s\nwant %s\nwarnings\n got %s\nwant %s", errs, c.errs, warnings, c.warnings)
			}
		})
	}
}

func TestRelocationTogether(t *testing.T) {
	authority, server := issue(t, "root", nil, ecKey(t), ca).pem, issue(t, "x", nil, ecKey(t), server("a.b")).pem
	cert := func(port, pem string) string {
		return "- registryHostname: a.b\n" + port + "  certificate: |\n    " + strings.ReplaceAll(strings.TrimSpace(pem), "\n", "\n    ") + "\n"
	}
	mirror := "- {source: a.b/c, mirrors: [d.e]}\n"
	long := func(n int) string { return "d.e/" + strings.Repeat("a", n-4) }
	cases := []struct {
		name           string
		values         map[string]string
		errs, warnings string
	}{
		{
			"hostname",
			map[string]string{"spec.hostname": "node"},
			"spec.hostname: is given, but spec.policy.allowHostnameChange is false; remove it to keep the factory's name, or write spec.policy.allowHostnameChange: true", "",
		},
		{"hostname allowed", map[string]string{"spec.hostname": "node", "spec.policy.allowHostnameChange": "true"}, "", ""},
		{
			"hostname without reboot",
			map[string]string{"spec.hostname": "node", "spec.policy.allowHostnameChange": "true", "spec.policy.allowReboot": "false"},
			"spec.hostname: is given, but the reboot that it takes is not allowed; write spec.policy.allowReboot: true", "",
		},
		{"cables", map[string]string{wiring: "- {nic: eno1, switch: sw-7, port: Gi1/0/4}\n- {nic: '52:54:00:00:00:01', vlan: 20}\n- {nic: eno3, switch: sw-8, port: Gi1/0/4}"}, "", ""},
		{"a port twice, once as Cisco writes it", map[string]string{wiring: "- {nic: '52:54:00:00:00:AA', vlan: 20}\n- {nic: 5254.0000.00aa, mtu: 9000}"}, `spec.wiring[1].nic: is there twice: "5254.0000.00aa"; keep one of them`, ""},
		{"a port twice", map[string]string{wiring: "- {nic: '52:54:00:00:00:AA', vlan: 20}\n- {nic: 52-54-00-00-00-aa, mtu: 9000}"}, `spec.wiring[1].nic: is there twice: "52-54-00-00-00-aa"; keep one of them`, ""},
		{
			"two cables in one socket",
			map[string]string{wiring: "- {nic: eno1, switch: sw-7, port: Gi1/0/4}\n- {nic: eno2, switch: SW-7, port: Gi1/0/4}"},
			`spec.wiring[1].port: is there twice: "SW-7 Gi1/0/4"; correct one of the two: a port of a switch takes one cable`, "",
		},
		{"a cable to nowhere", map[string]string{wiring: "- {nic: eno1}"}, "spec.wiring[0]: does not say where the cable goes; add one of switch, port, vlan, mtu, or remove the item", ""},
		{"a cable of no port", map[string]string{wiring: "- {switch: sw-7}"}, "spec.wiring[0].nic: is missing; write it like enp1s0", ""},
		{"mirrors", map[string]string{"spec.imageDigestMirrors": mirror, "spec.imageTagMirrors": mirror, "spec.removeFactoryMirrors": "true"}, "", ""},
		{
			"a source with two policies",
			map[string]string{"spec.imageDigestMirrors": mirror, "spec.imageTagMirrors": "- {source: a.b/c, mirrors: [x.y], mirrorSourcePolicy: NeverContactSource}"},
			"spec.imageTagMirrors[0].mirrorSourcePolicy: is NeverContactSource, and spec.imageDigestMirrors has AllowContactingSource for the same source; write the same in both", "",
		},
		{"a source by digest and by tag", map[string]string{"spec.imageDigestMirrors": mirror, "spec.imageTagMirrors": "- {source: a.b/c, mirrors: [x.y], mirrorSourcePolicy: AllowContactingSource}"}, "", ""},
		{"source twice", map[string]string{"spec.imageDigestMirrors": mirror + mirror}, `spec.imageDigestMirrors[1].source: is there twice: "a.b/c"; put all mirrors of a source into one item`, ""},
		{"mirror without a domain", map[string]string{"spec.imageDigestMirrors": "- {source: quay.io, mirrors: [registry/ocp]}"}, `spec.imageDigestMirrors[0].mirrors: is "registry/ocp", which CRI-O takes for a folder of docker.io; write the registry with its domain, or with its port`, ""},
		{"mirror that is a word", map[string]string{"spec.imageTagMirrors": "- {source: quay.io, mirrors: [registry]}"}, `spec.imageTagMirrors[0].mirrors: is "registry", which CRI-O takes for a folder of docker.io; write the registry with its domain, or with its port`, ""},
		{"mirrors of one word, with a port and on the node", map[string]string{"spec.imageTagMirrors": "- {source: quay.io, mirrors: ['registry:5000/ocp', localhost/ocp, registry.example.com/ocp, docker.io/a/b]}"}, "", `spec.imageTagMirrors[0].mirrors: has "localhost", which is this node: while its cluster does not run nothing comes from there; check the name`},
		{"mirror below docker.io", map[string]string{"spec.imageTagMirrors": "- {source: quay.io, mirrors: [docker.io/ocp]}"}, "", ""},
		{"mirror below docker.io's other name", map[string]string{"spec.imageTagMirrors": "- {source: quay.io, mirrors: [index.docker.io/a/b]}"}, `spec.imageTagMirrors[0].mirrors: is "index.docker.io/a/b", which CRI-O does not pull from under this name; write docker.io`, ""},
		{"mirror of itself", map[string]string{"spec.imageTagMirrors": "- {source: a.b, mirrors: [c.d, a.b]}"}, "spec.imageTagMirrors[0].mirrors: names the source itself; remove it", ""},
		{"a long mirror of one repository", map[string]string{"spec.imageDigestMirrors": "- {source: quay.io/openshift-release-dev/ocp-release, mirrors: [" + long(255) + "]}"}, "", ""},
		{"a long mirror that has room", map[string]string{"spec.imageDigestMirrors": "- {source: quay.io/openshift-release-dev, mirrors: [" + long(238) + "]}"}, "", ""},
		{
			"a long mirror without room",
			map[string]string{"spec.imageDigestMirrors": "- {source: quay.io, mirrors: [" + long(240) + "]}"},
			"spec.imageDigestMirrors[0].mirrors: has 240 characters; more than 216 leave no room for the names of OpenShift's images, which are appended; give a shorter path", "",
		},
		{
			"a long mirror of a whole domain",
			map[string]string{"spec.imageTagMirrors": "- {source: '*.io', mirrors: [" + long(240) + "]}"},
			"spec.imageTagMirrors[0].mirrors: has 240 characters; more than 216 leave no room for the names of OpenShift's images, which are appended; give a shorter path", "",
		},
		{
			"nothing instead of the factory's",
			map[string]string{"spec.removeFactoryMirrors": "true"},
			"",
			"spec.removeFactoryMirrors: is true, but there are no others: images that are not on the disk come from their source; give the site's mirrors",
		},
		{"registries", map[string]string{"spec.registryCerts": cert("", authority) + cert("  registryPort: 5000\n", authority)}, "", ""},
		{
			"registry twice",
			map[string]string{"spec.registryCerts": cert("", authority) + cert("  registryPort: 443\n", authority)},
			"spec.registryCerts[1].registryHostname: is there twice with that port; put all certificates of a registry into one item", "",
		},
		{
			"no authority",
			map[string]string{"spec.registryCerts": cert("", server), "spec.additionalTrustBundle": authority + server},
			"",
			"spec.registryCerts[0].certificate: holds a certificate that is not an authority, number 1; give the certificate of the authority\n" +
				"spec.additionalTrustBundle: holds a certificate that is not an authority, number 2; give the certificate of the authority",
		},
		{"proxy", map[string]string{"spec.proxy.httpsProxy": "http://proxy.example.com:3128", "spec.proxy.noProxy": ".example.com"}, "", ""},
		{"exceptions without proxy", map[string]string{"spec.proxy.noProxy": ".example.com"}, "spec.proxy.noProxy: is given, but there is no proxy; give the proxy, or remove it", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			errs, warnings := verdicts(t, c.values)
			if errs != c.errs || warnings != c.warnings {
				t.Errorf("errors\n got %s\nwant %s\nwarnings\n got %s\nwant %s", errs, c.errs, warnings, c.warnings)
			}
		})
	}
}

// TestItemsFromADocument holds that files are read for items too, and that mistakes are blamed on the item's line.
func TestItemsFromADocument(t *testing.T) {
	doc := head + "spec:\n  clusterName: a\n  baseDomain: b\n  networkConfigFile: nmstate.yaml\n  registryCerts:\n  - registryHostname: a.b\n    certificateFile: ca.pem\n" +
		"  - registryPort: 5000\n    certificateFile: ca.pem\n  imageDigestMirrors:\n  - source: a.b\n    mirrors: [http://c.d]\n"
	c, err := Parse([]byte(doc), "site.yaml", folder())
	if err != nil {
		t.Fatal(err)
	}
	if c.Sources["spec.networkConfig"] != "file nmstate.yaml" || c.Sources["spec.registryCerts"] != "file site.yaml" {
		t.Errorf("origins %v", c.Sources)
	}
	if want := "  interfaces: # the port\n  - {name: enp1s0, ipv4: {enabled: true, dhcp: true}}\n"; string(c.Spec.NetworkConfig) != want {
		t.Errorf("got %q, want %q", string(c.Spec.NetworkConfig), want)
	}
	if certs := c.Spec.RegistryCerts; len(certs) != 2 || certs[1].RegistryPort != 5000 || certs[1].Certificate != "-----BEGIN CERTIFICATE-----\n" {
		t.Errorf("got %+v", certs)
	}
	errs, _ := c.Validate(today())
	want := "site.yaml:9:5: spec.registryCerts[0].certificate: has a block that is cut off or damaged, number 1; copy it again, from BEGIN to END\n" +
		"site.yaml:10:5: spec.registryCerts[1].registryHostname: is missing; write it like registry.example.com\n" +
		"site.yaml:11:5: spec.registryCerts[1].certificate: has a block that is cut off or damaged, number 1; copy it again, from BEGIN to END\n" +
		"site.yaml:14:5: spec.imageDigestMirrors[0].mirrors: is \"http://c.d\", a web address; write it like registry.example.com:5000/ocp, without http://"
	if errs.Error() != want {
		t.Errorf("\n got %s\nwant %s", errs, want)
	}
	if err := c.Set("spec.imageDigestMirrors", "- {source: a.b, mirrors: [http://c.d]}"); err != nil {
		t.Fatal(err)
	}
	errs, _ = c.Validate(today())
	if got := errs.At("spec.imageDigestMirrors[0].mirrors"); got == nil || got.File != "" {
		t.Errorf("a typed value is blamed on the document: %v", got)
	}
}

// TestCloneSharesNoList holds that to write into a list of the copy leaves the original alone.
func TestCloneSharesNoList(t *testing.T) {
	c, want := full(t), full(t)
	d := c.Clone()
	for _, list := range [][]string{
		d.Spec.Network.Bond.Ports, d.Spec.Network.DNSServers, d.Spec.Network.DNSSearch, d.Spec.AdditionalNTPSources, d.Spec.SSHKeys,
		d.Spec.ImageDigestMirrors[0].Mirrors,
	} {
		list[0] = "changed"
	}
	d.Spec.ImageDigestMirrors[0].Source, d.Spec.ImageTagMirrors[0].Source, d.Spec.RegistryCerts[0].RegistryHostname = "changed", "changed", "changed"
	d.Spec.Wiring[0].Switch, d.Spec.NodeLabels["zone"] = "changed", "changed"
	if !reflect.DeepEqual(c.Spec, want.Spec) {
		t.Errorf("\n got %+v\nwant %+v", c.Spec, want.Spec)
	}
}

// TestLists holds how lists look as one text, and that a list of groups is set as a whole or not at all.
func TestLists(t *testing.T) {
	c := New()
	for path, pair := range map[string][2]string{
		"spec.network.dnsServers":        {" 198.51.100.53,,198.51.100.54\r\n2001:db8::53\t", "198.51.100.53, 198.51.100.54, 2001:db8::53"},
		"spec.sshKeys":                   {"ssh-ed25519 AAAA a, b\r\n\r\nssh-rsa AAAA", "ssh-ed25519 AAAA a, b\nssh-rsa AAAA"},
		"spec.network.ipv4.prefixLength": {" /255.0.255.0", ""},
		"spec.network.vlanID":            {"0", ""},
		"spec.imageTagMirrors":           {`[{"source": "a.b", "mirrors": ["c.d", "e.f"]}]`, "- source: a.b\n  mirrors:\n    - c.d\n    - e.f\n"},
		"spec.nodeLabels":                {"zone=berlin, rack=7\r\n zone-a= ", "rack=7\nzone-a=\nzone=berlin"},
		"spec.registryCerts":             {"- registryHostname: a.b\n- registryPort: 5000", "- registryHostname: a.b\n- registryPort: 5000\n"},
	} {
		err := c.Set(path, pair[0])
		if got, _ := c.Get(path); got != pair[1] || (err != nil) != (pair[1] == "" && path != "spec.network.vlanID") {
			t.Errorf("%s: got %q, %v, want %q", path, got, err, pair[1])
		}
	}
	before, _ := c.Get("spec.registryCerts")
	if err := c.Set("spec.registryCerts", "- registryHostname: c.d\n- colour: red\n"); err == nil {
		t.Error("an unknown key is taken")
	}
	if after, _ := c.Get("spec.registryCerts"); after != before {
		t.Errorf("what was refused has left %q", after)
	}
	if port, ok := c.Get("spec.registryCerts[1].registryPort"); !ok || port != "5000" {
		t.Errorf("got %q, %v", port, ok)
	}
	for _, path := range []string{"spec.registryCerts[2].registryPort", "spec.registryCerts[].registryPort", "spec.registryCerts[01].registryPort", "spec.registryCerts[1]"} {
		if got, ok := c.Get(path); ok {
			t.Errorf("%s gives %q", path, got)
		}
	}
}

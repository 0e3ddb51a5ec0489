package site

import (
	"strings"
	"testing"
)

// TestServersThatAreTheNode: what the node is to ask is another machine, however it is written; a mirror in the cluster is only told.
func TestServersThatAreTheNode(t *testing.T) {
	const refused, told = "names this node", "which is this node"
	const dead = "of the subnet"
	for _, c := range []struct{ path, value, err, warning string }{
		{"spec.additionalNTPSources", "ntp.example.com, ntp.apps.a.b", refused, ""},
		{"spec.additionalNTPSources", "api.a.b", refused, ""},
		{"spec.additionalNTPSources", "198.51.100.10", refused, ""},
		{"spec.additionalNTPSources", "2001:DB8:0::7", refused, ""},
		{"spec.additionalNTPSources", "198.51.100.11, ntp.a.b, apps.example.com", "", ""},
		{"spec.additionalNTPSources", "198.51.100.255", dead, ""},
		{"spec.additionalNTPSources", "2001:db8::", "", ""}, // the router
		{"spec.network.dnsServers", "2001:db8::", "", ""},
		{"spec.proxy.httpProxy", "http://[2001:db8::]:3128", "", ""},
		{"spec.additionalNTPSources", "198.51.101.255", "", ""},
		{"spec.network.dnsServers", "198.51.100.0", dead, ""},
		{"spec.network.dnsServers", "198.51.100.53,198.51.100.255", dead, ""},
		{"spec.proxy.httpProxy", "http://198.51.100.255:3128", dead, ""},
		{"spec.proxy.httpProxy", "http://user:sesame@proxy.apps.a.b:3128", refused, ""},
		{"spec.proxy.httpsProxy", "http://198.51.100.10:3128", refused, ""},
		{"spec.proxy.httpsProxy", "http://[2001:db8::7]:3128", refused, ""},
		{"spec.proxy.httpsProxy", "http://proxy.a.b:3128", "", ""},
		{"spec.imageDigestMirrors[0].mirrors", "registry.apps.a.b/ocp", "", told},
		{"spec.imageDigestMirrors[0].mirrors", "198.51.100.10:5000/ocp", "", told},
		{"spec.imageDigestMirrors[0].mirrors", "localhost:5000/ocp", "", told},
		{"spec.imageDigestMirrors[0].mirrors", "registry.localhost/ocp", "", told},
		{"spec.imageDigestMirrors[0].mirrors", "127.0.0.1:5000/ocp", "", told},
		{"spec.imageDigestMirrors[0].mirrors", "0.0.0.0:5000/ocp", "the unspecified address", ""},
		{"spec.imageDigestMirrors[0].mirrors", "registry.a.b:5000/ocp", "", ""},
	} {
		values := network("ipv6.method", "static", "ipv6.address", "2001:db8::7", "ipv6.prefixLength", "64")
		if strings.HasPrefix(c.path, "spec.image") {
			values["spec.imageDigestMirrors"] = "- source: quay.io/a\n  mirrors: ['" + c.value + "']\n"
		} else {
			values[c.path] = c.value
		}
		errs, warnings := verdicts(t, values)
		if (c.err == "") != (errs == "") || !strings.Contains(errs, c.err) || !strings.Contains(warnings, c.warning) || strings.Contains(errs, "sesame") {
			t.Errorf("%s: %s: errors %q, warnings %q", c.path, c.value, errs, warnings)
		}
		if c.warning == "" && strings.Contains(warnings, told) {
			t.Errorf("%s: %s: warnings %q", c.path, c.value, warnings)
		}
	}
}

// TestServersThatAreTheNodeInADocument: the same where the network is a document of nmstate.
func TestServersThatAreTheNodeInADocument(t *testing.T) {
	const document = `interfaces:
- name: eno1
  type: ethernet
  state: up
  ipv4: {enabled: true, dhcp: false, address: [{ip: 198.51.100.10, prefix-length: 24}]}
  ipv6: {enabled: true, dhcp: false, autoconf: false, address: [{ip: "2001:db8::7", prefix-length: 64}]}
- {name: eno2, type: ethernet, state: up, ipv4: {enabled: false, address: [{ip: 203.0.113.10, prefix-length: 24}]}}
- {name: eno3, type: ethernet, state: absent, ipv4: {enabled: true, address: [{ip: 203.0.114.10, prefix-length: 24}]}}
- {name: eno4, type: ethernet, state: down, ipv4: {enabled: true, address: [{ip: 203.0.115.10, prefix-length: 24}]}}
routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 198.51.100.1, next-hop-interface: eno1}]}
`
	for server, refused := range map[string]bool{
		"198.51.100.10": true, "2001:db8:0::7": true, "198.51.100.11": false, "198.51.100.255": true, "2001:db8::": false, "203.0.113.255": false, "203.0.114.255": false, "203.0.115.255": false, "203.0.113.10": false, "203.0.114.10": false, "203.0.115.10": false,
	} {
		errs, _ := verdicts(t, map[string]string{"spec.networkConfig": document, "spec.additionalNTPSources": server})
		if strings.Contains(errs, "spec.additionalNTPSources") != refused {
			t.Errorf("%s: errors %q", server, errs)
		}
	}
}

// TestNamesThatTheCLibraryReadsAsAddresses: inet_aton(3) takes numbers of one to four parts, in hexadecimal too, and no name server is asked.
func TestNamesThatTheCLibraryReadsAsAddresses(t *testing.T) {
	for name, check := range map[string]func(string) error{
		"a time server": NTPSources, "a proxy": func(s string) error { return proxyURL("http://" + s + ":3128") }, "a node": hostname,
		"a registry": registryHostname, "a mirror": mirrorLocations, "a domain": BaseDomain,
	} {
		for _, address := range []string{"0x7f000001", "0x7f.1", "127.0x0.1", "2130706433", "127.1", "0x"} {
			if check(address) == nil {
				t.Errorf("%s may be called %s", name, address)
			}
		}
		for _, fine := range []string{"0x7g.example.com", "x7f.example.com", "7.example.com"} {
			if err := check(fine); err != nil {
				t.Errorf("%s may not be called %s: %s", name, fine, err)
			}
		}
	}
}

// TestAMirrorOnTheNode: a registry may run on the node as a service, whatever it is called; judging the site config warns of it.
func TestAMirrorOnTheNode(t *testing.T) {
	for _, mirror := range []string{"127.0.0.1:5000/ocp", "localhost:5000/ocp", "localhost/ocp", "registry.localhost/ocp"} {
		if err := mirrorLocations(mirror); err != nil {
			t.Errorf("%s is refused: %s", mirror, err)
		}
	}
	if err := MirrorSource("localhost/ocp"); err != nil {
		t.Errorf("images of the node's own name have no mirrors: %s", err)
	}
}

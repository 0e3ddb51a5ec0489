package site

import (
	"strings"
	"testing"
)

// TestServersThatAreTheNode: what the node is to ask is another machine, however it is written; a mirror in the cluster is only told.
func TestServersThatAreTheNode(t *testing.T) {
	const refused, told = "names this node", "which is this node"
	for _, c := range []struct{ path, value, err, warning string }{
		{"spec.additionalNTPSources", "ntp.example.com, ntp.apps.a.b", refused, ""},
		{"spec.additionalNTPSources", "api.a.b", refused, ""},
		{"spec.additionalNTPSources", "198.51.100.10", refused, ""},
		{"spec.additionalNTPSources", "2001:DB8:0::7", refused, ""},
		{"spec.additionalNTPSources", "198.51.100.11, ntp.a.b, apps.example.com", "", ""},
		{"spec.proxy.httpProxy", "http://user:sesame@proxy.apps.a.b:3128", refused, ""},
		{"spec.proxy.httpsProxy", "http://198.51.100.10:3128", refused, ""},
		{"spec.proxy.httpsProxy", "http://[2001:db8::7]:3128", refused, ""},
		{"spec.proxy.httpsProxy", "http://proxy.a.b:3128", "", ""},
		{"spec.imageDigestMirrors[0].mirrors", "registry.apps.a.b/ocp", "", told},
		{"spec.imageDigestMirrors[0].mirrors", "198.51.100.10:5000/ocp", "", told},
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
routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 198.51.100.1, next-hop-interface: eno1}]}
`
	for server, refused := range map[string]bool{"198.51.100.10": true, "2001:db8:0::7": true, "198.51.100.11": false} {
		errs, _ := verdicts(t, map[string]string{"spec.networkConfig": document, "spec.additionalNTPSources": server})
		if strings.Contains(errs, "names this node") != refused {
			t.Errorf("%s: errors %q", server, errs)
		}
	}
}

package site

import (
	"strings"
	"testing"
)

// TestNamesThatNothingLooksUp: where a network has no name server and gets none, each server that is given by a name is told; one at an
// address is not, nor one that a proxy looks up.
func TestNamesThatNothingLooksUp(t *testing.T) {
	const told = "which nothing can look up"
	servers := map[string]string{
		"spec.additionalNTPSources": "198.51.100.7, ntp.example.com", "spec.monitor.url": "https://monitor.example.com/x",
		"spec.imageDigestMirrors": "- source: quay.io/a\n  mirrors: ['198.51.100.8:5000/ocp', 'registry.example.com:5000/ocp']\n",
		"spec.imageTagMirrors":    "- source: quay.io/a\n  mirrors: [mirror.example.com]\n",
	}
	document := func(ipv4, more string) map[string]string {
		return map[string]string{"spec.networkConfig": "interfaces:\n- {name: eno1, type: ethernet, state: up, ipv4: {enabled: true, " + ipv4 + "}}\n" +
			"routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 198.51.100.1, next-hop-interface: eno1}]}\n" + more}
	}
	const address = "dhcp: false, address: [{ip: 198.51.100.10, prefix-length: 24}]"
	for name, c := range map[string]struct {
		network map[string]string
		more    map[string]string
		names   []string // in the warnings
	}{
		"static":                  {network("dnsServers", ""), nil, []string{"ntp", "monitor", "registry", "mirror"}},
		"static with IPv6 off":    {network("dnsServers", "", "ipv6.method", "disabled"), nil, []string{"ntp", "monitor", "registry", "mirror"}},
		"a document":              {document(address, ""), nil, []string{"ntp", "monitor", "registry", "mirror"}},
		"a proxy by name":         {network("dnsServers", ""), map[string]string{"spec.proxy.httpsProxy": "http://kim:sesame@proxy.example.com:3128"}, []string{"ntp", "proxy"}},
		"a proxy at an address":   {network("dnsServers", ""), map[string]string{"spec.proxy.httpsProxy": "http://198.51.100.9:3128"}, []string{"ntp"}},
		"a proxy for HTTP alone":  {network("dnsServers", ""), map[string]string{"spec.proxy.httpProxy": "http://198.51.100.9:3128"}, []string{"ntp", "monitor", "registry", "mirror"}},
		"a name server":           {network(), nil, nil},
		"an address by DHCP":      {network("dnsServers", "", "ipv4.method", "dhcp", "ipv4.address", "", "ipv4.prefixLength", "", "ipv4.gateway", ""), nil, nil},
		"and one by a router":     {network("dnsServers", "", "ipv6.method", "autoconf"), nil, nil},
		"a document with servers": {document(address, "dns-resolver: {config: {server: [198.51.100.53]}}\n"), nil, nil},
		"a document with DHCP":    {document("dhcp: true", ""), nil, nil},
		"the factory's network":   {nil, nil, nil},
	} {
		values := map[string]string{}
		for _, group := range []map[string]string{servers, c.network, c.more} {
			for path, value := range group {
				values[path] = value
			}
		}
		errs, warnings := verdicts(t, values)
		if errs != "" || strings.Count(warnings, told) != len(c.names) || strings.Contains(warnings, "sesame") {
			t.Errorf("%s: errors %q, warnings %q", name, errs, warnings)
		}
		for _, server := range c.names {
			if !strings.Contains(warnings, server+".example.com") {
				t.Errorf("%s: nothing about %s: %q", name, server, warnings)
			}
		}
	}
}

package site

import (
	"strings"
	"testing"
)

// TestNamesThatNothingLooksUp: where a network has no name server and is sure to get none, each server that is given by a name is told;
// one at an address is not, nor one that a proxy looks up, nor time servers beside one at an address.
func TestNamesThatNothingLooksUp(t *testing.T) {
	const told = "which nothing can look up"
	servers := map[string]string{
		"spec.additionalNTPSources": "ntp.example.com", "spec.monitor.url": "https://monitor.example.com/x",
		"spec.imageDigestMirrors": "- source: quay.io/a\n  mirrors: ['198.51.100.8:5000/ocp', 'registry.example.com:5000/ocp']\n",
		"spec.imageTagMirrors":    "- source: quay.io/a\n  mirrors: [mirror.example.com]\n",
	}
	document := func(families, more string) map[string]string {
		return map[string]string{"spec.networkConfig": "interfaces:\n- {name: eno1, type: ethernet, state: up, " + families + "}\n" + more +
			"routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 198.51.100.1, next-hop-interface: eno1}]}\n"}
	}
	const (
		addressed = "ipv4: {enabled: true, dhcp: false, address: [{ip: 198.51.100.10, prefix-length: 24}]}"
		address   = addressed + ", ipv6: {enabled: false}"
		six       = "ipv6: {enabled: true, dhcp: false, address: [{ip: '2001:db8::10', prefix-length: 64}]"
		bond      = "- {name: bond0, type: bond, state: up, link-aggregation: {mode: active-backup, port: [eno1]}, " + address + "}\n"
	)
	static := func(changes ...string) map[string]string {
		return network(append([]string{"dnsServers", "", "ipv6.method", "disabled"}, changes...)...)
	}
	onlyIPv6 := func(ipv4 string) map[string]string {
		return static("ipv4.method", ipv4, "ipv4.address", "", "ipv4.prefixLength", "", "ipv4.gateway", "",
			"ipv6.method", "static", "ipv6.address", "2001:db8::10", "ipv6.prefixLength", "64", "ipv6.gateway", "2001:db8::1")
	}
	all := []string{"ntp", "monitor", "registry", "mirror"}
	for name, c := range map[string]struct {
		network map[string]string
		more    map[string]string
		names   []string // in the warnings
	}{
		"static":                          {static(), nil, all},
		"static IPv6":                     {onlyIPv6("disabled"), nil, all},
		"IPv4 left out":                   {onlyIPv6(""), nil, nil},
		"IPv6 left out":                   {network("dnsServers", ""), nil, nil},
		"a document":                      {document(address, ""), nil, all},
		"a document with both":            {document(addressed+", "+six+", autoconf: false}", ""), nil, all},
		"a document with a bond":          {document("mtu: 1500", bond), nil, all},
		"a document without IPv6":         {document(addressed, ""), nil, nil},
		"a document without IPv4":         {document(six+", autoconf: false}", ""), nil, nil},
		"a document silent on autoconf":   {document(addressed+", "+six+"}", ""), nil, nil},
		"a document silent on a port":     {document(address, "- {name: eno2, type: ethernet, state: up}\n"), nil, nil},
		"time servers, one at an address": {static(), map[string]string{"spec.additionalNTPSources": "ntp.example.com, 198.51.100.7"}, all[1:]},
		"time servers by name":            {static(), map[string]string{"spec.additionalNTPSources": "ntp.example.com, clock.example.com"}, append([]string{"clock"}, all...)},
		"a proxy by name":                 {static(), map[string]string{"spec.proxy.httpsProxy": "http://kim:sesame@proxy.example.com:3128"}, []string{"ntp", "proxy"}},
		"a proxy at an address":           {static(), map[string]string{"spec.proxy.httpsProxy": "http://198.51.100.9:3128"}, []string{"ntp"}},
		"a proxy for HTTP alone":          {static(), map[string]string{"spec.proxy.httpProxy": "http://198.51.100.9:3128"}, all},
		"a name server":                   {network("ipv6.method", "disabled"), nil, nil},
		"an address by DHCP":              {static("ipv4.method", "dhcp", "ipv4.address", "", "ipv4.prefixLength", "", "ipv4.gateway", ""), nil, nil},
		"and one by a router":             {static("ipv6.method", "autoconf"), nil, nil},
		"a document with servers":         {document(address, "dns-resolver: {config: {server: [198.51.100.53]}}\n"), nil, nil},
		"a document with DHCP":            {document("ipv4: {enabled: true, dhcp: true}, ipv6: {enabled: false}", ""), nil, nil},
		"the factory's network":           {nil, nil, nil},
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

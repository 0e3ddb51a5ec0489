package site

import (
	"strings"
	"testing"
)

// TestNothingDropsTheNode: routes and rules that drop the node's own traffic are refused, whatever they are called; what drops others' is not.
func TestNothingDropsTheNode(t *testing.T) {
	const static = "interfaces:\n- {name: enp1s0, type: ethernet, state: up, ipv4: {enabled: true, dhcp: false, address: [{ip: 10.1.2.3, prefix-length: 24}]}, " +
		"ipv6: {enabled: true, address: [{ip: '2001:db8::3', prefix-length: 64}]}}\n"
	const dhcp = "interfaces:\n- {name: enp1s0, type: ethernet, state: up, ipv4: {enabled: true, dhcp: true}}\n"
	routes := func(more string) string {
		return "routes: {config: [{destination: 0.0.0.0/0, next-hop-interface: enp1s0, next-hop-address: 10.1.2.1}, {" + more + "}]}\n"
	}
	rules := func(rule string) string {
		return routes("destination: 10.9.0.0/16, next-hop-interface: enp1s0") + "route-rules: {config: [{" + rule + "}]}\n"
	}
	for what, text := range map[string]string{
		"the default route":          static + routes("destination: 0.0.0.0/0, route-type: blackhole"),
		"that of IPv6":               static + routes("destination: '::/0', route-type: prohibit"),
		"one half":                   static + routes("destination: 128.0.0.0/1, route-type: unreachable"),
		"its subnet":                 static + routes("destination: 10.1.2.0/24, route-type: blackhole"),
		"its address":                static + routes("destination: 10.1.2.3/32, route-type: blackhole"),
		"its address of IPv6":        static + routes("destination: '2001:db8::3/128', route-type: prohibit"),
		"its gateway":                static + routes("destination: 10.1.2.1/32, route-type: unreachable"),
		"another table":              static + routes("destination: 10.0.0.0/8, route-type: blackhole, table-id: 77"),
		"no destination":             static + routes("route-type: blackhole"),
		"a default route with DHCP":  dhcp + routes("destination: 0.0.0.0/0, route-type: blackhole"),
		"a rule from its address":    static + rules("ip-from: 10.1.2.3/32, action: blackhole"),
		"a rule without a prefix":    static + rules("ip-from: 10.1.2.3, action: prohibit"),
		"a rule to its subnet":       static + rules("ip-to: 10.1.2.0/24, action: unreachable"),
		"a rule to a larger one":     static + rules("ip-to: 10.0.0.0/8, action: blackhole"),
		"a rule of IPv6":             static + rules("ip-from: '2001:db8::/32', action: blackhole"),
		"a rule for all":             static + rules("priority: 5, action: blackhole"),
		"a rule for all, by address": static + rules("ip-from: 0.0.0.0/0, action: blackhole"),
		"a rule with autoconf":       strings.Replace(static, "ipv6: {enabled: true,", "ipv6: {enabled: true, autoconf: true,", 1) + rules("ip-from: '2001:db9::/32', action: prohibit"),
		"a rule with DHCP":           dhcp + rules("ip-from: 10.1.2.0/24, action: blackhole"),
	} {
		if err := NetworkConfig(text); err == nil || !strings.Contains(err.Error(), "drops traffic of the node itself") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, text := range map[string]string{
		"nothing":                static,
		"private networks":       static + routes("destination: 10.0.0.0/8, route-type: blackhole"),
		"another network":        static + routes("destination: 192.0.2.0/24, route-type: unreachable"),
		"a route that goes":      static + routes("destination: 10.1.2.0/24, next-hop-interface: enp1s0, route-type: blackhole, state: absent"),
		"a rule for another":     static + rules("ip-from: 192.0.2.0/24, action: prohibit"),
		"a rule between others":  static + rules("ip-from: 203.0.113.0/24, ip-to: 192.0.2.0/24, action: prohibit"),
		"a rule that looks up":   static + rules("ip-from: 10.1.2.3/32, route-table: 77"),
		"a route with DHCP":      dhcp + routes("destination: 192.0.2.0/24, route-type: blackhole"),
		"a rule beside autoconf": strings.Replace(static, "ipv6: {enabled: true,", "ipv6: {enabled: true, autoconf: true,", 1) + rules("ip-from: 192.0.2.0/24, action: prohibit"),
		"an ordinary second one": static + routes("destination: 10.9.0.0/16, next-hop-interface: enp1s0"),
	} {
		if err := NetworkConfig(text); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

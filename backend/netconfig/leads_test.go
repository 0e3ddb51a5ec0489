package netconfig_test

import (
	"testing"

	"touchdown/backend/netconfig"
)

// TestCarrier: the port that leads out is the one of the default route with the lowest metric, IPv4's first, then one that gets a default
// route from its network.
func TestCarrier(t *testing.T) {
	port := func(name, families string) string {
		return "- {name: " + name + ", type: ethernet, state: up, " + families + "}\n"
	}
	two := func(to, one, other string) string {
		return "routes: {config: [{destination: '" + to + "', next-hop-interface: eno1" + one + "}, {destination: '" + to + "', next-hop-interface: eno2" + other + "}]}\n"
	}
	for text, want := range map[string]string{
		two("0.0.0.0/0", "", ", metric: 100"):             "eno1",
		two("0.0.0.0/0", ", metric: -1", ", metric: 100"): "eno1",
		two("::/0", "", ", metric: 100"):                  "eno2",
		two("::/0", ", metric: 0", ", metric: 100"):       "eno2",
		two("::/0", "", ", metric: 2000"):                 "eno1",
		"interfaces:\n" + port("eno1", "ipv4: {enabled: true, dhcp: true, auto-gateway: false}") + port("eno2", "ipv4: {enabled: true, dhcp: true}"):                                                          "eno2",
		"interfaces:\n" + port("eno1", "ipv6: {enabled: true, autoconf: true, auto-routes: false}") + port("eno2", "ipv4: {enabled: true, dhcp: true}"):                                                       "eno2",
		"interfaces:\n" + port("eno1", "ipv4: {enabled: true, dhcp: true, auto-gateway: false}"):                                                                                                              "eno1",
		"routes: {config: [{destination: '::/0', next-hop-address: 'fe80::1', next-hop-interface: eno2}, {destination: 0.0.0.0/0, next-hop-address: 198.51.100.1, next-hop-interface: eno1, metric: 300}]}\n": "eno1",
	} {
		d, err := netconfig.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Carrier(); got != want {
			t.Errorf("%s, want %s of\n%s", got, want, text)
		}
	}
}

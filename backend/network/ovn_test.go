package network

import (
	"net/netip"
	"slices"
	"testing"
)

// A site may use 100.64.0.0/16 once the cluster's owner has moved OVN's join network out of its way, and not the network that it has now.
func TestNetworksThatTheClusterNames(t *testing.T) {
	has := func(all []Reserved, prefix string) bool {
		return slices.ContainsFunc(all, func(r Reserved) bool { return r.Prefix == netip.MustParsePrefix(prefix) })
	}
	for name, test := range map[string]struct {
		named           map[string]string
		inside, outside []string
	}{
		"none":              {nil, []string{"100.64.0.0/16", "100.88.0.0/16", "169.254.0.0/17", "169.254.169.0/29", "fd98::/64", "fd97::/64", "fd69::/112"}, nil},
		"one of a family":   {map[string]string{"OVN join IPv6": "fd96::/64"}, []string{"fd96::/64", "100.64.0.0/16"}, []string{"fd98::/64"}},
		"two default ones":  {map[string]string{"OVN masquerade IPv4": "198.18.0.0/24"}, []string{"198.18.0.0/24", "fd69::/112"}, []string{"169.254.0.0/17", "169.254.169.0/29"}},
		"that nobody reads": {map[string]string{"OVN join IPv4": "100.64"}, []string{"100.64.0.0/16"}, nil},
	} {
		inside := Inside(test.named)
		for _, p := range test.inside {
			if !has(inside, p) {
				t.Errorf("%s: %s is not inside: %v", name, p, inside)
			}
		}
		for _, p := range test.outside {
			if has(inside, p) {
				t.Errorf("%s: %s is inside: %v", name, p, inside)
			}
		}
	}

	moved := Inside(map[string]string{"OVN join IPv4": "100.68.0.0/16"})
	plan := Plan{Settings: Settings{Inside: moved}}
	if has(plan.reserved(), "100.64.0.0/16") || !has(plan.reserved(), "100.68.0.0/16") || !has((&Plan{}).reserved(), "100.64.0.0/16") {
		t.Errorf("a document is held to %v", plan.reserved())
	}
	site := Settings{IPv4: Family{Method: Static, Address: "100.64.3.10", Prefix: 24, Gateway: "100.64.3.1"}}
	for _, test := range []struct {
		inside []Reserved
		fits   bool
	}{{OVNDefaults, false}, {moved, true}} {
		f := &faults{facts: Facts{Reserved: test.inside}, s: site}
		f.overlaps("network.ipv4", netip.MustParsePrefix("100.64.3.10/24"))
		if (len(f.all) == 0) != test.fits {
			t.Errorf("%v: %v", test.inside, f.all)
		}
	}
}

package matrix_test

import (
	"testing"

	"touchdown/test/matrix"
)

func TestAllSitesAreThere(t *testing.T) {
	seen, outcomes := map[string]bool{}, map[matrix.Outcome]int{}
	for _, s := range matrix.All() {
		seen[s.String()] = true
		outcomes[s.Outcome()]++
	}
	if len(seen) != 729 {
		t.Errorf("%d sites", len(seen))
	}
	// Of the 27 ways with DNS, gateway and DHCP 8 have none of them wrong; with NTP and registry 4 of 9 have neither wrong. With
	// IPv6 alone a registry is of no use without DNS: 4 of the 8, two ways with NTP.
	if outcomes[matrix.Lands] != 3*8*4-8 || outcomes[matrix.Warned] != 3*8*5+8 || outcomes[matrix.Refused] != 3*19*9 {
		t.Errorf("outcomes are %v", outcomes)
	}
}

func TestAThirdHasEachPair(t *testing.T) {
	pairs := map[[4]int]bool{}
	third := matrix.Third()
	for _, s := range third {
		family := map[string]int{"IPv4": 0, "IPv6": 1, "dual stack": 2}[s.Family]
		parts := []int{family, int(s.DNS), int(s.NTP), int(s.Gateway), int(s.DHCP), int(s.Registry)}
		for i, a := range parts {
			for j, b := range parts[:i] {
				pairs[[4]int{i, a, j, b}] = true
			}
		}
	}
	if len(third) != 243 || len(pairs) != 15*9 {
		t.Errorf("%d sites with %d pairs", len(third), len(pairs))
	}
}

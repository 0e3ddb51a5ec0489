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

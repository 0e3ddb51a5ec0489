package network

import (
	"slices"
	"testing"

	"touchdown/backend/host"
)

// TestSiteInTheSubnetOfTheInstallation: a site may use the subnet that the cluster was installed in, or the node's own address.
// Neither hides the site's address, and the own one is kept beside it, behind it and without a network.
func TestSiteInTheSubnetOfTheInstallation(t *testing.T) {
	own, err := host.NewOwn([]string{"198.51.100.7"})
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"198.51.100.10", "198.51.100.7"} {
		s := static()
		s.Own, s.IPv4.Address = own, address
		v4, _ := s.families()
		if got := []string{v4.Address[0].prefix().String(), v4.Address[1].prefix().String()}; !slices.Equal(got, []string{address + "/24", "198.51.100.7/32"}) {
			t.Errorf("br-ex gets %v", got)
		}
		now := &Current{Settings: Settings{Own: own}}
		var status Status
		status.addresses(v4, now)
		if !status.Own || !slices.Equal(status.Addresses, []string{address + "/24"}) {
			t.Errorf("the status tells %+v", status)
		}
	}
}

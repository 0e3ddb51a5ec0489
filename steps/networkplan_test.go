package steps

import (
	"fmt"
	"testing"

	"touchdown/backend/message"
	"touchdown/backend/network"
	"touchdown/steps/site"
)

// TestTheReviewTellsWhatIsAbsent: who forgot the gateway or the name server sees it before anything changes.
func TestTheReviewTellsWhatIsAbsent(t *testing.T) {
	now := &network.Current{Settings: network.Settings{
		Interface: "enp1s0", IPv4: network.Family{Method: network.DHCP}, IPv6: network.Family{Method: network.Disabled}, DNS: []string{"192.0.2.1"},
	}}
	static := network.Settings{
		Interface: "enp1s0", IPv4: network.Family{Method: network.Static, Address: "198.51.100.10", Prefix: 24}, IPv6: network.Family{Method: network.Disabled},
	}
	leased := network.Settings{Interface: "enp1s0", IPv4: network.Family{Method: network.DHCP}, IPv6: network.Family{Method: network.Disabled}}
	for _, c := range []struct {
		what string
		want network.Settings
		text []Change
	}{
		{"static, alone", static, []Change{{message.T("IPv4"), message.Data("DHCP"), message.T("198.51.100.10/24, no gateway")}, {message.T("DNS servers"), message.T("192.0.2.1"), message.T("none")}}},
		{"DHCP tells later what there is", leased, nil},
	} {
		if got := networkChanges(now, c.want); fmt.Sprint(got) != fmt.Sprint(c.text) {
			t.Errorf("%s: %+v", c.what, got)
		}
	}
}

// TestAFaultNamesItsField: a technician knows the fields of the page, not the keys of the site config.
func TestAFaultNamesItsField(t *testing.T) {
	s := &NetworkEntry{Site: site.New()}
	c := s.faultCheck([]network.Fault{{Path: "spec.network.ipv4.gateway", Text: message.T("it cannot be reached")}})
	if got := c.Observed.String(); got != "IPv4 gateway: it cannot be reached" {
		t.Errorf("told as %q", got)
	}
}

package steps

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/network"
	"touchdown/backend/probe"
	"touchdown/steps/site"
)

// TestTheNetworkInForceIsAsked: the probes get the settings that were read, through the interface that has the addresses.
func TestTheNetworkInForceIsAsked(t *testing.T) {
	cfg := &site.Config{}
	cfg.Spec.AdditionalNTPSources = []string{"ntp.site.example"}
	entry := &NetworkEntry{Site: cfg}
	now := &network.Current{Carrier: "br-ex", Device: "eno1", Settings: network.Settings{
		Interface: "eno1", VLAN: 7, MTU: 9000, DNS: []string{"192.0.2.53"},
		IPv4: network.Family{Method: network.Static, Address: "192.0.2.10", Prefix: 24, Gateway: "192.0.2.1"},
	}}
	var asked probe.Target
	answer := func(_ context.Context, target probe.Target, _ func(check.Check)) (probe.Result, error) {
		asked = target
		return probe.Result{Checks: []check.Check{{ID: "net-gateway", Status: check.Fail}}}, nil
	}
	got := entry.inForce(t.Context(), &backend.Node{Host: hosttest.New(t).Machine}, now, answer)
	if len(got) != 2 || got[0].ID != "network-now" || got[1].ID != "net-gateway" || got[1].Status != check.Fail {
		t.Errorf("%+v", got)
	}
	if asked.Interface != "br-ex" || asked.Ports[0] != "eno1" || asked.VLAN != 7 || asked.MTU != 9000 || asked.NTP[0] != "ntp.site.example" ||
		asked.IPv4 != (probe.Settings{Method: probe.Static, Address: netip.MustParsePrefix("192.0.2.10/24"), Gateway: netip.MustParseAddr("192.0.2.1")}) ||
		len(asked.DNS) != 1 || asked.DNS[0] != netip.MustParseAddr("192.0.2.53") {
		t.Errorf("%+v", asked)
	}
	refuse := func(context.Context, probe.Target, func(check.Check)) (probe.Result, error) {
		return probe.Result{}, errors.New("not permitted")
	}
	got = entry.inForce(t.Context(), &backend.Node{Host: hosttest.New(t).Machine}, now, refuse)
	if len(got) != 2 || got[1].Status != check.Skip || !strings.Contains(got[1].Evidence[0].String(), "not permitted") {
		t.Errorf("%+v", got)
	}
}

package steps

import (
	"encoding/json"
	"net/netip"
	"slices"
	"testing"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/factory"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/layout"
	"touchdown/backend/network"
	"touchdown/backend/probe"
	"touchdown/steps/site"
)

// TestTheFactoryTellsWhatThePodsNeed holds that the MTU of the site is judged by the cluster of this node, and not at all where its record
// is of a release that did not note the pods'.
func TestTheFactoryTellsWhatThePodsNeed(t *testing.T) {
	for _, c := range []struct {
		record factory.Record
		want   int
	}{
		{factory.Record{ClusterNetworks: []string{"10.128.0.0/14"}, PodMTU: 1400}, 1458},
		{factory.Record{ClusterNetworks: []string{"10.128.0.0/14", "fd01::/48"}, PodMTU: 1400}, 1478},
		{factory.Record{ClusterNetworks: []string{"10.128.0.0/14"}}, 0},
	} {
		m := hosttest.New(t)
		text, err := json.Marshal(c.record)
		if err != nil {
			t.Fatal(err)
		}
		m.File(layout.FactoryRecord, string(text))
		got := networkFacts(&network.Current{}, nil, &backend.Node{Host: m.Machine})
		if got.LeastMTU != c.want {
			t.Errorf("%+v: %d", c.record, got.LeastMTU)
		}
	}
}

// TestAnAddressThatCameByItself: a lease that the node has already, or that it is offered, is held to the networks inside the cluster, as what
// is typed is.
func TestAnAddressThatCameByItself(t *testing.T) {
	m := hosttest.New(t)
	text, err := json.Marshal(factory.Record{ClusterNetworks: []string{"10.128.0.0/14", "fd01::/48"}, ServiceNetworks: []string{"172.30.0.0/16"}})
	if err != nil {
		t.Fatal(err)
	}
	m.File(layout.FactoryRecord, string(text))
	node := &backend.Node{Host: m.Machine}
	target := probeTarget(site.New(), network.Settings{}, node)
	for _, want := range []string{"10.128.0.0/14", "fd01::/48", "172.30.0.0/16", "100.64.0.0/16"} {
		if !slices.ContainsFunc(target.Inside, func(in probe.Inside) bool { return in.Prefix == netip.MustParsePrefix(want) }) {
			t.Errorf("the probes do not know %s", want)
		}
	}
	for address, wrong := range map[string]bool{"10.130.7.20": true, "172.30.0.20": true, "10.20.7.20": false} {
		now := &network.Current{}
		now.IPv4 = network.Family{Method: "dhcp", Address: address, Prefix: 24}
		c := networkNow(now)
		if outside(&c, now, insideOf(node)); (c.Status == check.Fail) != wrong {
			t.Errorf("%s: %+v", address, c)
		}
	}
}

// TestNetworksInsideTheNode: the form, the plan and the work judge settings by the networks inside of this node, not by the usual ones.
func TestNetworksInsideTheNode(t *testing.T) {
	m := hosttest.New(t)
	text, err := json.Marshal(factory.Record{InsideNetworks: map[string]string{"OVN join IPv4": "10.200.0.0/16"}})
	if err != nil {
		t.Fatal(err)
	}
	m.File(layout.FactoryRecord, string(text))
	node := &backend.Node{Host: m.Machine}
	for what, got := range map[string][]network.Reserved{
		"settings": settingsOn(node, &site.Config{}).Inside, "facts": networkFacts(&network.Current{}, nil, node).Reserved,
	} {
		has := func(prefix string) bool {
			return slices.ContainsFunc(got, func(r network.Reserved) bool { return r.Prefix == netip.MustParsePrefix(prefix) })
		}
		if !has("10.200.0.0/16") || has("100.64.0.0/16") {
			t.Errorf("%s: %v", what, got)
		}
	}
}

package steps

import (
	"encoding/json"
	"testing"

	"touchdown/backend"
	"touchdown/backend/factory"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/layout"
	"touchdown/backend/network"
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

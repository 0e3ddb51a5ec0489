package steps

import (
	"context"
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/host"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/network"
	"touchdown/backend/probe"
	"touchdown/steps/site"
)

// TestNodeNetworkRepeatsResults: the network is not asked more often than it can stand, but each look is told what is known of it: what
// a look does not tell is cleared.
func TestNodeNetworkRepeatsResults(t *testing.T) {
	asked := 0
	s := &NodeNetwork{ask: func(_ context.Context, target probe.Target, tell func(check.Check)) (probe.Result, error) {
		asked++
		result := probe.Result{Checks: []check.Check{{ID: "net-gateway", Status: check.Pass}}}
		for _, server := range target.NTP {
			result.Checks = append(result.Checks, check.Check{ID: "net-ntp-" + server, Status: check.Fail})
		}
		for _, c := range result.Checks {
			tell(c)
		}
		return result, nil
	}}
	look := func(at time.Duration, ntp ...string) (ids []string) {
		t.Helper()
		target := probe.Target{NTP: ntp}
		err := s.probe(t.Context(), time.Unix(0, 0).Add(at), target, "", func(c check.Check) { ids = append(ids, c.ID) })
		if err != nil {
			t.Fatal(err)
		}
		return ids
	}
	for _, want := range []struct {
		at    time.Duration
		ntp   []string
		ids   []string
		asked int
	}{
		{0, []string{"1", "2"}, []string{"net-gateway", "net-ntp-1", "net-ntp-2"}, 1},
		{badStands / 2, []string{"1", "2"}, []string{"net-gateway", "net-ntp-1", "net-ntp-2"}, 1},
		{badStands / 2, []string{"1"}, []string{"net-gateway", "net-ntp-1"}, 2},
		{3 * badStands, nil, []string{"net-gateway"}, 3},
		{3*badStands + goodStands/2, nil, []string{"net-gateway"}, 3},
	} {
		if got := look(want.at, want.ntp...); !slices.Equal(got, want.ids) || asked != want.asked {
			t.Errorf("after %s, time servers %q: told %q, asked %d times", want.at, want.ntp, got, asked)
		}
	}
}

// TestLookingAgainAsksTheNetwork: a person who pulled a cable or fixed a server, and looks again, is not told what was seen before. However
// fast they press the key, the network is not asked more often than it can stand.
func TestLookingAgainAsksTheNetwork(t *testing.T) {
	asked := 0
	s := &NodeNetwork{ask: func(context.Context, probe.Target, func(check.Check)) (probe.Result, error) {
		asked++
		return probe.Result{Checks: []check.Check{{ID: "net-gateway", Status: check.Pass}}}, nil
	}}
	entry := &NetworkEntry{Site: site.New(), NodeNet: s}
	start := time.Unix(1_800_000_000, 0)
	for _, look := range []struct {
		at      time.Duration
		pressed bool
		asked   int
	}{
		{0, false, 1},
		{time.Second, true, 1}, // seen a moment ago
		{badStands + 2*time.Second, false, 1},
		{badStands + 2*time.Second, true, 2},
		{badStands + 4*time.Second, true, 2},
		{2*badStands + 4*time.Second, true, 3},
		{2*badStands + 5*time.Second, false, 3},
		{-time.Hour, true, 4}, // the clock was put right
	} {
		now := start.Add(look.at)
		if look.pressed {
			entry.Forget(now)
		}
		if err := s.probe(t.Context(), now, probe.Target{}, "", func(check.Check) {}); err != nil || asked != look.asked {
			t.Errorf("%+v: asked %d times, %v", look, asked, err)
		}
	}
}

// TestADocumentIsProbed: the probes look at the ports and addresses that a document describes, as they do with typed settings.
func TestADocumentIsProbed(t *testing.T) {
	cfg := site.New()
	for path, value := range map[string]string{
		"spec.clusterName": "store51", "spec.baseDomain": "example.com", "spec.networkConfig": `
interfaces:
- name: bond0.7
  type: vlan
  state: up
  mtu: 9000
  vlan: {base-iface: bond0, id: 7}
  ipv4: {enabled: true, dhcp: false, address: [{ip: 192.168.127.10, prefix-length: 24}, {ip: 198.51.100.10, prefix-length: 24}]}
  ipv6: {enabled: true, dhcp: false, autoconf: true}
- name: bond0
  type: bond
  state: up
  link-aggregation: {mode: active-backup, port: [enp1s0, enp2s0]}
routes: {config: [{destination: 0.0.0.0/0, next-hop-interface: bond0.7, next-hop-address: 198.51.100.1}]}
dns-resolver: {config: {server: [198.51.100.53, 198.51.100.54]}}
`,
	} {
		if err := cfg.Set(path, value); err != nil {
			t.Fatal(err)
		}
	}
	got := probeTarget(cfg, networkSettings(cfg).Resolve(&network.Current{Settings: network.Settings{Own: host.DefaultOwn}}), &backend.Node{Host: hosttest.New(t).Machine})
	address := netip.MustParseAddr
	want := probe.Target{
		Ports: []string{"enp1s0", "enp2s0"}, VLAN: 7, MTU: 9000,
		IPv4: probe.Settings{Method: probe.Static, Address: netip.MustParsePrefix("198.51.100.10/24"), Gateway: address("198.51.100.1")},
		IPv6: probe.Settings{Method: probe.Autoconf}, DNS: []netip.Addr{address("198.51.100.53"), address("198.51.100.54")}, Domain: "store51.example.com",
	}
	if len(got.Inside) != len(network.OVNDefaults) { // of a node that was not baked here
		t.Errorf("networks inside: %v", got.Inside)
	}
	got.Now, got.Inside = nil, nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the probes look at\n%+v, want\n%+v", got, want)
	}
}

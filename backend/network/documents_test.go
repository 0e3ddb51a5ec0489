package network_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/network"
	"touchdown/test/bench/site"
)

// foreign is a profile of another program: for a port that the site's document does not name.
const foreign = "[connection]\nid=storage\nuuid=11111111-2222-3333-4444-555555555555\ntype=ethernet\ninterface-name=ens9\n\n[ipv4]\nmethod=auto\n"

const folder = "/etc/NetworkManager/system-connections"

// harmlessHere would remove a route that only a node with a running cluster has.
const harmlessHere = "a route of OVN goes"

// harmfulDocuments: judged by real nmstate on a real state, each is refused before anything of the node changes: by what the review says,
// else when it is to be applied.
func harmfulDocuments(b *bench) {
	b.shell("ip link add docker0 type bridge && ip link set docker0 up")
	for _, name := range slices.Sorted(maps.Keys(network.Harmful)) {
		settings := network.Settings{Raw: []byte(network.Harmful[name])}
		if faults := b.must("validate", request{Settings: settings}).Faults; len(faults) > 0 {
			b.Logf("%s: %s", name, faults[0].Text)
			continue
		}
		a := b.ask("apply", request{Settings: settings, Rollback: trial})
		if a.Error == "" {
			b.must("takeover", request{})
			if name != harmlessHere {
				b.Errorf("%s is applied", name)
			}
		}
		b.Logf("%s: %s", name, a.Error)
	}
	b.shell("ip link delete docker0")
	b.asInFactory()
}

// TestDocumentsOnANode keeps nmstate documents that a site may bring, one boot after the other.
func TestDocumentsOnANode(t *testing.T) {
	b := boot(t, hasFactory, func(*bench) {})
	goodDocuments(b, b.must("originals", request{}).Originals)
}

// document is one that a site may bring, and what the node then has beside its addresses.
type document struct{ name, text, proof string }

// goodDocuments are tried and kept; the profile of another program stays through each of them, also in the next boot.
func goodDocuments(b *bench, originals []byte) {
	if err := b.node.WriteFile(folder+"/storage.nmconnection", []byte(foreign), 0o600); err != nil {
		b.Fatal(err)
	}
	b.shell("nmcli connection reload")
	if err := b.site.Switch(site.Edge()); err != nil {
		b.Fatal(err)
	}
	mac := strings.ToUpper(b.shell("cat /sys/class/net/enp1s0/address"))
	stays := " && nmcli -g connection.id connection show 11111111-2222-3333-4444-555555555555 | grep -qx storage"
	for _, d := range []document{
		{"plain", network.SiteDocument(""), "true"},
		{"by its MAC address", network.SiteDocument("  profile-name: uplink\n  identifier: mac-address\n  mac-address: " + mac + "\n"), "true"},
		{
			"by its MAC address, under the other port's name",
			strings.ReplaceAll(network.SiteDocument("  identifier: mac-address\n  mac-address: "+mac+"\n"), "enp1s0", "enp2s0"), "ovs-vsctl list-ports br-ex | grep -qx enp1s0",
		},
		{
			"a route beside", network.WithRoute("destination: 10.20.0.0/16, next-hop-interface: enp1s0, next-hop-address: 198.51.100.9"),
			"ip route show 10.20.0.0/16 | grep -q 'via 198.51.100.9 dev br-ex'",
		},
		{"the other port", strings.ReplaceAll(network.SiteDocument(""), "enp1s0", "enp2s0"), "ovs-vsctl list-ports br-ex | grep -qx enp2s0"},
	} {
		s := network.Settings{Raw: []byte(d.text)}
		q := request{Settings: s, Originals: originals, Rollback: trial}
		b.must("apply", q)
		b.must("await", q)
		up := hasSite + " && " + d.proof + stays
		b.await(5*time.Second, up)
		b.must("keep", q)
		if a := b.must("inforce", q); !a.Done {
			b.Errorf("%s: kept, but not in force", d.name)
		}
		if err := b.node.Reboot(b.within(time.Minute)); err != nil {
			b.Fatal(err)
		}
		b.await(40*time.Second, up)
		b.must("commit", q)
		if a := b.must("inforce", q); !a.Done {
			b.Errorf("%s: after a boot not in force", d.name)
		}
		b.Logf("%s: %s", d.name, b.shell("ls "+folder+" | paste -sd ' '"))
	}
}

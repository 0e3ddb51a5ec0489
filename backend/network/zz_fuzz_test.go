package network

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"net/netip"
	"os"
	"testing"
	"time"
)

var weird = []any{nil, "", true, false, 0, -1, 1, 2, 32, 33, 128, 129, 254, 255, 4094, 4095, 65535, 65536, 4294967295, 4294967296, int64(9223372036854775807), 1.5, 1e300,
	"0.0.0.0/0", "::/0", "10.0.0.0/33", "::/129", "0.0.0.0", "::", "fe80::1", "255.255.255.255", "é", "a b", "\u202e", "enp1s0", "enp2s0", "br-ex", "up", "absent", "down", "ignore", "ethernet", "vlan", "bond",
	"802.3ad", "active-backup", "balance-alb", "60sec", "forever", "mac-address", "name", "802.1ad", "gvrp", "00:00:00:00:00:00", "zz", []any{}, map[string]any{}, []any{"enp1s0"}, []any{map[string]any{}}, map[string]any{"a": 1}, "99999999999999999999999", "0x10", "1e3", "-5"}

var corpus = []string{
	`{"interfaces":[{"name":"enp1s0","type":"ethernet","state":"up","identifier":"name","mac-address":"aa:00:00:00:00:01","mtu":1500,"min-mtu":68,"max-mtu":9000,"wait-ip":"any","accept-all-mac-addresses":false,"driver":"x","lldp":{"enabled":true},"ethtool":{"ring":{"rx":10,"tx":10},"pause":{"rx":true,"autoneg":false},"feature":{"tx-checksum-ip-generic":true},"coalesce":{"rx-usecs":3},"fec":{"mode":"off"}},"ethernet":{"auto-negotiation":true,"speed":1000,"duplex":"full"},"ipv4":{"enabled":true,"dhcp":false,"dhcp-client-id":"ll","dhcp-send-hostname":true,"dhcp-custom-hostname":"x","auto-dns":true,"auto-gateway":true,"auto-routes":true,"auto-route-metric":100,"address":[{"ip":"198.51.100.10","prefix-length":24,"mptcp-flags":["signal"],"valid-life-time":"60sec","preferred-life-time":"60sec"}]},"ipv6":{"enabled":true,"dhcp":true,"autoconf":true,"dhcp-duid":"llt","addr-gen-mode":"eui64","address":[{"ip":"2001:db8::1","prefix-length":64}]},"802.1x":{"identity":"a","eap-methods":["tls"],"password":"b"}}],"routes":{"config":[{"destination":"0.0.0.0/0","next-hop-interface":"enp1s0","next-hop-address":"198.51.100.1","metric":5,"table-id":254,"weight":1,"cwnd":20,"initcwnd":10,"initrwnd":20,"mtu":1400,"quickack":true,"advmss":1300,"source":"198.51.100.10"},{"destination":"10.9.0.0/16","route-type":"blackhole"}]},"route-rules":{"config":[{"ip-from":"10.9.0.10/32","ip-to":"10.8.0.0/16","priority":5,"route-table":77,"family":"ipv4","action":"blackhole","suppress-prefix-length":0}]},"dns-resolver":{"config":{"server":["198.51.100.53"],"search":["a.b"],"options":["rotate"]}}}`,
	`{"interfaces":[{"name":"bond0","type":"bond","state":"up","link-aggregation":{"mode":"802.3ad","options":{"miimon":100,"lacp_rate":"fast","xmit_hash_policy":"layer3+4","ad_actor_system":"00:00:5e:00:53:5d","arp_ip_target":"198.51.100.1","primary":"enp1s0","num_grat_arp":1},"port":["enp1s0","enp2s0"],"ports-config":[{"name":"enp1s0","priority":5,"queue-id":1}]},"ipv4":{"enabled":true,"dhcp":true}},{"name":"bond0.7","type":"vlan","state":"up","vlan":{"base-iface":"bond0","id":7,"protocol":"802.1q","registration-protocol":"none","reorder-headers":true,"loose-binding":false,"ingress-qos-map":[{"from":1,"to":2}],"egress-qos-map":[{"from":1,"to":2}]},"ipv4":{"enabled":true,"dhcp":true}}]}`,
}

func mutate(r *rand.Rand, v any, p float64) any {
	if r.Float64() < p {
		return weird[r.Intn(len(weird))]
	}
	switch x := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, w := range x {
			if r.Float64() < p {
				continue
			}
			out[k] = mutate(r, w, p)
		}
		return out
	case []any:
		out := []any{}
		for _, w := range x {
			out = append(out, mutate(r, w, p))
			if r.Float64() < p {
				out = append(out, mutate(r, w, p))
			}
		}
		return out
	}
	return v
}

func TestZZFuzz(t *testing.T) {
	seed := time.Now().UnixNano()
	r := rand.New(rand.NewSource(seed))
	facts := Facts{Now: factory(t), Ports: []Port{{Name: "enp1s0"}, {Name: "enp2s0"}}, LeastMTU: LeastMTU(1400, false), Reserved: OVNDefaults}
	busyNow := busy(t)
	_ = netip.Addr{}
	pass, n := 0, 0
	slow := time.Duration(0)
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); n++ {
		var d any
		json.Unmarshal([]byte(corpus[r.Intn(2)]), &d)
		text, _ := json.Marshal(mutate(r, d, []float64{0.01, 0.02, 0.05}[r.Intn(3)]))
		os.WriteFile("/tmp/atk/last.json", text, 0o600)
		f := facts
		if r.Intn(2) == 0 {
			f.Now = busyNow
		}
		b := time.Now()
		if len(offline(t).Validate(t.Context(), Settings{Raw: text}, f)) == 0 {
			pass++
		}
		if s := time.Since(b); s > slow { slow = s }
	}
	fmt.Println(n, "tried", pass, "pass", "slowest", slow)
}

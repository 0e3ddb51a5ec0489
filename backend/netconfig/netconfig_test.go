package netconfig_test

import (
	"fmt"
	"strings"
	"testing"

	"touchdown/backend/netconfig"
)

// address is that of a port of the site.
const address = "  ipv4: {enabled: true, dhcp: false, address: [{ip: 198.51.100.10, prefix-length: 24}]}\n"

// way is how the node leaves its site.
const way = "dns-resolver: {config: {server: [198.51.100.53]}}\nroutes:\n  config:\n  - {destination: 0.0.0.0/0, next-hop-address: 198.51.100.1, next-hop-interface: NAME}\n"

// one is a document of one interface, with more of it and others in front, and what follows the routes.
func one(kind, name, more, others, routes string) string {
	return "interfaces:\n" + others + "- name: " + name + "\n  type: " + kind + "\n  state: up\n" + more + address + strings.ReplaceAll(way, "NAME", name) + routes
}

func port(more string) string { return one("ethernet", "eno1", more, "", "") }

// addressed is a document with another address.
func addressed(ip string, length int) string {
	return strings.Replace(port(""), "{ip: 198.51.100.10, prefix-length: 24}", fmt.Sprintf("{ip: %s, prefix-length: %d}", ip, length), 1)
}

func gateway(ip string) string { return strings.Replace(port(""), "198.51.100.1,", ip+",", 1) }

func bond(more, others string) string {
	return one("bond", "bond0", "  link-aggregation: {"+more+"}\n", others, "")
}

func vlan(id, others string) string {
	return one("vlan", "v1", "  vlan: {base-iface: eno1, id: "+id+"}\n", others, "")
}

// dynamic is a document of a port that gets its addresses from the site's network.
func dynamic(ipv4 string) string {
	return "interfaces:\n- {name: eno1, type: ethernet, state: up, ipv4: {" + ipv4 + "}}\n"
}

const twoPorts = "mode: active-backup, port: [eno1, eno2]"

// refused are documents with what is said of each, and the line of it.
var refused = map[string]struct {
	text, says string
	line       int
}{
	"a script that runs as root": {port("  dispatch: {post-activation: 'rm -rf /'}\n"), "interfaces[0].dispatch cannot be set", 5},
	"macvlan":                    {one("mac-vlan", "mv0", "  mac-vlan: {base-iface: eno1, mode: bridge}\n", "", ""), "interfaces[0].mac-vlan cannot be set", 5},
	"ipvlan":                     {one("ipvlan", "iv0", "", "", ""), "interfaces[0].type is not", 3},
	"veth":                       {one("veth", "v0", "  veth: {peer: v1}\n", "", ""), "interfaces[0].type is not", 3},
	"vxlan":                      {one("vxlan", "vx0", "  vxlan: {id: 5, base-iface: eno1}\n", "", ""), "interfaces[0].type is not", 3},
	"virtual functions":          {port("  ethernet: {sr-iov: {total-vfs: 64}}\n"), "interfaces[0].ethernet.sr-iov cannot be set", 5},
	"a VRF":                      {one("vrf", "vrf0", "  vrf: {port: [eno1], route-table-id: 254}\n", "", ""), "interfaces[0].type is not", 3},
	"a bridge":                   {one("linux-bridge", "br1", "  bridge: {port: [{name: eno1}]}\n", "", ""), "interfaces[0].type is not", 3},
	"a bridge of Open vSwitch":   {one("ovs-bridge", "ovs0", "  bridge: {port: [{name: eno1}]}\n", "", ""), "interfaces[0].type is not", 3},
	"IPsec":                      {one("ipsec", "hosta", "  libreswan: {right: 192.0.2.1}\n", "", ""), "interfaces[0].type is not", 3},
	"a team":                     {one("team", "t0", "  team: {ports: [{name: eno1}]}\n", "", ""), "has a key that", 5},
	"loopback":                   {one("loopback", "lo", "", "", ""), "interfaces[0].type is not", 3},
	"loopback, of another type":  {one("ethernet", "lo", "", "", ""), "is the loopback interface", 2},
	"the cluster's bridge":       {one("vlan", "br-ex", "  vlan: {base-iface: eno1, id: 5}\n", "", ""), "OpenShift's own network", 2},
	"an unknown state":           {strings.Replace(port(""), "state: up", "state: Up", 1), "interfaces[0].state is not", 4},

	"an address of loopback":      {addressed("127.0.0.2", 24), "127.0.0.2 cannot be the address", 5},
	"a multicast address":         {addressed("224.0.0.2", 24), "224.0.0.2 cannot be the address", 5},
	"the name of the subnet":      {addressed("198.51.100.0", 24), "is the name of the subnet", 5},
	"the broadcast address":       {addressed("198.51.100.255", 24), "is the broadcast address", 5},
	"a link-local address":        {addressed("169.254.169.2", 29), "valid on one cable only", 5},
	"no prefix length":            {addressed("198.51.100.10", 0), "the prefix length of 198.51.100.10", 5},
	"itself as the gateway":       {gateway("198.51.100.10"), "is the node's own address", 9},
	"the broadcast as gateway":    {gateway("198.51.100.255"), "is the broadcast address", 9},
	"a gateway elsewhere":         {gateway("203.0.113.1"), "is in no subnet of eno1", 9},
	"a gateway of a lone address": {addressed("198.51.100.10", 32), "is in no subnet of eno1", 9},
	"an MTU of 68":                {port("  mtu: 68\n"), "the MTU of eno1 is out of range", 5},
	"an MTU of 1200":              {port("  mtu: 1200\n"), "the MTU of eno1 is out of range", 5},
	"an MTU of 0":                 {port("  mtu: 0\n"), "the MTU of eno1 is out of range", 5},
	"an MTU as a word":            {port("  mtu: large\n"), "interfaces[0].mtu is not a whole number", 5},
	"VLAN 0":                      {vlan("0", ""), "the number of the VLAN v1", 5},
	"VLAN 4095":                   {vlan("4095", ""), "the number of the VLAN v1", 5},
	"a multicast MAC":             {port("  mac-address: 01:00:5e:00:00:01\n"), "MAC address that no port can have", 5},
	"a MAC of zeros":              {port("  mac-address: '00:00:00:00:00:00'\n"), "MAC address that no port can have", 5},

	"an unknown mode":          {bond("mode: wurst, port: [eno1, eno2]", ""), "the mode of the bond bond0 does not exist", 5},
	"a bond in itself":         {bond("mode: active-backup, port: [bond0, eno2]", ""), "bond0 stands on itself", 2},
	"a bond without ports":     {bond("mode: active-backup, port: []", ""), "bond0 is a bond without ports", 5},
	"a bond of nothing":        {one("bond", "bond0", "", "", ""), "bond0 is a bond without ports", 2},
	"a primary that is none":   {bond(twoPorts+", options: {primary: eno9}", ""), "the primary port of the bond bond0", 5},
	"a port that is down":      {bond(twoPorts, "- {name: eno1, type: ethernet, state: down}\n"), "eno1 is a port of the bond bond0 and not up", 2},
	"a port that goes":         {bond(twoPorts, "- {name: eno1, type: ethernet, state: absent}\n"), "eno1 is a port of the bond bond0 and not up", 2},
	"a port with addresses":    {bond(twoPorts, "- {name: eno1, type: ethernet, state: up, ipv4: {enabled: true, dhcp: true}}\n"), "eno1 has addresses, but is a port", 2},
	"a port in two bonds":      {bond(twoPorts, "- {name: bond1, type: bond, state: up, link-aggregation: {mode: active-backup, port: [eno2, eno3]}}\n"), "eno2 is a port of two bonds", 6},
	"a port twice":             {bond("mode: active-backup, port: [eno1, eno1]", ""), "has the port eno1 twice", 5},
	"an interface twice":       {one("ethernet", "eno1", "", "- {name: eno1, type: ethernet, state: up}\n", ""), "for the same interface", 3},
	"a VLAN on a base down":    {vlan("10", "- {name: eno1, type: ethernet, state: down}\n"), "the VLAN v1 stands on eno1, which is not up", 6},
	"a VLAN on nothing":        {one("vlan", "v1", "  vlan: {id: 7}\n", "", ""), "the VLAN v1 has no interface below it", 5},
	"a VLAN larger than that":  {one("vlan", "v1", "  mtu: 9000\n  vlan: {base-iface: eno1, id: 7}\n", "- {name: eno1, type: ethernet, state: up, mtu: 1500}\n", ""), "the MTU of v1 is larger", 6},
	"a long name":              {one("ethernet", "enp1s0f0np0abcde", "", "", ""), "a name that no interface can have", 2},
	"a long name of a VLAN":    {one("vlan", "enp1s0f0np0.4094", "  vlan: {base-iface: enp1s0f0np0, id: 4094}\n", "", ""), "a name that no interface can have", 2},
	"a way over what is not":   {strings.Replace(port(""), "next-hop-interface: eno1", "next-hop-interface: eno7", 1), "has a route over eno7, which it does not describe", 9},
	"a way over what is down":  {strings.Replace(one("ethernet", "eno2", "", "- {name: eno1, type: ethernet, state: down}\n", ""), "next-hop-interface: eno2", "next-hop-interface: eno1", 1), "has a route over eno1, which is not up", 10},
	"a way over nothing":       {strings.Replace(port(""), ", next-hop-interface: eno1", "", 1), "leads over no interface", 9},
	"an address twice":         {one("ethernet", "eno1", "", "- {name: eno2, type: ethernet, state: up, ipv4: {enabled: true, address: [{ip: 198.51.100.10, prefix-length: 24}]}}\n", ""), "has the address 198.51.100.10 twice", 6},
	"an address without a MAC": {port("  identifier: mac-address\n"), "is identified by a MAC address, and has none", 5},

	"a default route elsewhere":          {strings.Replace(port(""), "next-hop-interface: eno1}", "next-hop-interface: eno1, table-id: 100}", 1), "default route in another table alone", 9},
	"no gateway by DHCP":                 {dynamic("enabled: true, dhcp: true, auto-gateway: false"), "refuses the default route", 2},
	"no routes by DHCP":                  {dynamic("enabled: true, dhcp: true, auto-routes: 'no'"), "refuses the default route", 2},
	"DHCP that may be off":               {dynamic("dhcp: true"), "says nothing of enabled", 2},
	"no way out":                         {"interfaces:\n- {name: eno1, type: ethernet, state: up}\n", "has no default route", 1},
	"an IPv4 address as IPv6":            {"interfaces:\n- {name: eno1, type: ethernet, state: up, ipv6: {enabled: true, address: [{ip: '::ffff:198.51.100.10', prefix-length: 96}]}}\n", "is an IPv4 address written as IPv6", 2},
	"an IPv4 address below IPv6":         {"interfaces:\n- {name: eno1, type: ethernet, state: up, ipv6: {enabled: true, address: [{ip: 198.51.100.10, prefix-length: 24}]}}\n", "is an IPv4 address where one of IPv6 belongs", 2},
	"link-local addresses alone":         {"interfaces:\n- {name: eno1, type: ethernet, state: up, ipv6: {enabled: true, dhcp: false, autoconf: false, address: [{ip: 'fe80::1', prefix-length: 64}]}}\nroutes: {config: [{destination: '::/0', next-hop-address: 'fe80::2', next-hop-interface: eno1}]}\n", "no other address than link-local ones", 2},
	"both families off":                  {"interfaces:\n- {name: eno1, type: ethernet, state: up, ipv4: {enabled: false}, ipv6: {enabled: false}}\nroutes: {config: [{destination: 0.0.0.0/0, next-hop-interface: eno1}]}\n", "neither an IPv4 nor an IPv6 address", 2},
	"a rule from the site to everything": {one("ethernet", "eno1", "", "", "route-rules:\n  config:\n  - {ip-from: 198.51.100.0/24, ip-to: 0.0.0.0/0, route-table: 555}\n"), "whose ip-to is all addresses", 12},
	"a router outside of the subnet":     {addressed("198.51.100.10", 32), "198.51.100.1 is in no subnet of eno1, so it cannot be reached", 9},
	"a rule for everything":              {one("ethernet", "eno1", "", "", "route-rules:\n  config:\n  - {ip-from: 0.0.0.0/0, route-table: 555}\n"), "a routing rule for all packets", 12},
	"a rule without a subnet":            {one("ethernet", "eno1", "", "", "route-rules:\n  config:\n  - {route-table: 555}\n"), "a routing rule for all packets", 12},
	"half of everything":                 {one("ethernet", "eno1", "", "", "  - {destination: 128.0.0.0/1, next-hop-address: 198.51.100.9, next-hop-interface: eno1}\n"), "goes before the networks inside of the node", 10},
	"before all others":                  {one("ethernet", "eno1", "", "", "  - {destination: 203.0.113.0/24, next-hop-address: 198.51.100.9, next-hop-interface: eno1, table-id: 255}\n"), "the table of the node's own addresses", 10},
	"routes that go":                     {one("ethernet", "eno1", "", "", "  - {state: absent, next-hop-interface: eno1}\n"), "would remove more than one route", 10},
	"802.1X on what leads out":           {port("  802.1x: {identity: a, eap-methods: [peap], password: x}\n"), "a boot makes it without 802.1X", 5},
	"802.1X by DHCP":                     {"interfaces:\n- {name: eno1, type: ethernet, state: up, 802.1x: {identity: a}, ipv4: {enabled: true, dhcp: true}}\n", "a boot makes it without 802.1X", 2},
	"a fixed speed":                      {port("  ethernet: {auto-negotiation: 'no', speed: 1000, duplex: full}\n"), "a boot makes it without a fixed speed", 5},
	"a fixed speed without the word":     {port("  ethernet: {speed: 1000, duplex: full}\n"), "a boot makes it without a fixed speed", 5},
	"a VLAN of a provider":               {one("vlan", "v1", "  vlan: {base-iface: eno1, id: 7, protocol: 802.1ad}\n", "", ""), "a boot makes it a VLAN by 802.1Q", 5},
	"a VLAN that tells the switch":       {one("vlan", "v1", "  vlan: {base-iface: eno1, id: 7, registration-protocol: mvrp}\n", "", ""), "without telling the switch", 5},
	"a part of another kind":             {port("  vlan: 7\n"), "interfaces[0].vlan is one value", 5},
	"a secret that is a number":          {port("  802.1x: {identity: a, password: 123456}\n"), "interfaces[0].802.1x.password is not a text", 5},
	"a key of nobody":                    {port("  colour: blue\n"), "interfaces[0] has a key that", 5},
	"a name for scripts":                 {one("ethernet", "\"$(id)\"", "", "", ""), "scripts of the node would not read", 2},
	"a certificate of another folder":    {port("  802.1x: {private-key: /etc/pki/../shadow}\n"), "interfaces[0].802.1x.private-key is not", 5},
}

// accepted are documents that a site may need.
var accepted = map[string]string{
	"a port":                          port(""),
	"DHCP":                            dynamic("enabled: true, dhcp: true"),
	"in quotes, as nmstate":           dynamic("enabled: 'true', dhcp: 'yes', auto-route-metric: '50'"),
	"a length in quotes":              strings.Replace(port(""), "prefix-length: 24", "prefix-length: '24'", 1),
	"a bond":                          bond(twoPorts+", options: {primary: eno2, miimon: 100}", "- {name: eno1, type: ethernet, state: up, ipv4: {enabled: false}}\n"),
	"a bond by its settings":          bond("mode: active-backup, ports-config: [{name: eno1, priority: -1}, {name: eno2, priority: 2}]", ""),
	"a direct route without a length": strings.Replace(addressed("198.51.100.10", 32), "  config:\n", "  config:\n  - {destination: 198.51.100.1, next-hop-interface: eno1}\n", 1),
	"802.1X on a bond's ports":        bond(twoPorts, "- {name: eno1, type: ethernet, state: up, 802.1x: {identity: a, eap-methods: [peap], password: x}, ethernet: {auto-negotiation: false, speed: 1000, duplex: full}}\n"),
	"802.1X below a VLAN":             vlan("7", "- {name: eno1, type: ethernet, state: up, 802.1x: {identity: a, eap-methods: [peap], password: x}}\n"),
	"802.1X beside":                   one("ethernet", "eno1", "", "- {name: eno2, type: ethernet, state: up, 802.1x: {identity: a, eap-methods: [peap], password: x}}\n", ""),
	"what nmstate shows":              port("  ethernet: {auto-negotiation: true, speed: 1000, duplex: full}\n  ethtool: {feature: {rx-gro: true}}\n"),
	"a VLAN as nmstate shows it":      one("vlan", "v1", "  vlan: {base-iface: eno1, id: 7, protocol: 802.1Q, registration-protocol: none}\n", "", ""),
	"a bond by number":                bond("mode: 1, port: [eno1, eno2]", ""),
	"the older name of ports":         bond("mode: 802.3ad, ports: [eno1, eno2]", ""),
	"a VLAN":                          vlan("4094", "- {name: eno1, type: ethernet, state: up, mtu: 9000}\n"),
	"a VLAN of an open base":          vlan("7", ""),
	"a bond that goes":                bond(twoPorts, "- {name: bond1, type: bond, state: absent, link-aggregation: {mode: active-backup, port: [eno2]}}\n"),
	"by its MAC address":              strings.ReplaceAll(port("  identifier: mac-address\n  mac-address: 52:54:00:12:34:56\n"), "eno1", "the-port-of-the-cashier"),
	"a gateway with its route":        strings.Replace(addressed("198.51.100.10", 32), "  config:\n", "  config:\n  - {destination: 198.51.100.1/32, next-hop-interface: eno1}\n", 1),
	"a route beside":                  one("ethernet", "eno1", "", "", "  - {destination: 192.0.2.0/24, next-hop-address: 198.51.100.9, next-hop-interface: eno1, table-id: 77}\nroute-rules:\n  config:\n  - {ip-from: 192.0.2.7/32, route-table: 77}\n"),
	"a site without a router":         strings.Split(port(""), "dns-resolver")[0],
	"its own way beside DHCP":         dynamic("enabled: true, dhcp: true, auto-gateway: false") + "routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 203.0.113.1, next-hop-interface: eno1}]}\n",
	"a router of IPv6":                "interfaces:\n- {name: eno1, type: ethernet, state: up, ipv6: {enabled: true, dhcp: false, address: [{ip: '2001:db8::10', prefix-length: 64}]}}\nroutes: {config: [{destination: '::/0', next-hop-address: 'fe80::1', next-hop-interface: eno1}]}\n",
	"a service processor":             one("ethernet", "eno1", "", "- {name: eno2, type: ethernet, state: up, ipv4: {enabled: true, address: [{ip: 169.254.200.2, prefix-length: 24}]}}\n", ""),
	"what is down is free":            one("ethernet", "eno1", "", "- {name: eno2, type: ethernet, state: down, mtu: 68, ipv4: {enabled: true, address: [{ip: 198.51.100.10, prefix-length: 24}]}}\n", ""),
}

func judged(t *testing.T, text string) []netconfig.Fault {
	t.Helper()
	d, err := netconfig.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return netconfig.Judge([]byte(text), d)
}

// TestJudge: each document is refused with the place, the line and what to do; good ones are not.
func TestJudge(t *testing.T) {
	for name, c := range refused {
		t.Run(name, func(t *testing.T) {
			faults := judged(t, c.text)
			for _, f := range faults {
				if f.Line == c.line && strings.Contains(f.Text.String(), c.says) && f.Fix.String() != "" {
					return
				}
			}
			t.Errorf("says %v of\n%s", faults, c.text)
		})
	}
	for name, text := range accepted {
		t.Run(name, func(t *testing.T) {
			if faults := judged(t, text); len(faults) > 0 {
				t.Errorf("says %v of\n%s", faults, text)
			}
		})
	}
}

// TestDoubts: what lies in networks that a cluster usually has is a warning, wherever the document says it.
func TestDoubts(t *testing.T) {
	for name, c := range map[string]struct {
		text, says string
		line       int
	}{
		"pods":            {strings.ReplaceAll(port(""), "198.51.100.", "10.128.0."), "the subnet 10.128.0.0/24 overlaps the cluster's network 10.128.0.0/14", 5},
		"services":        {strings.ReplaceAll(port(""), "198.51.100.", "172.30.0."), "overlaps the services' network", 5},
		"OVN's join":      {strings.ReplaceAll(port(""), "198.51.100.", "100.64.0."), "overlaps the OVN join network", 5},
		"a route":         {one("ethernet", "eno1", "", "", "  - {destination: 10.128.0.0/14, next-hop-address: 198.51.100.2, next-hop-interface: eno1}\n"), "10.128.0.0/14 overlaps", 10},
		"a rule":          {one("ethernet", "eno1", "", "", "route-rules:\n  config:\n  - {ip-to: 169.254.0.5, route-table: 9}\n"), "overlaps the OVN masquerade network", 12},
		"a name server":   {strings.Replace(port(""), "198.51.100.53", "172.30.0.10", 1), "172.30.0.10/32 overlaps", 6},
		"ethtool":         {port("  ethtool: {feature: {rx-gro: true}}\n"), "interfaces[0].ethtool is gone after a boot", 5},
		"a VLAN's queues": {one("vlan", "v1", "  vlan:\n    base-iface: eno1\n    id: 7\n    egress-qos-map: [{from: 1, to: 2}]\n", "", ""), "egress-qos-map is gone after a boot", 8},
		"a port's beside": {one("ethernet", "eno1", "", "- {name: eno2, type: ethernet, state: up, ethtool: {feature: {rx-gro: true}}}\n", ""), "", 0},
		"none":            {port(""), "", 0},
		"none, by DHCP":   {dynamic("enabled: true, dhcp: true"), "", 0},
		"an MTU of 1400":  {port("  mtu: 1400\n"), "the MTU is less than the 1458 bytes", 5},
		"an MTU below":    {one("vlan", "v1", "  vlan: {base-iface: eno1, id: 7}\n", "- {name: eno1, type: ethernet, state: up, mtu: 1400}\n", ""), "the MTU is less than the 1458 bytes", 2},
		"an MTU beside":   {one("ethernet", "eno1", "", "- {name: eno2, type: ethernet, state: up, mtu: 1400}\n", ""), "", 0},
		"an MTU of 1458":  {port("  mtu: 1458\n"), "", 0},
		"the whole of 10": {strings.Replace(strings.ReplaceAll(port(""), "198.51.100.", "10.9.0."), "prefix-length: 24", "prefix-length: 8", 1), "the subnet 10.0.0.0/8 overlaps", 5},
		"the first of 2":  {strings.Replace(addressed("198.51.100.10", 31), "100.1,", "100.11,", 1), "pods get no answers from 198.51.100.11, the other address of 198.51.100.10/31, which their network takes", 5},
		"the last of 2":   {strings.Replace(addressed("198.51.100.11", 31), "100.1,", "100.10,", 1), "", 0},
		"2, not outwards": {one("ethernet", "eno1", "", "- {name: eno2, type: ethernet, state: up, ipv4: {enabled: true, address: [{ip: 192.0.2.0, prefix-length: 31}]}}\n", ""), "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := netconfig.Parse([]byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			doubts := netconfig.Doubts([]byte(c.text), d)
			switch {
			case c.says == "" && len(doubts) == 0:
			case c.says != "" && len(doubts) > 0 && doubts[0].Line == c.line && strings.Contains(doubts[0].Text.String(), c.says):
			default:
				t.Errorf("says %v", doubts)
			}
			if faults := judged(t, c.text); len(faults) > 0 {
				t.Errorf("is refused: %v", faults)
			}
		})
	}
}

// TestLargerRoutes: in the main table a route to a larger network than that of the pods raises no doubt. One to a part of it does, and in
// another table each.
func TestLargerRoutes(t *testing.T) {
	for route, doubted := range map[string]bool{
		"{destination: 10.0.0.0/8, next-hop-address: 198.51.100.9, next-hop-interface: eno1}":                false,
		"{destination: 10.0.0.0/8, next-hop-address: 198.51.100.9, next-hop-interface: eno1, table-id: 200}": true,
		"{destination: 10.128.0.0/14, next-hop-address: 198.51.100.9, next-hop-interface: eno1}":             true,
		"{destination: 172.16.0.0/12, next-hop-address: 198.51.100.9, next-hop-interface: eno1}":             false,
		"{destination: 100.64.0.0/10, next-hop-address: 198.51.100.9, next-hop-interface: eno1}":             true,
	} {
		text := one("ethernet", "eno1", "", "", "  - "+route+"\n")
		d, err := netconfig.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if faults := netconfig.Judge([]byte(text), d); len(faults) > 0 {
			t.Fatalf("%s: %v", route, faults)
		}
		if doubts := netconfig.Doubts([]byte(text), d); (len(doubts) > 0) != doubted {
			t.Errorf("%s: %v", route, doubts)
		}
	}
}

// TestRenamePrimary: the primary port of a bond is renamed with the ports.
func TestRenamePrimary(t *testing.T) {
	d, err := netconfig.Parse([]byte(bond("mode: active-backup, port: [left, right], options: {primary: left}", "")))
	if err != nil {
		t.Fatal(err)
	}
	d.Rename(func(name string) string { return strings.Replace(name, "left", "ens1f0", 1) })
	if faults := netconfig.Judge(nil, d); len(faults) > 0 {
		t.Error(faults)
	}
}

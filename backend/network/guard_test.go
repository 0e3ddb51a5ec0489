package network

import (
	"encoding/json"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"touchdown/backend/host"
	"touchdown/backend/netconfig"
)

// busy is a node on which the cluster runs: with OVN's bridges and routes, the interfaces of pods, and a VLAN of another program.
func busy(t testing.TB) *Current {
	t.Helper()
	now := factoryOf(t)
	var live map[string]any
	if err := json.Unmarshal(now.live, &live); err != nil {
		t.Fatal(err)
	}
	ovs := map[string]any{"fail-mode": "secure"}
	live["interfaces"] = append(live["interfaces"].([]any),
		map[string]any{"name": "br-int", "type": "ovs-bridge", "state": "up", "bridge": map[string]any{"options": ovs, "port": []any{map[string]any{"name": "ovn-k8s-mp0"}}}},
		map[string]any{"name": "ovn-k8s-mp0", "type": "ovs-interface", "state": "up", "ipv4": map[string]any{"enabled": true, "address": []any{map[string]any{"ip": "10.128.0.2", "prefix-length": 23}}}},
		map[string]any{"name": "3f1c2a9d8e7b6a5", "type": "veth", "state": "ignore", "veth": map[string]any{"peer": "eth0"}},
		map[string]any{"name": "docker0", "type": "linux-bridge", "state": "up", "bridge": map[string]any{"port": []any{}}},
	)
	routes := []any{}
	for destination, over := range map[string]string{"10.128.0.0/14": "ovn-k8s-mp0", "169.254.0.1/32": "br-ex", "172.30.0.0/16": "br-ex"} {
		routes = append(routes, map[string]any{"destination": destination, "next-hop-interface": over, "next-hop-address": "169.254.0.4", "metric": 0, "table-id": 254})
	}
	live["routes"] = map[string]any{"running": routes, "config": routes}
	text, err := json.Marshal(live)
	if err != nil {
		t.Fatal(err)
	}
	s, err := parseState(text)
	if err != nil {
		t.Fatal(err)
	}
	now = understand(now.Seen, s, node{own: host.DefaultOwn})
	now.Macs = map[string]string{"aa:00:00:00:00:01": "enp1s0", "aa:00:00:00:00:02": "enp2s0"}
	return now
}

func another(name, kind, more string) string {
	return strings.Replace(siteDocument(""), "routes:", "- name: "+name+"\n  type: "+kind+"\n  state: up\n"+more+"routes:", 1)
}

// beside is a document with one more interface.
func beside(text, more string) string {
	return strings.Replace(text, "routes:", "- "+more+"\nroutes:", 1)
}

// sameOn is a document with its address on the other port, too, which begins like that.
func sameOn(begin string) string {
	return beside(siteDocument(""), "{name: enp2s0, type: ethernet, "+begin+" address: [{ip: 198.51.100.10, prefix-length: 24}]}}")
}

// before is a document of sameOn with the other port first.
func before(text string) string {
	at, end := strings.Index(text, "- {name: enp2s0"), strings.Index(text, "routes:")
	return strings.Replace(text[:at]+text[end:], "interfaces:\n", "interfaces:\n"+text[at:end], 1)
}

func withRoute(route string) string {
	return strings.Replace(siteDocument(""), "config: [{destination", "config: [{"+route+"}, {destination", 1)
}

func withRule(rule string) string {
	return siteDocument("") + "route-rules: {config: [{" + rule + "}]}\n"
}

func named(servers string) string {
	return strings.Replace(siteDocument(""), "[198.51.100.53]", "["+servers+"]", 1)
}

func addressedBy(ip string) string {
	return strings.Replace(siteDocument(""), "{ip: 198.51.100.10, prefix-length: 24", "{ip: "+ip, 1)
}

// harmful are documents that would change what is not a site's.
var harmful = map[string]string{
	"a VLAN on itself":                   carrying("v1", "  type: vlan\n  vlan: {base-iface: v1, id: 7}\n"),
	"two VLANs on each other":            beside(carrying("v1", "  type: vlan\n  vlan: {base-iface: v2, id: 7}\n"), "{name: v2, type: vlan, state: up, vlan: {base-iface: v1, id: 8}}"),
	"a bond of itself":                   carrying("b1", "  type: bond\n  link-aggregation: {mode: active-backup, port: [b1]}\n"),
	"a bond of nothing":                  carrying("b1", "  type: bond\n  link-aggregation: {mode: active-backup, port: []}\n"),
	"VLAN 0":                             carrying("v1", "  type: vlan\n  vlan: {base-iface: enp1s0, id: 0}\n"),
	"VLAN 4095":                          carrying("v1", "  type: vlan\n  vlan: {base-iface: enp1s0, id: 4095}\n"),
	"a VLAN called as a port":            carrying("enp2s0", "  type: vlan\n  vlan: {base-iface: enp1s0, id: 7}\n"),
	"a MAC address of a group":           siteDocument("  mac-address: \"01:00:5e:00:00:01\"\n"),
	"a default route before all others":  withRoute("destination: 0.0.0.0/0, next-hop-interface: enp1s0, next-hop-address: 198.51.100.1, table-id: 255"),
	"itself as its gateway":              strings.Replace(siteDocument(""), "198.51.100.1}", "198.51.100.10}", 1),
	"its internal address as a gateway":  strings.Replace(siteDocument(""), "198.51.100.1}", "192.168.127.10}", 1),
	"itself as its name server":          strings.Replace(siteDocument("  ipv6: {enabled: true, address: [{ip: \"2001:DB8:0::10\", prefix-length: 64}]}\n"), "[198.51.100.53]", "[\"2001:db8::10\"]", 1),
	"DHCP on a port that goes":           "interfaces:\n- {name: enp1s0, type: ethernet, state: absent, ipv4: {enabled: true, dhcp: true}}\n",
	"DHCP of a family that is off":       "interfaces:\n- {name: enp1s0, type: ethernet, state: up, ipv4: {enabled: false, dhcp: true}}\n",
	"an address of a family that is off": "interfaces:\n- {name: enp1s0, type: ethernet, state: up, ipv4: {enabled: false, address: [{ip: 198.51.100.10, prefix-length: 24}]}}\n",
	"an address of no network":           strings.ReplaceAll(siteDocument(""), "198.51.100.", "0.1.2."),
	"a reserved address":                 strings.ReplaceAll(siteDocument(""), "198.51.100.", "240.1.2."),
	"br-ex as the port of a bridge":      another("enp2s0", "linux-bridge", "  bridge: {port: [{name: br-ex}]}\n"),
	"br-ex as the port of a bond":        another("bond7", "bond", "  link-aggregation: {mode: active-backup, port: [br-ex]}\n"),
	"a VLAN on br-ex":                    another("v7", "vlan", "  vlan: {base-iface: br-ex, id: 7}\n"),
	"br-ex itself":                       another("br-ex", "ovs-interface", "  ipv4: {enabled: false}\n"),
	"br-ex as a VLAN":                    another("br-ex", "vlan", "  vlan: {base-iface: enp2s0, id: 7}\n"),
	"br-int as a VLAN":                   another("br-int", "vlan", "  vlan: {base-iface: enp2s0, id: 7}\n"),
	"another's bridge as a VLAN":         another("docker0", "vlan", "  vlan: {base-iface: enp2s0, id: 7}\n"),
	"a pod's interface":                  another("3f1c2a9d8e7b6a5", "ethernet", "  ipv4: {enabled: false}\n"),
	"a pod's interface in a bond":        another("bond7", "bond", "  link-aggregation: {mode: active-backup, port: [3f1c2a9d8e7b6a5]}\n"),
	"OVN's interface":                    another("ovn-k8s-mp0", "ethernet", "  mtu: 1400\n"),
	"another's bridge goes":              strings.Replace(another("docker0", "vlan", ""), "state: up\nroutes", "state: absent\nroutes", 1),
	"loopback goes":                      strings.Replace(another("lo", "loopback", ""), "state: up\nroutes", "state: absent\nroutes", 1),
	"its MAC address from br-ex":         siteDocument("  copy-mac-from: br-ex\n"),
	"its controller":                     siteDocument("  controller: br-ex\n"),
	"a script as root":                   siteDocument("  dispatch: {post-activation: touch /owned}\n"),
	"Open vSwitch's database":            siteDocument("") + "ovs-db: {external_ids: {a: b}}\n",
	"the port twice":                     another("enp1s0", "ethernet", "  ipv4: {enabled: false}\n"),
	"no forwarding":                      strings.Replace(siteDocument(""), "dhcp: false", "dhcp: false, forwarding: false", 1),
	"all routes of br-ex go":             withRoute("state: absent, next-hop-interface: br-ex"),
	"all routes of the port go":          withRoute("state: absent, next-hop-interface: enp1s0"),
	"a route of OVN goes":                withRoute("state: absent, destination: 172.30.0.0/16, next-hop-interface: enp1s0"),
	"a route of OVN goes, by name":       withRoute("state: absent, destination: 10.128.0.0/14, next-hop-interface: ovn-k8s-mp0"),
	"all routes go":                      withRoute("state: absent"),
	"a route to the node itself":         withRoute("destination: 192.168.127.0/25, next-hop-interface: enp1s0, next-hop-address: 198.51.100.9"),
	"a route to the services":            withRoute("destination: 172.30.0.0/16, next-hop-interface: enp1s0, next-hop-address: 198.51.100.9"),
	"a route around them, elsewhere":     withRoute("destination: 172.16.0.0/12, next-hop-interface: enp1s0, next-hop-address: 198.51.100.9, table-id: 200"),
	"a route to OVN's join network":      withRoute("destination: 100.64.0.0/10, next-hop-interface: enp1s0, next-hop-address: 198.51.100.9"),
	"a route to OVN before 4.17":         withRoute("destination: 169.254.169.0/28, next-hop-interface: enp1s0, next-hop-address: 198.51.100.9"),
	"half of everything":                 withRoute("destination: 128.0.0.0/1, next-hop-interface: enp1s0, next-hop-address: 198.51.100.9"),
	"all rules go":                       withRule("state: absent"),
	"a rule for everything":              withRule("priority: 5, route-table: 77"),
	"a rule for the node itself":         withRule("priority: 5, route-table: 77, ip-from: 192.168.127.10/32"),
	"a rule to everything":               withRule("priority: 5, route-table: 77, ip-to: 0.0.0.0/0"),
	"a rule for packets of OVN":          withRule("priority: 5, route-table: 77, ip-from: 198.51.100.10/32, fwmark: 1"),
	"services are dropped":               withRule("priority: 5, action: blackhole, ip-to: 172.30.0.0/16"),
	"pods' packets are dropped":          withRule("priority: 5, action: prohibit, ip-from: 100.64.0.0/16"),
	"services are dropped, by route":     withRoute("destination: 172.30.0.0/16, route-type: blackhole"),
	"half of all is dropped":             withRoute("destination: 0.0.0.0/1, route-type: unreachable"),
	"all is dropped":                     withRoute("destination: 0.0.0.0/0, route-type: blackhole, metric: 1"),
	"all is dropped, in a table":         withRoute("destination: 0.0.0.0/0, route-type: blackhole, table-id: 77"),
	"the node is dropped":                withRule("priority: 5, action: blackhole, ip-from: 198.51.100.10/32"),
	"the node is dropped, by route":      withRoute("destination: 198.51.100.10/32, route-type: prohibit"),
	"the internal address, again":        another("enp2s0", "ethernet", "  ipv4: {enabled: true, dhcp: false, address: [{ip: 192.168.127.10, prefix-length: 24}]}\n"),
	"the cluster's DNS asks itself":      named("172.30.0.10"),
	"the node asks itself":               named("198.51.100.10"),
	"it asks its internal address":       named("192.168.127.10"),
	"it asks its loopback":               named("127.0.0.1"),
	"it asks nobody":                     named("0.0.0.0"),
	"four name servers":                  named("198.51.100.53, 198.51.100.54, 198.51.100.55, 198.51.100.56"),
	"loopback as an address":             addressedBy("127.0.0.1, prefix-length: 8"),
	"multicast as an address":            addressedBy("224.0.0.5, prefix-length: 24"),
	"no address at all":                  addressedBy("0.0.0.0, prefix-length: 8"),
	"a broadcast address":                addressedBy("198.51.100.255, prefix-length: 24"),
	"a subnet as an address":             addressedBy("198.51.100.0, prefix-length: 24"),
	"OVN does not start":                 siteDocument("  mtu: 1400\n"),
	"OVN does not start on a VLAN":       strings.Replace(rawVLAN, "id: 7", "id: 7}\n  mtu: 1400\n#", 1),
	"a command as a name":                another("\"$(id)\"", "vlan", "  vlan: {base-iface: enp1s0, id: 9}\n"),
	"an option as a name":                another("\"-x\"", "vlan", "  vlan: {base-iface: enp1s0, id: 9}\n"),
	"a pattern as a name":                another("\"*\"", "vlan", "  vlan: {base-iface: enp1s0, id: 9}\n"),
	"the settings of all ports":          another("all", "vlan", "  vlan: {base-iface: enp1s0, id: 9}\n"),
	"a second bridge of OVN":             another("br-ex1", "vlan", "  vlan: {base-iface: enp1s0, id: 9}\n"),
	"the address of another port":        another("enp2s0", "ethernet", "  ipv4: {enabled: true, dhcp: false, address: [{ip: 198.51.100.10, prefix-length: 24}]}\n"),
	"an address that ends":               addressedBy("198.51.100.10, prefix-length: 24, valid-life-time: 60sec, preferred-life-time: 60sec"),
	"the broadcast address as a gateway": strings.Replace(siteDocument(""), "198.51.100.1}", "198.51.100.255}", 1),
	"a subnet as a gateway":              strings.Replace(siteDocument(""), "198.51.100.1}", "198.51.100.0}", 1),
	"loopback as a gateway":              strings.Replace(siteDocument(""), "198.51.100.1}", "127.0.0.1}", 1),
	"multicast as a gateway":             strings.Replace(siteDocument(""), "198.51.100.1}", "224.0.0.1}", 1),
	"a file of the machine":              siteDocument("  802.1x: {identity: a, eap-methods: [tls], private-key: /etc/pki/../shadow}\n"),
	"the machine's environment":          siteDocument("  802.1x: {identity: a, eap-methods: [tls], private-key: /proc/self/environ}\n"),
}

// harmless are documents that a site may need.
var harmless = map[string]string{
	"a bond below a VLAN":             beside(carrying("b1.7", "  type: vlan\n  vlan: {base-iface: b1, id: 7}\n"), "{name: b1, type: bond, state: up, link-aggregation: {mode: active-backup, port: [enp1s0, enp2s0]}}"),
	"a route around the services":     withRoute("destination: 172.16.0.0/12, next-hop-interface: enp1s0, next-hop-address: 198.51.100.9"),
	"a static address":                siteDocument(""),
	"the internal address":            strings.Replace(siteDocument(""), "prefix-length: 24}", "prefix-length: 24}, {ip: 192.168.127.10, prefix-length: 24}", 1),
	"the internal address as a /32":   strings.Replace(siteDocument(""), "[{ip: 198.51.100.10, prefix-length: 24}", "[{ip: 198.51.100.10, prefix-length: 24}, {ip: 192.168.127.10, prefix-length: 32}", 1),
	"the subnet of the installation":  another("enp2s0", "ethernet", "  ipv4: {enabled: true, dhcp: false, address: [{ip: 192.168.127.20, prefix-length: 24}]}\n"),
	"DHCP":                            "interfaces:\n- name: enp1s0\n  type: ethernet\n  state: up\n  ipv4: {enabled: true, dhcp: true}\n",
	"the other port":                  strings.ReplaceAll(siteDocument(""), "enp1s0", "enp2s0"),
	"a VLAN":                          rawVLAN,
	"a bond":                          carrying("bond0", "  type: bond\n  link-aggregation: {mode: active-backup, port: [enp1s0, enp2s0], options: {miimon: 100}}\n"),
	"storage beside":                  another("enp2s0", "ethernet", "  mtu: 9000\n  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.9.0.10, prefix-length: 24}]}\n"),
	"a VLAN beside":                   another("enp1s0.9", "vlan", "  vlan: {base-iface: enp1s0, id: 9}\n  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.9.0.10, prefix-length: 24}]}\n"),
	"a route of the site":             withRoute("destination: 10.20.0.0/16, next-hop-interface: enp1s0, next-hop-address: 198.51.100.9"),
	"a route that goes":               withRoute("state: absent, destination: 10.20.0.0/16, next-hop-interface: enp1s0"),
	"a route that drops others":       withRoute("destination: 192.0.2.0/24, route-type: unreachable"),
	"a rule for the site":             withRule("priority: 5, route-table: 77, ip-from: 10.9.0.10/32"),
	"802.1x":                          bondOf("  802.1x: {identity: a, eap-methods: [peap], phase2-auth: mschapv2, password: sesame}\n"),
	"802.1x by certificate":           bondOf("  802.1x: {identity: a, eap-methods: [tls], private-key: /etc/pki/site/a.key, client-cert: /etc/pki/site/a.crt, private-key-password: x}\n"),
	"a port of the service processor": another("enp2s0", "ethernet", "  ipv4: {enabled: true, dhcp: false, address: [{ip: 169.254.200.2, prefix-length: 24}]}\n"),
	"a link-local address of IPv6":    siteDocument("  ipv6: {enabled: true, address: [{ip: \"fe80::1\", prefix-length: 64}]}\n"),
	"a lease as nmstate shows it":     "interfaces:\n- name: enp1s0\n  type: ethernet\n  state: up\n  ipv4: {enabled: true, dhcp: true, address: [{ip: 198.51.100.10, prefix-length: 24, valid-life-time: 60sec}]}\n",
	"an address of a family off":      sameOn("state: up, ipv4: {enabled: false,"),
	"one that ends, of a family off":  strings.Replace(sameOn("state: up, ipv4: {enabled: false,"), "24}]}}", "24, valid-life-time: 60sec}]}}", 1),
	"an address of a port down":       sameOn("state: down, ipv4: {enabled: true,"),
	"an address that moves":           beside(siteDocument(""), "{name: enp1s0.7, type: vlan, state: absent, vlan: {base-iface: enp1s0, id: 7}, ipv4: {enabled: true, address: [{ip: 198.51.100.10, prefix-length: 24}]}}"),
	"a lease that becomes fixed":      sameOn("state: up, ipv4: {enabled: true, dhcp: true,"),
	"the same in the other order":     before(sameOn("state: up, ipv4: {enabled: true, dhcp: true,")),
	"an address for ever":             addressedBy("198.51.100.10, prefix-length: 24, valid-life-time: forever"),
	"a gateway on the cable":          strings.Replace(withRoute("destination: \"::/0\", next-hop-interface: enp1s0, next-hop-address: \"fe80::1\""), "  ipv4:", "  ipv6: {enabled: true, address: [{ip: \"2001:db8::10\", prefix-length: 64}]}\n  ipv4:", 1),
	"a route over the port alone":     withRoute("destination: 10.20.0.0/16, next-hop-interface: enp1s0, next-hop-address: 0.0.0.0"),
	"the same on each cable":          beside(siteDocument("  ipv6: {enabled: true, address: [{ip: \"fe80::1\", prefix-length: 64}]}\n"), "{name: enp2s0, type: ethernet, state: up, ipv6: {enabled: true, address: [{ip: \"fe80::1\", prefix-length: 64}]}}"),
	"an MTU that is enough":           siteDocument("  mtu: 1458\n"),
	"several name servers":            strings.Replace(siteDocument(""), "[198.51.100.53]", "[198.51.100.53, 198.51.100.54], search: [site.example]", 1),
}

// TestRoutesThatDrop: over an interface or not, none takes the place of the default route or of the subnet of an address that is leased.
func TestRoutesThatDrop(t *testing.T) {
	lease := &state{Interfaces: []iface{{Name: "enp1s0", IPv4: &family{Enabled: true, Address: []address{{IP: "203.0.113.7", Prefix: 24, Valid: "3600sec"}}}}}}
	for name, c := range map[string]struct {
		r    route
		fine bool
	}{
		"the leased subnet":        {route{Destination: "203.0.113.0/24", Interface: "enp1s0"}, false},
		"a part of it":             {route{Destination: "203.0.113.0/28"}, false},
		"the address":              {route{Destination: "203.0.113.7/32"}, false},
		"half of everything":       {route{Destination: "128.0.0.0/1"}, false},
		"pods":                     {route{Destination: "100.64.0.0/16"}, false},
		"no subnet":                {route{Destination: "x"}, false},
		"more, in another table":   {route{Destination: "203.0.0.0/16", Table: 77}, false},
		"more, in the main table":  {route{Destination: "203.0.0.0/16"}, true},
		"others":                   {route{Destination: "192.0.2.0/24"}, true},
		"others over an interface": {route{Destination: "192.0.2.0/24", Interface: "enp1s0"}, true},
	} {
		c.r.Type = "blackhole"
		changed := &changes{Routes: &routes{Config: []route{c.r}}}
		if err := changed.routing(&Plan{Carrier: "enp1s0", now: &Current{Seen: &state{}}}, &state{}, lease); (err == nil) != c.fine {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestADocumentChangesTheSitesOwn: by what nmstate would change on a node where the cluster runs.
func TestADocumentChangesTheSitesOwn(t *testing.T) {
	now := busy(t)
	facts := Facts{Now: now, Ports: []Port{{Name: "enp1s0"}, {Name: "enp2s0"}}, Reserved: append([]Reserved{{Name: netconfig.OfServices, Prefix: netip.MustParsePrefix("172.30.0.0/16")}}, OVNDefaults...), LeastMTU: LeastMTU(1400, false)}
	all := maps.Clone(harmful)
	maps.Copy(all, harmless)
	for name, text := range all {
		t.Run(name, func(t *testing.T) {
			s := Settings{Raw: []byte(text), Own: host.DefaultOwn}
			faults := offline(t).Validate(t.Context(), s, facts)
			if _, bad := harmful[name]; bad && len(faults) == 0 {
				t.Error("is accepted")
			} else if !bad && len(faults) > 0 {
				t.Errorf("is refused: %v", faults)
			}
			for _, f := range faults {
				if strings.Contains(f.Text.String(), "sesame") || f.Path != "spec.networkConfig" {
					t.Errorf("says %+v", f)
				}
			}
		})
	}
}

// TestBondsInOtherWords: a bond is read alike whether its mode is a name or a number, and wherever its ports are named.
func TestBondsInOtherWords(t *testing.T) {
	for _, text := range []string{
		`{"mode": "802.3ad", "port": ["a", "b"]}`, `{"mode": 4, "ports": ["a", "b"]}`, `{"mode": "4", "ports-config": [{"name": "a"}, {"name": "b", "priority": 2}]}`,
		`{"mode": "802.3ad", "port": ["a", "b"], "ports-config": [{"name": "b", "priority": 2}]}`,
	} {
		var b bond
		if err := json.Unmarshal([]byte(text), &b); err != nil || b.Mode != "802.3ad" || !slices.Equal(b.Ports, []string{"a", "b"}) {
			t.Errorf("%s: %+v, %v", text, b, err)
		}
	}
}

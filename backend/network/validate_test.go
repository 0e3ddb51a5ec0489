package network

import (
	"net/netip"
	"strings"
	"testing"

	"touchdown/backend/host"
)

func TestValidate(t *testing.T) {
	v6 := netip.MustParseAddr("2001:db8:127::10")
	base := func(change func(*Settings)) Settings {
		s := static()
		change(&s)
		return s
	}
	dual := func(change func(*Settings)) Settings {
		return base(func(s *Settings) {
			s.IPv6 = Family{Method: Static, Address: "2001:db8:51::10", Prefix: 64, Gateway: "2001:db8:51::1"}
			change(s)
		})
	}
	raw := func(text string) Settings { return Settings{Raw: []byte(text)} }
	rawOf := func(own host.Own, more string) Settings {
		return Settings{Own: own, Raw: []byte(strings.Replace(rawVLAN, "- name: enp2s0\n", more+"- name: enp2s0\n", 1))}
	}
	facts := Facts{
		Now: factory(t), Ports: []Port{{Name: "enp1s0"}, {Name: "enp2s0"}},
		LeastMTU: LeastMTU(1400, false),
		Reserved: append([]Reserved{{Name: "the pods'", Prefix: netip.MustParsePrefix("10.128.0.0/14")}, {Name: "the services'", Prefix: netip.MustParsePrefix("172.30.0.0/16")}}, OVNDefaults...),
	}
	for _, c := range []struct {
		name string
		s    Settings
		path string // "" is good
	}{
		{"nothing said", Settings{}, ""},
		{"static", base(func(*Settings) {}), ""},
		{"dual stack", dual(func(*Settings) {}), ""},
		{"gateway of IPv6 is link-local", dual(func(s *Settings) { s.IPv6.Gateway = "fe80::1" }), ""},
		{"DHCP", Settings{IPv4: Family{Method: DHCP}}, ""},
		{"IPv6 alone for a cluster of IPv4", Settings{IPv4: Family{Method: Disabled}, IPv6: Family{Method: Autoconf}}, "network.ipv4.method"},
		{"IPv6 alone", Settings{IPv4: Family{Method: Disabled}, IPv6: Family{Method: Autoconf}, Own: host.Own{v6}}, ""},
		{"IPv6 alone for a cluster of both", Settings{IPv4: Family{Method: Disabled}, IPv6: Family{Method: Autoconf}, Own: host.Own{host.DefaultOwn[0], v6}}, ""},
		{"IPv4 alone for a cluster of IPv6", Settings{IPv4: Family{Method: DHCP}, IPv6: Family{Method: Disabled}, Own: host.Own{v6}}, "network.ipv6.method"},
		{"bond", base(func(s *Settings) { s.Bond = Bond{"802.3ad", []string{"enp1s0", "enp2s0"}}; s.VLAN = 4094 }), ""},
		{"no such port", base(func(s *Settings) { s.Interface = "eno1" }), "network.interface"},
		{"br-ex as port", base(func(s *Settings) { s.Interface = "br-ex" }), "network.interface"},
		{"bond without port", base(func(s *Settings) { s.Bond.Mode = "active-backup" }), "network.bond.ports"},
		{"bond of a mode that is none", base(func(s *Settings) { s.Bond = Bond{"fast", []string{"enp1s0"}} }), "network.bond.mode"},
		{"bond with a port twice", base(func(s *Settings) { s.Bond = Bond{"active-backup", []string{"enp1s0", "enp1s0"}} }), "network.bond.ports"},
		{"interface beside the bond", base(func(s *Settings) { s.Interface = "enp2s0"; s.Bond = Bond{"active-backup", []string{"enp1s0"}} }), "network.interface"},
		{"VLAN 4095", base(func(s *Settings) { s.VLAN = 4095 }), "network.vlanID"},
		{"MTU 900", base(func(s *Settings) { s.MTU = 900 }), "network.mtu"},
		{"MTU that the pods just fit through", base(func(s *Settings) { s.MTU = 1458 }), ""},
		{"MTU with which OVN does not start", base(func(s *Settings) { s.MTU = 1457 }), "network.mtu"},
		{"leading zero", base(func(s *Settings) { s.IPv4.Address = "198.51.100.010" }), "network.ipv4.address"},
		{"address missing", base(func(s *Settings) { s.IPv4.Address = "" }), "network.ipv4.address"},
		{"IPv6 where IPv4 belongs", base(func(s *Settings) { s.IPv4.Address = "2001:db8::1" }), "network.ipv4.address"},
		{"IPv4 in IPv6", dual(func(s *Settings) { s.IPv6.Address = "::ffff:198.51.100.10" }), "network.ipv6.address"},
		{"loopback", base(func(s *Settings) { s.IPv4.Address = "127.0.0.2" }), "network.ipv4.address"},
		{"link-local", base(func(s *Settings) { s.IPv4 = Family{Static, "169.254.200.2", 24, "169.254.200.1"} }), "network.ipv4.address"},
		{"the subnet's name", base(func(s *Settings) { s.IPv4.Address = "198.51.100.0" }), "network.ipv4.address"},
		{"broadcast", base(func(s *Settings) { s.IPv4.Address = "198.51.100.255" }), "network.ipv4.address"},
		{"no prefix", base(func(s *Settings) { s.IPv4.Prefix = 0 }), "network.ipv4.prefixLength"},
		{"gateway elsewhere", base(func(s *Settings) { s.IPv4.Gateway = "198.51.101.1" }), "network.ipv4.gateway"},
		{"gateway is the node", base(func(s *Settings) { s.IPv4.Gateway = s.IPv4.Address }), "network.ipv4.gateway"},
		{"no gateway", base(func(s *Settings) { s.IPv4.Gateway = "" }), ""},
		{"name server behind no gateway", base(func(s *Settings) { s.IPv4.Gateway = ""; s.DNS = []string{"203.0.113.53"} }), "network.dnsServers"},
		{"pods' network", base(func(s *Settings) { s.IPv4 = Family{Static, "10.129.0.10", 24, "10.129.0.1"} }), "network.ipv4.address"},
		{"around the services' network", base(func(s *Settings) { s.IPv4 = Family{Static, "172.16.0.10", 12, "172.16.0.1"} }), "network.ipv4.address"},
		{"subnet of the installation", base(func(s *Settings) { s.IPv4 = Family{Static, "192.168.127.20", 24, "192.168.127.1"} }), ""},
		{"gateway at the node's own address", base(func(s *Settings) { s.IPv4 = Family{Static, "192.168.127.20", 24, "192.168.127.10"} }), "network.ipv4.gateway"},
		{"OVN's network", base(func(s *Settings) { s.IPv4 = Family{Static, "100.64.3.4", 24, "100.64.3.1"} }), "network.ipv4.address"},
		{"any router as gateway", base(func(s *Settings) { s.IPv6 = Family{Static, "2001:db8:51::10", 64, "2001:db8:51::"} }), ""},
		{"the routers' address", base(func(s *Settings) { s.IPv6 = Family{Static, "2001:db8:51::", 64, "fe80::1"} }), "network.ipv6.address"},
		{"an address of two", base(func(s *Settings) { s.IPv6 = Family{Static, "2001:db8:51::", 127, "2001:db8:51::1"} }), ""},
		{"the routers' address in nmstate", raw(strings.Replace(rawVLAN, "routes:", "  ipv6: {enabled: true, dhcp: false, autoconf: false, address: [{ip: '2001:db8:51::', prefix-length: 64}]}\nroutes:", 1)), "networkConfig"},
		{"addresses that are not to be", raw(strings.Replace(rawVLAN, "routes:", "- {name: enp1s0, type: ethernet, state: absent, ipv4: {enabled: true, dhcp: false, address: [{ip: 198.51.100.1, prefix-length: 24}, {ip: 10.128.0.9, prefix-length: 16}]}}\nroutes:", 1)), ""},
		{"autoconf in IPv4", Settings{IPv4: Family{Method: Autoconf}}, "network.ipv4.method"},
		{"both families off", Settings{IPv4: Family{Method: Disabled}, IPv6: Family{Method: Disabled}}, "network.ipv4.method"},
		{"no name server", base(func(s *Settings) { s.DNS = nil }), ""},
		{"four name servers", base(func(s *Settings) { s.DNS = []string{"198.51.100.1", "198.51.100.2", "198.51.100.3", "198.51.100.4"} }), "network.dnsServers"},
		{"a name as name server", base(func(s *Settings) { s.DNS = []string{"dns.example"} }), "network.dnsServers"},
		{"name server of a family that is off", base(func(s *Settings) { s.DNS = []string{"2001:db8::53"} }), "network.dnsServers"},
		{"the node as name server", base(func(s *Settings) { s.DNS = []string{"198.51.100.10"} }), "network.dnsServers"},
		{"the cluster's DNS as name server", base(func(s *Settings) { s.DNS = []string{"172.30.0.10"} }), "network.dnsServers"},
		{"a pod as name server", base(func(s *Settings) { s.DNS = []string{"10.128.0.5"} }), "network.dnsServers"},
		{"OVN's router as name server", base(func(s *Settings) { s.DNS = []string{"100.64.0.2"} }), "network.dnsServers"},
		{"the metadata service as name server", base(func(s *Settings) { s.DNS = []string{"169.254.169.254"} }), "network.dnsServers"},
		{"nmstate", raw(rawVLAN), ""},
		{"nmstate with br-ex", raw(strings.ReplaceAll(rawVLAN, "enp2s0.7", "br-ex")), "networkConfig"},
		{"nmstate with an unknown key", raw(rawVLAN + "dns: {}\n"), "networkConfig"},
		{"nmstate without a default route", raw(strings.Replace(rawVLAN, "0.0.0.0/0", "203.0.113.0/24", 1)), ""},
		{"nmstate without a default route, two addresses", raw(twoAddresses), "networkConfig"},
		{"nmstate without a name server", raw(strings.Replace(rawVLAN, "[198.51.100.53]", "[]", 1)), ""},
		{"nmstate with a port that is not there", raw(strings.ReplaceAll(rawVLAN, "enp2s0", "eno2")), "networkConfig"},
		{"nmstate in the pods' network", raw(strings.Replace(rawVLAN, "198.51.100.10", "10.128.0.10", 1)), "networkConfig"},
		{"nmstate of IPv4 alone for a cluster of IPv6", rawOf(host.Own{v6}, "  ipv6: {enabled: false}\n"), "networkConfig"},
		{"nmstate with a link-local address alone for a cluster of IPv6", rawOf(host.Own{v6}, "  ipv6: {enabled: true, dhcp: false, autoconf: false, address: [{ip: 'fe80::9', prefix-length: 64}]}\n"), "networkConfig"},
		{"nmstate of IPv4 alone for a cluster of both", rawOf(host.Own{host.DefaultOwn[0], v6}, "  ipv6: {enabled: false}\n"), ""},
		{"nmstate of both for a cluster of IPv6", rawOf(host.Own{v6}, "  ipv6: {enabled: true, dhcp: true, autoconf: true}\n"), ""},
		{"no YAML", raw("interfaces: ["), "networkConfig"},
		{"a list", raw("- a"), "networkConfig"},
	} {
		t.Run(c.name, func(t *testing.T) {
			faults := offline(t).Validate(t.Context(), c.s, facts)
			if c.path == "" {
				if len(faults) > 0 {
					t.Errorf("refused: %v", faults)
				}
				return
			}
			for _, f := range faults {
				if f.Path == "spec."+c.path && f.Text.String() != "" {
					return
				}
			}
			t.Errorf("faults are %v, want one at %s", faults, c.path)
		})
	}
}

// twoAddresses does not tell which of its ports leads to the site.
const twoAddresses = `
interfaces:
- {name: enp1s0, type: ethernet, state: up, ipv4: {enabled: true, dhcp: false, address: [{ip: 198.51.100.10, prefix-length: 24}]}}
- {name: enp2s0, type: ethernet, state: up, ipv4: {enabled: true, dhcp: false, address: [{ip: 203.0.113.10, prefix-length: 24}]}}
`

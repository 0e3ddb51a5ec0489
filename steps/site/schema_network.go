package site

import "touchdown/backend/netconfig"

// Methods by which a family of addresses is set up. Empty leaves the family unchanged.
const (
	Static   = "static"
	DHCP     = "dhcp"
	Autoconf = "autoconf" // IPv6 only: stateless (RFC 4862), with what the router's announcements say
	Disabled = "disabled"
)

// networkEntries say how the node is reached at its site. Without any of them the network stays unchanged.
var networkEntries = []entry{
	{
		Item:  Item{Path: "spec.network.interface", Type: typeText, Meaning: "port that leads to the site, by name or MAC address; empty: the one in use now", Example: "enp1s0"},
		limit: maxAnswer, check: InterfaceName,
		at: func(c *Config) any { return &c.Spec.Network.Interface },
	},
	{
		Item:  Item{Path: "spec.network.vlanID", Type: typeNumber, Unit: "1 to 4094", Meaning: "VLAN whose tagged frames the port carries; empty: no tag", Example: "100"},
		check: VLANID,
		at:    func(c *Config) any { return &c.Spec.Network.VLANID },
	},
	{
		Item:  Item{Path: "spec.network.bond.mode", Type: typeText, Choices: netconfig.BondModes, Meaning: "bundle several ports; the mode as nmstate writes it", Example: "active-backup"},
		limit: maxAnswer, check: bondMode,
		at: func(c *Config) any { return &c.Spec.Network.Bond.Mode },
	},
	{
		Item:  Item{Path: "spec.network.bond.ports", Type: typeList, Meaning: "ports of the bond, by name or MAC address", Example: "[enp1s0, enp2s0]"},
		limit: maxList, check: BondPorts,
		at: func(c *Config) any { return &c.Spec.Network.Bond.Ports },
	},
	{
		Item:  Item{Path: "spec.network.mtu", Type: typeNumber, Unit: "bytes, 1280 to 9216", Meaning: "largest packet that the site's network carries; empty: unchanged", Example: "1500"},
		check: MTU,
		at:    func(c *Config) any { return &c.Spec.Network.MTU },
	},
	{
		Item:  Item{Path: "spec.network.ipv4.method", Type: typeText, Choices: ipv4Methods, Meaning: "how the node gets its IPv4 address; empty: unchanged", Example: Static},
		limit: maxAnswer, check: ipv4Method,
		at: func(c *Config) any { return &c.Spec.Network.IPv4.Method },
	},
	{
		Item:  Item{Path: "spec.network.ipv4.address", Type: typeText, Meaning: "the node's address at the site", Example: "198.51.100.10"},
		limit: maxAnswer, check: IPv4Address,
		at: func(c *Config) any { return &c.Spec.Network.IPv4.Address },
	},
	{
		Item:  Item{Path: "spec.network.ipv4.prefixLength", Type: typeNumber, Unit: "bits, 8 to 31", Meaning: "size of the site's subnet; where it is typed, a netmask like 255.255.255.0 too", Example: "24"},
		check: IPv4Prefix, tidy: prefixOfNetmask,
		at: func(c *Config) any { return &c.Spec.Network.IPv4.PrefixLength },
	},
	{
		Item:  Item{Path: "spec.network.ipv4.gateway", Type: typeText, Meaning: "router of that subnet, the default route; leave out where there is none", Example: "198.51.100.1"},
		limit: maxAnswer, check: IPv4Gateway,
		at: func(c *Config) any { return &c.Spec.Network.IPv4.Gateway },
	},
	{
		Item:  Item{Path: "spec.network.ipv6.method", Type: typeText, Choices: ipv6Methods, Meaning: "how the node gets its IPv6 address; empty: unchanged", Example: Static},
		limit: maxAnswer, check: ipv6Method,
		at: func(c *Config) any { return &c.Spec.Network.IPv6.Method },
	},
	{
		Item:  Item{Path: "spec.network.ipv6.address", Type: typeText, Meaning: "the node's address at the site", Example: "2001:db8:51::10"},
		limit: maxAnswer, check: IPv6Address,
		at: func(c *Config) any { return &c.Spec.Network.IPv6.Address },
	},
	{
		Item:  Item{Path: "spec.network.ipv6.prefixLength", Type: typeNumber, Unit: "bits, 32 to 128", Meaning: "size of the site's subnet", Example: "64"},
		check: IPv6Prefix, tidy: prefixOfSlash,
		at: func(c *Config) any { return &c.Spec.Network.IPv6.PrefixLength },
	},
	{
		Item:  Item{Path: "spec.network.ipv6.gateway", Type: typeText, Meaning: "router of that subnet, if any; a link-local address (fe80::) is fine", Example: "fe80::1"},
		limit: maxAnswer, check: IPv6Gateway,
		at: func(c *Config) any { return &c.Spec.Network.IPv6.Gateway },
	},
	{
		Item:  Item{Path: "spec.network.dnsServers", Type: typeList, Unit: "up to 3", Meaning: "name servers of the site, by address; leave out where DHCP tells them or there are none", Example: "[198.51.100.53]"},
		limit: maxList, check: DNSServers,
		at: func(c *Config) any { return &c.Spec.Network.DNSServers },
	},
	{
		Item:  Item{Path: "spec.network.dnsSearch", Type: typeList, Unit: "up to 6", Meaning: "domains that are tried behind a short name", Example: "[example.com]"},
		limit: maxList, check: dNSSearch,
		at: func(c *Config) any { return &c.Spec.Network.DNSSearch },
	},
	{
		Item:  Item{Path: networkConfig, Type: typeNMState, Meaning: "desired state of nmstate instead of spec.network, as in agent-config.yaml; secret when it holds a password", Example: "|", Secret: true},
		limit: maxNMState, check: NetworkConfig, guard: holdsNetworkSecret,
		at: func(c *Config) any { return (*string)(&c.Spec.NetworkConfig) },
	},
	{
		Item: Item{Path: "spec.networkConfigFile", Type: typeFile, Meaning: "file beside this document that holds spec.networkConfig", Example: "nmstate.yaml"},
		into: networkConfig,
	},
}

// timeEntries say where the node gets its time.
var timeEntries = []entry{
	{
		Item:  Item{Path: "spec.additionalNTPSources", Type: typeList, Unit: "up to 8", Meaning: "time servers of the site, if any, by name or address", Example: "[ntp.example.com]"},
		limit: maxList, check: NTPSources,
		at: func(c *Config) any { return &c.Spec.AdditionalNTPSources },
	},
	{
		Item:  Item{Path: "spec.time.utc", Type: typeTime, Meaning: "time of day to set the clock to, for a site without a time server", Example: "2026-06-01T12:00:00Z"},
		limit: maxAnswer, check: UTC,
		at: func(c *Config) any { return &c.Spec.Time.UTC },
	},
}

package site

// Network is how the node is reached at its site. The zero value leaves the network unchanged.
type Network struct {
	// Interface is the port that leads to the site, by name or MAC address; empty is the one in use now.
	Interface string `yaml:"interface,omitempty" json:"interface,omitempty"`
	// VLANID is the tag of the site's frames, 1 to 4094; 0 is none.
	VLANID int `yaml:"vlanID,omitempty" json:"vlanID,omitempty"`
	// Bond bundles several ports; without ports there is none.
	Bond Bond `yaml:"bond,omitempty" json:"bond,omitzero"`
	// MTU is the largest packet in bytes; 0 leaves it unchanged.
	MTU int `yaml:"mtu,omitempty" json:"mtu,omitempty"`
	// IPv4 and IPv6 are the node's addresses at the site.
	IPv4 Family `yaml:"ipv4,omitempty" json:"ipv4,omitzero"`
	IPv6 Family `yaml:"ipv6,omitempty" json:"ipv6,omitzero"`
	// DNSServers are the site's name servers, at most three addresses.
	DNSServers []string `yaml:"dnsServers,omitempty" json:"dnsServers,omitempty"`
	// DNSSearch are the domains that are tried behind a short name.
	DNSSearch []string `yaml:"dnsSearch,omitempty" json:"dnsSearch,omitempty"`
}

// Bond bundles ports.
type Bond struct {
	// Mode is one of nmstate's, for example active-backup.
	Mode string `yaml:"mode,omitempty" json:"mode,omitempty"`
	// Ports are names or MAC addresses.
	Ports []string `yaml:"ports,omitempty" json:"ports,omitempty"`
}

// Family is how the node gets its address of one family.
type Family struct {
	// Method is Static, DHCP, Autoconf (IPv6 only), Disabled, or empty to leave the family unchanged.
	Method string `yaml:"method,omitempty" json:"method,omitempty"`
	// Address, PrefixLength (bits) and Gateway belong to Static.
	Address      string `yaml:"address,omitempty" json:"address,omitempty"`
	PrefixLength int    `yaml:"prefixLength,omitempty" json:"prefixLength,omitempty"`
	Gateway      string `yaml:"gateway,omitempty" json:"gateway,omitempty"`
}

// IsZero reports whether nothing is said about the network, so that it stays unchanged.
func (n Network) IsZero() bool {
	return n.Interface == "" && n.VLANID == 0 && n.Bond.IsZero() && n.MTU == 0 &&
		n.IPv4 == Family{} && n.IPv6 == Family{} && len(n.DNSServers) == 0 && len(n.DNSSearch) == 0
}

// IsZero reports whether no bond is wanted.
func (b Bond) IsZero() bool { return b.Mode == "" && len(b.Ports) == 0 }

// Automatic reports whether the site tells the address, and with it usually gateway and name servers.
func (f Family) Automatic() bool { return f.Method == DHCP || f.Method == Autoconf }

// Time is how the clock is set where no time server is.
type Time struct {
	// UTC is a point in time as RFC 3339 writes it.
	UTC string `yaml:"utc,omitempty" json:"utc,omitempty"`
}

// Mirror says where the images of a source are pulled from, as an item of an ImageDigestMirrorSet does.
type Mirror struct {
	// Source is a registry or a repository as images name it.
	Source string `yaml:"source,omitempty" json:"source,omitempty"`
	// Mirrors are tried in their order.
	Mirrors []string `yaml:"mirrors,omitempty" json:"mirrors,omitempty"`
	// MirrorSourcePolicy is AllowContactingSource or NeverContactSource; empty is the former.
	MirrorSourcePolicy string `yaml:"mirrorSourcePolicy,omitempty" json:"mirrorSourcePolicy,omitempty"`
}

func (m *Mirror) cell(key string) any {
	switch key {
	case "source":
		return &m.Source
	case "mirrors":
		return &m.Mirrors
	case "mirrorSourcePolicy":
		return &m.MirrorSourcePolicy
	}
	return nil
}

// RegistryCert is the authority of one registry of the site.
type RegistryCert struct {
	// RegistryHostname is a name or an IPv4 address.
	RegistryHostname string `yaml:"registryHostname,omitempty" json:"registryHostname,omitempty"`
	// RegistryPort is 0 for 443.
	RegistryPort int `yaml:"registryPort,omitempty" json:"registryPort,omitempty"`
	// Certificate is PEM.
	Certificate string `yaml:"certificate,omitempty" json:"certificate,omitempty"`
}

func (r *RegistryCert) cell(key string) any {
	switch key {
	case "registryHostname":
		return &r.RegistryHostname
	case "registryPort":
		return &r.RegistryPort
	case "certificate":
		return &r.Certificate
	}
	return nil
}

// Proxy is how the node gets out of the site. A URL can hold a password, so it never prints itself.
type Proxy struct {
	HTTPProxy  Secret `yaml:"httpProxy,omitempty" json:"httpProxy,omitempty"`
	HTTPSProxy Secret `yaml:"httpsProxy,omitempty" json:"httpsProxy,omitempty"`
	// NoProxy is a list with commas, as in install-config.yaml.
	NoProxy string `yaml:"noProxy,omitempty" json:"noProxy,omitempty"`
}

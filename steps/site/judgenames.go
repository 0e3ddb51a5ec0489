package site

import (
	"net/url"
	"slices"
	"strings"

	"touchdown/backend/message"

	"gopkg.in/yaml.v3"
)

// judgeNames warns of servers of the site that are given by a name where nothing answers for names. The node answers for its own
// (judgeServers); what goes through a proxy is looked up there.
func judgeNames(v *judge) {
	s := v.config.Spec
	if v.errs.At(networkConfig) != nil || !v.config.nameless() {
		return
	}
	if !slices.ContainsFunc(s.AdditionalNTPSources, isAddress) { // one that answers is enough for the clock
		for _, server := range s.AdditionalNTPSources {
			v.unfound("spec.additionalNTPSources", server)
		}
	}
	v.unfound("spec.proxy.httpProxy", hostOf(string(s.Proxy.HTTPProxy)))
	v.unfound("spec.proxy.httpsProxy", hostOf(string(s.Proxy.HTTPSProxy)))
	proxied := map[string]bool{"http": s.Proxy.HTTPProxy != "", "https": s.Proxy.HTTPSProxy != ""}
	scheme, _, _ := strings.Cut(s.Monitor.URL, "://")
	if !proxied[scheme] {
		v.unfound("spec.monitor.url", hostOf(s.Monitor.URL))
	}
	if proxied["https"] {
		return
	}
	for path, mirrors := range map[string][]Mirror{"spec.imageDigestMirrors": s.ImageDigestMirrors, "spec.imageTagMirrors": s.ImageTagMirrors} {
		for i, m := range mirrors {
			for _, location := range m.Mirrors {
				v.unfound(itemPath(path, i)+".mirrors", hostOf("https://"+location))
			}
		}
	}
}

// unfound warns of a server by its name.
func (v *judge) unfound(path, server string) {
	if isAddress(server) || server == "" || v.errs.At(path) != nil || v.config.own(server) {
		return
	}
	v.warn(path, fault(message.T("give a name server (spec.network.dnsServers, or dns-resolver in spec.networkConfig), or write the address"), message.F("has the name %s, which nothing can look up: the site config has no name server, and no address by DHCP or a router", shown(server))))
}

// nameless tells whether the network has no name server and is sure to get none: a family of which nothing is said stays what it is on the
// node, where DHCP or a router may name one.
func (c *Config) nameless() bool {
	n := c.Spec.Network
	if c.Spec.NetworkConfig == "" {
		return n.IPv4.unasked() && n.IPv6.unasked() && len(n.DNSServers) == 0
	}
	tree := stateTree(string(c.Spec.NetworkConfig))
	ports := items(tree, "interfaces")
	var bonded []string // they have no addresses
	for _, port := range ports {
		for _, below := range items(child(port, "link-aggregation"), "port") {
			bonded = append(bonded, below.Value)
		}
	}
	ports = slices.DeleteFunc(slices.Clone(ports), func(port *yaml.Node) bool { return slices.Contains(bonded, child(port, "name").Value) })
	mayAsk := func(port *yaml.Node) bool {
		return !fixed(child(port, "ipv4"), "dhcp") || !fixed(child(port, "ipv6"), "dhcp", "autoconf")
	}
	return len(ports) > 0 && !slices.ContainsFunc(ports, mayAsk) && len(items(child(child(tree, "dns-resolver"), "config"), "server")) == 0
}

// unasked tells whether a family is given, and without asking the site for it.
func (f Family) unasked() bool { return f.Method == Static || f.Method == Disabled }

// fixed tells whether a family of an interface is off, or each of the ways to ask for its address is: nmstate keeps what is not written.
func fixed(family *yaml.Node, ways ...string) bool {
	off := func(key string) bool {
		n := child(family, key)
		return n != nil && n.Tag == "!!bool" && n.Value == "false"
	}
	return off("enabled") || !slices.ContainsFunc(ways, func(way string) bool { return !off(way) })
}

// hostOf is the host that a URL names; "" where it names none.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

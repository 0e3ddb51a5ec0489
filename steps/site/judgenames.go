package site

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"touchdown/backend/message"
)

// judgeNames warns of servers of the site that are given by a name where nothing answers for names. The node answers for its own
// (judgeServers); what goes through a proxy is looked up there.
func judgeNames(v *judge) {
	s := v.config.Spec
	if v.errs.At(networkConfig) != nil || !v.config.nameless() {
		return
	}
	for _, server := range s.AdditionalNTPSources {
		v.unfound("spec.additionalNTPSources", server)
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
	if _, err := netip.ParseAddr(server); err == nil || server == "" || v.errs.At(path) != nil || v.config.own(server) {
		return
	}
	v.warn(path, fault(message.T("give a name server (spec.network.dnsServers, or dns-resolver in spec.networkConfig), or write the address"), message.F("has the name %s, which nothing can look up: the site config has no name server, and no address by DHCP or a router", shown(server))))
}

// nameless tells whether the network that is given has no name server and gets none.
func (c *Config) nameless() bool {
	n := c.Spec.Network
	if c.Spec.NetworkConfig == "" {
		return (n.IPv4.Method == Static || n.IPv6.Method == Static) && !n.IPv4.Automatic() && !n.IPv6.Automatic() && len(n.DNSServers) == 0
	}
	tree := networkTree(string(c.Spec.NetworkConfig))
	return !slices.ContainsFunc(items(tree, "interfaces"), asksFor) && len(items(child(child(tree, "dns-resolver"), "config"), "server")) == 0
}

// hostOf is the host that a URL names; "" where it names none.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

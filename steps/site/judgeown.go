package site

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"touchdown/backend/message"
	"touchdown/backend/netconfig"
)

// judgeServers wants servers of the site not to be this node: it answers for its own names, so that it would ask itself. From a mirror in
// the cluster nothing can be pulled before the cluster runs, which the image store sees to.
func judgeServers(v *judge) {
	s := v.config.Spec
	for _, server := range s.AdditionalNTPSources {
		judgeServer(v, "spec.additionalNTPSources", server)
	}
	for path, proxy := range map[string]Secret{"spec.proxy.httpProxy": s.Proxy.HTTPProxy, "spec.proxy.httpsProxy": s.Proxy.HTTPSProxy} {
		if u, err := url.Parse(string(proxy)); err == nil {
			judgeServer(v, path, u.Hostname())
		}
	}
	for path, mirrors := range map[string][]Mirror{"spec.imageDigestMirrors": s.ImageDigestMirrors, "spec.imageTagMirrors": s.ImageTagMirrors} {
		for i, m := range mirrors {
			for _, location := range m.Mirrors {
				host, _, _ := strings.Cut(location, "/")
				host = (&url.URL{Host: host}).Hostname()
				if v.config.own(host) || localName(host) || loopback(host) {
					v.warn(itemPath(path, i)+".mirrors", fault(message.T("check the name"), message.F("has %s, which is this node: while its cluster does not run nothing comes from there", shown(host))))
				}
			}
		}
	}
}

// judgeServer refuses a server that is this node, and warns of one in a network that a cluster usually has inside the node. The node itself
// refuses only name servers there.
func judgeServer(v *judge, path, server string) {
	addr, _ := netip.ParseAddr(server) // a name is in no subnet
	subnet := netip.PrefixFrom(addr, addr.BitLen())
	inside, isInside := netconfig.Overlap(subnet)
	switch {
	case v.errs.At(path) != nil:
	case v.config.own(server):
		v.fail(path, fault(message.T("give the site's server"), message.T("names this node: its own address, or a name that leads to it (api.D, *.apps.D)")))
	case nobody(v.config, server) != message.Text{}:
		v.fail(path, fault(message.T("give the site's server"), message.F("has %s, %s", server, nobody(v.config, server))))
	case isInside:
		v.warn(path, fault(message.T("give the site's server, or ask who installed the cluster which networks it has"), netconfig.Doubt(subnet, inside).Text))
	}
}

// nobody tells why no machine has an IPv4 address in a subnet of the node; nothing for every other address, and for a name. IPv6 has no
// such: its first address leads to a router (RFC 4291, 2.6.1), which may well serve time and names.
func nobody(c *Config, server string) message.Text {
	addr, err := netip.ParseAddr(server)
	if err != nil || addr.Is6() {
		return message.Text{}
	}
	n := c.Spec.Network
	for _, subnet := range append(ownOf(stateTree(string(c.Spec.NetworkConfig))).subnets, n.IPv4.subnet()) {
		if !subnet.Contains(addr) {
			continue
		}
		if what := reserved(addr, subnet); what != (message.Text{}) {
			return message.F("%s of the subnet %s", what, subnet)
		}
	}
	return message.Text{}
}

// own tells whether a name or an address is the node's at the site.
func (c *Config) own(server string) bool {
	n := c.Spec.Network
	if addr, err := netip.ParseAddr(server); err == nil {
		return slices.ContainsFunc(append(addressesOf(string(c.Spec.NetworkConfig)), n.IPv4.Address, n.IPv6.Address), func(own string) bool { return sameAs(addr, own) })
	}
	d := c.Domain()
	return d != "" && (server == "api."+d || server == "api-int."+d || server == "apps."+d || strings.HasSuffix(server, ".apps."+d))
}

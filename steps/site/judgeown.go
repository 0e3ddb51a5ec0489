package site

import (
	"net/netip"
	"net/url"
	"strings"

	"touchdown/backend/message"
)

// ownServers wants servers of the site not to be this node: it answers for its own names, so that it would ask itself. From a mirror in
// the cluster nothing can be pulled before the cluster runs, which the image store sees to.
func (v *judge) ownServers() {
	s := v.config.Spec
	for _, server := range s.AdditionalNTPSources {
		v.elsewhere("spec.additionalNTPSources", server)
	}
	for path, proxy := range map[string]Secret{"spec.proxy.httpProxy": s.Proxy.HTTPProxy, "spec.proxy.httpsProxy": s.Proxy.HTTPSProxy} {
		if u, err := url.Parse(string(proxy)); err == nil {
			v.elsewhere(path, u.Hostname())
		}
	}
	for path, mirrors := range map[string][]Mirror{"spec.imageDigestMirrors": s.ImageDigestMirrors, "spec.imageTagMirrors": s.ImageTagMirrors} {
		for i, m := range mirrors {
			for _, location := range m.Mirrors {
				host, _, _ := strings.Cut(location, "/")
				host, _, _ = strings.Cut(host, ":")
				if v.own(host) {
					v.warn(itemPath(path, i)+".mirrors", fault(message.T("check the name"), message.F("has %s, which is this node: while its cluster does not run nothing comes from there", shown(host))))
				}
			}
		}
	}
}

// elsewhere refuses a server that is this node.
func (v *judge) elsewhere(path, server string) {
	if v.errs.At(path) == nil && v.own(server) {
		v.fail(path, fault(message.T("give the site's server"), message.T("names this node: its own address, or a name that leads to it (api.D, *.apps.D)")))
	}
}

// own tells whether a name or an address is the node's at the site.
func (v *judge) own(server string) bool {
	n := v.config.Spec.Network
	if addr, err := netip.ParseAddr(server); err == nil {
		return sameAs(addr, n.IPv4.Address) || sameAs(addr, n.IPv6.Address)
	}
	d := v.config.Domain()
	return d != "" && (server == "api."+d || server == "api-int."+d || server == "apps."+d || strings.HasSuffix(server, ".apps."+d))
}

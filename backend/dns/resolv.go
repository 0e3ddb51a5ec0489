package dns

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"touchdown/backend/host"
)

const (
	resolvConf = "/etc/resolv.conf"
	// siteConf is NetworkManager's own, with the site's servers.
	siteConf = "/run/NetworkManager/resolv.conf"
	// forcedns puts the node's server in front of the site's. NetworkManager calls it, but that of the assisted installer
	// passes over the event dns-change (OCPBUGS-112813), so servers that nmstate sets are missed.
	forcedns = "/etc/NetworkManager/dispatcher.d/forcedns"
)

// Stale says why /etc/resolv.conf is not what it should be: the node's own server first, then the site's. "" when it is, or when
// this machine does not do it so.
func Stale(m *host.Machine, z Zone) string {
	if !m.Exists(forcedns) {
		return ""
	}
	b, err := m.ReadFile(resolvConf)
	if err != nil {
		return "it is missing"
	}
	have := servers(string(b))
	if len(have) == 0 || !slices.ContainsFunc(z.Addresses, func(a netip.Addr) bool { return a.String() == have[0] }) {
		return "the node's own server is not the first"
	}
	site, err := m.ReadFile(siteConf)
	if err != nil {
		return ""
	}
	// Resolvers read three servers at most, and the first is the node's.
	want := servers(string(site))
	for _, s := range want[:min(2, len(want))] {
		if !slices.Contains(have, s) {
			return "the site's server " + s + " is not in it"
		}
	}
	// A server of the factory's network that stays costs seconds for each name that the node does not know itself.
	for _, s := range have[1:] {
		if !slices.Contains(want, s) && !slices.ContainsFunc(z.Addresses, func(a netip.Addr) bool { return a.String() == s }) {
			return "the server " + s + " is in it, which the site does not have"
		}
	}
	return ""
}

// Forwards are the servers that the node's own server asks for names that it does not know: those of /etc/resolv.conf without
// itself. None: such a name is refused at once.
func Forwards(m *host.Machine, z Zone) []string {
	b, err := m.ReadFile(resolvConf)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(servers(string(b)), func(s string) bool {
		a, err := netip.ParseAddr(s)
		return err != nil || a.IsLoopback() || slices.Contains(z.Addresses, a)
	})
}

// Refresh has /etc/resolv.conf written again, by the same program as NetworkManager has it done. NetworkManager itself is left
// alone: its restart would destroy the checkpoint under which network settings are tried.
func Refresh(ctx context.Context, m *host.Machine) error {
	if _, err := m.Run(ctx, forcedns, "br-ex", "up"); err != nil {
		return fmt.Errorf("writing %s again: %w", resolvConf, err)
	}
	return nil
}

func servers(conf string) []string {
	var out []string
	for line := range strings.Lines(conf) {
		words := strings.Fields(line)
		if len(words) > 1 && words[0] == "nameserver" {
			out = append(out, words[1])
		}
	}
	return out
}

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
	return ""
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

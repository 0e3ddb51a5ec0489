package steps

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/factory"
	"touchdown/backend/network"
	"touchdown/backend/probe"
	"touchdown/steps/site"
)

// How long a verdict on unchanged settings stands before the network is asked again: a good one so long that a DHCP server
// is not bothered; one that finds fault is soon outdated by someone who fixes it and looks again.
const (
	goodStands = 30 * time.Second
	badStands  = 5 * time.Second
)

// NodeNetwork is the network of the machine, and what was seen of it last. It outlives the lists of steps, which are made again
// for each look.
type NodeNetwork struct {
	net *network.Network
	ask func(context.Context, probe.Target, func(check.Check)) (probe.Result, error)

	mu   sync.Mutex
	key  string    // of the target probed last
	seen time.Time // when that was
	ends time.Time // when its verdict is too old
	told []check.Check
}

// NewNodeNetwork looks at the network of a node.
func NewNodeNetwork(node *backend.Node) *NodeNetwork {
	return &NodeNetwork{net: network.Open(node.Host), ask: probe.Run}
}

// Reached are the addresses at which the site's machines reach the node, one of each family.
func (s *NodeNetwork) Reached(ctx context.Context) ([]netip.Addr, error) {
	now, err := s.net.Read(ctx)
	if err != nil {
		return nil, err
	}
	return now.Addresses(), nil
}

// NameServers are the site's that the node asks now; none where the network cannot be read.
func (s *NodeNetwork) NameServers(ctx context.Context) []netip.Addr {
	now, err := s.net.Read(ctx)
	if err != nil {
		return nil
	}
	var all []netip.Addr
	for _, text := range now.DNS {
		if a, err := netip.ParseAddr(text); err == nil && !a.IsLoopback() && !slices.Contains(now.Own, a) && !slices.Contains(now.Addresses(), a) {
			all = append(all, a)
		}
	}
	return all
}

// probe asks the network whether t would work, and tells what it finds. If it was asked a moment ago, it tells that again.
func (s *NodeNetwork) probe(ctx context.Context, now time.Time, t probe.Target, carriers string, tell func(check.Check)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	encoded, err := json.Marshal(t)
	if err != nil {
		return err
	}
	key := string(encoded) + carriers
	if key == s.key && now.Before(s.ends) {
		for _, c := range s.told {
			tell(c)
		}
		return nil
	}
	begun := time.Now()
	result, err := s.ask(ctx, t, tell)
	if err != nil {
		return err
	}
	s.seen = now.Add(time.Since(begun))
	s.key, s.ends, s.told = key, s.seen.Add(stands(result.Checks)), result.Checks
	return nil
}

// forget has the network asked again for someone who looks again: they may have pulled a cable or fixed a server since. A verdict of a
// moment ago stands even so, because a key that is held down would have a DHCP server asked without a pause.
func (s *NodeNetwork) forget(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if age := now.Sub(s.seen); age < 0 || age >= badStands { // less than 0: the clock was put back
		s.ends = time.Time{}
	}
}

func stands(seen []check.Check) time.Duration {
	for _, c := range seen {
		if c.Status == check.Fail || c.Status == check.Warn {
			return badStands
		}
	}
	return goodStands
}

// networkSettings are the answers about the network as its backend takes them.
func networkSettings(cfg *site.Config) network.Settings {
	n := cfg.Spec.Network
	family := func(f site.Family) network.Family {
		return network.Family{Method: f.Method, Address: f.Address, Prefix: f.PrefixLength, Gateway: f.Gateway}
	}
	return network.Settings{
		Interface: n.Interface, VLAN: n.VLANID, Bond: network.Bond{Mode: n.Bond.Mode, Ports: n.Bond.Ports}, MTU: n.MTU,
		IPv4: family(n.IPv4), IPv6: family(n.IPv6), DNS: n.DNSServers, Search: n.DNSSearch,
		Raw: []byte(cfg.Spec.NetworkConfig),
	}
}

// probeTarget is what the answers, resolved on this machine, promise of the network.
func probeTarget(cfg *site.Config, r network.Settings, node *backend.Node) probe.Target {
	t := probe.Target{
		Ports: []string{r.Interface}, VLAN: r.VLAN, MTU: r.MTU,
		IPv4: probeFamily(r.IPv4), IPv6: probeFamily(r.IPv6),
		NTP: cfg.Spec.AdditionalNTPSources, Domain: cfg.Domain(), Now: node.Now,
		Proxy: probe.Proxy{HTTPS: string(cfg.Spec.Proxy.HTTPSProxy), NoProxy: cfg.Spec.Proxy.NoProxy},
	}
	if len(r.Bond.Ports) > 0 {
		t.Ports = r.Bond.Ports
	}
	for _, server := range r.DNS {
		if a, err := netip.ParseAddr(server); err == nil {
			t.DNS = append(t.DNS, a)
		}
	}
	for _, r := range insideOf(node) {
		t.Inside = append(t.Inside, probe.Inside{Whose: r.Whose(), Prefix: r.Prefix})
	}
	t.Registry, t.Roots = registryOf(cfg)
	return t
}

func probeFamily(f network.Family) probe.Settings {
	p := probe.Settings{Method: probe.Method(f.Method)}
	if a, err := netip.ParseAddr(f.Address); err == nil {
		p.Address = netip.PrefixFrom(a, f.Prefix)
	}
	p.Gateway, _ = netip.ParseAddr(f.Gateway) // none: not valid, which is what "no gateway" is
	return p
}

// registryOf is where the site's images come from, as far as the answers tell, and who may vouch for it; nil: whom the
// machine trusts.
func registryOf(cfg *site.Config) (host string, roots *x509.CertPool) {
	for _, m := range cfg.Spec.ImageDigestMirrors {
		if len(m.Mirrors) > 0 {
			host, _, _ = strings.Cut(m.Mirrors[0], "/")
			break
		}
	}
	pems := []string{cfg.Spec.AdditionalTrustBundle}
	for _, c := range cfg.Spec.RegistryCerts {
		pems = append(pems, c.Certificate)
	}
	if all := strings.Join(pems, "\n"); strings.TrimSpace(all) != "" {
		if roots, _ = x509.SystemCertPool(); roots == nil {
			roots = x509.NewCertPool()
		}
		roots.AppendCertsFromPEM([]byte(all))
	}
	return host, roots
}

// settingsOn are a site's settings with the networks inside the node, as the factory noted them.
func settingsOn(node *backend.Node, cfg *site.Config) network.Settings {
	settings := networkSettings(cfg)
	if record, err := factory.LoadRecord(node.Host); err == nil {
		settings.Inside = network.Inside(record.InsideNetworks)
	}
	return settings
}

// insideOf are the networks inside the node and its cluster, as the factory noted them, since the cluster's API does not run yet. Of a node
// that was not baked here the defaults have to do.
func insideOf(node *backend.Node) []network.Reserved {
	record, err := factory.LoadRecord(node.Host)
	if err != nil {
		return network.OVNDefaults
	}
	return append(network.Inside(record.InsideNetworks), network.Cluster(record.ClusterNetworks, record.ServiceNetworks)...)
}

// networkFacts are what settings are judged against.
func networkFacts(now *network.Current, ports []network.Port, node *backend.Node) network.Facts {
	facts := network.Facts{Now: now, Ports: ports, Reserved: insideOf(node)}
	if record, err := factory.LoadRecord(node.Host); err == nil {
		facts.LeastMTU = network.LeastMTU(record.PodMTU, slices.ContainsFunc(record.ClusterNetworks, func(s string) bool { return strings.Contains(s, ":") }))
	}
	return facts
}

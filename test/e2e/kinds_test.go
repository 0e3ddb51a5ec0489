package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"

	"touchdown/test/bench/landing"
	"touchdown/test/bench/site"
)

// wrong is one network that a technician should not have typed, or one that is not as the sheet says.
type wrong struct {
	kind    string
	network string                                        // spec.network or spec.networkConfig as YAML
	silent  bool                                          // no probe can see it: a person says no
	wired   bool                                          // the port has its cable: that check passes, and is not waived
	begin   func(context.Context, *landing.Landing) error // what is wrong outside of the settings
	end     func(context.Context, *landing.Landing) error // and that it is over
}

// kinds make wrong settings. Those at the end wait half a minute for a lease and are drawn less often.
var kinds = []func(*rand.Rand) wrong{
	gatewayOfNobody, gatewayOutside, gatewayItself, gatewayOfAServer,
	prefixTooSmall, prefixTooWide, prefixOfANeighbour,
	subnetOfAnother, subnetOfTheCluster,
	nameServerOfNobody, nameServerFar, nameServerDeaf, nameServerLies,
	addressTaken, addressOfTheGateway, addressOfNobody,
	vlanOfNobody, portUnplugged, portMissing, portOther,
	tooLarge, bothFamilies, documentWrong, documentOther, gatewayDead,
}

var slowKinds = []func(*rand.Rand) wrong{noLease, ipv6Alone, leaseOnDeadPort}

// draw makes n wrong settings, each kind about as often as the others.
func draw(r *rand.Rand, n int) []wrong {
	var all []wrong
	for len(all) < n {
		if round := len(all) / len(kinds); round > 0 && len(all)%len(kinds) == 0 {
			all = append(all, slowKinds[round%len(slowKinds)](r))
			continue
		}
		all = append(all, kinds[len(all)%len(kinds)](r))
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// fixed is a static IPv4 network.
func fixed(port, address string, prefix int, gateway, dns string) string {
	return fmt.Sprintf("network: {interface: %s, ipv4: {method: static, address: %s, prefixLength: %d, gateway: %s}, ipv6: {method: disabled}, dnsServers: [%s]}",
		port, address, prefix, gateway, dns)
}

// free is an address of the site that nobody has: DHCP leases .10 and those behind it, servers sit at the ends.
func free(r *rand.Rand) string { return fmt.Sprintf("198.51.100.%d", 130+r.IntN(100)) }

func plain(kind, network string) wrong { return wrong{kind: kind, network: network} }

func gatewayOfNobody(r *rand.Rand) wrong {
	return plain("gateway: nobody", fixed("enp1s0", "198.51.100.10", 24, free(r), "198.51.100.53"))
}

func gatewayOutside(r *rand.Rand) wrong {
	return plain("gateway: outside of the subnet", fixed("enp1s0", "198.51.100.10", 24, fmt.Sprintf("198.51.%d.1", 101+r.IntN(100)), "198.51.100.53"))
}

func gatewayItself(r *rand.Rand) wrong {
	a := free(r)
	return plain("gateway: the node itself", fixed("enp1s0", a, 24, a, "198.51.100.53"))
}

func gatewayOfAServer(r *rand.Rand) wrong {
	w := plain("gateway: a machine that is none", fixed("enp1s0", free(r), 24, "198.51.100.123", "198.51.100.53"))
	w.silent = true
	return w
}

func prefixTooSmall(r *rand.Rand) wrong {
	w := plain("prefix: too small", fixed("enp1s0", "198.51.100.10", 26+r.IntN(3), "198.51.100.1", "198.51.100.53"))
	w.silent = true
	return w
}

func prefixTooWide(r *rand.Rand) wrong {
	w := plain("prefix: too wide", fixed("enp1s0", free(r), 16+r.IntN(7), "198.51.100.1", "198.51.100.53"))
	w.silent = true
	return w
}

func prefixOfANeighbour(r *rand.Rand) wrong {
	return plain("prefix: gateway in the other half", fixed("enp1s0", fmt.Sprintf("198.51.100.%d", 140+r.IntN(80)), 25, "198.51.100.129", "198.51.100.53"))
}

func subnetOfAnother(r *rand.Rand) wrong {
	net := fmt.Sprintf("10.%d.%d", 1+r.IntN(100), r.IntN(256))
	return plain("address: another subnet", fixed("enp1s0", net+".10", 24, net+".1", net+".53"))
}

func subnetOfTheCluster(r *rand.Rand) wrong {
	net := []string{"192.168.127", "100.64.3", "172.30.7", "10.128.9"}[r.IntN(4)]
	return plain("address: the cluster's own subnet", fixed("enp1s0", net+".20", 24, net+".1", "198.51.100.53"))
}

func nameServerOfNobody(r *rand.Rand) wrong {
	return plain("DNS: nobody", fixed("enp1s0", "198.51.100.10", 24, "198.51.100.1", free(r)))
}

func nameServerFar(*rand.Rand) wrong {
	return plain("DNS: nobody behind the gateway", fixed("enp1s0", "198.51.100.10", 24, "198.51.100.1", site.Nobody4.String()))
}

func nameServerDeaf(r *rand.Rand) wrong {
	return plain("DNS: a machine that is none", fixed("enp1s0", free(r), 24, "198.51.100.1", "198.51.100.1"))
}

func nameServerLies(r *rand.Rand) wrong {
	w := plain("DNS: knows no name", fixed("enp1s0", free(r), 24, "198.51.100.1", "198.51.100.53"))
	w.silent = true
	w.begin = func(_ context.Context, l *landing.Landing) error { l.Site.DNS.Set(site.NXDomain); return nil }
	w.end = func(_ context.Context, l *landing.Landing) error { l.Site.DNS.Set(site.Answers); return nil }
	return w
}

func addressTaken(r *rand.Rand) wrong {
	a := free(r)
	w := plain("address: another machine's", fixed("enp1s0", a, 24, "198.51.100.1", "198.51.100.53"))
	var other *site.Host
	w.begin = func(_ context.Context, l *landing.Landing) (err error) {
		other, err = l.Site.AddHost(netip.MustParseAddr(a))
		return err
	}
	w.end = func(context.Context, *landing.Landing) error { other.Remove(); return nil }
	return w
}

func addressOfTheGateway(r *rand.Rand) wrong {
	taken := []string{"198.51.100.1", "198.51.100.53", "198.51.100.123"}[r.IntN(3)]
	return plain("address: a server's", fixed("enp1s0", taken, 24, "198.51.100.2", "198.51.100.53"))
}

func addressOfNobody(r *rand.Rand) wrong {
	return plain("address: the subnet's or its broadcast", fixed("enp1s0", []string{"198.51.100.0", "198.51.100.255"}[r.IntN(2)], 24, "198.51.100.1", "198.51.100.53"))
}

func vlanOfNobody(r *rand.Rand) wrong {
	text := fixed("enp1s0", free(r), 24, "198.51.100.1", "198.51.100.53")
	return plain("VLAN: nobody in it", strings.Replace(text, "{interface", fmt.Sprintf("{vlanID: %d, interface", 2+r.IntN(4000)), 1))
}

func portUnplugged(r *rand.Rand) wrong {
	w := plain("port: no cable", fixed("enp2s0", free(r), 24, "198.51.100.1", "198.51.100.53"))
	w.begin = func(ctx context.Context, l *landing.Landing) error { return l.Node.Unplug(ctx, 1) }
	w.end = func(ctx context.Context, l *landing.Landing) error { return l.Node.Plug(ctx, 1) }
	return w
}

func portMissing(r *rand.Rand) wrong {
	return plain("port: not there", fixed(fmt.Sprintf("eno%d", 1+r.IntN(9)), free(r), 24, "198.51.100.1", "198.51.100.53"))
}

func portOther(r *rand.Rand) wrong {
	return plain("port: the other one, gateway nobody", fixed("enp2s0", free(r), 24, free(r), "198.51.100.53"))
}

func tooLarge(r *rand.Rand) wrong {
	text := fixed("enp1s0", free(r), 24, "198.51.100.1", "198.51.100.53")
	w := plain("MTU: more than the site's", strings.Replace(text, "{interface", fmt.Sprintf("{mtu: %d, interface", 1600+r.IntN(7600)), 1))
	w.silent = true
	return w
}

func bothFamilies(r *rand.Rand) wrong {
	return plain("IPv4 and IPv6: gateways nobody", fmt.Sprintf("network: {interface: enp1s0, ipv4: {method: static, address: %s, prefixLength: 24, gateway: %s}, "+
		"ipv6: {method: static, address: \"2001:db8:51::%x\", prefixLength: 64, gateway: \"2001:db8:51::%x\"}, dnsServers: [\"2001:db8:51::53\"]}",
		free(r), free(r), 0x1000+r.IntN(0x1000), 0x3000+r.IntN(0x1000)))
}

// document is settings by hand, which the probes judge as they do those of the form.
func document(port, address, gateway, dns string) string {
	return fmt.Sprintf(`networkConfig: |
    interfaces:
    - name: %s
      type: ethernet
      state: up
      ipv4: {enabled: true, dhcp: false, address: [{ip: %s, prefix-length: 24}]}
      ipv6: {enabled: false}
    routes:
      config:
      - {destination: 0.0.0.0/0, next-hop-address: %s, next-hop-interface: %s}
    dns-resolver:
      config: {server: [%s]}`, port, address, gateway, port, dns)
}

func documentWrong(r *rand.Rand) wrong {
	w := plain("document: gateway nobody", document("enp1s0", free(r), free(r), "198.51.100.53"))
	w.wired = true
	return w
}

func documentOther(r *rand.Rand) wrong {
	subnet := r.IntN(256)
	w := plain("document: the other port, another subnet", document("enp2s0", fmt.Sprintf("10.9.%d.10", subnet), fmt.Sprintf("10.9.%d.1", subnet), free(r)))
	w.wired = true
	return w
}

func gatewayDead(r *rand.Rand) wrong {
	w := plain("gateway: switched off", fixed("enp1s0", free(r), 24, "198.51.100.1", "198.51.100.53"))
	w.begin = func(_ context.Context, l *landing.Landing) error { return l.Site.Gateway.Set(site.Dead) }
	w.end = func(_ context.Context, l *landing.Landing) error { return l.Site.Gateway.Set(site.Forwards) }
	return w
}

func noLease(*rand.Rand) wrong {
	w := plain("DHCP: no server, the other port", "network: {interface: enp2s0, ipv4: {method: dhcp}, ipv6: {method: disabled}}")
	w.begin = func(_ context.Context, l *landing.Landing) error { l.Site.DHCP4.Off(); return nil }
	w.end = func(_ context.Context, l *landing.Landing) error { l.Site.DHCP4.On(); return nil }
	return w
}

func ipv6Alone(*rand.Rand) wrong {
	return plain("IPv6 only: the cluster has IPv4 alone", "network: {interface: enp1s0, ipv4: {method: disabled}, ipv6: {method: autoconf}}")
}

func leaseOnDeadPort(*rand.Rand) wrong {
	w := plain("DHCP: port without cable", "network: {interface: enp2s0, ipv4: {method: dhcp}, ipv6: {method: disabled}}")
	w.begin = func(ctx context.Context, l *landing.Landing) error { return l.Node.Unplug(ctx, 1) }
	w.end = func(ctx context.Context, l *landing.Landing) error { return l.Node.Plug(ctx, 1) }
	return w
}

func (w *wrong) prepare(ctx context.Context, l *landing.Landing) error {
	if w.begin == nil {
		return nil
	}
	return w.begin(ctx, l)
}

func (w *wrong) over(ctx context.Context, l *landing.Landing) error {
	if w.end == nil {
		return nil
	}
	return w.end(ctx, l)
}

// config is the site config with the wrong network in it.
func (w *wrong) config() string {
	return fmt.Sprintf(`apiVersion: touchdown.dev/v1alpha1
kind: SiteConfig
metadata: {name: store-0051}
spec:
  clusterName: store0051
  baseDomain: retail.example.com
  %s
  policy:
    stabilityWindow: 1s
    keepGoingOnWarnings: true
    rollbackOnFailure: false
    keepNetworkWhenProbesPass: %v
`, w.network, !w.silent)
}

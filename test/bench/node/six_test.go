package node_test

import (
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"touchdown/test/bench/node"
	"touchdown/test/wait"
)

// Profiles of an installation in a network of IPv6 alone: with a fixed address, and with one that the node makes of what a router announces.
var (
	fixedSix     = node.ProfileOfIPv6(sixAddress, "2001:db8:fac::1")
	announcedSix = strings.Replace(node.InstalledProfile, "method=auto\ndhcp-timeout=10", "method=disabled", 1)
)

// The routers of the factory and of a site.
var (
	factoryRouter = netip.MustParsePrefix("2001:db8:fac::1/64")
	siteRouter    = netip.MustParsePrefix("2001:db8:51::1/64")
)

// TestBakeOfIPv6Alone bakes a node that was installed without IPv4. On a boot without a cable it keeps its address, and the cluster on it
// runs; a site's router gives it another one, behind which its own goes; unbaked, it is what it was.
func TestBakeOfIPv6Alone(t *testing.T) {
	for _, c := range []struct{ name, profile string }{{"a fixed address", fixedSix}, {"a router's prefix", announcedSix}} {
		t.Run(c.name, func(t *testing.T) { bakeIPv6Alone(t, c.profile) })
	}
}

func bakeIPv6Alone(t *testing.T, profile string) {
	m := node.WithProfile(t, profile)
	own := sixAddress
	if profile == announcedSix {
		own = announced(t, m)
	}
	stop := serveIPv6(t, m, factoryRouter, own)
	addresses(t, m, own)
	if _, err := m.Approve(t.Context()); err != nil { // of the kubelet's server, whose address is another than in the image
		t.Fatal(err)
	}
	if err := m.PodsReady(wait.Within(t, 90*time.Second)); err != nil {
		t.Fatal(err)
	}
	const file = "cat /etc/NetworkManager/system-connections/enp1s0.nmconnection"
	before := must(t, m, file)
	begun := time.Now()
	out, err := m.Bake(wait.Within(t, 5*time.Minute))
	t.Logf("bake, %.1f s:\n%s", time.Since(begun).Seconds(), out)
	if err != nil {
		t.Fatal(err)
	}
	if got := must(t, m, ". /etc/default/touchdown-address && echo $TOUCHDOWN_ADDRESSES $KUBELET_NODE_IP $CONTAINER_STREAM_ADDRESS"); got != own+" "+own+" "+own {
		t.Errorf("the bake notes %s", got)
	}

	// A boot on the road: no cable, no server.
	stop()
	if err := m.Unplug(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if err := m.Reboot(wait.Within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	await(t, m, time.Minute, held(own))
	t.Logf("addresses and routes on the road:\n%s", must(t, m, "ip -6 address show dev br-ex; ip -6 route show dev br-ex; cat /etc/resolv.conf"))
	addresses(t, m, own)
	if err := m.PodsReady(wait.Within(t, 90*time.Second)); err != nil {
		t.Error(err)
	}
	if got := must(t, m, "getent ahostsv6 api-int."+node.Domain+" | awk '{ print $1 }' | sort -u; curl -skg 'https://["+own+"]:6443/readyz'"); got != own+"\nok" {
		t.Errorf("the cluster's name and its server: %s", got)
	}

	// The cable comes, and with it a site's router.
	leave := serveIPv6(t, m, siteRouter, "")
	if err := m.Plug(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if profile == announcedSix {
		await(t, m, time.Minute, held(own)+" && ip -6 -o address show dev br-ex to "+siteRouter.Masked().String()+" -deprecated | grep -q . && ip -6 -o address show dev br-ex to "+own+
			" | grep -qF deprecated && ip -6 route show default dev br-ex | grep -q .")
		addresses(t, m, own)
	}
	leave()

	serveIPv6(t, m, factoryRouter, own)
	begun = time.Now()
	out, err = m.Unbake(wait.Within(t, 5*time.Minute))
	t.Logf("unbake, %.1f s:\n%s", time.Since(begun).Seconds(), out)
	if err != nil {
		t.Fatal(err)
	}
	if after := must(t, m, file); after != before {
		t.Errorf("after unbake:\n%s\nbefore:\n%s", after, before)
	}
}

// held is a script that succeeds when the node's own address is on br-ex and a server can listen at it.
func held(own string) string {
	return "systemctl is-active kubelet-dependencies.target && ip -6 -o address show dev br-ex to " + own + " -tentative | grep -q . && ! ip -4 -o address show dev br-ex scope global | grep -q ."
}

// announced is the address that the node makes of the factory's prefix and its own MAC (RFC 4291, appendix A).
func announced(t *testing.T, m *node.Machine) string {
	t.Helper()
	mac, err := net.ParseMAC(must(t, m, "cat /sys/class/net/"+node.Port0+"/address"))
	if err != nil {
		t.Fatal(err)
	}
	b := factoryRouter.Masked().Addr().As16()
	copy(b[8:], []byte{mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]})
	return netip.AddrFrom16(b).String()
}

// serveIPv6 serves the LAN until the test ends or stops it.
func serveIPv6(t *testing.T, m *node.Machine, router netip.Prefix, address string) (stop func()) {
	t.Helper()
	stop, err := m.ServeIPv6(t.Context(), router, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return stop
}

package e2e

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"touchdown/test/bench/landing"
	"touchdown/test/bench/node"
	"touchdown/test/bench/site"
	"touchdown/test/wait"
)

// The addresses of IPv6 of a node that was installed without IPv4: its own, and at its site.
const (
	ownSix  = "2001:db8:fac::10"
	siteSix = "2001:db8:51::10"
)

// TestALandingOfIPv6Alone lands a node that was installed without IPv4 at a site without IPv4. Its names lead to it from the node and from the
// site, before and after a boot, and the undo takes it all back. The pods of the bench have IPv4 alone, so that none of them can ask.
func TestALandingOfIPv6Alone(t *testing.T) {
	l := bakedOfIPv6(t)
	ctx := wait.Within(t, 7*time.Minute)
	if _, err := l.Await(ctx, "the armed node's form", func(s *landing.Status) bool { return s.State == "collecting" }); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(config(`
    ipv4: {method: disabled}
    ipv6: {method: static, address: "`+siteSix+`", prefixLength: 64, gateway: "2001:db8:51::1"}
    dnsServers: ["2001:db8:51::53"]`, ""), "198.51.100.123", "2001:db8:51::123", 1)
	if err := l.Node.Wait(wait.Within(t, time.Minute), "nmcli -g GENERAL.STATE connection show ovs-if-br-ex | grep -qx activated"); err != nil {
		t.Fatalf("the armed node's network: %v", err)
	}
	before, err := lookOnIPv6(ctx, l)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	out, code, err := l.Apply(ctx, text)
	t.Logf("apply took %.1f s", time.Since(begin).Seconds())
	if err != nil || code != 0 {
		t.Fatalf("apply: exit %d, %v\n%s\n%s", code, err, out, l.Log(60))
	}
	standsOnIPv6(ctx, t, l)
	if err := l.Node.Reboot(ctx); err != nil {
		t.Fatal(err)
	}
	if err := l.Node.PodsReady(ctx); err != nil {
		t.Fatalf("after a reboot: %v", err)
	}
	standsOnIPv6(ctx, t, l)
	undoneOnIPv6(ctx, t, l, before)
}

// undoneOnIPv6 takes the landing back: the node has what it had before, is sealed, and knows the site's name no more.
func undoneOnIPv6(ctx context.Context, t *testing.T, l *landing.Landing, before string) {
	t.Helper()
	begin := time.Now()
	if out, code, err := l.Touchdown(ctx, "undo", "--force"); err != nil || code != 0 {
		t.Fatalf("undo: exit %d, %v\n%s\n%s", code, err, out, l.Log(60))
	}
	t.Logf("undo took %.1f s", time.Since(begin).Seconds())
	if err := become(ctx, 30*time.Second, before, func(ctx context.Context) (string, error) { return lookOnIPv6(ctx, l) }); err != nil {
		t.Errorf("the network after the undo: %v", err)
	}
	if s, err := l.Status(ctx); err != nil || s.Life != "returned" {
		t.Errorf("the node after the undo: %+v, %v", s, err)
	}
	const rest = `ls /var/lib/touchdown/armed; systemctl is-active kubelet || true; grep -rl ` + domain + ` /etc --exclude=resolv.conf || true
timeout 3 getent ahosts api.` + domain + ` | grep -F ` + ownSix + ` || true; getent ahosts api.sno.factory.example | awk '{ print $1 }' | sort -u`
	if out, err := l.Node.Shell(ctx, rest); err != nil || out != "/var/lib/touchdown/armed\ninactive\n"+ownSix+"\n" {
		t.Errorf("the rest after the undo: %v\n%s", err, out)
	}
}

// lookOnIPv6 is the state of the network on the node, in words that stay the same as long as it does.
func lookOnIPv6(ctx context.Context, l *landing.Landing) (string, error) {
	return l.Node.Shell(ctx, `ip -o address show dev br-ex scope global | awk '{ print $3, $4, / dynamic / ? "dynamic" : "fixed" }' | sort
ip -6 route show default | awk '{ print "route", $3, $5 }'
grep -v '^#' /etc/resolv.conf
nmcli -g NAME connection show | grep -v cni0 | sort
cd /etc/NetworkManager/system-connections && sha256sum *`)
}

// bakedOfIPv6 is such a node as it leaves the factory, at the end of the site's cable.
func bakedOfIPv6(t *testing.T) *landing.Landing {
	t.Helper()
	m := node.WithProfile(t, node.ProfileOfIPv6(ownSix, "2001:db8:fac::1"))
	ctx := wait.Within(t, 5*time.Minute)
	stop, err := m.ServeIPv6(ctx, netip.MustParsePrefix("2001:db8:fac::1/64"), ownSix)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	err = wait.For(ctx, "the kubelet's certificate for its new address", func() error {
		n, err := m.Approve(ctx)
		if err == nil && len(n) == 0 {
			err = errors.New("nothing was asked for")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.PodsReady(ctx); err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{nil, {"--arm"}} {
		if out, err := m.Bake(ctx, flags...); err != nil {
			t.Fatalf("bake %v: %v\n%s", flags, err, out)
		}
	}
	if err := m.PowerOff(ctx); err != nil {
		t.Fatal(err)
	}
	stop()
	n := edge()
	n.Prefix4, n.Gateway4, n.Node4, n.DNS4, n.NTP4 = netip.Prefix{}, netip.Addr{}, netip.Addr{}, nil, nil
	s, err := site.Launch(site.Options{LAN: m.LAN(), Network: n})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := m.Boot(ctx); err != nil {
		t.Fatal(err)
	}
	return &landing.Landing{Node: m, Site: s}
}

// standsOnIPv6 looks for the node at its site.
func standsOnIPv6(ctx context.Context, t *testing.T, l *landing.Landing) {
	t.Helper()
	if err := wait.For(ctx, "the cluster from outside", func() error { return l.Proof(ctx, domain) }); err != nil { // a server that just started is not ready
		t.Error(err)
	}
	names := "api." + domain + " api-int." + domain + " x.apps." + domain
	l.Site.DNS.Off() // which holds up who asks it for addresses of IPv4
	out, err := l.Node.Shell(ctx, `for n in `+names+`; do timeout 3 getent ahosts $n | awk '{ print $1 }' | sort -u; done`)
	l.Site.DNS.On()
	if err != nil || out != strings.Repeat(ownSix+"\n", 3) {
		t.Errorf("the node finds its names: %v\n%s", err, out)
	}
	out, err = l.Node.Shell(ctx, "ip -o address show dev br-ex scope global; ip -6 route show dev br-ex; cat /etc/resolv.conf /etc/dnsmasq.d/*")
	t.Logf("on the node:\n%s", out)
	if err != nil || !strings.Contains(out, siteSix+"/64") || !strings.Contains(out, ownSix) || strings.Contains(out, "inet ") {
		t.Errorf("its addresses: %v\n%s", err, out)
	}
	conn, err := l.Site.Client().Dial(ctx, "tcp", net.JoinHostPort(siteSix, "53"))
	if err == nil {
		_ = conn.Close()
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a machine in the site's LAN asks the node's name server: %v", err)
	}
}

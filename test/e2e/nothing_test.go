package e2e

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"touchdown/test/bench/landing"
	"touchdown/test/bench/node"
	"touchdown/test/bench/site"
	"touchdown/test/wait"
)

// bare is what a site has besides its cable. A DHCP server is at one of them only, and it gives an address and nothing else.
type bare struct{ dns, ntp, gateway, lease bool }

func (b bare) String() string {
	var words []string
	for _, part := range []struct {
		name  string
		there bool
	}{{"DNS", b.dns}, {"NTP", b.ntp}, {"gateway", b.gateway}, {"lease", b.lease}} {
		if part.name == "lease" && !part.there {
			continue
		}
		words = append(words, map[bool]string{true: "", false: "no "}[part.there]+part.name)
	}
	return strings.Join(words, ", ")
}

// network is the site. What it does not have is nowhere.
func (b bare) network() site.Network {
	n := edge()
	n.Prefix6, n.Gateway6, n.Node6, n.DNS6, n.NTP6 = netip.Prefix{}, netip.Addr{}, netip.Addr{}, nil, nil
	if !b.dns {
		n.DNS4 = nil
	}
	if !b.ntp {
		n.NTP4 = nil
	}
	if !b.gateway {
		n.Gateway4 = netip.Addr{}
	}
	return n
}

// config is what a technician types there: what there is.
func (b bare) config() string {
	address := "method: static, address: 198.51.100.10, prefixLength: 24"
	if b.gateway {
		address += ", gateway: 198.51.100.1"
	}
	if b.lease {
		address = "method: dhcp"
	}
	network := "\n    ipv4: {" + address + "}\n    ipv6: {method: disabled}"
	if b.dns {
		network += "\n    dnsServers: [198.51.100.53]"
	}
	text := config(network, "")
	if !b.ntp {
		text = strings.Replace(text, "  additionalNTPSources: [198.51.100.123]\n", "", 1)
	}
	return text
}

// TestSitesWithNothing lands a node at sites that lack name server, time server and gateway, in all combinations, and at one
// whose lease names none of them. It starts the node again there.
func TestSitesWithNothing(t *testing.T) {
	for i := range 9 {
		b := bare{dns: i&1 != 0, ntp: i&2 != 0, gateway: i&4 != 0, lease: i == 8}
		t.Run(b.String(), func(t *testing.T) {
			t.Parallel() // as many at once as there are places for nodes
			t.Logf("# The site: %s, no registry", b)
			landAt(t, b)
		})
	}
}

func landAt(t *testing.T, b bare) {
	l := landing.Start(t, landing.Options{Network: b.network(), Off: true})
	if !b.lease {
		l.Site.DHCP4.Off()
	}
	ctx := wait.Within(t, 8*time.Minute)
	if err := l.Node.Boot(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Await(ctx, "the armed node's form", func(s *landing.Status) bool { return s.State == "collecting" }); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	out, code, err := l.Apply(ctx, b.config())
	t.Logf("## The site config\n%s\n## touchdown apply, %.1f s\n%s", b.config(), time.Since(begin).Seconds(), out)
	if err != nil || code != 0 {
		t.Fatalf("apply: exit %d, %v\n%s", code, err, l.Log(40))
	}
	t.Log("## What is told of what the site has, and has not")
	b.told(ctx, t, l)
	b.stands(ctx, t, l)
	t.Log("## The node starts again")
	if err := l.Node.Reboot(ctx); err != nil {
		t.Fatal(err)
	}
	if err := l.Node.PodsReady(ctx); err != nil {
		t.Fatalf("after a reboot: %v", err)
	}
	b.stands(ctx, t, l)
}

// told: what is absent is said to be so and not needed, and nothing that is there is.
func (b bare) told(ctx context.Context, t *testing.T, l *landing.Landing) {
	t.Helper()
	status, err := l.Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	absent := map[string]bool{"net-dns-1": !b.dns, "pod-request": !b.dns, "net-ntp-1": !b.ntp, "clock": !b.ntp, "net-gateway": !b.gateway, "net-registry": true}
	seen := map[string]bool{}
	for _, stage := range status.Stages {
		for _, step := range stage.Steps {
			for _, c := range step.Checks {
				if c.Status == "fail" {
					t.Errorf("%s fails: %s", c.ID, c.Observed)
				}
				want, of := absent[c.ID]
				if !of {
					continue
				}
				seen[c.ID] = true
				t.Logf("%-12s %s  %s", c.ID, c.Status, c.Observed)
				if got := c.Status == "skip" && strings.Contains(strings.ToLower(c.Observed), "absent, not needed"); got != want {
					t.Errorf("%s: %s: %s", c.ID, c.Status, c.Observed)
				}
			}
		}
	}
	if len(seen) != len(absent) {
		t.Errorf("only %v were looked at", seen)
	}
}

// stands: the node has what the site gives, answers for its names, and is reached as the report says.
func (b bare) stands(ctx context.Context, t *testing.T, l *landing.Landing) {
	t.Helper()
	out, err := l.Node.Shell(ctx, "ip -4 route show default; ip -4 -o address show dev br-ex; cat /etc/resolv.conf")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("## The node's addresses, way out and name servers\n%s", out)
	for text, want := range map[string]bool{
		"default via 198.51.100.1 ": b.gateway, "nameserver 198.51.100.53": b.dns, "nameserver 192.0.2.1\n": false, "default via 192.0.2.1 ": false,
		"198.51.100.10/24": true, node.InternalAddress + "/32": true, "nameserver " + node.InternalAddress: true,
	} {
		if strings.Contains(out, text) != want {
			t.Errorf("%q: want %v in\n%s", text, want, out)
		}
	}
	// Where no time server is, nothing waits for one: kubelet-dependencies.target would for three minutes.
	if out, err := l.Node.Shell(ctx, "test -e /etc/systemd/system/chrony-wait.service.d/50-touchdown.conf && echo off || echo on"); err != nil || strings.TrimSpace(out) == "on" != b.ntp {
		t.Errorf("the wait for a time server is %s (%v)", out, err)
	}
	// With no server to forward to, an unknown name must get its answer at once, not after the resolver's timeout. Right after a
	// boot the node may be too busy for that: it is asked again.
	asking, stop := context.WithTimeout(ctx, wait.Timeout(15*time.Second))
	defer stop()
	tries := 0
	if err := wait.For(asking, "names on the node", func(ctx context.Context) error {
		tries++
		out, err := l.Node.Shell(ctx, "getent ahostsv4 api."+domain+"; timeout 4 getent ahostsv4 nobody.invalid; echo exit $?")
		if err == nil && (!strings.Contains(out, node.InternalAddress) || !strings.Contains(out, "exit 2")) {
			err = errors.New(out)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	t.Logf("the node's names answered when asked %d times", tries)
	find := l.Site.Client().DialContext
	var c *laptop
	if !b.dns {
		c = newLaptop(ctx, t, l)
		find = c.dial
	}
	// After a boot the router serves its certificates a few seconds later than the API.
	if err := wait.For(ctx, "API and console, from outside", func() error { return l.ProofBy(ctx, domain, find) }); err != nil {
		t.Error(err)
	}
	if c != nil {
		c.browses(ctx)
	}
}

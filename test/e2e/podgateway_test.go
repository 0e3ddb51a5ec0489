package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"touchdown/test/bench/landing"
	"touchdown/test/bench/node"
	"touchdown/test/wait"
)

// fromAPod asks the site's name server from the network namespace of a pod. CRI-O keeps the node's own there too.
const fromAPod = `for n in /run/netns/*; do nsenter --net=$n ip link show eth0 >/dev/null 2>&1 && break; done && nsenter --net=$n ping -q -c 2 -W 2 198.51.100.53`

// TestPodsAnswerOnALease lands a node where the site gives the address. NetworkManager puts a fixed address before a lease, and
// OVN-Kubernetes gives the pods' packets the first one: the node's own would get no answer.
func TestPodsAnswerOnALease(t *testing.T) {
	l := landing.Start(t, landing.Options{Network: edge(), Echo: t.Output()})
	ctx := wait.Within(t, 6*time.Minute)
	if _, err := l.Await(ctx, "the armed node's form", func(s *landing.Status) bool { return s.State == "collecting" }); err != nil {
		t.Fatal(err)
	}
	if out, code, err := l.Apply(ctx, config(`
    ipv4: {method: dhcp}
    ipv6: {method: disabled}`, "")); err != nil || code != 0 {
		t.Fatalf("apply: exit %d, %v\n%s", code, err, out)
	}
	order := func() string {
		out, err := l.Node.Shell(ctx, `ip -4 -o address show dev br-ex scope global | awk '{ print $4 }' | paste -sd ' '`)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(out)
	}
	const site, own = "198.51.100.10/24", node.InternalAddress + "/32"
	if got := order(); got != site+" "+own {
		t.Errorf("br-ex has %s", got)
	}
	if out, err := l.Node.Shell(ctx, fromAPod); err != nil {
		t.Errorf("a pod of the landed node gets no answer: %v\n%s", err, out)
	}
	for _, id := range []string{"pod-gateway", "pod-request"} {
		if got := checked(ctx, t, l, id); got != "pass" {
			t.Errorf("the check %s: %q", id, got)
		}
	}
	answersNobodyElse(ctx, t, l)
	// What there was without the scripts that keep the order: the lease behind the node's own address.
	if _, err := l.Node.Shell(ctx, "ip address delete "+site+" dev br-ex && ip address add "+site+" dev br-ex && ip route replace default via 198.51.100.1 dev br-ex src 198.51.100.10 metric 48"); err != nil {
		t.Fatal(err)
	}
	unanswered := func() error {
		if out, err := l.Node.Shell(ctx, fromAPod); err == nil {
			return errors.New(out)
		}
		return nil
	}
	if err := wait.For(ctx, "no answer to the node's own address", unanswered); err != nil {
		t.Error(err)
	}
	if _, err := l.Node.Shell(ctx, "/usr/local/bin/touchdown-internal-address"); err != nil { // what the check advises
		t.Fatal(err)
	}
	if got := order(); got != site+" "+own {
		t.Errorf("after the advice br-ex has %s", got)
	}
	answered := func() error {
		out, err := l.Node.Shell(ctx, fromAPod)
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	if err := wait.For(ctx, "an answer after the advice", answered); err != nil {
		t.Error(err)
	}
	// A lease that comes again, and a profile that is activated again.
	for _, event := range []string{"nmcli device reapply br-ex", "nmcli connection up ovs-if-br-ex"} {
		if _, err := l.Node.Shell(ctx, event); err != nil {
			t.Fatal(err)
		}
		if err := wait.For(ctx, event, func() error {
			if got := order(); got != site+" "+own {
				return errors.New("br-ex has " + got)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
	daemonFindsNoDrift(ctx, t, l)
}

// answersNobodyElse asks the node's own name server, a real dnsmasq, for a new name: its answer is for the node and its pods, not for a
// machine in the site's LAN, which could reach nothing at the address that it tells.
func answersNobodyElse(ctx context.Context, t *testing.T, l *landing.Landing) {
	t.Helper()
	for _, own := range []string{"127.0.0.1", node.InternalAddress} {
		asks := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return l.Node.Dial(ctx, network, own+":53")
		}}
		if got, err := asks.LookupNetIP(ctx, "ip4", "api."+domain); err != nil || len(got) != 1 || got[0].Unmap().String() != node.InternalAddress {
			t.Errorf("the name server at %s tells the node %v: %v", own, got, err)
		}
	}
	if err := lanAsks(ctx, l); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a machine in the site's LAN asks the node's name server: %v", err)
	}
}

// lanAsks connects to the node's name server from the site's LAN.
func lanAsks(ctx context.Context, l *landing.Landing) error {
	conn, err := l.Site.Client().Dial(ctx, "tcp", "198.51.100.10:53")
	if err == nil {
		err = conn.Close()
	}
	return err
}

// checked is what the landing's own look at the cluster found.
func checked(ctx context.Context, t *testing.T, l *landing.Landing, id string) string {
	t.Helper()
	status, err := l.Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, stage := range status.Stages {
		for _, step := range stage.Steps {
			for _, c := range step.Checks {
				if c.ID == id {
					return c.Status
				}
			}
		}
	}
	return ""
}

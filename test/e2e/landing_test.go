// Package e2e lands whole nodes: the program under test runs on a booted look-alike of a single-node OpenShift, as its
// own service, at the end of a cable with a real site behind it.
package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

	"touchdown/test/bench/landing"
	"touchdown/test/bench/node"
	"touchdown/test/bench/site"
	"touchdown/test/wait"
)

const domain = "store0051.retail.example.com"

// edge is the site whose name server knows the cluster's new names.
func edge() site.Network {
	n := site.Edge()
	n.Domain = domain
	return n
}

// static is a site config with fixed addresses; more is put into its spec.
func static(more string) string {
	return config(`
    ipv4: {method: static, address: 198.51.100.10, prefixLength: 24, gateway: 198.51.100.1}
    ipv6: {method: disabled}
    dnsServers: [198.51.100.53]`, more)
}

// given is a site config that leaves the addresses to the site's DHCP server and router.
func given(more string) string {
	return config(`
    ipv4: {method: dhcp}
    ipv6: {method: autoconf}`, more)
}

// config leaves it to the look which port is used.
func config(network, more string) string {
	return `apiVersion: touchdown.dev/v1alpha1
kind: SiteConfig
metadata: {name: store-0051}
spec:
  clusterName: store0051
  baseDomain: retail.example.com
  network:` + network + `
  additionalNTPSources: [198.51.100.123]
  policy:
    stabilityWindow: 1s
    keepGoingOnWarnings: true
` + more
}

// TestLanding moves a node headless from the factory's network to a site with fixed addresses. Then it boots without its
// cable, and with it again.
func TestLanding(t *testing.T) {
	l := landing.Start(t, landing.Options{Network: edge(), Echo: t.Output()})
	ctx := wait.Within(t, 5*time.Minute)
	if s, err := l.Await(ctx, "the armed node's form", func(s *landing.Status) bool { return s.State == "collecting" }); err != nil || s.Life != "armed" {
		t.Fatalf("a node that left the factory: %+v, %v", s, err)
	}
	begin := time.Now()
	out, code, err := l.Apply(ctx, static("  nodeLabels: {zone: berlin}\n"))
	t.Logf("apply took %.1f s", time.Since(begin).Seconds())
	if err != nil || code != 0 {
		t.Fatalf("apply: exit %d, %v\n%s", code, err, out)
	}
	if err := l.Proof(ctx, domain); err != nil {
		t.Errorf("from outside: %v", err)
	}
	if out, err := l.Node.Shell(ctx, "ip -br -4 address show br-ex; ip route; cat /etc/resolv.conf; ls /etc/NetworkManager/system-connections; ls /var/lib/touchdown"); err != nil ||
		!strings.Contains(out, node.InternalAddress+"/32") || !strings.Contains(out, "198.51.100.10/24") {
		t.Errorf("addresses: %v\n%s", err, out)
	} else {
		t.Log(out)
	}
	if out, err := l.Node.Shell(ctx, "grep 'Labels of the node' /var/lib/touchdown/report.txt"); err != nil || !strings.Contains(out, "zone=berlin") {
		t.Errorf("the report about the label: %v\n%s", err, out)
	}
	t.Run("the Machine Config Operator's files are the operator's", func(t *testing.T) { operatorFilesAreTheOperators(t, l) })
	if err := letIn(ctx, l); err != nil {
		t.Error(err)
	}
	if err := l.Node.Unplug(ctx, 0); err != nil {
		t.Fatal(err)
	}
	if err := l.Node.Reboot(ctx); err != nil {
		t.Fatal(err)
	}
	if err := l.Node.PodsReady(ctx); err != nil {
		t.Errorf("a landed node without its cable: %v", err)
	}
	if err := l.Node.Plug(ctx, 0); err != nil {
		t.Fatal(err)
	}
	if err := l.Node.Wait(wait.Within(t, 30*time.Second), "ip -br -4 address show br-ex | grep -q 198.51.100.10"); err != nil {
		t.Errorf("the cable is in again: %v", err)
	}
	// The router answers 503 for an application until it hears that its pod was started again.
	if err := wait.For(ctx, "the cluster from outside, after the boot", func(ctx context.Context) error { return l.Proof(ctx, domain) }); err != nil {
		t.Error(err)
	}
	if out, err := inAPI(ctx, l); err != nil || !strings.Contains(out, `"zone":"berlin"`) {
		t.Errorf("the node's label after the boot: %v\n%s", err, out)
	}
}

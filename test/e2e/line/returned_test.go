package line

import (
	"strings"
	"testing"
	"time"

	"touchdown/steps/session"
	"touchdown/test/bench/landing"
	"touchdown/test/bench/node"
	"touchdown/test/bench/site"
)

// siteOf is a site config of a shop with fixed addresses.
func siteOf(name string) string {
	return `apiVersion: touchdown.dev/v1alpha1
kind: SiteConfig
spec:
  clusterName: ` + name + `
  baseDomain: retail.example.com
  network:
    ipv4: {method: static, address: 198.51.100.10, prefixLength: 24, gateway: 198.51.100.1}
    ipv6: {method: disabled}
    dnsServers: [198.51.100.53]
  additionalNTPSources: [198.51.100.123]
  policy: {stabilityWindow: 1s, keepGoingOnWarnings: true}
`
}

// TestAReturnedNode lands a node, accepts the hand-over, and brings it back to the bench line: the list goes from the hardware check, with a
// burn-in, to the seal on a cluster that keeps the identity of its site, for which a second person signs behind three reboots. Then it lands
// under another name.
func TestAReturnedNode(t *testing.T) {
	l := built(t, node.StockedFactory)
	ctx, m := l.ctx, l.Node
	leaves := l.arrives("store0051")
	l.must(m.Boot(ctx))
	l.lands("store0051")
	l.must(l.Do(ctx, session.Action{Verb: session.HandOver}))
	leaves()

	stop, err := m.ServeFactory(ctx)
	l.must(err)
	if out, code, err := l.Touchdown(ctx, "factory", "--unattended"); err != nil || code == 0 || !strings.Contains(out, "touchdown factory --returned NODE") {
		t.Errorf("without the flag: exit %d, %v\n%s", code, err, out)
	}
	l.must(m.WriteFile("/var/tmp/line.yaml", []byte(benchLine), 0o600))
	if out, err := m.Shell(ctx, "cd /var/tmp && touchdown media keygen anna && touchdown media keygen carl"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	args := []string{
		"factory", "--returned", node.HostName, "--unattended", "-f", "/var/tmp/line.yaml", "--by", "the bench", "--force", "--burn-in", "1m",
		"--second-key", "/var/tmp/anna.pub", "--second", "Anna Huber", "--second-sign", "/var/tmp/anna.key",
	}
	for _, check := range landing.Waived {
		args = append(args, "--waive", check+"=the bench has the hardware of a build machine")
	}
	out, code, err := l.Touchdown(ctx, args...) // it ends with the first reboot
	t.Logf("exit %d, %v\n%s", code, err, out)
	l.sealed()
	l.burntIn()
	l.sealedByTwo()
	day := time.Now().UTC().Format("2006-01-02")
	if out, err := m.Shell(ctx, "cd /var/lib/touchdown; ls; ls returned/"+day+"; test ! -e journal.jsonl && touchdown report verify --key report-key.pub returned/"+day+"/report.signed.json"); err != nil {
		t.Errorf("the records of the site: %v\n%s", err, out)
	}
	stop()
	l.must(m.Reboot(ctx))
	l.waitsForItsSite()
	defer l.arrives("store0052")()
	l.lands("store0052")
}

// arrives puts the node's cable into a site whose name server knows the name.
func (l *factoryLine) arrives(name string) (leaves func()) {
	l.t.Helper()
	n := site.Edge()
	n.Domain = name + ".retail.example.com"
	s, err := site.Launch(site.Options{LAN: l.Node.LAN(), Network: n})
	l.must(err)
	l.Site = s
	return func() { s.Close(); l.Site = nil }
}

// lands lands the node under the name, as a laptop on the site's LAN sees it.
func (l *factoryLine) lands(name string) {
	l.t.Helper()
	_, err := l.Await(l.ctx, "the armed node's form", func(s *landing.Status) bool { return s.State == "collecting" && s.Life == "armed" })
	l.must(err)
	out, code, err := l.Apply(l.ctx, siteOf(name))
	if err != nil || code != 0 {
		l.t.Fatalf("apply: exit %d, %v\n%s", code, err, out)
	}
	if err := l.Proof(l.ctx, name+".retail.example.com"); err != nil {
		l.t.Errorf("from outside: %v", err)
	}
}

// sealedByTwo has the signed report verified with the key of the second person, and refused with another person's.
func (l *factoryLine) sealedByTwo() {
	l.t.Helper()
	const verify = "cd /var/lib/touchdown/factory && touchdown report verify --key ../report-key.pub report.signed.json --second-key /var/tmp/"
	if out, err := l.Node.Shell(l.ctx, verify+"anna.pub"); err != nil || !strings.Contains(out, "Anna Huber") || !strings.Contains(out, "the bench") {
		l.t.Errorf("the seal of two people: %v\n%s", err, out)
	}
	if out, err := l.Node.Shell(l.ctx, verify+"carl.pub"); err == nil {
		l.t.Errorf("the seal counts with another person's key:\n%s", out)
	}
}

// burntIn looks at what the list's burn-in left: its verdicts, and the scope that systemd gave the process that loads the machine.
func (l *factoryLine) burntIn() {
	l.t.Helper()
	s, err := l.Await(l.ctx, "the list", func(*landing.Status) bool { return true })
	l.must(err)
	for _, id := range []string{"burn-in-cpu", "burn-in-memory", "burn-in-disk"} {
		if got := verdicts(s)[id]; got != "pass" && got != "warn" { // a busy machine may not get through its memory and disk in a minute
			l.t.Errorf("%s: %q, want pass or warn", id, got)
		}
	}
	if out, err := l.Node.Shell(l.ctx, "journalctl --no-pager --output=cat | grep 'run-.*scope.*Touchdown worker'"); err != nil {
		l.t.Errorf("systemd gave the worker no scope: %v\n%s", err, out)
	}
}

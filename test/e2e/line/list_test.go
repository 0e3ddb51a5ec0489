package line

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	bench "touchdown/test/bench/images"
	"touchdown/test/bench/landing"
	"touchdown/test/bench/node"
	"touchdown/test/patience"
)

// benchLine is the policy of a bench line without a person.
const benchLine = `apiVersion: touchdown.dev/v1alpha1
kind: SiteConfig
spec:
  policy:
    keepGoingOnWarnings: true
    stabilityWindow: 1s
    answers:
      tick-label: "yes"
      tick-passwords: "yes"
      tick-media: "yes"
      tick-kubeconfig: "yes"
      tick-packed: "yes"
`

// TestFactoryList prepares an installed node by one command: hardware, bake, images, a rehearsal without registries, health,
// ticks, report and seal, over three reboots. Its next boot waits for the site.
func TestFactoryList(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience.Of(10*time.Minute))
	defer cancel()
	image, err := node.Stocked(ctx, bench.Small)
	node.Require(t, err)
	m, err := node.New(ctx, node.Options{Image: image})
	node.Require(t, err)
	l := &landing.Landing{Node: m}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the node's engine:\n%s", l.Log(40))
		}
		if err := l.Close(); err != nil {
			t.Errorf("ending the node: %v", err)
		}
	})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(m.Program())
	must(m.Boot(ctx))
	stop, err := m.ServeFactory(ctx)
	must(err)
	defer stop()
	must(m.PodsReady(ctx))
	must(m.WriteFile("/var/tmp/line.yaml", []byte(benchLine), 0o600))
	args := []string{"factory", "--unattended", "-f", "/var/tmp/line.yaml", "--by", "the bench"}
	for _, check := range landing.Waived {
		args = append(args, "--waive", check+"=the bench has the hardware of a build machine")
	}
	begun, boots := time.Now(), m.Boots()
	out, code, err := l.Touchdown(ctx, args...)
	t.Logf("touchdown factory ended with the bake's reboot: exit %d, %v\n%s", code, err, out)
	s, err := l.Await(ctx, "the end of the list", func(s *landing.Status) bool { return s.State == "done" || s.State == "failed" })
	must(err)
	if s.State != "done" || s.List != "factory" || s.Life != "armed" {
		t.Fatalf("the list ended %s (%s, node %s): %+v", s.State, s.List, s.Life, s.Problem)
	}
	t.Logf("sealed after %.0f s and %d reboots", time.Since(begun).Seconds(), m.Boots()-boots)
	if got := m.Boots() - boots; got != 3 {
		t.Errorf("%d reboots, want 3: the bake's, the rehearsal's, the one back", got)
	}
	passed := verdicts(s)
	for _, id := range []string{"images-rehearsed", "images-missing", "tick-packed", "tick-label"} {
		if passed[id] != "pass" {
			t.Errorf("%s: %q, want pass", id, passed[id])
		}
	}
	report := factoryReport(t, m)
	if report.Kind != "factory" || !strings.HasPrefix(report.Verdict, "passed") || len(report.Checks) < 20 {
		t.Errorf("the report tells %q, %q, %d checks", report.Kind, report.Verdict, len(report.Checks))
	}

	must(m.PowerOff(ctx))
	must(m.Boot(ctx))
	s, err = l.Await(ctx, "the site's list", func(s *landing.Status) bool { return s.List == "site" && verdicts(s)["hw-shipped"] != "" })
	must(err)
	for _, c := range s.Stages[0].Steps[0].Checks { // compared with the inventory of the bench line
		if c.ID == "hw-shipped" && c.Status != "pass" {
			t.Errorf("the node as it arrived: %+v", c)
		}
	}
	if s.Life != "armed" || len(s.Stages) != 7 {
		t.Errorf("after the seal the engine has %d stages, the node is %s", len(s.Stages), s.Life)
	}
	if out, err := m.Shell(ctx, "systemctl is-active kubelet || true"); err != nil || strings.TrimSpace(out) != "inactive" {
		t.Errorf("kubelet of the sealed node is %q, %v", out, err)
	}
	if out, code, err := l.Touchdown(ctx, "factory", "--unattended"); err != nil || code == 0 || !strings.Contains(out, "FAC-SEAL") {
		t.Errorf("a sealed node went back to the bench line: exit %d, %v\n%s", code, err, out)
	}
}

// verdicts are the checks of all steps by ID.
func verdicts(s *landing.Status) map[string]string {
	all := map[string]string{}
	for _, stage := range s.Stages {
		for _, step := range stage.Steps {
			for _, c := range step.Checks {
				all[c.ID] = c.Status
			}
		}
	}
	return all
}

type factoryDocument struct {
	Kind, Verdict string
	Checks        []struct{ ID, Status string }
}

// factoryReport reads the report on the node, whose files have to fit together.
func factoryReport(t *testing.T, m *node.Machine) factoryDocument {
	t.Helper()
	out, err := m.Shell(t.Context(), "cd /var/lib/touchdown/factory && sha256sum -c SHA256SUMS >&2 && grep -q '<testsuites' report.junit.xml && cat report.json")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var d factoryDocument
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

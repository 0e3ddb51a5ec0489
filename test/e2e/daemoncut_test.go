package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/layout"
	"touchdown/backend/layout/rhcos"
	"touchdown/test/bench/landing"
	"touchdown/test/wait"
)

// TestACutWhileTheDaemonWrites: the power fails when the Machine Config Daemon has written the site's pull secret, and has neither enabled the
// node's units again nor noted the configuration. The engine starts all the same and enables the others; the daemon goes no further before the
// files are put back, then it starts over, and the node lands.
func TestACutWhileTheDaemonWrites(t *testing.T) {
	f := newTrip(t, 6*time.Minute, landing.Options{})
	f.collecting()
	secret := static(`  pullSecret: '{"auths":{"registry.site.example:5000":{"auth":"dTpw"}}}'
`)
	f.must(f.Begin(f.ctx, strings.Replace(secret, "  additionalNTPSources: [198.51.100.123]\n", "", 1))) // no other file is rolled out
	f.sticks("machine-config-daemon")
	wait.Until(t, "the site's credentials on the node's disk", func() bool {
		out, err := f.Node.Shell(f.ctx, "cat "+rhcos.PullSecret)
		return err == nil && strings.Contains(out, "registry.site.example")
	})
	units := layout.EngineUnit + " touchdown-consoles.service touchdown-uplink.service"
	wait.Until(t, "the units disabled on the node's disk", func() bool {
		out, err := f.Node.Shell(f.ctx, "systemctl is-enabled "+units+"; sync")
		return err == nil && strings.Join(strings.Fields(out), " ") == "disabled disabled disabled"
	})
	f.shell("systemctl disable kubelet; sync") // the bench's MachineConfigs have none; the landing starts it
	f.must(f.Node.PowerCut(f.ctx, true))
	f.must(f.Node.Boot(f.ctx))
	f.lands()
	if got := f.shell("systemctl is-enabled " + units); got != "enabled\nenabled\nenabled" {
		t.Errorf("the units are %q", got)
	}
	said := f.shell("cat /var/lib/touchdown/journal.jsonl")
	for text, of := range map[string]string{"These are enabled again": "touchdown-uplink.service", "so that it can start over": rhcos.PullSecret} {
		if !slices.ContainsFunc(strings.Split(said, "\n"), func(line string) bool { return strings.Contains(line, text) && strings.Contains(line, of) }) {
			t.Errorf("nothing tells of %s:\n%s", of, said)
		}
	}
}

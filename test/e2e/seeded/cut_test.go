package seeded

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"touchdown/test/bench/node"
	"touchdown/test/wait"
)

// TestPowerCuts takes the power away from a node whose containers run from the store, and at last its own store too.
func TestPowerCuts(t *testing.T) {
	n := start(t, 12*time.Minute)
	n.well("before")
	store, running := n.store(), n.containers()
	n.fromTheStore(running)
	const only = "localhost/only/primary:1"
	n.put(only)
	for _, flush := range []bool{false, true} {
		when := map[bool]string{false: "power cut", true: "power cut, log flushed"}[flush]
		n.cut(when, flush)
		if !n.store().sameIDs(store) {
			t.Errorf("%s: the store holds %s, before %s", when, n.store(), store)
		}
		if got := n.sh("crictl inspecti " + only + " >/dev/null && echo there || true"); got != "there" {
			t.Errorf("%s: CRI-O's own store was emptied", when)
		}
		n.await(running)
	}

	// Nothing is left but the store: what has been mounted from the old one goes with the power.
	n.sh("systemctl stop kubelet crio; mv " + node.Graphroot + " /var/lib/containers/gone; sync")
	n.cut("with its own empty store", false)
	if own := n.primary(); len(own) > 0 {
		t.Errorf("CRI-O's own store holds %s again", own)
	}
	n.await(running)
	if !n.store().sameIDs(store) {
		t.Errorf("the store holds %s, before %s", n.store(), store)
	}
	t.Logf("with nothing in its own store CRI-O lists:\n%s", n.sh("crictl images | cut -c1-100 | head -5; crictl images | wc -l"))
}

// fromTheStore starts all containers again with nothing in CRI-O's own store, so that they run from the seeded one.
func (n *seeded) fromTheStore(running int) {
	n.Helper()
	n.sh(`systemctl stop kubelet; crictl rmp $(crictl pods | cut -d' ' -f1); systemctl stop crio; rm -rf ` + node.Graphroot + `; systemctl start crio; systemctl start --no-block kubelet`)
	n.await(running)
	if n.sh("grep -c '^overlay /var/lib/containers/storage/.*/var/lib/shared/touchdown/current/overlay/l/' /proc/mounts || true") == "0" {
		n.Error("no container runs from the store")
	}
}

// cut takes the power away and gives it back; then all must be well again, by the node's own look too.
func (n *seeded) cut(when string, flush bool) {
	n.Helper()
	n.must(n.node.PowerCut(n.ctx, flush))
	n.must(n.node.Boot(n.ctx))
	n.ready(when)
	s := n.status()
	if boot := strings.TrimSpace(n.sh("cat /proc/sys/kernel/random/boot_id")); s.Boot != boot || !s.Well() || len(s.Repaired) > 0 {
		n.Errorf("%s: the node's own look: %+v (boot %s)", when, s, boot)
	}
	n.well(when)
}

// await waits until so many containers run.
func (n *seeded) await(running int) {
	n.Helper()
	wait.Until(n, fmt.Sprintf("%d containers", running), func() error {
		if now := n.containers(); now != running {
			return fmt.Errorf("%d containers run", now)
		}
		return nil
	})
}

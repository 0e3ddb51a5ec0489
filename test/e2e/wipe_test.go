package e2e

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"touchdown/steps/session"
	"touchdown/test/bench/landing"
	"touchdown/test/bench/node"
	"touchdown/test/wait"
)

// token is a secret that stays on a node after its hand-over: its monitor is never reached, so that the report waits with it.
const token = "t0ken-that-a-wipe-takes"

// kept is what a site brings that Touchdown keeps for the rest of the node's life.
const kept = calls + `  console: {pin: "739215"}
  monitor: {url: "https://198.51.100.77/touchdown", token: ` + token + `}
`

// remains lists what is below the node's state folder, and which of it has the secret.
const remains = `cd /var/lib/touchdown && find . -mindepth 1 -type f | sort; ! grep -rl ` + token + ` .`

// manyOriginals gives a wipe something to do for seconds.
const manyOriginals = `mkdir -p -m 0700 /var/lib/touchdown/saved/planted && cd /var/lib/touchdown/saved/planted && for n in $(seq 3000); do echo ` + token + ` > $n; done; sync`

// TestAWipedNode wipes a landed and a sealed node, whose power is cut in the middle.
func TestAWipedNode(t *testing.T) {
	t.Run("landed", aWipedLandedNode)
	t.Run("sealed", aWipedSealedNode)
}

// aWipedLandedNode is not wiped before its hand-over was accepted, and not by another node's name. The boot behind the power cut ends the
// wipe and starts the cluster, which is none of Touchdown's records. Another wipe finds an engine that has nothing, and the node comes up
// once more.
func aWipedLandedNode(t *testing.T) {
	f := newTrip(t, 10*time.Minute, landing.Options{})
	f.collecting()
	f.apply(static(kept))
	f.wipe(1, "FAC-BUSY", node.HostName)
	f.must(f.Do(f.ctx, session.Action{Verb: session.HandOver}))
	f.wipe(2, "WPE-ELSE", "sno-elsewhere")
	before := f.shell("cd /var/lib/touchdown && find . -type f | sort; grep -rl " + token + " .; systemctl is-active touchdown-engine kubelet")
	t.Log(before)
	for _, has := range []string{"report-key.pem", "factory/saved/", "journal.jsonl", "outbox/"} {
		if !strings.Contains(before, has) {
			t.Errorf("the landed node has no %s to be wiped", has)
		}
	}
	f.wipe(0, "would wipe  /var/lib/touchdown/outbox", "--dry-run", node.HostName)

	f.shell(manyOriginals)
	f.cutWipe()
	f.must(f.Node.Boot(f.ctx))
	f.isWiped()
	f.servesItsSite()

	f.wipe(0, "keeps nothing of this node", node.HostName)
	f.isWiped()
	f.must(f.Node.Reboot(f.ctx))
	f.isWiped()
	f.servesItsSite()
}

// aWipedSealedNode waits for its site no more: the boot behind the power cut still finds the gate closed and ends the wipe, and the boot
// after that starts the cluster.
func aWipedSealedNode(t *testing.T) {
	f := newTrip(t, 8*time.Minute, landing.Options{})
	f.collecting()
	f.lives("armed")
	f.shell(manyOriginals)
	f.cutWipe()
	f.must(f.Node.Boot(f.ctx))
	f.isWiped()
	f.shell("test ! -e /var/lib/touchdown/armed")
	f.must(f.Node.Reboot(f.ctx))
	f.must(f.Node.PodsReady(f.ctx))
	f.isWiped()
}

// wipe runs the command as a person at the node does.
func (f *trip) wipe(exit int, says string, args ...string) {
	f.t.Helper()
	out, code, err := f.Touchdown(f.ctx, append([]string{"wipe"}, args...)...)
	if err != nil || code != exit || !strings.Contains(out, says) || strings.Contains(out, token) {
		f.t.Fatalf("wipe %q: exit %d, want %d and %q, %v\n%s", args, code, exit, says, err, out)
	}
}

// cutWipe cuts the power in the middle of a wipe.
func (f *trip) cutWipe() {
	f.t.Helper()
	cut := make(chan bool, 1)
	go func() {
		_, code, err := f.Touchdown(f.ctx, "wipe", node.HostName)
		cut <- err != nil || code != 0
	}()
	originals, err := f.Node.Path("/var/lib/touchdown/saved/planted")
	f.must(err)
	f.must(wait.For(f.ctx, "the middle of the wipe", func() bool {
		left, err := os.ReadDir(originals)
		return err != nil || len(left) < 2500
	}))
	f.must(f.Node.PowerCut(f.ctx, true))
	if !<-cut {
		f.t.Fatal("the wipe came to its end before the power was cut")
	}
	if _, err := f.Node.ReadFile("/var/lib/touchdown/wipe-under-way"); err != nil {
		f.t.Fatalf("the power was not cut in the middle of the wipe: %v", err)
	}
}

// servesItsSite waits for the cluster, which a wipe does not erase.
func (f *trip) servesItsSite() {
	f.t.Helper()
	f.must(f.Node.PodsReady(f.ctx))
	f.must(wait.For(f.ctx, "the cluster at its site", func(ctx context.Context) error { return f.Proof(ctx, domain) }))
}

// isWiped waits for an engine that has nothing, and looks through the disk.
func (f *trip) isWiped() {
	f.t.Helper()
	s := f.is("an engine without records", func(s *landing.Status) bool { return s.State == "collecting" })
	out := f.shell(remains)
	for _, notice := range s.Notices {
		f.t.Errorf("the wiped node says %q: %s", notice, f.shell("cat /var/lib/touchdown/images/status.json; journalctl --no-pager --boot --lines=20 --unit=touchdown-images-check"))
	}
	f.t.Logf("life %s; what the new engine has: %s", s.Life, strings.ReplaceAll(out, "\n", " "))
	for line := range strings.Lines(out) {
		switch strings.TrimPrefix(strings.TrimSpace(line), "./") {
		case "lock", "key", "sums.jsonl", "journal.jsonl", "engine.log", "live.json", "consoles.txt", "consoles-earlier.txt", "site.yaml", "sources.json", "images/status.json", "images/verified.jsonl": // the boot looked at the image store, which stays
		default:
			f.t.Errorf("the wiped node has %s", line)
		}
	}
	if got := f.shell("systemctl is-active touchdown-engine; stat -c %a /var/lib/touchdown; ! systemctl --quiet is-failed touchdown-consoles && systemctl is-active touchdown-console@tty1"); got != "active\n700\nactive" {
		f.t.Errorf("engine, state folder and console are %q", got)
	}
}

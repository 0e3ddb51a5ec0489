package node_test

import (
	"strings"
	"testing"
	"time"

	"touchdown/test/bench/node"
	"touchdown/test/wait"
)

// TestFactoryIsPrepared makes the disk of the node that leaves the factory, where there is none yet (make bench-factory).
func TestFactoryIsPrepared(t *testing.T) {
	wait.Slow(t)
	begun := time.Now()
	image, err := node.Factory(wait.Within(t, 10*time.Minute))
	node.Require(t, err)
	t.Logf("disk %s after %.1f s", image, time.Since(begun).Seconds())
}

// TestFactoryDisk boots the node that leaves the factory as a site may: with the cable out. It waits for its site: its address
// is there, its kubelet is not.
func TestFactoryDisk(t *testing.T) {
	image, err := node.Factory(wait.Within(t, 10*time.Minute))
	node.Require(t, err)
	m := node.Start(t, node.Options{Image: image, Unplugged: []int{0}})
	begun := time.Now()
	await(t, m, time.Minute, "systemctl is-active touchdown-internal-address && systemctl is-active kubelet-dependencies.target && ip -o -4 address show br-ex | grep -qF "+node.InternalAddress+"/32")
	t.Logf("internal address %.1f s after boot, without a cable", time.Since(begun).Seconds())
	if got := must(t, m, "systemctl show kubelet -p ConditionResult -p ActiveState --value | paste -sd ' '; test -e /var/lib/touchdown/armed && cat /var/lib/touchdown/factory.json"); !strings.HasPrefix(got, "inactive") || !strings.Contains(got, `"domain": "`+node.Domain+`"`) {
		t.Errorf("an armed node: %s", got)
	}
}

// TestBakeAndUnbake bakes an installed node, finds nothing to do the second time, and takes it all back.
func TestBakeAndUnbake(t *testing.T) {
	image, err := node.Installed(wait.Within(t, 5*time.Minute))
	node.Require(t, err)
	m := node.Start(t, node.Options{Image: image})
	if err := m.Program(); err != nil {
		node.Require(t, err)
	}
	serveFactory(t, m)
	if err := m.PodsReady(wait.Within(t, 90*time.Second)); err != nil {
		t.Fatal(err)
	}
	before := must(t, m, "cat /etc/NetworkManager/system-connections/enp1s0.nmconnection")
	begun, boots := time.Now(), m.Boots()
	out, err := m.Bake(wait.Within(t, 5*time.Minute))
	t.Logf("bake, %.1f s, %d reboots:\n%s", time.Since(begun).Seconds(), m.Boots()-boots, out)
	if err != nil {
		t.Fatal(err)
	}
	if m.Boots()-boots != 1 {
		t.Errorf("%d reboots, want 1", m.Boots()-boots)
	}
	out, err = m.Bake(wait.Within(t, time.Minute))
	if err != nil || !strings.Contains(out, "Nothing had to be changed.") {
		t.Errorf("the second bake: %v\n%s", err, out)
	}
	// OpenShift's unit of configure-ovs has no RemainAfterExit. Whoever starts the kubelet later must not run it on the network of
	// the site: systemd leaves out what only a target that is reached already wants.
	const run = "systemctl show --property=InvocationID --value ovs-configuration"
	first := must(t, m, run)
	for _, later := range []string{"systemctl stop kubelet; systemctl start crio kubelet", "systemctl kill --signal=KILL kubelet; until systemctl is-active kubelet; do sleep 1; done"} {
		if again := must(t, m, later+" >/dev/null; sleep 1; "+run); again != first {
			t.Errorf("%s: configure-ovs ran again", later)
		}
	}
	begun = time.Now()
	out, err = m.Unbake(wait.Within(t, 5*time.Minute))
	t.Logf("unbake, %.1f s:\n%s", time.Since(begun).Seconds(), out)
	if err != nil {
		t.Fatal(err)
	}
	if after := must(t, m, "cat /etc/NetworkManager/system-connections/enp1s0.nmconnection"); after != before {
		t.Errorf("after unbake:\n%s\nbefore:\n%s", after, before)
	}
	if got := must(t, m, "ls -d /etc/systemd/system/touchdown* /etc/systemd/system/multi-user.target.d/* /usr/local/bin/touchdown-* /var/lib/touchdown/factory.json 2>/dev/null || true"); got != "" {
		t.Errorf("left behind: %s", got)
	}
	out, err = m.Unbake(wait.Within(t, time.Minute))
	if err != nil || !strings.Contains(out, "nothing to take back") {
		t.Errorf("the second unbake: %v\n%s", err, out)
	}
}

package node_test

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/health"
	"touchdown/test/bench/node"
	"touchdown/test/wait"
)

const lease = node.FactoryAddress

// serveFactory serves the factory's DHCP and DNS in the node's LAN until the test ends.
func serveFactory(t *testing.T, m *node.Machine) {
	t.Helper()
	stop, err := m.ServeFactory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
}

func must(t *testing.T, m *node.Machine, script string) string {
	t.Helper()
	out, err := m.Shell(wait.Within(t, 20*time.Second), script)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// await waits for what an idle machine does within d.
func await(t *testing.T, m *node.Machine, d time.Duration, script string) {
	t.Helper()
	if err := m.Wait(wait.Within(t, d), script); err != nil {
		t.Fatal(err)
	}
}

// The unit of configure-ovs is inactive again when it is through: it has no RemainAfterExit.
const brEx = "test $(systemctl is-active ovs-configuration) != activating && ip -o -4 address show br-ex | grep -q " + lease + "/24"

// TestTheMachineIsOutOfReach: the node's root can change neither clock, kernel nor disks of the machine that runs the tests.
func TestTheMachineIsOutOfReach(t *testing.T) {
	t.Parallel()
	m := node.Start(t, node.Options{})
	// Each attempt is harmless where it is not refused: the clock is set to what it shows, the value is written back.
	for name, script := range map[string]string{
		"clock":  `date --set="@$(date +%s.%N)"`,
		"kernel": "v=$(cat /proc/sys/kernel/panic); echo $v > /proc/sys/kernel/panic",
		"disk":   "mknod /root/disk b 254 0 && head -c 1 /root/disk",
		"module": "test $((0x$(sed -n 's/CapEff:\\s*//p' /proc/self/status) >> 16 & 1)) = 1",
	} {
		for way, script := range map[string]string{"entered": script, "a unit": "systemd-run --quiet --wait --pipe bash -c '" + strings.ReplaceAll(script, "'", `'\''`) + "'"} {
			if out, err := m.Shell(t.Context(), script); err == nil {
				t.Errorf("%s, %s: the node was let through: %s", name, way, out)
			}
		}
	}
	if out := must(t, m, "systemd-run --quiet --wait --pipe echo works"); out != "works" {
		t.Errorf("systemd-run is not proof: %q", out)
	}
	t.Run("failed units", func(t *testing.T) { failedUnits(t, m) })
}

// failedUnits has the real systemctl list a unit that failed and one that systemd has just to start again, as the check of the cluster's health
// asks for them; neither one that works nor one that ended well.
func failedUnits(t *testing.T, m *node.Machine) {
	must(t, m, `systemd-run --quiet --unit bench-failed false
systemd-run --quiet --unit bench-again --property Restart=always --property RestartSec=1h --property StartLimitIntervalSec=0 false
systemd-run --quiet --unit bench-well sleep 1h
systemd-run --quiet --wait --unit bench-done true`)
	await(t, m, 10*time.Second, `systemctl is-failed --quiet bench-failed && test "$(systemctl show --property SubState --value bench-again)" = auto-restart`)
	units, err := health.FailedUnits(must(t, m, "systemctl list-units "+health.FailedStates+" --plain --no-legend --no-pager"))
	if err != nil || !slices.Contains(units, "bench-failed.service") || !slices.Contains(units, "bench-again.service") ||
		slices.Contains(units, "bench-well.service") || slices.Contains(units, "bench-done.service") {
		t.Errorf("it lists %q, %v", units, err)
	}
	must(t, m, "systemctl stop bench-again bench-well; systemctl reset-failed bench-failed")
}

// TestBrExIsRebuiltAtEveryBoot: as on OpenShift, br-ex takes the lease of its port, its profiles lie in /run alone, and each boot makes new ones.
func TestBrExIsRebuiltAtEveryBoot(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	m := node.Start(t, node.Options{})
	serveFactory(t, m)
	booted := time.Since(begun)
	await(t, m, 40*time.Second, brEx)
	t.Logf("booted after %.1f s, br-ex with its lease after %.1f s", booted.Seconds(), time.Since(begun).Seconds())
	check := func() string {
		t.Helper()
		if got := must(t, m, "ovs-vsctl list-ports br-ex"); got != "enp1s0" {
			t.Errorf("ports of br-ex: %q", got)
		}
		if got := must(t, m, "ls /run/NetworkManager/system-connections | grep -E '^(br-ex|ovs-)' | paste -sd ' '"); got !=
			"br-ex.nmconnection ovs-if-br-ex.nmconnection ovs-if-phys0.nmconnection ovs-port-br-ex.nmconnection ovs-port-phys0.nmconnection" {
			t.Errorf("volatile profiles: %q", got)
		}
		if got := must(t, m, "ls /etc/NetworkManager/system-connections"); got != "enp1s0.nmconnection" {
			t.Errorf("lasting profiles: %q", got)
		}
		if got := must(t, m, "cat /run/nodeip-configuration/primary-ip"); got != lease {
			t.Errorf("node IP: %q", got)
		}
		if got := must(t, m, "ip -o -4 address show enp1s0"); got != "" {
			t.Errorf("the uplink has its own address: %q", got)
		}
		return must(t, m, "nmcli -g connection.uuid connection show br-ex")
	}
	first := check()
	must(t, m, "ping -c 1 -W 2 192.0.2.1")

	begun = time.Now()
	if err := m.Reboot(wait.Within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	booted = time.Since(begun)
	await(t, m, 40*time.Second, brEx)
	t.Logf("rebooted after %.1f s, br-ex after %.1f s", booted.Seconds(), time.Since(begun).Seconds())
	if check() == first {
		t.Error("br-ex was not rebuilt")
	}

	// The node asks for a reboot automatically, and nobody waits for it with a method.
	boots := m.Boots()
	must(t, m, "systemd-run --quiet --on-active=1 systemctl reboot")
	if err := m.Booted(wait.Within(t, time.Minute), boots); err != nil {
		t.Fatal(err)
	}
	await(t, m, 40*time.Second, brEx)
	check()
}

// TestPowerCut: what was synced survives, what was not is lost, whether or not the file system has written its log.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	for _, flush := range []bool{false, true} {
		m := node.Start(t, node.Options{})
		must(t, m, "mkdir /var/kept /etc/kept && echo synced > /var/kept/synced && echo synced > /etc/kept/synced && sync")
		writeUnsynced(t, m, "/var/kept/lost", "/etc/kept/lost")
		begun := time.Now()
		if err := m.PowerCut(wait.Within(t, 30*time.Second), flush); err != nil {
			t.Fatal(err)
		}
		t.Logf("flush %v: cut and mounted again after %.2f s", flush, time.Since(begun).Seconds())
		for _, dir := range []string{"/var/kept/", "/etc/kept/"} {
			if got, err := m.ReadFile(dir + "synced"); string(got) != "synced\n" {
				t.Errorf("flush %v: what was synced in %s: %q, %v", flush, dir, got, err)
			}
			got, err := m.ReadFile(dir + "lost")
			if len(got) > 0 {
				t.Errorf("flush %v: what was not synced in %s is there", flush, dir)
			}
			if flush && err != nil {
				t.Errorf("flush %v: the name in %s is lost though the log was written: %v", flush, dir, err)
			}
			if !flush && err == nil {
				t.Errorf("flush %v: the name in %s is there though nothing was written", flush, dir)
			}
		}
		if err := m.Boot(wait.Within(t, 30*time.Second)); err != nil {
			t.Fatal(err)
		}
		if got := must(t, m, "cat /etc/kept/synced"); got != "synced" {
			t.Errorf("flush %v: after the boot: %q", flush, got)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// writeUnsynced writes files while the node's processes stand still: one that syncs its own file in between would
// write the file system's log, and with it the names that are to be lost.
func writeUnsynced(t *testing.T, m *node.Machine, names ...string) {
	t.Helper()
	m.Freeze(wait.Within(t, 10*time.Second))
	for _, name := range names {
		file, err := m.Path(name)
		if err == nil {
			err = os.WriteFile(file, bytes.Repeat([]byte("lost"), 25_000), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestCablesAndConsoles: cables are pulled and put in one by one, and a program at each console is read and answered, over a reboot too.
func TestCablesAndConsoles(t *testing.T) {
	t.Parallel()
	m := node.Start(t, node.Options{Unplugged: []int{1}})
	carrier := func(port string) string {
		return must(t, m, "cat /sys/class/net/"+port+"/carrier 2>/dev/null || echo down")
	}
	await(t, m, 20*time.Second, "nmcli -t general status && ip link show enp2s0 | grep -q NO-CARRIER")
	for _, step := range []struct {
		do        func(context.Context, int) error
		port      int
		zero, one string
	}{
		{m.Unplug, 0, "0", "0"},
		{m.Plug, 1, "0", "1"},
		{m.Plug, 0, "1", "1"},
	} {
		if err := step.do(t.Context(), step.port); err != nil {
			t.Fatal(err)
		}
		if zero, one := carrier(node.Port0), carrier(node.Port1); zero != step.zero || one != step.one {
			t.Errorf("carriers %s %s, want %s %s", zero, one, step.zero, step.one)
		}
	}
	if err := m.Unplug(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	// A program on the line, over a reboot of which the line knows nothing.
	for range 2 {
		for _, name := range []string{"tty1", "ttyS0"} {
			line := m.Console(name)
			must(t, m, "systemctl stop getty@tty1 serial-getty@ttyS0; systemd-run --quiet --unit=echo-"+name+" -p StandardInput=tty-force -p StandardOutput=tty -p TTYPath=/dev/"+name+
				" -p TTYReset=yes bash -c 'echo; echo ready on "+name+"; read x; echo you said $x; sleep 1'")
			expect(t, line, "ready on "+name)
			if _, err := line.Write([]byte("hello\r")); err != nil {
				t.Fatal(err)
			}
			expect(t, line, "you said hello")
		}
		if err := m.Reboot(wait.Within(t, 30*time.Second)); err != nil {
			t.Fatal(err)
		}
		if got := carrier(node.Port1); got == "1" {
			t.Error("the cable is in again after the reboot")
		}
	}
}

// expect reads a line until a text has come.
func expect(t *testing.T, line *node.Line, text string) {
	t.Helper()
	var seen strings.Builder
	found := make(chan error, 1)
	go func() {
		chunk := make([]byte, 1024)
		for !strings.Contains(seen.String(), text) {
			n, err := line.Read(chunk)
			seen.Write(chunk[:n])
			if err != nil {
				found <- err
				return
			}
		}
		found <- nil
	}()
	select {
	case err := <-found:
		if err != nil {
			t.Fatalf("waiting for %q: %v; the line has %q", text, err, seen.String())
		}
	case <-wait.Within(t, 15*time.Second).Done():
		t.Fatalf("waiting for %q", text)
	}
}

// TestNoLeaseNoBrEx: without a lease the node gets neither br-ex nor kubelet, but a log-in at its console; with a lease it gets both.
func TestNoLeaseNoBrEx(t *testing.T) {
	t.Parallel()
	m := node.Start(t, node.Options{})
	await(t, m, 40*time.Second, "journalctl -u nodeip-configuration | grep -q 'Failed to find a suitable node IP'")
	if got := must(t, m, "systemctl is-active nodeip-configuration ovs-configuration kubelet-dependencies.target | paste -sd ' '"); got != "activating inactive inactive" {
		t.Errorf("without a lease: %s", got)
	}
	if out, err := m.Shell(t.Context(), "ip link show br-ex"); err == nil {
		t.Errorf("br-ex is there without a lease: %s", out)
	}
	if got := must(t, m, "systemctl is-active getty@tty1"); got != "active" {
		t.Errorf("the console: %s", got)
	}
	serveFactory(t, m)
	await(t, m, 60*time.Second, brEx)
}

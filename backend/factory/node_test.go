package factory_test

import (
	"net/netip"
	"os/exec"
	"strings"
	"testing"
	"time"

	"touchdown/backend/dns"
	"touchdown/backend/factory"
	"touchdown/backend/host"
	"touchdown/backend/host/hosttest"
	"touchdown/test/bench/node"
	"touchdown/test/wait"
)

// uplinkProfile is what FindUplink and Prepare make of the factory's profile with DHCP; see TestUplink for those.
const uplinkProfile = `nmcli connection modify enp1s0 +ipv4.addresses 192.168.127.10/32 ipv4.may-fail yes ipv4.dhcp-timeout 2147483647 ipv6.method link-local`

// lay puts the baked files on a node that is on, as machine-config-daemon does.
func lay(t *testing.T, m *node.Machine) {
	t.Helper()
	all, err := factory.Manifests(host.DefaultOwn)
	if err != nil {
		t.Fatal(err)
	}
	for _, manifest := range all {
		for _, f := range manifest.Files {
			if err := m.WriteFile(f.Path, f.Data, f.Mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	must(t, m, "systemctl daemon-reload")
	for _, manifest := range all {
		for _, u := range manifest.Units {
			must(t, m, "systemctl enable "+u)
		}
	}
}

func must(t *testing.T, m *node.Machine, script string) string {
	t.Helper()
	out, err := m.Shell(wait.Within(t, 30*time.Second), script)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

func await(t *testing.T, m *node.Machine, d time.Duration, script string) {
	t.Helper()
	if err := m.Wait(wait.Within(t, d), script); err != nil {
		t.Fatal(err)
	}
}

// serveDHCP gives the factory's address until the test ends.
func serveDHCP(t *testing.T, m *node.Machine) {
	t.Helper()
	const script = `ip address replace 192.0.2.1/24 dev lan
exec dnsmasq --keep-in-foreground --port=0 --interface=lan --bind-interfaces --dhcp-range=192.0.2.10,192.0.2.10 --dhcp-option=6,192.0.2.1 \
  --dhcp-leasefile=/dev/null --conf-file=/dev/null --no-ping --log-facility=-`
	cmd := exec.Command("nsenter", "--net="+m.LAN(), "chroot", m.Packages(), "sh", "-c", script)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
}

const (
	internal = "systemctl is-active touchdown-internal-address && systemctl is-active kubelet-dependencies.target && ip -o -4 address show br-ex | grep -qF 192.168.127.10/32"
	leased   = "ip -o -4 address show br-ex | grep -qF 192.0.2.10/24"
)

// nameTheSite gives the node the file that the site's names come from.
func nameTheSite(t *testing.T, m *node.Machine) {
	t.Helper()
	const file = "/etc/dnsmasq.d/touchdown-site.conf"
	staged := hosttest.New(t)
	z := dns.Zone{Domains: []string{"sno.factory.example"}, Addresses: []netip.Addr{host.DefaultOwn[0]}}
	if _, err := dns.Add(t.Context(), staged.Machine, z, "store1.site.example"); err != nil {
		t.Fatal(err)
	}
	if err := m.WriteFile(file, []byte(staged.Content(file)), 0o644); err != nil {
		t.Fatal(err)
	}
	must(t, m, "sync")
}

// TestTheInternalAddressNeedsNoSite boots a baked node with the cable out, without any server, and with a lease.
func TestTheInternalAddressNeedsNoSite(t *testing.T) {
	m := node.Start(t, node.Options{})
	lay(t, m)
	must(t, m, uplinkProfile+" && sync")

	boot := func(t *testing.T, d time.Duration) {
		t.Helper()
		if err := m.Reboot(wait.Within(t, time.Minute)); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		await(t, m, d, internal)
		t.Logf("internal address %.1f s after boot", time.Since(begun).Seconds())
		if got := must(t, m, "cat /run/nodeip-configuration/primary-ip"); got != host.DefaultOwn.String() {
			t.Errorf("the node's address is %s", got)
		}
		await(t, m, 20*time.Second, "getent ahostsv4 x.apps.sno.factory.example | grep -q ^192.168.127.10")
	}
	t.Run("no server", func(t *testing.T) { boot(t, time.Minute) })
	t.Run("no cable", func(t *testing.T) {
		if err := m.Unplug(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		boot(t, time.Minute)
	})
	serveDHCP(t, m)
	t.Run("the cable comes later", func(t *testing.T) {
		if err := m.Plug(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		await(t, m, 90*time.Second, leased+" && "+internal)
		t.Logf("lease %.1f s after the cable", time.Since(begun).Seconds())
	})
	t.Run("a lease", func(t *testing.T) {
		nameTheSite(t, m)
		boot(t, time.Minute)
		await(t, m, 30*time.Second, leased)
		// dnsmasq starts before br-ex has its addresses. The site's is none of those that it answers at.
		const want = "127.0.0.1:53 192.168.127.10:53"
		if got := must(t, m, "ss -Hlun 'sport = 53' | awk '{print $4}' | sort | paste -sd ' '"); got != want {
			t.Errorf("the name server listens at %s, want %s", got, want)
		}
		must(t, m, "getent ahostsv4 x.apps.store1.site.example | grep -q ^192.168.127.10")
	})
}

// away is the kubeconfig of a cluster that does not answer.
const away = `{apiVersion: v1, kind: Config, current-context: a, clusters: [{name: a, cluster: {server: "https://localhost:6443"}}],
  contexts: [{name: a, context: {cluster: a, user: a}}], users: [{name: a, user: {token: a}}]}`

// TestManualInstallOnANode installs on a booted machine that has no MachineConfigs and takes it away again: the wizard is on its
// lines, then its own logins are.
func TestManualInstallOnANode(t *testing.T) {
	m := node.Start(t, node.Options{})
	must(t, m, "true")
	if err := m.Program(); err != nil {
		t.Fatal(err)
	}
	must(t, m, "mv /usr/local/bin/touchdown /var/tmp/touchdown")
	if out, err := m.Shell(t.Context(), "/var/tmp/touchdown install 2>&1"); err == nil || !strings.Contains(out, "HND-LACK") {
		t.Errorf("without OpenShift: %v: %s", err, out)
	}
	// An installed node whose cluster is away.
	if err := m.WriteFile(node.AdminKubeconfig, []byte(away), 0o600); err != nil {
		t.Fatal(err)
	}
	// One unit a call: of several, one that is active is enough for systemctl.
	const wizard = "for unit in touchdown-engine touchdown-console@tty1 touchdown-console@ttyS0; do systemctl is-active $unit || exit; done; test -S /run/touchdown/engine.sock"
	t.Log(must(t, m, "/var/tmp/touchdown install"))
	await(t, m, time.Minute, wizard)
	if out := must(t, m, "/var/tmp/touchdown install"); out != "Nothing had to be changed." {
		t.Errorf("the second time: %s", out)
	}
	if err := m.Reboot(wait.Within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	await(t, m, time.Minute, "systemctl is-active touchdown-engine") // in the middle of the boot
	t.Log(must(t, m, "/var/tmp/touchdown uninstall"))
	await(t, m, time.Minute, "systemctl is-active getty@tty1")
	if left := must(t, m, "ls -d /etc/systemd/system/touchdown* /etc/systemd/system/*/touchdown* /usr/local/bin/touchdown* 2>/dev/null || true; pgrep touchdown || true"); left != "" {
		t.Errorf("left: %s", left)
	}
	must(t, m, "test -e /var/lib/touchdown/journal.jsonl || test -d /var/lib/touchdown")
	must(t, m, "/var/tmp/touchdown uninstall --purge --yes && ! test -e /var/lib/touchdown")
}

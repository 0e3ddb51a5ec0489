package factory_test

import (
	"context"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/factory"
	"touchdown/backend/host"
	"touchdown/test/bench/node"
	"touchdown/test/wait"
)

// profile is a keyfile of NetworkManager.
func profile(name, kind string, more ...string) string {
	return "[connection]\nid=" + name + "\nuuid=uuid-of-" + name + "\ntype=" + kind + "\ninterface-name=" + name + "\n" + strings.Join(more, "\n") + "\n"
}

const (
	carries = "\n[ipv4]\naddress0=198.51.100.10/24\naddress1=192.168.127.10/32\nmethod=manual"
	spare   = "\n[ipv4]\nmethod=manual\naddress1=10.9.1.1/24,10.9.1.254"
)

// six are the addresses of a node of IPv6 alone, and carries6 is a profile with such an address.
var six = host.Own{netip.MustParseAddr("2001:db8:fac::10")}

func carries6(address string) string { return "\n[ipv6]\nmethod=manual\naddress1=" + address }

// TestCarrier: NetworkManager is told to ignore a missing link of the uplink and of what is below it, and of nothing else.
func TestCarrier(t *testing.T) {
	all, err := factory.Manifests(host.DefaultOwn)
	if err != nil {
		t.Fatal(err)
	}
	script := ""
	for _, m := range all {
		for _, f := range m.Files {
			if f.Path == "/usr/local/bin/touchdown-uplink" {
				script = string(f.Data)
			}
			if strings.Contains(f.Path, "NetworkManager/conf.d") && strings.Contains(string(f.Data), "ignore-carrier") {
				t.Errorf("%s lays %s for every node alike, but ports have other names on another", m.Name, f.Path)
			}
		}
	}
	for name, c := range map[string]struct {
		profiles []string
		want     string
		own      host.Own // other than the usual one
	}{
		"the factory's": {[]string{profile("enp1s0", "ethernet", carries), profile("enp2s0", "ethernet", spare)}, "enp1s0", nil},
		"VLAN over a bond": {[]string{
			profile("bond0", "bond"), profile("bond0.100", "vlan", carries, "[vlan]\nparent=bond0"), profile("eno9", "ethernet", spare),
			profile("eno1", "ethernet", "master=uuid-of-bond0"), profile("eno2", "ethernet", "controller=bond0"), profile("eno3", "ethernet", "master=uuid-of-bond1"),
		}, "bond0 bond0.100 eno1 eno2", nil},
		"VLAN, parent by UUID":         {[]string{profile("eno1.7", "vlan", carries, "[vlan]\nparent=uuid-of-the-profile-of-eno1"), strings.Replace(profile("eno1", "ethernet"), "uuid-of-eno1", "uuid-of-the-profile-of-eno1", 1)}, "eno1 eno1.7", nil},
		"VLAN, parent without profile": {[]string{profile("eno1.7", "vlan", carries, "[vlan]\nparent=eno1")}, "eno1 eno1.7", nil},
		"a VLAN of itself":             {[]string{profile("eno1", "vlan", carries, "[vlan]\nparent=eno1")}, "eno1", nil},
		"no uplink":                    {[]string{profile("enp2s0", "ethernet", spare)}, "", nil},
		"no profile":                   {profiles: nil},
		"IPv6 alone":                   {[]string{profile("eno1", "ethernet", carries6("2001:db8:fac::10/64,2001:db8:fac::1")), profile("eno2", "ethernet", carries6("2001:db8:fac::1/64,2001:db8:fac::10"))}, "eno1", six},
		"IPv6 alone, typed by hand":    {[]string{profile("eno1", "ethernet", carries6("2001:0DB8:FAC:0::10/128"))}, "eno1", six},
		"IPv6 alone, a hostile file":   {[]string{profile("eno1", "ethernet", carries6("$(reboot)/64"), "address2=", "address3=::zz/64", "address4=2001:db8:fac::100/64")}, "", six},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			profiles, settings := filepath.Join(root, "profiles"), filepath.Join(root, "run", "90-touchdown.conf")
			for _, dir := range []string{profiles, filepath.Dir(settings), filepath.Join(root, "default")} {
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			files := map[string]string{settings: "of the boot before", filepath.Join(root, "touchdown-uplink"): strings.NewReplacer(
				". /etc/default/touchdown-address", ". "+filepath.Join(root, "address"),
				"profiles=/etc/NetworkManager/system-connections", "profiles="+profiles,
				"settings=/run/NetworkManager/conf.d/90-touchdown.conf", "settings="+settings, "conf=/proc/sys/net/ipv6/conf", "conf="+root).Replace(script)}
			files[filepath.Join(root, "default", "accept_dad")] = "1\n"
			if c.own == nil {
				c.own = host.DefaultOwn
			}
			files[filepath.Join(root, "address")] = string(c.own.File())
			for i, text := range c.profiles {
				files[filepath.Join(profiles, string(rune('a'+i)))] = text
			}
			for file, text := range files {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if out, err := exec.Command("bash", filepath.Join(root, "touchdown-uplink"), "carrier").CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			asks := "1\n"
			if c.want != "" && !c.own.Four() {
				asks = "0\n"
			}
			if got, err := os.ReadFile(filepath.Join(root, "default", "accept_dad")); err != nil || string(got) != asks {
				t.Errorf("duplicates are asked for: %s, %v", got, err)
			}
			text, err := os.ReadFile(settings)
			if c.want == "" {
				if !os.IsNotExist(err) {
					t.Fatalf("without an uplink: %q, %v", text, err)
				}
				return
			}
			want := "[device-touchdown]\nmatch-device=interface-name:=" + strings.ReplaceAll(c.want, " ", ";interface-name:=") + "\nignore-carrier=yes\n"
			if err != nil || !strings.HasSuffix(string(text), want) {
				t.Errorf("%v: %s is not\n%s", err, text, want)
			}
		})
	}
}

// sparePorts has six ports without a cable on the node before NetworkManager starts, as a server has.
const sparePorts = `cat >/etc/systemd/system/spare-ports.service <<X
[Unit]
DefaultDependencies=no
Before=NetworkManager.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c 'for n in 1 2 3 4 5 6; do ip link add spare\$n type veth peer name far\$n; done'
[Install]
WantedBy=NetworkManager.service
X
printf '[keyfile]\nunmanaged-devices=type:tun;interface-name:far*\n[device-spare]\nmatch-device=interface-name:spare*\nmanaged=1\n' >/etc/NetworkManager/conf.d/01-far.conf
systemctl daemon-reload && systemctl enable spare-ports
for n in 1 2 3; do nmcli connection add type ethernet con-name lease$n ifname spare$n ipv4.method auto ipv6.method manual ipv6.addresses fd00:$n::1/64; done
for n in 4 5 6; do nmcli connection add type ethernet con-name fixed$n ifname spare$n ipv4.method manual ipv4.addresses 10.9.$n.1/24 ipv4.gateway 10.9.$n.254; done
sync`

// TestSparePorts boots a baked node with six ports that have profiles and no cable: the boot uses none and waits for none.
func TestSparePorts(t *testing.T) {
	m := node.Start(t, node.Options{Unplugged: []int{1}})
	lay(t, m)
	serveDHCP(t, m)
	must(t, m, uplinkProfile+" && "+sparePorts)
	ctx, cancel := context.WithTimeout(t.Context(), wait.Timeout(time.Minute))
	defer cancel()
	if err := m.Reboot(ctx); err != nil {
		t.Fatal(err)
	}
	await(t, m, time.Minute, internal+" && "+leased)
	await(t, m, 30*time.Second, "test $(systemctl show -P ExecMainExitTimestampMonotonic NetworkManager-wait-online) != 0")
	t.Logf("NetworkManager was waited for from to: %s", must(t, m, "systemctl show -P ExecMainStartTimestampMonotonic -P ExecMainExitTimestampMonotonic NetworkManager-wait-online"))
	if result := must(t, m, "systemctl show -P Result NetworkManager-wait-online"); result != "success" {
		t.Errorf("the boot waited for spare ports until the limit: %s", result)
	}
	if routes := must(t, m, "ip route; ip -6 route"); strings.Contains(routes, "spare") {
		t.Errorf("routes over ports without a cable:\n%s", routes)
	}
	states := must(t, m, "nmcli -t -f DEVICE,STATE device")
	for _, want := range []string{"spare1:unavailable", "spare6:unavailable", "enp2s0:unavailable", "enp1s0:connected"} {
		if !slices.Contains(strings.Split(states, "\n"), want) {
			t.Errorf("no %s in\n%s", want, states)
		}
	}
}

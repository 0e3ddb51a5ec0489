package network_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/network"
	"touchdown/test/bench/node"
	"touchdown/test/bench/site"
	"touchdown/test/wait"
)

// baked is the port's profile as the factory leaves it: DHCP outside, the node's own address beside it.
const baked = `[connection]
id=enp1s0
uuid=5f0b1bd0-2f4e-4c0b-9b37-3f3e6d0d9c01
type=ethernet
interface-name=enp1s0

[ethernet]

[ipv4]
method=auto
dhcp-timeout=10
address1=192.168.127.10/24
dad-timeout=0

[ipv6]
method=auto
addr-gen-mode=eui64
`

const tool = "/usr/local/bin/network.test"

// bench is a booted node in the factory's LAN.
type bench struct {
	*testing.T
	node *node.Machine
	site *site.Site
}

// boot starts a node, in the factory's LAN unless prepare says otherwise, and waits until it has come up there.
func boot(t *testing.T, up string, prepare func(*bench)) *bench {
	t.Helper()
	wait.Slow(t)
	m, err := node.New(t.Context(), node.Options{Consoles: []string{}})
	node.Require(t, err)
	m.EndsWith(t)
	wait.Explain(t, "the node's network", m.Says("journalctl --no-pager -b -u ovs-configuration -u nodeip-configuration | tail -40; nmcli c; nmcli d; ip a; ip r; cat /run/NetworkManager/system-connections/ovs-if*; journalctl -b --no-pager -u NetworkManager | tail -60 | cut -c1-220"))
	b := &bench{T: t, node: m, site: site.New(t, site.Options{LAN: m.LAN()})}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		tool: binary, "/etc/NetworkManager/system-connections/enp1s0.nmconnection": []byte(baked), "/etc/hostname": []byte("sno-factory\n"),
		host.OwnFile: host.DefaultOwn.File(),
	} {
		mode := map[bool]os.FileMode{true: 0o755, false: 0o600}[name == tool]
		if err := m.WriteFile(name, data, mode); err != nil {
			t.Fatal(err)
		}
	}
	prepare(b)
	if err := m.Boot(b.within(time.Minute)); err != nil {
		t.Fatal(err)
	}
	b.await(40*time.Second, up)
	return b
}

// NetworkManager sets addresses first, then routes, then resolv.conf: who has seen the one must still wait for the others.
const (
	hasFactory = "ip -o -4 address show br-ex | grep -q 192.0.2.10/24 && ip -o -4 address show br-ex | grep -q 192.168.127.10/ && nmcli -g GENERAL.STATE c show ovs-if-br-ex | grep -qx activated && " +
		"ip -4 route show default | grep -q 'via 192.0.2.1 dev br-ex' && grep -qx 'nameserver 192.0.2.1' /etc/resolv.conf"
	// nmstate opens its checkpoint before it changes anything.
	inTrial = "busctl get-property org.freedesktop.NetworkManager /org/freedesktop/NetworkManager org.freedesktop.NetworkManager Checkpoints | grep -q /"
	hasSite = "ip -o -4 address show br-ex | grep -q 198.51.100.10/24 && ip -o -4 address show br-ex | grep -q 192.168.127.10/"
)

// trial is a deadline that no part of these tests comes to, however busy the machine is.
const trial = 5 * time.Minute

func (b *bench) within(d time.Duration) context.Context {
	b.Helper()
	return wait.Within(b, d)
}

func (b *bench) await(d time.Duration, script string) float64 {
	b.Helper()
	begun := time.Now()
	if err := b.node.Wait(b.within(d), script); err != nil {
		b.Fatal(err)
	}
	return time.Since(begun).Seconds()
}

func (b *bench) shell(script string) string {
	b.Helper()
	out, err := b.node.Shell(b.within(30*time.Second), script)
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// ask runs an operation in the node, in its own process.
func (b *bench) ask(op string, q request) answer {
	b.Helper()
	cmd, err := b.node.Command(b.within(time.Minute), "env", inside+"="+op, tool)
	if err != nil {
		b.Fatal(err)
	}
	var out, complaint bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(encode(b, q)), &out, &complaint
	if err := cmd.Run(); err != nil {
		b.Fatalf("%s: %v: %s", op, err, complaint.String())
	}
	var a answer
	if err := json.Unmarshal(out.Bytes(), &a); err != nil {
		b.Fatalf("%s: %v: %s", op, err, out.String())
	}
	return a
}

func encode(t testing.TB, q request) string {
	t.Helper()
	text, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (b *bench) must(op string, q request) answer {
	b.Helper()
	a := b.ask(op, q)
	if a.Error != "" {
		b.Fatalf("%s: %s", op, a.Error)
	}
	if op == "putback" {
		b.Logf("put back in %.1f s", a.Seconds) // 6 s and more: br-ex hung and was started again
	}
	return a
}

// asInFactory is what must hold wherever settings were put back.
func (b *bench) asInFactory() {
	b.Helper()
	b.await(15*time.Second, hasFactory)
	for script, want := range map[string]string{
		"ovs-vsctl list-ports br-ex": "enp1s0",
		"ls /run/NetworkManager/system-connections | grep -v '^lo\\.' | paste -sd ' '": "br-ex.nmconnection ovs-if-br-ex.nmconnection ovs-if-phys0.nmconnection ovs-port-br-ex.nmconnection ovs-port-phys0.nmconnection",
		"ls /etc/NetworkManager/system-connections":                                    "enp1s0.nmconnection",
		"cat /etc/NetworkManager/system-connections/enp1s0.nmconnection":               strings.TrimSpace(baked),
		"ip -4 route show default":                                                     "default via 192.0.2.1 dev br-ex proto dhcp src 192.0.2.10 metric 48",
		"grep ^nameserver /etc/resolv.conf":                                            "nameserver 192.0.2.1",
	} {
		if got := b.shell(script); got != want {
			b.Errorf("%s: %q, want %q", script, got, want)
		}
	}
	if a := b.must("status", request{}); a.Status.Trial {
		b.Error("a checkpoint is still open")
	}
}

func edge() network.Settings {
	return network.Settings{
		IPv4:   network.Family{Method: network.Static, Address: "198.51.100.10", Prefix: 24, Gateway: "198.51.100.1"},
		IPv6:   network.Family{Method: network.Static, Address: "2001:db8:51::10", Prefix: 64, Gateway: "2001:db8:51::1"},
		DNS:    []string{"198.51.100.53", "2001:db8:51::53"},
		Search: []string{"site.example"},
	}
}

// TestSettingsOnANode goes through a node's life in one boot after the other; each part leaves the node as in the factory.
func TestSettingsOnANode(t *testing.T) {
	b := boot(t, hasFactory, func(*bench) {})
	originals := b.must("originals", request{}).Originals
	part := func(name string, f func(*bench)) {
		if !t.Run(name, func(t *testing.T) { f(&bench{t, b.node, b.site}) }) {
			t.FailNow()
		}
	}
	part("read", read)
	part("lease for ever", leaseForEver)
	part("ports", ports)
	part("validate", validate)
	part("harmful documents", harmfulDocuments)
	part("deadline", deadline)
	part("put back", func(b *bench) { putBack(b, originals) })
	part("manager killed", func(b *bench) { managerKilled(b, originals) })
	part("another checkpoint", anotherCheckpoint)
	part("other port", func(b *bench) { otherPort(b, originals) })
	part("wrong settings", func(b *bench) { wrongSettings(b, originals) })
	part("undecided", func(b *bench) { undecided(b, originals) })
	part("revive", revive)
	part("keep", func(b *bench) { keep(b, originals) })
	part("leases of the site", leasesOfTheSite)
}

func read(b *bench) {
	now := b.must("read", request{}).Current
	want := network.Settings{
		Interface: "enp1s0", MTU: 1500,
		IPv4: network.Family{Method: network.DHCP, Address: "192.0.2.10", Prefix: 24, Gateway: "192.0.2.1"},
		IPv6: network.Family{Method: network.Autoconf}, DNS: []string{"192.0.2.1"},
	}
	if now.Interface != want.Interface || now.IPv4 != want.IPv4 || now.IPv6 != want.IPv6 || !slices.Equal(now.DNS, want.DNS) || now.MTU != want.MTU {
		b.Errorf("read %+v, want %+v", now.Settings, want)
	}
	if !slices.Equal(now.Own, host.DefaultOwn) || !now.Bridged || now.Carrier != "br-ex" || now.Device != "enp1s0" {
		b.Errorf("read %+v", now)
	}
	for path, source := range map[string]string{"ipv4.method": "current", "ipv4.address": "DHCP", "ipv4.gateway": "DHCP", "dnsServers": "DHCP"} {
		if now.Sources[path] != source {
			b.Errorf("source of %s is %q, want %q", path, now.Sources[path], source)
		}
	}
}

func ports(b *bench) {
	mac := b.shell("cat /sys/class/net/enp2s0/address")
	if err := b.site.LLDP.Announce(site.Neighbour{Chassis: []byte{0xaa, 0, 0, 0, 0, 9}, System: "sw-7", Port: "Gi1/0/4", VLAN: 42}); err != nil {
		b.Fatal(err)
	}
	all := b.must("ports", request{Rollback: wait.Timeout(3 * time.Second)}).Ports
	b.site.LLDP.Off()
	for _, p := range all {
		if want := (network.Neighbour{System: "sw-7", Port: "Gi1/0/4", VLAN: 42}); p.Neighbour != want {
			b.Errorf("the neighbour of %s is %+v, want %+v", p.Name, p.Neighbour, want)
		}
	}
	if len(all) != 2 || all[0].Name != "enp1s0" || all[1].Name != "enp2s0" || !all[0].Uplink || all[1].Uplink || all[1].MAC != mac || all[0].Driver != "veth" || !all[0].Carrier {
		b.Fatalf("ports are %+v", all)
	}
	if err := b.node.Unplug(b.Context(), 0); err != nil {
		b.Fatal(err)
	}
	if all := b.must("ports", request{}).Ports; all[0].Carrier {
		b.Error("a port without cable has a link")
	}
	if err := b.node.Plug(b.Context(), 0); err != nil {
		b.Fatal(err)
	}
	if a := b.ask("blink", request{Settings: network.Settings{Interface: "enp2s0"}}); a.Code != "NET-LED" {
		b.Errorf("blinking a port without LED: %+v", a)
	}
	b.asInFactory()
}

func validate(b *bench) {
	if faults := b.must("validate", request{Settings: edge()}).Faults; len(faults) > 0 {
		b.Errorf("good settings are refused: %v", faults)
	}
	s := edge()
	s.Interface = "eno7"
	faults := b.must("validate", request{Settings: s}).Faults
	if len(faults) != 1 || faults[0].Path != "spec.network.interface" {
		b.Errorf("a port that is not there: %v", faults)
	}
}

// deadline: nobody answers, and NetworkManager itself goes back.
func deadline(b *bench) {
	const rollback = 20 * time.Second // long enough on a busy machine to look at the trial, and no longer: the test waits for its end
	a := b.must("apply", request{Settings: edge(), Rollback: rollback})
	applied := time.Now()
	b.await(time.Second, hasSite)
	// NetworkManager rounds a deadline that was moved up to whole seconds since the checkpoint was made.
	if s := b.must("status", request{}).Status; !s.Trial || s.Left > rollback+time.Second || s.Left <= 0 || !s.Own || !slices.Contains(s.Addresses, "198.51.100.10/24") || !slices.Contains(s.Gateways, "198.51.100.1") {
		b.Errorf("status in the trial: %+v", s)
	}
	b.asInFactory()
	b.Logf("applied in %.1f s, back %.1f s after the deadline", a.Seconds, (time.Since(applied) - rollback).Seconds())
	if a := b.ask("keep", request{Settings: edge()}); a.Code != "NET-LATE" {
		b.Errorf("keeping after the deadline: %+v", a)
	}
	b.asInFactory()
}

func putBack(b *bench, originals []byte) {
	b.must("apply", request{Settings: edge(), Rollback: trial})
	b.await(time.Second, hasSite)
	b.must("putback", request{Originals: originals})
	b.asInFactory()
	// Again, with nothing to do.
	uuid := b.shell("nmcli -g connection.timestamp c show ovs-if-br-ex")
	b.must("putback", request{Originals: originals})
	if now := b.shell("nmcli -g connection.timestamp c show ovs-if-br-ex"); now != uuid {
		b.Error("putting back twice activates twice")
	}
	b.asInFactory()
}

// managerKilled: the checkpoint dies with the process, what it tried lives on in /run.
func managerKilled(b *bench, originals []byte) {
	for _, s := range []network.Settings{edge(), onOtherPort()} {
		b.must("apply", request{Settings: s, Rollback: trial})
		b.await(2*time.Second, hasSite)
		b.shell("ip link add plant0 type bridge && ip address add 10.99.0.1/24 dev plant0 && ip link set plant0 up")
		b.await(5*time.Second, "nmcli -g GENERAL.STATE device show plant0 | grep -q externally")
		b.shell("systemctl kill -s KILL NetworkManager; sleep 0.5; systemctl is-active NetworkManager || systemctl start NetworkManager")
		b.await(10*time.Second, "nmcli -t general status")
		if s := b.must("status", request{}).Status; s.Trial {
			b.Fatal("the checkpoint outlived its NetworkManager: this proves nothing")
		}
		a := b.must("putback", request{Originals: originals})
		b.Logf("put back without a checkpoint in %.1f s", a.Seconds)
		b.shell("ip -o -4 address show dev plant0 up | grep -q 10.99.0.1") // another program's bridge stays unchanged
		b.shell("ip link delete plant0")
		b.asInFactory()
	}
}

func anotherCheckpoint(b *bench) {
	b.shell(`busctl call org.freedesktop.NetworkManager /org/freedesktop/NetworkManager org.freedesktop.NetworkManager CheckpointCreate aouu 0 300 0`)
	if a := b.ask("apply", request{Settings: edge(), Rollback: trial}); a.Code != "NET-CKPT" {
		b.Errorf("over another checkpoint: %+v", a)
	}
	// Putting back what never was applied leaves the other's trial alone.
	b.must("putback", request{Originals: b.must("originals", request{}).Originals})
	if s := b.must("status", request{}).Status; !s.Trial {
		b.Error("someone else's checkpoint was ended without asking")
	}
	b.must("takeover", request{})
	b.asInFactory()
}

func onOtherPort() network.Settings {
	s := edge()
	s.Interface = "enp2s0"
	return s
}

func otherPort(b *bench, originals []byte) {
	mac := b.shell("cat /sys/class/net/enp2s0/address")
	b.must("apply", request{Settings: onOtherPort(), Originals: originals, Rollback: trial})
	b.await(2*time.Second, hasSite)
	if got := b.shell("ovs-vsctl list-ports br-ex"); got != "enp2s0" {
		b.Errorf("br-ex stands on %q", got)
	}
	if got := b.shell("cat /sys/class/net/br-ex/address"); got != mac {
		b.Errorf("br-ex has the MAC %s, want the port's %s", got, mac)
	}
	// A cable that is pulled and put back must not take the port from br-ex.
	for _, act := range []func(context.Context, int) error{b.node.Unplug, b.node.Plug} {
		if err := act(b.Context(), 1); err != nil {
			b.Fatal(err)
		}
		time.Sleep(time.Second) // for so long the cable stays unchanged
	}
	b.await(10*time.Second, hasSite)
	b.must("putback", request{Originals: originals})
	b.asInFactory()
}

func wrongSettings(b *bench, originals []byte) {
	wrong := edge()
	wrong.Interface = "enp9s0"
	if a := b.ask("apply", request{Settings: wrong, Rollback: trial}); a.Error == "" || strings.Contains(a.Error, "198.51.100.53") {
		b.Errorf("a port that is not there: %+v", a)
	}
	b.asInFactory()
	// A gateway that nobody has is accepted by the system: the probes find it, and the way back is as quick.
	wrong = edge()
	wrong.IPv4.Gateway = "198.51.100.77"
	b.must("apply", request{Settings: wrong, Rollback: trial})
	b.must("putback", request{Originals: originals})
	b.asInFactory()
	// The cable is pulled while settings are applied.
	applied, ended := context.WithCancel(b.within(time.Minute))
	pulled := make(chan error, 1)
	go func() {
		err := b.node.Wait(applied, inTrial)
		if err == nil {
			err = b.node.Unplug(context.Background(), 0)
		}
		pulled <- err
	}()
	a := b.ask("apply", request{Settings: edge(), Rollback: trial})
	ended()
	b.Logf("the cable is pulled (%v): %.1f s, %s", <-pulled, a.Seconds, a.Error)
	time.Sleep(500 * time.Millisecond) // for so long it stays out
	if err := b.node.Plug(b.Context(), 0); err != nil {
		b.Fatal(err)
	}
	b.must("putback", request{Originals: originals})
	b.asInFactory()
	// DHCP where no server answers.
	b.site.DHCP4.Off()
	wrong = network.Settings{Interface: "enp2s0", IPv4: network.Family{Method: network.DHCP}, IPv6: network.Family{Method: network.Disabled}}
	a = b.ask("apply", request{Settings: wrong, Rollback: trial})
	b.Logf("DHCP without a server: applied in %.1f s, %s", a.Seconds, a.Error)
	if a.Error == "" {
		if a := b.ask("await", request{Settings: wrong, Rollback: 2 * time.Second}); a.Code != "NET-DEAD" {
			b.Errorf("waiting for a lease that does not come: %+v", a)
		}
	}
	b.site.DHCP4.On()
	b.must("putback", request{Originals: originals})
	b.asInFactory()
}

// undecided: the profiles are written, then the engine dies before it notes the decision.
func undecided(b *bench, originals []byte) {
	b.must("apply", request{Settings: onOtherPort(), Originals: originals, Rollback: trial})
	if a := b.ask("keep", request{Settings: onOtherPort(), Originals: originals, Undecided: true}); !strings.Contains(a.Error, "crashed before") {
		b.Fatalf("keep: %+v", a)
	}
	if got := b.shell("ls /etc/NetworkManager/system-connections"); !strings.Contains(got, "touchdown-enp2s0") {
		b.Fatalf("nothing was written: %q", got)
	}
	b.must("putback", request{Originals: originals})
	b.asInFactory()
	// The same with a reboot in between: br-ex was built out of what nobody decided to keep.
	b.must("apply", request{Settings: onOtherPort(), Originals: originals, Rollback: trial})
	b.ask("keep", request{Settings: onOtherPort(), Originals: originals, Undecided: true})
	if err := b.node.Reboot(b.within(time.Minute)); err != nil {
		b.Fatal(err)
	}
	b.await(40*time.Second, hasSite)
	a := b.must("putback", request{Originals: originals})
	b.Logf("put back in another boot in %.1f s", a.Seconds)
	b.await(15*time.Second, hasFactory)
	if got := b.shell("ls /etc/NetworkManager/system-connections; ovs-vsctl list-ports br-ex"); got != "enp1s0.nmconnection\nenp1s0" {
		b.Errorf("after the boot: %q", got)
	}
	if err := b.node.Reboot(b.within(time.Minute)); err != nil {
		b.Fatal(err)
	}
	b.asInFactoryLater()
}

func (b *bench) asInFactoryLater() {
	b.Helper()
	b.await(40*time.Second, hasFactory)
	b.asInFactory()
}

// keep: through the whole order of calls, over a restart of NetworkManager, a boot, and back to the factory's identity.
func keep(b *bench, originals []byte) {
	if err := b.site.Switch(site.Edge()); err != nil {
		b.Fatal(err)
	}
	b.site.RA.On()
	for _, s := range []network.Settings{onOtherPort(), edge(), {IPv4: network.Family{Method: network.Disabled}, IPv6: network.Family{Method: network.Autoconf}}, {IPv4: network.Family{Method: network.DHCP}, IPv6: network.Family{Method: network.Autoconf}, Interface: "enp2s0"}} {
		originals := b.must("originals", request{}).Originals
		begun := time.Now()
		a := b.must("apply", request{Settings: s, Originals: originals, Rollback: trial})
		w := b.must("await", request{Settings: s, Originals: originals, Rollback: wait.Timeout(15 * time.Second)})
		k := b.must("keep", request{Settings: s, Originals: originals})
		b.Logf("apply %.1f s, wait %.1f s, keep %.1f s; all with processes %.1f s", a.Seconds, w.Seconds, k.Seconds, time.Since(begun).Seconds())
		up, at := hasSite+" && ping -c 1 -W 1 198.51.100.1", "198.51.100.1"
		if s.IPv4.Method == network.Disabled {
			up, at = "ip -o -6 address show br-ex | grep -q 2001:db8:51: && ip -o -4 address show br-ex | grep -q 192.168.127.10/ && ping -c 1 -W 1 2001:db8:51::1", "2001:db8:51::1"
		}
		// Lease and router's advertisement name a DNS server each, and come in any order.
		servers := slices.Clone(s.DNS)
		if s.IPv4.Method == network.DHCP {
			servers = append(servers, "198.51.100.53")
		}
		if s.IPv6.Method == network.Autoconf {
			servers = append(servers, "2001:db8:51::53")
		}
		for _, server := range servers {
			up += " && grep -qx 'nameserver " + server + "' /etc/resolv.conf"
		}
		b.await(5*time.Second, up)
		if a := b.must("inforce", request{Settings: s, Originals: originals}); !a.Done {
			b.Error("what was kept is not in force")
		}
		b.await(5*time.Second, "ping -c 1 -W 3 -I br-ex "+at)
		if s.Interface != "" && s.IPv4.Method == network.Static {
			b.configuredAgain()
		}
		b.shell("systemctl restart NetworkManager")
		// The addresses and resolv.conf stay while NetworkManager starts, and are made again by its end.
		const started = " && nmcli -t -f STARTUP general status | grep -qx started"
		b.await(15*time.Second, up+started)
		before := b.shell("ip -o -4 address show br-ex | awk '{print $4}' | sort; ip route show default | awk '{print $3}'; ovs-vsctl list-ports br-ex; cat /etc/resolv.conf | grep -v '#'")
		if err := b.node.Reboot(b.within(time.Minute)); err != nil {
			b.Fatal(err)
		}
		b.await(40*time.Second, up+started)
		after := b.shell("ip -o -4 address show br-ex | awk '{print $4}' | sort; ip route show default | awk '{print $3}'; ovs-vsctl list-ports br-ex; cat /etc/resolv.conf | grep -v '#'")
		if before != after {
			b.Errorf("the boot changed\n%s\nto\n%s", before, after)
		}
		if a := b.must("inforce", request{Settings: s, Originals: originals}); !a.Done {
			b.Error("after a boot, what was kept is not in force")
		}
	}
}

// configuredAgain runs configure-ovs on what was kept, as a start of kubelet-dependencies.target does: OpenShift's unit has no
// RemainAfterExit. The script starts br-ex, ovs-if-phys0 and ovs-if-br-ex by these names where they are not active, and takes
// br-ex apart where that fails.
func (b *bench) configuredAgain() {
	b.Helper()
	const profiles = "nmcli -t -f NAME,UUID,TYPE,DEVICE,STATE connection show | grep -v '^lo:' | sort; ip -o address show dev br-ex | awk '{print $3, $4}'; ip route; ovs-vsctl list-ports br-ex"
	before, since := b.shell(profiles), b.shell("date +%s.%N")
	b.shell("systemctl start ovs-configuration.service")
	log := b.shell("journalctl --sync; journalctl --no-pager --output=cat --unit=ovs-configuration --since=@" + since)
	if strings.Count(log, "already activated") < 3 || strings.Contains(log, "Attempt 1") {
		b.Errorf("configure-ovs found something to do:\n%s", log)
	}
	if after := b.shell(profiles); after != before {
		b.Errorf("configure-ovs changed\n%s\nto\n%s", before, after)
	}
}

// revive: an activation of br-ex that failed is not final.
func revive(b *bench) {
	if a := b.must("revive", request{}); a.Done {
		b.Error("a br-ex that works was started again")
	}
	b.shell("nmcli connection down ovs-if-br-ex")
	a := b.must("revive", request{})
	if !a.Done {
		b.Error("a br-ex that is down was left so")
	}
	b.Logf("br-ex is back after %.1f s", a.Seconds)
	b.asInFactory()
}

// TestNoLeaseAtBoot: no DHCP server, so configure-ovs builds no br-ex at all. Static settings go to the port, stay, and
// br-ex is built on them.
func TestNoLeaseAtBoot(t *testing.T) {
	b := boot(t, "nmcli -t general status && ip link show enp1s0 | grep -q LOWER_UP", func(b *bench) {
		if err := b.site.Switch(site.Edge()); err != nil {
			b.Fatal(err)
		}
		b.site.DHCP4.Off()
	})
	now := b.must("read", request{}).Current
	if now.Bridged || now.Interface != "enp1s0" {
		t.Fatalf("without a lease: %+v", now)
	}
	originals := b.must("originals", request{}).Originals
	b.must("apply", request{Settings: edge(), Originals: originals, Rollback: trial})
	b.must("await", request{Settings: edge(), Originals: originals, Rollback: wait.Timeout(10 * time.Second)})
	// configure-ovs has waited for an address: in the trial it builds br-ex, which has to go with the trial.
	b.await(30*time.Second, hasSite)
	b.must("putback", request{Originals: originals})
	if got := b.shell("ip -o address show | grep -c 198.51.100.10 || true"); got != "0" {
		t.Errorf("put back, but the address is there %s times", got)
	}
	b.must("apply", request{Settings: edge(), Originals: originals, Rollback: trial})
	b.must("await", request{Settings: edge(), Originals: originals, Rollback: wait.Timeout(10 * time.Second)})
	b.must("keep", request{Settings: edge(), Originals: originals})
	a := b.must("build", request{Rollback: wait.Timeout(40 * time.Second)})
	t.Logf("br-ex built in %.1f s", a.Seconds)
	b.await(5*time.Second, hasSite+" && ping -c 1 -W 1 198.51.100.1")
	if a := b.must("inforce", request{Settings: edge(), Originals: originals}); !a.Done {
		t.Error("what was kept is not in force")
	}
	if err := b.node.Reboot(b.within(time.Minute)); err != nil {
		t.Fatal(err)
	}
	b.await(40*time.Second, hasSite+" && ping -c 1 -W 1 198.51.100.1")
}

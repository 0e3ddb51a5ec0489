package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"touchdown/test/bench/landing"
	"touchdown/test/bench/node"
	"touchdown/test/bench/site"
	"touchdown/test/wait"
)

const (
	vlan  = 120  // the site's
	jumbo = 9000 // bytes; the largest packet of the site's VLAN
)

// wrong leads to a VLAN that the switch does not know.
var wrong = form("interface: enp1s0, vlanID: 999")

// silent are the probes that find nobody there.
var silent = []string{"net-gateway", "net-dns-1"}

// trip is a guest on its way through several networks.
type trip struct {
	*testing.T
	ctx   context.Context //nolint:containedctx // of one test
	guest *Guest
	edge  *site.Site
	begun time.Time
}

// TestNetworks moves one node by what only a kernel can show: into a VLAN over a bond, with large packets, where a cable may
// be pulled, a boot in order and a VLAN where nobody is; and by a cut of the power in the middle of a trial, after which it boots with what was
// kept. The node has no cluster, so each job is stopped at the step that would start it: the network is kept, or put back, before that.
func TestNetworks(t *testing.T) {
	const limit = 90 * time.Minute
	ctx, cancel := context.WithTimeoutCause(t.Context(), limit, fmt.Errorf("longer than %s", limit))
	defer cancel()
	at := site.Edge()
	at.Domain = "store0051.retail.example.com"
	edge := site.New(t, site.Options{Network: at})
	guest := New(t, Options{Networks: map[int]*site.Site{Untagged: site.New(t, site.Options{}), vlan: edge}})
	f := &trip{t, ctx, guest, edge, time.Now()}
	f.must(edge.MTU(jumbo))
	f.must(guest.Boot(ctx))
	f.await("the factory's lease", onBridge("192.0.2.10/24"))
	f.shows("ovs-dpctl show", "system@ovs-system", node.Port0) // the kernel's own datapath

	f.keeps("a VLAN", form("interface: enp1s0, vlanID: 120"))
	f.inVLAN("enp1s0.120")
	f.must(guest.Reboot(ctx))
	f.await("the address in the VLAN after a boot", onBridge("198.51.100.10/24"))
	f.inVLAN("enp1s0.120")
	f.refuses("a VLAN where nobody is", wrong)
	f.inVLAN("enp1s0.120")
	f.documents()

	// The clock is this kernel's alone; on the other benches it is the build machine's. The folder tells a node from a laptop.
	f.shows("mkdir -p /var/lib/kubelet && date --set '40 minutes ago'")
	f.keeps("a VLAN over a bond", form("bond: {mode: active-backup, ports: [enp1s0, enp2s0]}, vlanID: 120, mtu: 9000"))
	f.onTime()
	f.bonded()
	f.must(guest.Unplug(0))
	f.await("the bond change ports", "grep -q 'Currently Active Slave: enp2s0' /proc/net/bonding/bond0")
	f.reached()
	f.must(guest.Plug(0))

	f.cut(wrong, "ip link show enp1s0.999 && "+onBridge("198.51.100.10/24"))
	f.must(guest.Boot(ctx))
	// What the disk holds has to be enough. The engine would go on with the job, and try the wrong VLAN again.
	f.shows("systemctl mask --runtime --now touchdown-engine 2>&1")
	f.await("the address of before the cut", onBridge("198.51.100.10/24"))
	f.bonded()
	f.shows("systemctl unmask --runtime touchdown-engine; systemctl start touchdown-engine")
	f.await("the engine put the trial back, try again and give up", `touchdown status -o json | grep -Eq '"state": *"failed"'`)
	f.bonded()
}

// onBridge is a script that succeeds when br-ex is built, has an address, and the boot is through with the network.
func onBridge(address string) string {
	return "ip -4 address show br-ex | grep -qF " + address + " && systemctl --quiet is-active touchdown-internal-address"
}

func (f *trip) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatalf("after %.0f s: %v", time.Since(f.begun).Seconds(), err)
	}
}

// await waits for what a boot brings by and by.
func (f *trip) await(what, script string) {
	f.Helper()
	ctx, cancel := context.WithTimeoutCause(f.ctx, 15*time.Minute, fmt.Errorf("never saw %s", what))
	defer cancel()
	f.must(f.guest.Wait(ctx, script))
	f.Logf("%4.0f s: %s", time.Since(f.begun).Seconds(), what)
}

// shows runs a script that succeeds, and whose output has all the words.
func (f *trip) shows(script string, words ...string) {
	f.Helper()
	out, err := f.guest.Shell(f.ctx, script)
	if err != nil {
		f.Error(err)
	}
	for _, w := range words {
		if !strings.Contains(out, w) {
			f.Errorf("%s does not show %q:\n%s", script, w, out)
		}
	}
}

// inVLAN looks at a node that is in the site's VLAN and nowhere else.
func (f *trip) inVLAN(device string) {
	f.Helper()
	f.shows("ip -d link show "+device, "vlan protocol 802.1Q id 120", "openvswitch_slave")
	f.shows("ovs-vsctl list-ports br-ex", device)
	f.shows("ovs-dpctl show", device)
	f.shows("ip -4 address show br-ex", "198.51.100.10/24", "192.168.127.10/32")
	if out, err := f.guest.Shell(f.ctx, "ip route show default"); err != nil || strings.Count(out, "default") != 1 || !strings.Contains(out, "via 198.51.100.1 dev br-ex") {
		f.Errorf("default routes: %v\n%s", err, out)
	}
	f.reached()
}

// bonded looks at a node that is in the VLAN over a bond.
func (f *trip) bonded() {
	f.Helper()
	f.inVLAN("bond0.120")
	f.shows("cat /proc/net/bonding/bond0", "fault-tolerance (active-backup)", "Slave Interface: enp1s0", "Slave Interface: enp2s0", "MII Polling Interval (ms): 100")
	for _, device := range []string{"enp1s0", "enp2s0", "bond0", "bond0.120", "br-ex"} {
		f.shows("ip link show "+device, "mtu 9000")
	}
	// 28 bytes of a packet are headers of IPv4 and ICMP; -M do forbids to cut it into pieces.
	f.shows("ping -c 3 -M do -s 8972 198.51.100.1", " 0% packet loss")
}

// onTime looks whether the site's time server was believed, and the clock set.
func (f *trip) onTime() {
	f.Helper()
	out, err := f.guest.Shell(f.ctx, "date +%s")
	seconds, failed := strconv.ParseInt(strings.TrimSpace(out), 10, 64)
	if err := errors.Join(err, failed); err != nil {
		f.Fatal(err)
	}
	if off := time.Since(time.Unix(seconds, 0)).Round(time.Second); off.Abs() > 10*time.Second {
		f.Errorf("the clock is off by %s", off)
	}
}

// reached proves the node from outside: by the name server and the way out of there, and from a laptop in the VLAN. The node speaks first. A
// switch leads to the cable that a bond gave up until it hears the node at the other one, and nobody tells it: the kernel has the bond and its
// VLANs say so with an address of their own (net/8021q/vlan.c, NETDEV_NOTIFY_PEERS), but the address is on br-ex, to which Open vSwitch does not
// pass that on (net/openvswitch/dp_notify.c).
func (f *trip) reached() {
	f.Helper()
	f.shows("ping -c 3 "+site.NTP4.String(), " 0% packet loss")
	wait.Until(f, "an answer to a laptop in the VLAN", func(ctx context.Context) error {
		return f.edge.Client().Ping(ctx, netip.MustParseAddr("198.51.100.10"))
	})
}

// waived is what speaks against the guest, and what probes say of a VLAN where nobody is.
var waived = append([]string{"hw-memory"}, landing.Waived...)

// apply begins to bring a network by the program under test, and waits for its end, or until the network is decided and the
// job comes to the cluster, which is not there: then it is stopped.
const applying = `events=$(mktemp)
touchdown apply -f /var/tmp/site.yaml --force --by "the bench" -o json "$@" > "$events" &
apply=$!
while sleep 1; kill -0 $apply 2>/dev/null; do
  grep -q '"kind":"started","step":"kubelet"' "$events" || continue
  api="curl --silent --unix-socket /run/touchdown/engine.sock http://engine/v1"
  token=$($api/control --data '{"console": "the bench", "force": true}' | sed 's/.*"token":"\([^"]*\)".*/\1/')
  $api/actions --header "Touchdown-Control: $token" --data '{"verb": "cancel"}'
  break
done
wait $apply
cat "$events"`

// apply returns the events of a job.
func (f *trip) apply(network string, more ...string) (events string, err error) {
	if err := f.guest.WriteFile(f.ctx, "/var/tmp/site.yaml", []byte(config(network)), 0o600); err != nil {
		return "", err
	}
	argv := []string{"bash", "-c", applying, "apply"}
	for _, check := range append(more, waived...) {
		argv = append(argv, "--waive", check+"=the bench")
	}
	out, _, err := f.guest.Run(f.ctx, argv...)
	return out, err
}

// keeps moves the node to a network that answers.
func (f *trip) keeps(what, network string) {
	f.Helper()
	begun := time.Now()
	events, err := f.apply(network)
	f.must(err)
	s, seconds := f.step(events)
	f.Logf("%4.0f s: %s was tried and kept in %.0f s, with the look before it %.0f s", time.Since(f.begun).Seconds(), what, seconds, time.Since(begun).Seconds())
	if s != "done" {
		log, err := f.guest.Shell(f.ctx, "tail -n 30 /var/lib/touchdown/engine.log")
		f.Fatalf("%s: the network step is %q\n%s\nthe engine's log:\n%s%v", what, s, events, log, err)
	}
}

// refuses tries a network where nobody is.
func (f *trip) refuses(what, network string) {
	f.Helper()
	events, err := f.apply(network, silent...)
	f.must(err)
	s, seconds := f.step(events)
	f.Logf("%4.0f s: %s was tried and put back in %.0f s", time.Since(f.begun).Seconds(), what, seconds)
	if s != "failed" || !strings.Contains(events, "The old network settings are back.") {
		f.Fatalf("%s: the network step is %q\n%s", what, s, events)
	}
}

// cut begins to try a network, and cuts the power when a script in the guest says that it is in force.
func (f *trip) cut(network, inForce string) {
	f.Helper()
	ended := make(chan error, 1)
	go func() {
		_, err := f.apply(network, silent...)
		ended <- err
	}()
	f.await("the trial of a wrong VLAN", inForce)
	select {
	case err := <-ended:
		f.Fatalf("the trial is over already: %v", err)
	default:
	}
	f.must(f.guest.Cut())
	if err := <-ended; err == nil {
		f.Error("the power is off, and apply came to an end")
	}
}

// step tells from a job's events how the network's step ended, and how long it took (seconds).
func (f *trip) step(events string) (ending string, seconds float64) {
	f.Helper()
	for line := range strings.Lines(events) {
		var e struct {
			Kind, Step string
			Seconds    float64
		}
		if json.Unmarshal([]byte(line), &e) == nil && e.Step == "network" && (e.Kind == "done" || e.Kind == "failed") {
			ending, seconds = e.Kind, e.Seconds
		}
	}
	return ending, seconds
}

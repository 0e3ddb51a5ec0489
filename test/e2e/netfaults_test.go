package e2e

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"touchdown/test/bench/landing"
	"touchdown/test/bench/node"
	"touchdown/test/bench/site"
	"touchdown/test/wait"
)

// netFault is one thing that goes wrong with the network while a node is being moved.
type netFault struct {
	name    string
	network string                                        // spec.network; empty: the right one
	policy  string                                        // a line more of spec.policy
	before  func(context.Context, *wrongs) error          // the fault is there from the start
	during  func(context.Context, *wrongs) error          // it comes when the settings are applied
	over    func(context.Context, *landing.Landing) error // it is gone
	want    []string                                      // what apply tells, in these words; one of them
	dry     bool                                          // the review tells it; nothing is applied
}

func pull(ctx context.Context, w *wrongs) error          { return w.landing.Node.Unplug(ctx, 0) }
func plug(ctx context.Context, l *landing.Landing) error { return l.Node.Plug(ctx, 0) }

func gateway(m site.GatewayMode) func(context.Context, *wrongs) error {
	return func(_ context.Context, w *wrongs) error { return w.landing.Site.Gateway.Set(m) }
}

func dnsAnswers(m site.DNSMode) func(context.Context, *wrongs) error {
	return func(_ context.Context, w *wrongs) error { w.landing.Site.DNS.Set(m); return nil }
}

// faultsOfNetworks are told in plain words, and leave the node where it was.
func faultsOfNetworks() []netFault {
	var other *site.Host
	answers := func(_ context.Context, l *landing.Landing) error {
		l.Site.DNS.Set(site.Answers)
		l.Site.DNS.Slow(0)
		return nil
	}
	return []netFault{
		{
			name: "gateway falls silent", during: gateway(site.Dead), want: []string{"Gateway: Nothing answers at 198.51.100.1. The old network settings are back."},
			over: func(_ context.Context, l *landing.Landing) error { return l.Site.Gateway.Set(site.Forwards) },
		},
		{
			name: "DNS lies", before: dnsAnswers(site.Lies), over: answers, dry: true, network: fixed("enp1s0", "198.51.100.71", 24, "198.51.100.1", "198.51.100.53"),
			want: []string{"it leads api." + domain + " to " + site.Nobody4.String() + " instead of 198.51.100.71"},
		},
		{
			name: "DNS knows no name", before: dnsAnswers(site.NXDomain), over: answers, dry: true, network: fixed("enp1s0", "198.51.100.72", 24, "198.51.100.1", "198.51.100.53"),
			want: []string{"it does not know api." + domain + " yet"},
		},
		{
			name: "DNS is slow", over: answers, dry: true, network: fixed("enp1s0", "198.51.100.73", 24, "198.51.100.1", "198.51.100.53"), want: []string{"it is slow: an answer took"},
			before: func(_ context.Context, w *wrongs) error { w.landing.Site.DNS.Slow(1500 * time.Millisecond); return nil },
		},
		{
			name: "another machine takes the address", network: fixed("enp1s0", "198.51.100.66", 24, "198.51.100.1", "198.51.100.53"),
			during: func(_ context.Context, w *wrongs) (err error) {
				other, err = w.landing.Site.AddHost(netip.MustParseAddr("198.51.100.66"))
				return err
			},
			over: func(context.Context, *landing.Landing) error { other.Remove(); return nil },
			want: []string{"Another machine has the address 198.51.100.66 already"},
		},
		{name: "cable pulled during apply", during: pull, over: plug, want: []string{"enp1s0 has no link. The old network settings are back."}},
		{
			name: "NetworkManager killed while the checkpoint is open",
			during: func(ctx context.Context, w *wrongs) error {
				w.events.awaitCheck("net-address")
				_, err := w.landing.Node.Shell(ctx, "systemctl kill -s KILL NetworkManager")
				return err
			},
			want: []string{"or NetworkManager was restarted. The old settings are back."},
		},
		{
			name: "NetworkManager killed while it applies, gateway falls silent",
			during: func(ctx context.Context, w *wrongs) error {
				// nmstate opens its checkpoint before it changes anything.
				_, err := w.landing.Node.Shell(ctx, `nm=org.freedesktop.NetworkManager
until busctl get-property $nm /org/freedesktop/NetworkManager $nm Checkpoints | grep -q /; do sleep 0.05; done
systemctl kill -s KILL NetworkManager`)
				return errors.Join(err, w.landing.Site.Gateway.Set(site.Dead))
			},
			over: func(_ context.Context, l *landing.Landing) error { return l.Site.Gateway.Set(site.Forwards) },
			want: []string{"the settings are tried once more"},
		},
		{
			name: "another checkpoint", before: otherCheckpoint, over: endCheckpoints,
			want: []string{"Someone else is trying out network settings on this node."},
		},
		{
			name: "another checkpoint, taken over", before: otherCheckpoint, over: endCheckpoints,
			policy: "answers: {network-busy: take-over}\n    keepNetworkWhenProbesPass: false", want: []string{"The new network settings were not kept; the old ones are back."},
		},
	}
}

func otherCheckpoint(ctx context.Context, w *wrongs) error {
	_, err := w.landing.Node.Shell(ctx, "busctl call org.freedesktop.NetworkManager /org/freedesktop/NetworkManager org.freedesktop.NetworkManager CheckpointCreate aouu 0 300 0")
	return err
}

// endCheckpoints ends those that are left: a trial that is not ours is left alone by all else.
func endCheckpoints(ctx context.Context, l *landing.Landing) error {
	_, err := l.Node.Shell(ctx, `nm=org.freedesktop.NetworkManager
for c in $(busctl get-property $nm /org/freedesktop/NetworkManager $nm Checkpoints | grep -o '/[^"]*'); do
  busctl call $nm /org/freedesktop/NetworkManager $nm CheckpointRollback o "$c"
done`)
	return err
}

// TestNetworkFaults lets one fault after the other happen to a node. Each is told in a plain sentence, and the node keeps
// the address that it had. When all are gone, the node lands.
func TestNetworkFaults(t *testing.T) {
	w := &wrongs{T: t, events: &events{}, count: map[string]int{}}
	w.landing = landing.Start(t, landing.Options{Network: edge(), Echo: w.events})
	w.awaitLease()
	w.before = w.look(wait.Within(t, 20*time.Second))
	for _, f := range faultsOfNetworks() {
		t.Run(f.name, func(t *testing.T) {
			w.T = t
			wait.Explain(t, "the bench node", w.landing.Node.Diagnosis) // the other faults follow
			w.fault(f)
		})
	}
	w.T = t
	if !t.Failed() {
		w.lands()
	}
}

func (w *wrongs) fault(f netFault) {
	ctx := wait.Within(w.T, 3*time.Minute)
	begun := time.Now()
	if f.before != nil {
		if err := f.before(ctx, w); err != nil {
			w.Fatal(err)
		}
	}
	if f.network == "" {
		f.network = fixed("enp1s0", "198.51.100.10", 24, "198.51.100.1", "198.51.100.53")
	}
	s := wrong{kind: f.name, network: f.network}
	config := s.config()
	if f.policy != "" {
		config = strings.Replace(config, "keepNetworkWhenProbesPass: true", f.policy, 1)
	}
	w.events.clear()
	struck := make(chan error, 1)
	go func() {
		if f.during == nil || !w.events.await("network") {
			struck <- nil
			return
		}
		struck <- f.during(ctx, w)
	}()
	more := (&wrong{}).sure()
	if f.dry {
		more = []string{"--dry-run"}
		w.noFailedJob(ctx)
	}
	out, code := w.applyConfig(ctx, config, more...)
	w.events.close()
	if err := <-struck; err != nil {
		w.Fatal(err)
	}
	told := false
	for _, text := range f.want {
		told = told || strings.Contains(out, text)
	}
	if !told || (code == 0) != f.dry {
		w.Errorf("exit %d, and none of %q in\n%s", code, f.want, out)
	}
	if f.over != nil {
		if err := f.over(ctx, w.landing); err != nil {
			w.Fatal(err)
		}
	}
	w.asBefore()
	w.Logf("%.1f s: %s", time.Since(begun).Seconds(), w.events.why(out))
}

// noFailedJob undoes the job of an earlier fault: where one has failed, a dry run is refused.
func (w *wrongs) noFailedJob(ctx context.Context) {
	s, err := w.landing.Status(ctx)
	if err != nil {
		w.Fatal(err)
	}
	if s.State != "failed" {
		return
	}
	if out, code, err := w.landing.Touchdown(ctx, "undo", "--force"); code != 0 {
		w.Fatalf("undo: exit %d, %v\n%s", code, err, out)
	}
}

// TestNoLeaseAtBoot lands a node that found no DHCP server at its site, so that OpenShift built no br-ex.
func TestNoLeaseAtBoot(t *testing.T) {
	l := landing.Start(t, landing.Options{Network: edge(), Off: true, Echo: t.Output()})
	l.Site.DHCP4.Off()
	ctx := wait.Within(t, 6*time.Minute)
	if err := l.Node.Boot(ctx); err != nil {
		t.Fatal(err)
	}
	landsFromForm(ctx, t, l)
}

// TestBrExHangs lands a node whose br-ex hangs on its way up, as one in five does after an unclean stop.
func TestBrExHangs(t *testing.T) {
	l := landing.Start(t, landing.Options{Network: edge(), Node: node.Options{BrExHangs: true}, Echo: t.Output()})
	ctx := wait.Within(t, 6*time.Minute)
	const up = "nmcli -g GENERAL.STATE c show ovs-if-br-ex | grep -qx activated"
	if err := l.Node.Wait(ctx, up); err != nil {
		t.Fatal(err)
	}
	if err := l.Node.PowerCut(ctx, true); err != nil {
		t.Fatal(err)
	}
	if err := l.Node.Boot(ctx); err != nil {
		t.Fatal(err)
	}
	// What only takes its time on a busy machine does not hang.
	if err := l.Node.Wait(wait.Within(t, 20*time.Second), up); err != nil {
		t.Log("br-ex hangs without a fault")
	} else if _, err := l.Node.Shell(ctx, "nmcli connection down ovs-if-br-ex"); err != nil {
		t.Fatal(err)
	}
	out := landsFromForm(ctx, t, l)
	if !strings.Contains(out, "br-ex hung on its way up and was started again") {
		t.Error("nothing was said about br-ex")
	}
}

// landsFromForm waits for the form and lands with the right settings.
func landsFromForm(ctx context.Context, t *testing.T, l *landing.Landing) string {
	t.Helper()
	if _, err := l.Await(ctx, "the form", func(s *landing.Status) bool { return s.State == "collecting" }); err != nil {
		t.Fatal(err)
	}
	out, code, err := l.Apply(ctx, static(""))
	if err != nil || code != 0 {
		t.Fatalf("apply: exit %d, %v\n%s", code, err, out)
	}
	if err := l.Proof(ctx, domain); err != nil {
		t.Errorf("from outside: %v", err)
	}
	return out
}

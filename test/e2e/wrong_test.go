package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"touchdown/test/bench/landing"
	"touchdown/test/wait"
)

// goalOfPutBack is how long the old settings may take to be back, from the decision on.
const goalOfPutBack = 5 * time.Second

// TestWrongSettings gives one node one wrong network after the other, with power cuts and kills in between. After each it
// has its old address again and everybody reaches it there. WRONG_N and WRONG_SEED ask for more than the sample.
func TestWrongSettings(t *testing.T) {
	n, seed := number("WRONG_N", 8), number("WRONG_SEED", 8)
	t.Logf("%d wrong settings, seed %d", n, seed)
	r := rand.New(rand.NewPCG(uint64(seed), 0))
	w := &wrongs{T: t, events: &events{}, count: map[string]int{}}
	w.landing = landing.Start(t, landing.Options{Network: edge(), Echo: w.events})
	w.awaitLease()
	w.before = w.look(wait.Within(t, 20*time.Second))
	t.Logf("before:\n%s", w.before)
	for i, s := range draw(r, n) {
		w.one(i, s, cutFor(r, i, n))
		if t.Failed() {
			t.Fatalf("number %d of seed %d: %s: %s", i, seed, s.kind, s.network)
		}
	}
	w.summary()
	if n >= 50 {
		w.lands()
	}
}

func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// cut is what happens in the middle of a trial.
type cut struct {
	what  string // "": nothing
	after time.Duration
}

// cutFor disturbs every third one; a power cut, which costs a boot, is the rarest.
func cutFor(r *rand.Rand, i, n int) cut {
	after := time.Duration(r.IntN(5000)) * time.Millisecond
	what := []string{"engine", "manager"}[r.IntN(2)]
	if n > 20 && i%15 == 7 {
		what = []string{"power", "power, flushed"}[r.IntN(2)]
	}
	if i%3 != 1 && !strings.HasPrefix(what, "power") {
		what = ""
	}
	return cut{what, after}
}

type wrongs struct {
	*testing.T
	landing *landing.Landing
	events  *events
	before  string // what look saw
	count   map[string]int
	back    []float64 // seconds from the decision to the old settings, as the journal has it
}

// one gives the node one wrong network.
func (w *wrongs) one(i int, s wrong, c cut) {
	ctx := wait.Within(w.T, 4*time.Minute)
	begun := time.Now()
	if err := s.prepare(ctx, w.landing); err != nil {
		w.Fatal(err)
	}
	w.events.clear()
	cutting := make(chan error, 1)
	go func() { cutting <- w.cut(ctx, c) }()
	out, code := w.apply(ctx, s)
	w.events.close()
	if err := <-cutting; err != nil {
		w.Fatal(err)
	}
	if _, err := w.landing.Await(ctx, "the end of the work", idle); err != nil {
		w.Errorf("the engine: %v", err)
	}
	if err := s.over(ctx, w.landing); err != nil {
		w.Fatal(err)
	}
	verdict := w.verdict(code, c)
	w.count[verdict]++
	w.asBefore()
	w.Logf("%3d %-40s %-24s %4.1f s  cut %s: %s", i, s.kind, verdict, time.Since(begun).Seconds(), c.what, w.events.why(out))
}

func idle(s *landing.Status) bool {
	return slices.Contains([]string{"collecting", "reviewed", "failed", "undone"}, s.State)
}

// sure are the checks that would keep wrong settings from being applied at all.
var sure = []string{
	"net-carrier", "net-dhcp", "net-router-ipv6", "net-duplicate", "net-duplicate-ipv6",
	"net-gateway", "net-gateway-ipv6", "net-dns-1", "net-dns-2", "net-ntp-1", "net-registry", "net-mtu",
}

// apply does what a technician does who is sure: whatever fails is waived.
func (w *wrongs) apply(ctx context.Context, s wrong) (string, int) {
	return w.applyConfig(ctx, s.config(), s.sure()...)
}

// sure waives the checks that would keep wrong settings from being applied at all, but for those that must pass.
func (s *wrong) sure() (args []string) {
	for _, check := range sure {
		if check != "net-carrier" || !s.wired {
			args = append(args, "--waive", check+"=sure")
		}
	}
	return args
}

func (w *wrongs) applyConfig(ctx context.Context, config string, more ...string) (string, int) {
	if err := w.landing.Node.WriteFile("/var/tmp/site.yaml", []byte(config), 0o600); err != nil {
		w.Fatal(err)
	}
	args := append([]string{"apply", "-f", "/var/tmp/site.yaml", "--force", "--by", "the bench", "-o", "json"}, more...)
	for _, check := range landing.Waived {
		args = append(args, "--waive", check+"=sure")
	}
	out, code, err := w.landing.Touchdown(ctx, args...)
	if ctx.Err() != nil {
		w.Fatalf("apply: %v\n%s", err, out)
	}
	return out, code
}

// cut waits for the trial to begin and strikes.
func (w *wrongs) cut(ctx context.Context, c cut) error {
	if c.what == "" || !w.events.await("network") {
		return nil
	}
	time.Sleep(c.after) // the moment is drawn
	node := w.landing.Node
	switch c.what {
	case "engine":
		_, err := node.Shell(ctx, "systemctl kill -s KILL touchdown-engine")
		return err
	case "manager":
		_, err := node.Shell(ctx, "systemctl kill -s KILL NetworkManager")
		return err
	}
	if err := node.PowerCut(ctx, strings.HasSuffix(c.what, "flushed")); err != nil {
		return err
	}
	return node.Boot(ctx)
}

// verdict tells what became of the settings, from the events.
func (w *wrongs) verdict(code int, c cut) string {
	from, to := w.events.putBack()
	switch {
	case code == 0:
		w.Error("wrong settings landed")
		return "landed"
	case !w.events.await("network"):
		return "refused at the review"
	case strings.HasPrefix(c.what, "power"):
		return "cut"
	case to.IsZero():
		return "refused by the step"
	}
	w.back = append(w.back, to.Sub(from).Seconds())
	return "applied and put back"
}

// look is the state of the network on the node, in words that stay the same as long as it does.
func (w *wrongs) look(ctx context.Context) string {
	out, err := w.landing.Node.Shell(ctx, `ip -o -4 address show br-ex | awk '{print "address", $4}' | sort
ip -4 route show default | awk '{print "route", $3, $5}'
echo ports $(ovs-vsctl list-ports br-ex)
grep -v '^#' /etc/resolv.conf
ip -o link | awk -F'[:@] *' '{print "link", $2}' | sort
nmcli -g NAME,DEVICE connection show --active | sort
nmcli -g NAME connection show | sort | sed 's/^/profile /'
cd /etc/NetworkManager/system-connections && sha256sum *
busctl get-property org.freedesktop.NetworkManager /org/freedesktop/NetworkManager org.freedesktop.NetworkManager Checkpoints`)
	if err != nil {
		return err.Error()
	}
	return out
}

// asBefore waits until the node is what it was, and reached where it was.
func (w *wrongs) asBefore() {
	ctx := wait.Within(w.T, 60*time.Second)
	err := wait.For(ctx, "the state before the fault", func(ctx context.Context) error {
		if now := w.look(ctx); now != w.before {
			return fmt.Errorf("before:\n%s\nnow:\n%s", w.before, now)
		}
		return w.reached(ctx)
	})
	if err != nil {
		w.Errorf("locked out: %v", err)
		w.count["lock-outs"]++
		return
	}
	if _, err := w.landing.Status(ctx); err != nil {
		w.Errorf("the engine does not answer: %v", err)
	}
}

func (w *wrongs) reached(ctx context.Context) error {
	client := w.landing.Site.Client()
	if err := client.FlushNeighbours(); err != nil {
		return err
	}
	return client.Ping(ctx, netip.MustParseAddr("198.51.100.10"))
}

// awaitLease waits until the node has come up at the site.
func (w *wrongs) awaitLease() {
	ctx := wait.Within(w.T, 60*time.Second)
	if _, err := w.landing.Await(ctx, "the form", func(s *landing.Status) bool { return s.State == "collecting" }); err != nil {
		w.Fatal(err)
	}
	if err := w.landing.Node.Wait(ctx, "ip -o -4 address show br-ex | grep -q 198.51.100.10/24 && nmcli -g GENERAL.STATE c show ovs-if-br-ex | grep -qx activated && grep -qF 198.51.100.53 /etc/resolv.conf"); err != nil {
		w.Fatal(err)
	}
}

func (w *wrongs) summary() {
	slices.Sort(w.back)
	var late int
	for _, s := range w.back {
		if s > goalOfPutBack.Seconds() {
			late++
		}
	}
	text := fmt.Sprintf("%v, lock-outs %d", w.count, w.count["lock-outs"])
	if n := len(w.back); n > 0 {
		text += fmt.Sprintf("; put back in %.1f s (median), %.1f s (longest), later than %s: %d of %d", w.back[n/2], w.back[n-1], goalOfPutBack, late, n)
	}
	w.Log(text)
	if w.count["applied and put back"] == 0 {
		w.Error("no setting was really applied: this proves nothing")
	}
}

// lands shows that after all of it the right settings land the node.
func (w *wrongs) lands() {
	out, code, err := w.landing.Apply(wait.Within(w.T, 5*time.Minute), static(""))
	if err != nil || code != 0 {
		w.Fatalf("the right settings, after all the wrong ones: exit %d, %v\n%s", code, err, out)
	}
	s, err := w.landing.Status(wait.Within(w.T, 10*time.Second))
	if err != nil {
		w.Fatal(err)
	}
	for _, stage := range s.Stages {
		for _, step := range stage.Steps {
			if step.ID == "network" {
				w.Logf("applied and kept in %.1f s", step.Seconds)
			}
		}
	}
	if err := w.landing.Proof(wait.Within(w.T, 30*time.Second), domain); err != nil {
		w.Errorf("from outside: %v", err)
	}
}

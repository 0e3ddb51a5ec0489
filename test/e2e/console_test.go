package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/test/bench/landing"
)

// quick sets what nobody is asked at the console, as a stick would bring it: the default of two minutes without a
// failure is no test of the console.
const quick = `set -eu
engine() { curl -sS --fail-with-body --unix-socket /run/touchdown/engine.sock "$@"; }
pen=$(engine -d '{"console": "stick", "force": true}' http://engine/v1/pen | sed 's/.*"pen": *"\([^"]*\)".*/\1/')
engine -X PUT -H "Touchdown-Pen: $pen" -d '{"value": "1s"}' http://engine/v1/site/spec.policy.stabilityWindow
engine -X DELETE -H "Touchdown-Pen: $pen" http://engine/v1/pen`

// begin boots a node at its site and puts a person at its serial line, with the pen, before the first page.
func begin(t *testing.T, o landing.Options) (*landing.Landing, *person) {
	t.Helper()
	o.Network = edge()
	l := landing.Start(t, o)
	p := sit(t, l.Node.Console("ttyS0"))
	p.shows(20*time.Second, "Hardware check")
	if out, err := l.Node.Shell(ctxFor(t, 10*time.Second), quick); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	take(p)
	return l, p
}

// take presses a key, which makes this console the one that writes: nobody sits at the node's other one.
func take(p *person) {
	p.t.Helper()
	p.shows(10*time.Second, "nobody has the pen")
	p.types("\t")
	p.shows(5*time.Second, "you have the pen")
}

// hardware takes responsibility for what no build machine passes.
func hardware(p *person) {
	p.t.Helper()
	p.keep("The hardware check of the armed node")
	p.waive("a build machine")
	p.press("Continue")
	p.shows(5*time.Second, "Stage 2 of 7: Network")
}

// addresses answers the page of the network.
func addresses(p *person, gateway string) {
	p.t.Helper()
	p.until(10*time.Second, "the port of now", func(s string) bool { return strings.Contains(s, "< enp1s0, ") })
	p.pick("IPv4 address by", "static")
	p.shows(15*time.Second, "[198.51.100.10 ") // what DHCP gave, for the person to compare with the sheet
	for _, field := range [][2]string{
		{"IPv4 address  ", "198.51.100.10"},
		{"IPv4 prefix length", "24"},
		{"IPv4 gateway", gateway},
		{"DNS servers", "198.51.100.53"},
		{"Time servers (NTP)", "198.51.100.123"},
	} {
		p.fill(field[0], field[1])
	}
}

// names answers the page of the names, and leaves the one behind it as it is.
func names(p *person) {
	p.t.Helper()
	p.press("Continue")
	p.shows(5*time.Second, "Stage 3 of 7: Names and log-ins")
	p.fill("Cluster name", "store0051")
	p.fill("Base domain", "retail.example.com")
	p.press("Continue")
	p.shows(5*time.Second, "Time now (UTC)")
	p.press("Continue")
	p.shows(10*time.Second, "Stage 5 of 7: Image store") // what the look after the last boot found
	p.press("Continue")
	p.shows(30*time.Second, "Review: nothing was changed so far")
}

// start types the word that starts the work.
func start(p *person) {
	p.t.Helper()
	p.shows(time.Second, "To start, type sno-factory or store0051")
	p.types("\tstore0051\r")
}

// landed waits for the end and looks at the report.
func landed(t *testing.T, l *landing.Landing, p *person) {
	t.Helper()
	p.shows(3*time.Minute, "This node has landed.")
	p.keep("Landed")
	p.types("r")
	p.shows(10*time.Second, "HAND-OVER REPORT")
	p.keep("The report")
	if err := l.Proof(ctxFor(t, 20*time.Second), domain); err != nil {
		t.Errorf("from outside: %v", err)
	}
	text, err := l.Node.ReadFile("/var/lib/touchdown/report.txt")
	if err != nil || !strings.Contains(string(text), "J. Doe") {
		t.Errorf("the report names nobody for what was waived: %v\n%s", err, text)
	}
}

// TestWrongGateway lands a node by hand, every page at its serial line and by its own units. The address of a gateway that is
// not there is typed first, and insisted on: the node asks, nobody wants to keep that, and it is back at its old address;
// then the person mends the answer and lands.
func TestWrongGateway(t *testing.T) {
	l, p := begin(t, landing.Options{})
	hardware(p)
	addresses(p, "198.51.100.99")
	p.keep("A gateway that is not there")
	p.press("Checks")
	p.until(20*time.Second, "the silent gateway", func(s string) bool {
		return strings.Contains(s, "FAIL  Gateway") && !strings.Contains(s, "still looking")
	})
	p.keep("Touchdown tried it before anything was changed")
	p.waive("the router is not connected yet")
	names(p)
	p.keep("The review")
	start(p)
	p.shows(60*time.Second, "Keep the new network settings?")
	p.keep("In force in memory only, and nobody answers")
	ctx := ctxFor(t, time.Minute)
	if out, err := l.Node.Shell(ctx, "ip -4 route show default"); err != nil || !strings.Contains(out, "via 198.51.100.99") {
		t.Errorf("while the question is open: %q, %v", out, err)
	}
	p.keepOutput(l, "The node meanwhile")
	time.Sleep(1100 * time.Millisecond) // the question ignores what may have been typed ahead
	p.types("2\r")
	p.shows(20*time.Second, "The old network settings are back")
	p.keep("Put back")
	if err := l.Node.Wait(ctx, "ip -4 route show default | grep -q 'via 198.51.100.1 .*proto dhcp' && ip -4 address show br-ex | grep -q 198.51.100.10/24"); err != nil {
		t.Errorf("the old settings: %v", err)
	}
	p.keepOutput(l, "The node is at its old address, by its old way")
	p.types("e")
	p.shows(10*time.Second, "Stage 2 of 7: Network") // where the answer is, not where the work was
	p.fill("IPv4 gateway", "198.51.100.1")
	p.keep("Mended")
	names(p)
	start(p)
	landed(t, l, p)
	transcript(t, p)
}

// transcript writes the screens that were kept to the file that TRANSCRIPT names.
func transcript(t *testing.T, p *person) {
	name := os.Getenv("TRANSCRIPT")
	if name == "" {
		return
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(strings.Join(p.kept, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}

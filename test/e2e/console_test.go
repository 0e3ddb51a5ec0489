package e2e

import (
	"os"
	"strings"
	"testing"
	"time"

	"touchdown/test/bench/landing"
	"touchdown/test/bench/node"
	"touchdown/test/bench/person"
	"touchdown/test/wait"
)

// begin puts a person at the node's serial line, with control, before the first page.
func begin(t *testing.T, l *landing.Landing) *person.Person {
	t.Helper()
	p := person.Sit(t, l.Node.Console("ttyS0"))
	p.Shows("Hardware check")
	if err := l.Hasten(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.Take()
	return p
}

// hardware takes responsibility for what no build machine passes.
func hardware(p *person.Person) {
	p.Keep("The hardware check of the armed node")
	p.Waive("J. Doe", "a build machine")
	p.GoesOn("Stage 2 of 7: Network")
}

// addresses answers the page of the network.
func addresses(p *person.Person, gateway string) {
	p.Until("the port of now", func(s string) bool { return strings.Contains(s, "< enp1s0, ") })
	p.Pick("IPv4 method", "static")
	p.Shows("[198.51.100.10 ") // what DHCP gave, for the person to compare with the sheet
	for _, field := range [][2]string{
		{"IPv4 address  ", "198.51.100.10"},
		{"IPv4 prefix length", "24"},
		{"IPv4 gateway", gateway},
		{"DNS servers", "198.51.100.53"},
		{"Time servers (NTP)", "198.51.100.123"},
	} {
		p.Fill(field[0], field[1])
	}
}

// names answers the page of the names, leaves the one behind it unchanged, and goes on to the review.
func names(p *person.Person, review string) {
	p.GoesOn("Stage 3 of 7: Names and credentials") // a wrong gateway has failed its check
	p.Fill("Cluster name", "store0051")
	p.Fill("Base domain", "retail.example.com")
	p.GoesOn("Time now (UTC)")
	p.GoesOn("Stage 5 of 7: Image store") // what the look after the last boot found
	p.GoesOn(review)
}

// start types the word that starts the work.
func start(p *person.Person) {
	p.Shows("To start, type sno-factory or store0051")
	p.Word("store0051")
	p.Types("\r")
}

// landed waits for the end and looks at the report.
func landed(t *testing.T, l *landing.Landing, p *person.Person) {
	t.Helper()
	p.Shows("This node has landed.")
	p.Keep("Landed")
	p.Types("r")
	p.Shows("HAND-OVER REPORT")
	p.Keep("The report")
	if err := l.Proof(wait.Within(t, 20*time.Second), domain); err != nil {
		t.Errorf("from outside: %v", err)
	}
	text, err := l.Node.ReadFile("/var/lib/touchdown/report.txt")
	if err != nil || !strings.Contains(string(text), "J. Doe") {
		t.Errorf("the report names nobody for what was waived: %v\n%s", err, text)
	}
	flat := strings.Join(strings.Fields(string(text)), " ")
	// The proof asks the bench's DNS; who runs the site's takes these lines.
	for _, record := range []string{"api." + domain + " A 198.51.100.10", "*.apps." + domain + " A 198.51.100.10"} {
		if !strings.Contains(flat, record) {
			t.Errorf("the report has no record %q:\n%s", record, text)
		}
	}
	// As a pod asks: through the DNS service and the name server of the node's resolv.conf.
	if !strings.Contains(flat, "oauth-openshift.apps."+domain+" is "+node.InternalAddress) {
		t.Errorf("the report does not say where pods find the login page:\n%s", text)
	}
}

// TestWrongGateway lands a node by hand, every page at its serial line and by its own units. The address of a gateway that
// does not exist is typed first and insisted on: the node asks, the person does not keep it, and the node is back at its old
// address. Then the person corrects the answer and starts; the power fails in the middle of the work, and the node lands.
func TestWrongGateway(t *testing.T) {
	l := landing.Start(t, landing.Options{Network: edge()})
	p := begin(t, l)
	hardware(p)
	addresses(p, "198.51.100.99")
	p.Keep("A gateway that is not there")
	p.Press("Checks")
	p.Whole("the silent gateway", func(s string) bool {
		return strings.Contains(s, "FAIL  Gateway") && !strings.Contains(s, "still looking")
	})
	p.Keep("Touchdown tried it before anything was changed")
	p.Waive("J. Doe", "the router is not connected yet")
	p.Press("Back") // of the list, which the waiver leads back to
	p.Shows("IPv4 gateway")
	names(p, "Review: nothing was changed so far")
	p.Keep("The review")
	start(p)
	p.Shows("Keep the new network settings?")
	p.Keep("In force in memory only, and nobody answers")
	ctx := wait.Within(t, time.Minute)
	if out, err := l.Node.Shell(ctx, "ip -4 route show default"); err != nil || !strings.Contains(out, "via 198.51.100.99") {
		t.Errorf("while the question is open: %q, %v", out, err)
	}
	keepOutput(t, l, p, "The node meanwhile")
	p.Answers("Keep the new network settings?", 2)
	p.Shows("The old network settings are back")
	p.Keep("Put back")
	if err := l.Node.Wait(ctx, "ip -4 route show default | grep -q 'via 198.51.100.1 .*proto dhcp' && ip -4 address show br-ex | grep -q 198.51.100.10/24"); err != nil {
		t.Errorf("the old settings: %v", err)
	}
	keepOutput(t, l, p, "The node is at its old address, by its old way")
	p.ByHand("e\r")                  // Edit answers
	p.Shows("Stage 2 of 7: Network") // where the answer is, not where the work was
	p.Fill("IPv4 gateway", "198.51.100.1")
	p.Keep("Fixed")
	names(p, "Review: earlier work was not undone")
	start(p)
	cutPower(t, l)
	p.Take() // after a boot no console has control
	landed(t, l, p)
	t.Run("the Machine Config Operator's files are the operator's", func(t *testing.T) { operatorFilesAreTheOperators(t, l) })
	if out, err := l.Node.Shell(wait.Within(t, time.Minute), "ip -br -4 address show br-ex"); err != nil ||
		!strings.Contains(out, node.InternalAddress+"/32") || !strings.Contains(out, "198.51.100.10/24") {
		t.Errorf("addresses of the landed node: %v\n%s", err, out)
	}
	p.Leave(os.Getenv("TRANSCRIPT"))
}

// cutPower takes the node's power away once the network is kept and the cluster is being changed, and gives it back.
func cutPower(t *testing.T, l *landing.Landing) {
	t.Helper()
	ctx := wait.Within(t, 3*time.Minute)
	s, err := l.Await(ctx, "the work behind the network", func(s *landing.Status) bool {
		return s.State == "working" && s.Step("network") == "done"
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Node.PowerCut(ctx, false); err != nil {
		t.Fatal(err)
	}
	t.Logf("the power went at %s", s.Current)
	if err := l.Node.Boot(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestConsoleTellsWhyNoEngineRuns: a node whose engine cannot start says so at its consoles, and why, opens the wizard
// automatically once that is fixed, and lets support log in until then.
func TestConsoleTellsWhyNoEngineRuns(t *testing.T) {
	l := landing.Start(t, landing.Options{Network: edge()})
	p := person.Sit(t, l.Node.Console("ttyS0"))
	p.Shows("Hardware check")
	ctx := wait.Within(t, 4*time.Minute)
	run := func(script string) {
		t.Helper()
		if _, err := l.Node.Shell(ctx, script); err != nil {
			t.Fatal(err)
		}
	}
	const held = `systemctl stop touchdown-console@ttyS0 touchdown-engine
systemd-run --unit=held flock /var/lib/touchdown/lock sleep infinity
until ! flock --nonblock /var/lib/touchdown/lock true; do sleep 0.1; done
systemctl start --no-block touchdown-console@ttyS0`
	run(held)
	p.Shows("ENG-DEAD")
	p.Shows("Another engine is already at work")
	p.Shows("Press Enter to log in")
	p.Keep("No engine")
	run("systemctl stop held")
	p.Shows("Stage 1 of 7: Hardware check")

	run(held)
	p.Shows("Press Enter to log in")
	p.Types("\r")
	p.Shows("login:")
	p.Keep("A login")
	p.Leave(os.Getenv("TRANSCRIPT"))
}

// keepOutput notes the node's addresses and routes for the transcript.
func keepOutput(t *testing.T, l *landing.Landing, p *person.Person, what string) {
	t.Helper()
	out, err := l.Node.Shell(wait.Within(t, time.Minute), "ip -br -4 address show br-ex; ip -4 route show default")
	if err != nil {
		t.Error(err)
	}
	p.Note(what, out)
}

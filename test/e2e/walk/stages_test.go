package walk

import (
	"strings"
	"time"

	"touchdown/test/bench/landing"
	"touchdown/test/wait"
)

// screenful is the goal for what a screen takes: 2.3 s of a line of 9600 baud. It is a figure of bench-walk and no limit of the walk: what
// the work changes while a page is drawn counts, too.
const screenful = 2200

// look keeps the screen for the transcript and counts what it takes to draw all of it.
func (w *walk) look(what string) {
	w.t.Helper()
	w.p.Keep(what)
	w.meanwhile(func() {
		bytes, took := w.p.Costs("\x0c")
		w.repaint, w.slowest = max(w.repaint, bytes), max(w.slowest, took)
	})
}

// meanwhile does what is not part of the technician's walk.
func (w *walk) meanwhile(do func()) {
	pause, begun := w.p.Pause, time.Now()
	w.p.Pause = 0
	do()
	w.p.Pause = pause
	w.aside += time.Since(begun)
}

// happens lets the mishaps of a moment happen.
func (w *walk) happens(m moment) {
	w.t.Helper()
	begun, aside := time.Now(), w.aside
	for _, mishap := range w.mishaps[m] {
		mishap(w)
	}
	w.mishap += time.Since(begun) - (w.aside - aside)
}

func (w *walk) shell(script string) string {
	w.t.Helper()
	out, err := w.l.Node.Shell(wait.Within(w.t, 20*time.Second), script) // what writes to a line may wait for it
	if err != nil {
		w.t.Fatalf("%v\n%s", err, out)
	}
	return strings.TrimSpace(out)
}

// checksHardware takes control, has the screen redrawn that something scribbled on, and takes responsibility for what
// no build machine passes.
func (w *walk) checksHardware() {
	p := w.p
	w.first = time.Now()
	p.Take()
	p.Whole("the end of the checks", func(s string) bool { return !strings.Contains(s, "still looking") })
	w.look("The hardware check of the armed node")
	w.scribbledOn()
	p.Waive("J. Doe", "a build machine")
	w.look("What the bench lacks is waived, with a name")
	p.GoesOn("Stage 2 of 7: Network")
}

// sheet is what the technician has on paper.
var sheet = []struct{ label, value string }{
	{"IPv4 address  ", "198.51.100.10"},
	{"IPv4 prefix length", "24"},
	{"IPv4 gateway", "198.51.100.1"},
	{"DNS servers", "198.51.100.53"},
}

const timeServer = "198.51.100.123"

// entersNetwork mistypes an address and a prefix length, reads why they are refused, and fixes them.
func (w *walk) entersNetwork() {
	p := w.p
	p.Until("the port of now", func(s string) bool { return strings.Contains(s, "< enp1s0, ") })
	p.At("Network port")
	p.Types("a")
	p.Shows("! The driver of enp1s0 cannot blink its LED.") // it has none; the person reads what to try instead
	p.Pick("IPv4 method", "static")
	p.Shows("[198.51.100.10 ") // what DHCP gave, for the person to compare with the sheet
	p.Fill(sheet[0].label, "198.51.100.1O")
	p.Shows("! ")
	w.look("A letter in the address")
	p.Types("\x1b[Z")
	p.Replace(sheet[0].value)
	w.gone("! ")
	p.Fill(sheet[1].label, "99")
	p.Shows("! ")
	p.Press("Continue")
	p.Shows("Fix this first: IPv4 prefix length.")
	w.look("A prefix that there is not keeps the page")
	for _, field := range sheet[1:] {
		p.Fill(field.label, field.value)
	}
	w.gone("! ")
	w.happens(atForm)
	p.Fill("Time servers (NTP)", timeServer)
	w.look("The network as the sheet has it")
	p.Press("Help")
	p.Shows("This page asks for what the site has given you.")
	w.look("Help")
	p.Types("\r")
	p.Shows("[" + timeServer + " ")
	p.Press("Checks")
	p.Whole("the probes' end", func(s string) bool {
		return strings.Contains(s, "PASS  Gateway") && !strings.Contains(s, "still looking")
	})
	w.look("Tried out before anything is changed")
	p.Types("b")
	p.Shows("[" + timeServer + " ")
	p.GoesOn("Stage 3 of 7: Names and credentials")
}

// gone waits until something is no longer on the screen.
func (w *walk) gone(words string) {
	w.t.Helper()
	w.p.Whole("the screen without "+words, func(s string) bool { return !strings.Contains(s, words) })
}

// entersNames goes back once, and finds everything as it was.
func (w *walk) entersNames() {
	p := w.p
	p.Fill("Cluster name", "store0051")
	p.Fill("Base domain", "retail.example.com")
	p.Press("Back")
	p.Shows("Stage 2 of 7: Network")
	for _, field := range sheet {
		p.At(field.label)
		p.Shows("[" + field.value + " ")
	}
	p.GoesOn("Stage 3 of 7: Names and credentials")
	p.Shows("[store0051 ")
	p.Shows("[retail.example.com ")
	w.look("The names, after a look back")
	w.happens(atNames)
	p.GoesOn("Time now (UTC)")
	p.GoesOn("Stage 5 of 7: Image store") // what the look after the last boot found
	w.look("The image store that was seeded in the factory")
	p.Press("Continue")
}

// reviews reads what would be done and types the word that starts it.
func (w *walk) reviews() {
	p := w.p
	p.Shows("Review: nothing was changed so far")
	p.Shows("To start, type sno-factory or store0051")
	w.look("The review")
	w.happens(atReview)
	w.meanwhile(func() {
		out, _, err := w.l.Touchdown(wait.Within(w.t, 20*time.Second), "answers")
		for _, want := range []string{sheet[0].value, "prefixLength: 24", sheet[2].value, sheet[3].value, timeServer, "store0051", "retail.example.com"} {
			if err != nil || !strings.Contains(out, want) {
				w.t.Errorf("%s is not among the answers (%v):\n%s", want, err, out)
			}
		}
		w.engine = w.shell("systemctl show -P MainPID touchdown-engine")
	})
	p.At("[ Go back")
	p.Word("store0051")
	w.look("The word that starts the work")
	p.Types("\r")
	w.hands = w.sofar() - w.mishap
}

// works watches.
func (w *walk) works() {
	w.p.Until("the work", working)
	w.look("At work")
	w.happens(atWork)
	w.p.Shows("This node has landed.")
	w.look("Landed")
}

// working reports whether a screen shows the work, or already its end.
func working(screen string) bool {
	return strings.Contains(screen, "Running for") || strings.Contains(screen, "This node has landed.")
}

// handsOver reads the report and accepts.
func (w *walk) handsOver() {
	p := w.p
	p.HasControl()
	p.Types("r")
	p.Shows("HAND-OVER REPORT")
	w.look("The report")
	p.Types("b")
	p.Shows("This node has landed.")
	p.Press("Hand over")
	p.Shows("Accept the hand-over?")
	p.Word("store0051")
	w.look("What accepting means")
	p.Types("\r")
	p.Shows("The hand-over was accepted: this page is read-only until the node is unlocked.")
	w.whole = w.sofar()
	w.look("Accepted")
}

// end looks at the node: landed, as it was typed, with its report, and the engine that took it there.
func (w *walk) end() {
	t, ctx := w.t, wait.Within(w.t, time.Minute)
	s, err := w.l.Status(ctx)
	if err != nil || !landing.Landed(s) || s.Life != "landed" || s.Cluster != domain {
		t.Errorf("the node's end: %+v, %v", s, err)
	}
	if err := w.l.Proof(ctx, domain); err != nil {
		t.Errorf("from outside: %v", err)
	}
	if out := w.shell("ip -br -4 address show br-ex; ip -4 route show default"); !strings.Contains(out, "198.51.100.10/24") || !strings.Contains(out, "via 198.51.100.1 ") {
		t.Errorf("the node's network: %s", out)
	}
	if text, err := w.l.Node.ReadFile("/var/lib/touchdown/report.txt"); err != nil || !strings.Contains(string(text), "J. Doe") {
		t.Errorf("the report names nobody for what was waived: %v\n%s", err, text)
	}
	if now := w.shell("systemctl show -P MainPID touchdown-engine"); now != w.engine {
		t.Errorf("the engine was process %s, is %s", w.engine, now)
	}
	t.Logf("%d keys; %.0f s from the first key to the start without mishaps (%.0f s in all), %.0f s to the accepted hand-over; a screen takes at most %d bytes and %.1f s",
		w.p.Keys(), w.hands.Seconds(), w.mishap.Seconds(), w.whole.Seconds(), w.repaint, w.slowest.Seconds())
	bytes, screen := w.p.Largest()
	t.Logf("at most %d bytes came without a pause; then the screen showed:\n%s", bytes, screen)
}

// sofar is how long the technician has been at it.
func (w *walk) sofar() time.Duration { return time.Since(w.first) - w.aside }

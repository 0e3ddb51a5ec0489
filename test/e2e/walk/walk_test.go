package walk

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"touchdown/test/bench/bmc"
	"touchdown/test/bench/landing"
	"touchdown/test/bench/node"
	"touchdown/test/bench/person"
	"touchdown/test/bench/site"
	"touchdown/test/wait"
)

const domain = "store0051.retail.example.com"

// walk is a technician on the way through all stages, at one console of one node.
type walk struct {
	*way
	t       *testing.T
	l       *landing.Landing
	p       *person.Person
	remote  *bmc.Session // the technician's line where it is one over a network
	bmc     *bmc.Processor
	engine  string        // its process at the start of the work
	repaint int           // most bytes that Ctrl-L took on any page
	slowest time.Duration // that Ctrl-L took on any page

	first        time.Time     // key
	aside        time.Duration // since then spent on what is not part of the walk
	mishap       time.Duration // since then spent on mishaps, which are others at each console
	hands, whole time.Duration // from the first key to the start of the work without mishaps, and to the accepted hand-over with them
}

// moment is when something happens to the technician.
type moment int

const (
	atForm   moment = iota // the network's page is filled in but for the time servers
	atNames                // the names are typed
	atReview               // the word that starts the work is not typed
	atWork                 // the work has begun
)

// way is a console and what happens at it.
type way struct {
	name    string
	console string // the device on the node
	baud    int    // of its line; 0: as fast as it can
	over    bool   // reached by IPMI Serial-over-LAN
	mishaps map[moment][]func(*walk)
}

// ways are one by default, which has a part of each: a service processor in front of a line of 9600 baud, and a colleague at
// the screen. WALKS=all has the three of them.
func ways() []*way {
	all := []*way{
		{name: "tty1", console: "tty1", mishaps: map[moment][]func(*walk){
			atReview: {(*walk).takenOver},
			atWork:   {(*walk).killedAtWork},
		}},
		{name: "9600", console: "ttyS0", baud: 9600, mishaps: map[moment][]func(*walk){
			atForm: {(*walk).killedAtForm},
		}},
		{name: "sol", console: "ttyS0", baud: 115200, over: true, mishaps: map[moment][]func(*walk){
			atForm:   {(*walk).takenOverAtForm},
			atNames:  {(*walk).loggedIn},
			atReview: {(*walk).hungUp},
			atWork:   {(*walk).killedAtWork, (*walk).dropped, (*walk).otherGone},
		}},
	}
	if os.Getenv("WALKS") == "all" {
		return all
	}
	short := all[2]
	short.baud = 9600
	return []*way{short}
}

// TestWalk walks from the first page to the accepted hand-over: at the screen, at a serial line of 9600 baud, and at one
// over IPMI. Each walk has a wrong entry, help, a way back, a dirty screen, and its own mishaps. WALK_KEYS is how many keys
// a second the technician types (as many as the screens bear), and WALK_OUT is where figures and transcripts go.
func TestWalk(t *testing.T) {
	ledger := newLedger(os.Getenv("WALK_OUT"))
	for _, way := range ways() {
		t.Run(way.name, func(t *testing.T) {
			w := arrive(t, way)
			w.checksHardware()
			w.entersNetwork()
			w.entersNames()
			w.reviews()
			w.works()
			w.handsOver()
			w.end()
			ledger.add(t, w)
		})
	}
	ledger.write(t)
}

// noteworthy is how much of the consoles' notes explains a failure, in bytes.
const noteworthy = 12 << 10

// arrive boots a node at its site and puts the technician in front of it.
func arrive(t *testing.T, way *way) *walk {
	t.Helper()
	if way.over {
		node.Require(t, bmc.Able())
	}
	network := site.Edge()
	network.Domain = domain
	w := &walk{way: way, t: t}
	w.l = landing.Start(t, landing.Options{Network: network, Node: node.Options{Baud: map[string]int{way.console: way.baud}}})
	wait.Explain(t, "what the node's consoles noted: each key, and each page as the console meant it", func() string {
		noted, err := w.l.Node.ReadFile("/var/lib/touchdown/consoles.txt")
		if err != nil {
			return err.Error()
		}
		return string(noted[max(0, len(noted)-noteworthy):])
	})
	if way.over {
		w.bmc = bmc.Start(t, w.l.Node.Console(way.console))
		w.remote = w.bmc.Activate()
		w.p = person.Sit(t, w.remote)
		w.p.Shows("SOL Session operational")
	} else {
		w.p = person.Sit(t, w.l.Node.Console(way.console))
	}
	w.p.Pause = pause(t)
	w.p.Redraws("the first page", func(s string) bool { return strings.Contains(s, "Stage 1 of 7: Hardware check") })
	if err := w.l.Hasten(wait.Within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	w.p.Shows("nobody has control")
	w.p.Measure()
	return w
}

// pause is how long the technician takes from key to key.
func pause(t *testing.T) time.Duration {
	rate := os.Getenv("WALK_KEYS")
	if rate == "" {
		return 0
	}
	keys, err := strconv.ParseFloat(rate, 64)
	if err != nil || keys <= 0 {
		t.Fatalf("WALK_KEYS is not a number of keys a second: %q", rate)
	}
	return time.Duration(float64(time.Second) / keys)
}

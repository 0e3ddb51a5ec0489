package e2e

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// choice is whether and where a landing is given up.
type choice string

const (
	land      choice = "land"
	undoMid   choice = "undo on the way"
	undoAtEnd choice = "undo at the end"
	undoLater choice = "undo of a later move" // the hand-over of an undisturbed landing was accepted before
)

// scene is what is to happen in one landing.
type scene struct {
	choice choice
	before []fault // on the way to the site
	behind []fault // on the way back
}

// String has all that makes the scene what it is: with the same words the same happens.
func (s scene) String() string { return fmt.Sprintf("%s: %v, then %v", s.choice, s.before, s.behind) }

// golden is the part of the golden ratio behind the point: its multiples, less their whole parts, lie evenly however many there are.
const golden = 0.6180339887498949

// scenes spreads n faults over landings, so many in each. Landing i is the same whatever n is, but for the last: what was done of a
// smaller number is a part of a larger one. The faults of all landings together are spread evenly over the events of an
// undisturbed one, so that many landings reach every boundary; every fourth fault is injected at a random moment instead.
func scenes(seed uint64, c *reference, n, each int) []scene {
	out := make([]scene, (n+each-1)/each)
	begin := rand.New(rand.NewPCG(seed, 0)).Float64()
	for i := range out {
		random := rand.New(rand.NewPCG(seed, uint64(i)+1))
		s := scene{choice: land}
		if last := len(out) - 1; i%4 == 3 || (i == last && last < 3) {
			s.choice = []choice{undoAtEnd, undoMid, undoLater}[random.IntN(3)]
		}
		count := min(each, n-i*each)
		_, part := math.Modf(begin + float64(i)*golden)
		for j := range count {
			way, at, of := &s.before, j, count
			names, back := c.landing, c.undoing
			if s.choice == undoLater {
				names, back = c.moving, c.returning
			}
			if s.choice != land {
				if of = count / 2; j >= of {
					way, at, of, names = &s.behind, j-of, count-of, back
					if s.choice == undoMid {
						names = undoFrom(c, s.before)
					}
				} else if s.choice == undoMid {
					names = names[:max(1, len(names)*2/3)]
				}
			}
			where := (float64(at) + part) / float64(of)
			*way = append(*way, randomFault(random, names[int(where*float64(len(names)))]))
		}
		out[i] = s
	}
	return out
}

// undoFrom is what an undo on the way has of the undisturbed undo: the events of steps that had begun at the last event that a fault waits
// for. A fault behind another one would never come, and all faults behind it would find the undo at its end.
func undoFrom(c *reference, before []fault) []string {
	reached := 0
	for _, b := range before {
		reached = max(reached, slices.Index(c.landing, b.at)+1)
	}
	begun := slices.DeleteFunc(slices.Clone(c.undoing), func(name string) bool {
		_, step, _ := strings.Cut(name, " ")
		step, _, _ = strings.Cut(step, " ") // a check has its name behind it
		return !slices.Contains(c.landing[:reached], "started "+step)
	})
	if len(begun) == 0 {
		return c.undoing // before the first step there is nothing to hit, whatever is drawn
	}
	return begun
}

func randomFault(random *rand.Rand, at string) fault {
	b := fault{at: at, kind: faultKinds[[]int{0, 0, 0, 1, 1, 1, 2, 3, 3}[random.IntN(9)]]}
	if os.Getenv("CRASH_CUTS") != "" {
		b.kind = faultKinds[random.IntN(2)]
	}
	if random.IntN(4) == 0 {
		b.at, b.wait = "", time.Duration(random.Float64()*float64(6*time.Second))
	}
	return b
}

// quiet is a landing as long as a real one, for the drawing of scenes.
func quiet() *reference {
	c := &reference{}
	for i := range 60 {
		c.landing = append(c.landing, fmt.Sprintf("landing %d", i))
		c.undoing = append(c.undoing, fmt.Sprintf("undo %d", i))
		c.moving = append(c.moving, fmt.Sprintf("move %d", i))
		c.returning = append(c.returning, fmt.Sprintf("return %d", i))
	}
	return c
}

func texts(all []scene) []string {
	var out []string
	for _, s := range all {
		out = append(out, s.String())
	}
	return out
}

// TestMoreFaultsAddLandings: the landings of a smaller number are the first of a larger one, and another seed draws others.
func TestMoreFaultsAddLandings(t *testing.T) {
	few, many := texts(scenes(7, quiet(), 200, perLanding)), texts(scenes(7, quiet(), 1000, perLanding))
	if len(few) != 20 || len(many) != 100 || !slices.Equal(few, many[:20]) {
		t.Errorf("%d landings, %d landings, the first of them not the same", len(few), len(many))
	}
	if slices.Equal(few, texts(scenes(8, quiet(), 200, perLanding))) {
		t.Error("two seeds, the same landings")
	}
	if got := scenes(7, quiet(), 12, 5); len(got) != 3 || len(got[2].before)+len(got[2].behind) != 2 {
		t.Errorf("12 faults: %v", got)
	}
}

// TestFaultsReachEveryBoundary: a thousand faults fall behind each event of a landing, and two hundred behind most.
func TestFaultsReachEveryBoundary(t *testing.T) {
	for n, least := range map[int]int{200: 45, 1000: 60} {
		for seed := range uint64(20) {
			reached := map[string]bool{}
			for _, s := range scenes(seed, quiet(), n, perLanding) {
				for _, b := range s.before {
					if b.at != "" {
						reached[b.at] = true
					}
				}
			}
			if len(reached) < least {
				t.Errorf("seed %d: %d faults reach %d of 60 events", seed, n, len(reached))
			}
		}
	}
}

// TestAnUndoOnTheWayIsHitInItsEvents: no fault waits for the undo of a step that has not begun.
func TestAnUndoOnTheWayIsHitInItsEvents(t *testing.T) {
	c := quiet()
	c.landing, c.undoing = []string{"started job"}, []string{"undoing job"}
	for i := range 30 {
		c.landing = append(c.landing, fmt.Sprintf("started s%d", i), fmt.Sprintf("done s%d", i))
		c.undoing = append(c.undoing, fmt.Sprintf("undoing s%d", 29-i), fmt.Sprintf("undone s%d", 29-i))
	}
	hit := 0
	for seed := range uint64(20) {
		for _, s := range scenes(seed, c, 400, perLanding) {
			var reached int
			for _, b := range s.before {
				reached = max(reached, slices.Index(c.landing, b.at))
			}
			for _, b := range s.behind {
				if s.choice != undoMid || b.at == "" {
					continue
				}
				hit++
				_, step, _ := strings.Cut(b.at, " ")
				if slices.Index(c.landing, "started "+step) > reached {
					t.Errorf("seed %d: %s", seed, s)
				}
			}
		}
	}
	if hit < 100 {
		t.Errorf("only %d faults wait for an event of an undo on the way", hit)
	}
}

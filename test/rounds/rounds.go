// Package rounds plays a random test in rounds: a short one among the unit tests, any number of long ones for test/attack. A
// round depends on its seed and number alone, so each can be played again.
package rounds

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
)

// Env names the variable by which test/attack asks for rounds: seed, first round, and the one after the last.
const Env = "TOUCHDOWN_ROUNDS"

// OwnMounts names the variable that tells a test that its process has a private mount namespace.
const OwnMounts = "TOUCHDOWN_OWN_MOUNTS"

// Mark begins the lines by which a test tells test/attack that a round is over.
const Mark = "round-over "

// Over is what such a line tells.
type Over struct {
	Round  int            `json:"round"`
	Counts map[string]int `json:"counts"`
}

// Round is one round: where its randomness comes from, and whether it is a long one.
type Round struct {
	*rand.Rand
	Seed   uint64
	Number int
	Long   bool
}

// Play plays the rounds that test/attack asks for, or a short one. A round that failed is the last one of the process: what it
// left behind must not disturb others.
func Play(t *testing.T, play func(*testing.T, Round) map[string]int) {
	t.Helper()
	asked := os.Getenv(Env)
	if asked == "" {
		play(t, round(1, 0, false))
		return
	}
	var seed uint64
	var from, to int
	if _, err := fmt.Sscan(asked, &seed, &from, &to); err != nil {
		t.Fatalf("%s=%q: %v", Env, asked, err)
	}
	for n := from; n < to && !t.Failed(); n++ {
		counts := play(t, round(seed, n, true))
		if t.Failed() {
			return
		}
		line, err := json.Marshal(Over{n, counts})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("%s%s\n", Mark, line)
	}
}

func round(seed uint64, n int, long bool) Round {
	return Round{rand.New(rand.NewPCG(seed, uint64(n))), seed, n, long}
}

// Chance is true once in n times.
func (r Round) Chance(n int) bool { return r.IntN(n) == 0 }

// One is one of all, at random.
func One[T any](r Round, all ...T) T { return all[r.IntN(len(all))] }

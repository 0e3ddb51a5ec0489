package wait

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// The bounds of one explanation.
const (
	longestExplanation = 30 * time.Second
	largestExplanation = 24 << 10 // bytes
)

// Explain has something told when the test has failed, for whatever reason, and nothing when it passes. It is told before
// clean-up that was registered earlier, so: first what ends a node, then what explains it.
func Explain(t testing.TB, what string, tell func() string) {
	t.Helper()
	explainMachine(t)
	explain(t, what, tell)
}

// explained holds the names of the tests whose machine is going to be explained.
var explained sync.Map

// explainMachine tells once in a test what else kept the machine busy.
func explainMachine(t testing.TB) {
	t.Helper()
	name := t.Name()
	if _, again := explained.LoadOrStore(name, true); again {
		return
	}
	t.Cleanup(func() { explained.Delete(name) })
	explain(t, "the machine that runs the tests", Machine)
}

func explain(t testing.TB, what string, tell func() string) {
	t.Helper()
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		told := make(chan string, 1)
		go func() { told <- tell() }()
		select {
		case text := <-told:
			t.Logf("%s:\n%s", what, shortened(text))
		case <-time.After(longestExplanation):
			t.Logf("%s: no explanation within %s", what, longestExplanation)
		}
	})
}

// shortened leaves out the middle of a long text.
func shortened(text string) string {
	over := len(text) - largestExplanation
	if over <= 0 {
		return text
	}
	const half = largestExplanation / 2
	return fmt.Sprintf("%s\n(%d bytes are left out)\n%s", text[:half], over, text[len(text)-half:])
}

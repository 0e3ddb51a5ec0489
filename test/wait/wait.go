// Package wait is how tests wait: for an answer, with one generous bound, and with an explanation when none comes. It is also how they end
// where they cannot run.
//
// A test that passes never waits for the end of a bound, so a generous bound costs nothing; the same test also runs beside others on
// two busy processors. How fast something is, is measured by benchmarks.
package wait

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// Bound is how long Until waits at most: many times what the slowest single thing takes on an idle machine, a node that is
// baked and rehearsed over three reboots.
const Bound = 10 * time.Minute

// Timeout is how long to wait at most for what an idle machine does within the given time.
func Timeout(idle time.Duration) time.Duration { return 5*idle + 30*time.Second }

// Within is a context for what an idle machine does within the given time. It ends after Timeout(idle), and with the test.
func Within(t testing.TB, idle time.Duration) context.Context {
	t.Helper()
	explainMachine(t)
	ctx, cancel := bounded(t.Context(), t, Timeout(idle))
	t.Cleanup(cancel)
	return ctx
}

// bounded is a context that ends in time for the test to explain itself before go test's own time limit ends it.
func bounded(ctx context.Context, t testing.TB, most time.Duration) (context.Context, context.CancelFunc) {
	if end, ok := limitOf(t); ok {
		most = min(most, time.Until(end)*4/5)
	}
	return context.WithTimeoutCause(ctx, most, fmt.Errorf("not within %s", most.Round(time.Second)))
}

// limitOf is the end of go test's own time limit. A test in a bubble of synctest, whose time is another one, may not ask for it: it panics.
func limitOf(t testing.TB) (end time.Time, ok bool) {
	limited, is := t.(interface{ Deadline() (time.Time, bool) })
	if !is {
		return end, false
	}
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return limited.Deadline()
}

// Slow marks a test that boots a node, starts a cluster or repeats something very often: go test -short leaves it out.
func Slow(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("slow: not with -short")
	}
}

// Package patience says how long a test waits for what has to come, and which tests need patience.
//
// A test names the time that an idle machine needs; what it waits for at most is many times that, because the same test
// also runs beside others on two busy processors. A test that passes never waits for the end of it, so patience costs
// nothing; how fast something is, is measured by benchmarks.
package patience

import (
	"testing"
	"time"
)

// Of is how long to wait at most for what an idle machine does within the given time.
func Of(idle time.Duration) time.Duration { return 5*idle + 30*time.Second }

// Slow marks a test that boots a node, starts a cluster or repeats something very often: go test -short leaves it out.
func Slow(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("slow: not with -short")
	}
}

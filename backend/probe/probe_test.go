package probe_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/check"
	"touchdown/test/wait"
)

// measure looks at what the process holds: at most ever, and now.
func (o *outcome) measure() {
	// What gVisor's timers and the runtime end automatically has a moment to do so.
	ctx, cancel := context.WithTimeout(context.Background(), wait.Timeout(0))
	defer cancel()
	_ = wait.For(ctx, "goroutines to end", func() bool { // those that are left fail the test
		o.Routines = runtime.NumGoroutine()
		return o.Routines <= 2
	})
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		fmt.Sscanf(line, "VmHWM: %d kB", &o.Peak)
	}
}

func (o outcome) check(id string) check.Check {
	i := slices.IndexFunc(o.Result.Checks, func(c check.Check) bool { return c.ID == id })
	if i < 0 {
		return check.Check{ID: id, Status: "missing"}
	}
	return o.Result.Checks[i]
}

func (o outcome) table() string {
	var b strings.Builder
	for _, c := range o.Result.Checks {
		fmt.Fprintf(&b, "%-18s %-5s %s", c.ID, c.Status, c.Observed)
		if c.Fix.String() != "" {
			fmt.Fprintf(&b, " -> %s", c.Fix)
		}
		for _, e := range c.Evidence {
			fmt.Fprintf(&b, "\n%26s%s", "", e)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// lacks tells what is missing of wants, each of which is "id status words", the words being part of what was observed.
func (o outcome) lacks(wants ...string) (all []string) {
	for _, w := range wants {
		f := strings.SplitN(w, " ", 3)
		c := o.check(f[0])
		words := ""
		if len(f) == 3 {
			words = f[2]
		}
		if string(c.Status) != f[1] || !strings.Contains(c.Observed.String(), words) {
			all = append(all, fmt.Sprintf("want %s, got %s %s %s", w, c.ID, c.Status, c.Observed))
		}
		if (c.Status == check.Fail || c.Status == check.Warn) && c.Fix.String() == "" {
			all = append(all, fmt.Sprintf("%s %s has no fix", c.ID, c.Status))
		}
	}
	return all
}

// want expects all of wants.
func (o outcome) want(t *testing.T, wants ...string) {
	t.Helper()
	for _, missing := range o.lacks(wants...) {
		t.Error(missing)
	}
	if t.Failed() {
		raw, _ := json.Marshal(o.Err)
		t.Logf("%s\n%s", raw, o.table())
	}
}

// spoilt tells which checks do not pass, apart from those that are named.
func (o outcome) spoilt(apart ...string) (all []string) {
	apart = append(apart, "net-api-int") // a site's DNS server need not know it
	for _, c := range o.Result.Checks {
		if c.Status != check.Pass && !slices.Contains(apart, c.ID) {
			all = append(all, fmt.Sprintf("%s: %s: %s", c.ID, c.Status, c.Observed))
		}
	}
	return all
}

// good expects all checks to pass, apart from those that are named.
func (o outcome) good(t *testing.T, apart ...string) {
	t.Helper()
	for _, spoilt := range o.spoilt(apart...) {
		t.Error(spoilt)
	}
	if len(o.Result.Checks) < 6 || o.Err != "" {
		t.Errorf("%d checks, error %q", len(o.Result.Checks), o.Err)
	}
	if o.Took > wait.Timeout(3*time.Second) {
		t.Errorf("all is well and the probe took %s", o.Took)
	}
	if t.Failed() {
		t.Log(o.table())
	}
}

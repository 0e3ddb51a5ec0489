package steps_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/factory"
	"touchdown/backend/host"
	"touchdown/steps"
)

// ticking is the report of a bench line whose person answers from a list.
type ticking struct {
	*direct
	answers map[string]string
	asked   []string
	checks  map[string]check.Check
}

func (a *ticking) Ask(_ context.Context, q steps.Question) (string, error) {
	a.asked = append(a.asked, q.ID)
	return a.answers[q.ID], nil
}

func (a *ticking) Check(c check.Check) { a.checks[c.ID] = c }

// TestTicks: what was ticked is not asked again, what was not fails and is. On a node that was sealed and is taken back
// all of it is.
func TestTicks(t *testing.T) {
	m := host.Open(host.Options{Root: t.TempDir()})
	open := func(day int) {
		t.Helper()
		if opened, err := factory.OpenLine(m, time.Date(2026, 11, day, 8, 0, 0, 0, time.UTC)); err != nil || !opened {
			t.Fatalf("opening the bench line: %t, %v", opened, err)
		}
	}
	open(21)
	folder := (&direct{host: m, dir: "/state"}).of(&steps.Ticks{})
	run := func(answer string) *ticking {
		t.Helper()
		a := &ticking{direct: folder, answers: map[string]string{}, checks: map[string]check.Check{}}
		for _, id := range []string{"tick-label", "tick-passwords", "tick-media", "tick-kubeconfig", "tick-packed"} {
			a.answers[id] = "yes"
		}
		a.answers["tick-packed"] = answer
		if err := (&steps.Ticks{}).Run(t.Context(), &backend.Node{Host: m}, a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := run("no")
	if c := a.checks["tick-packed"]; len(a.asked) != 5 || c.Status != check.Fail || c.Fix.String() == "" {
		t.Errorf("asked %q, packed is %+v", a.asked, c)
	}
	if a = run("yes"); strings.Join(a.asked, " ") != "tick-packed" || a.checks["tick-packed"].Status != check.Pass {
		t.Errorf("asked again %q, packed is %+v", a.asked, a.checks["tick-packed"])
	}
	if len(a.checks) != 5 || a.checks["tick-label"].Status != check.Pass {
		t.Errorf("what was ticked before is %+v", a.checks)
	}
	if err := factory.Close(m); err != nil {
		t.Fatal(err)
	}
	open(22)
	if a = run("yes"); len(a.asked) != 5 {
		t.Errorf("of a node that was taken back is asked %q", a.asked)
	}
}

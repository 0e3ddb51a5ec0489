package steps_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/factory"
	"touchdown/backend/hardware/burnin"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/layout"
	"touchdown/backend/problem"
	"touchdown/backend/report"
	"touchdown/steps"
)

// TestBurnIn: it runs only where it was asked for, on the bench line alone; one that was stopped begins again, one that is over is told again, and
// one that found faults is repeated unless a person took responsibility for them.
func TestBurnIn(t *testing.T) {
	m := hosttest.New(t)
	m.File("/sys/devices/system/cpu/online", "0")
	runs, wrong := 0, map[string]int64{}
	s := &steps.BurnIn{Load: func(_ context.Context, _ burnin.Order, _ *os.File, tell func(burnin.Tally) error) error {
		runs++
		return tell(burnin.Tally{Done: true, Rounds: map[int]int64{0: 1}, Wrong: wrong})
	}}
	if !strings.Contains(s.Skip().String(), "--burn-in") {
		t.Errorf("nobody asked: %q", s.Skip())
	}
	s.Asked = func() time.Duration { return burnin.Asked(m.Machine, factory.Stay(m.Machine)) }
	run := func(ctx context.Context, n *notes) string {
		if err := s.Run(ctx, node(m, nil), n); err != nil {
			return problem.From(err).Code
		}
		return ""
	}
	if code := run(t.Context(), &notes{}); code != "BRN-LNE" || runs > 0 {
		t.Errorf("not on the bench line: %s, %d runs", code, runs)
	}
	if _, err := factory.OpenLine(m.Machine, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := burnin.Ask(m.Machine, factory.Stay(m.Machine), time.Minute); err != nil {
		t.Fatal(err)
	}
	if plan, err := s.Plan(t.Context(), node(m, nil)); err != nil || plan.Seconds != 60 || len(plan.Disturbances) != 1 || s.Skip().String() != "" {
		t.Errorf("%v, %+v", err, plan)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	waits := &steps.BurnIn{Asked: s.Asked, Load: func(ctx context.Context, _ burnin.Order, _ *os.File, _ func(burnin.Tally) error) error {
		<-ctx.Done()
		return ctx.Err()
	}}
	if err := waits.Run(stopped, node(m, nil), &notes{}); !errors.Is(err, context.Canceled) || m.Exists(layout.BurnInResult) {
		t.Errorf("stopped: %v", err)
	}
	runs, wrong["cpu"] = 0, 1
	n := &notes{}
	if code := run(t.Context(), n); code != "BRN-BAD" || runs != 1 || n.checks["burn-in-cpu"].Status != check.Fail {
		t.Errorf("a fault: %s, %d runs, %+v", code, runs, n.checks["burn-in-cpu"])
	}
	n.job = report.Job{Steps: []report.JobStep{{Step: report.Step{ID: s.ID()}, Checks: []check.Check{{ID: "burn-in-cpu", Status: check.Waived}}}}}
	if code := run(t.Context(), n); code != "" || runs != 1 {
		t.Errorf("waived: %s, %d runs", code, runs)
	}
	delete(wrong, "cpu")
	for range 2 { // the second one stands for that after a reboot
		if code := run(t.Context(), &notes{}); code != "" || runs != 2 {
			t.Errorf("repaired: %s, %d runs", code, runs)
		}
	}
	if plan, err := s.Plan(t.Context(), node(m, nil)); err != nil || plan.Seconds != 0 {
		t.Errorf("%v, %+v", err, plan)
	}
}

package engine

import (
	"context"
	"reflect"
	"testing"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/session"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

// rollouts is a step that only works, and does not apply at the second site.
type rollouts struct {
	w   *world
	cfg *site.Config
}

func (rollouts) ID() string          { return "rollouts" }
func (rollouts) Title() message.Text { return message.T("Wait for the rollouts") }
func (s rollouts) Skip() message.Text {
	if s.cfg.Spec.ClusterName == "second" {
		return message.T("not asked for")
	}
	return message.Text{}
}

func (s rollouts) Run(ctx context.Context, node *backend.Node, report steps.Report) error {
	s.w.mu.Lock()
	run := s.w.run["rollouts"]
	s.w.mu.Unlock()
	return run(ctx, node, report)
}

// tells has the step rollouts tell a check that comes to this.
func (w *world) tells(status check.Status) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.run["rollouts"] = func(_ context.Context, _ *backend.Node, report steps.Report) error {
		report.Check(check.Check{ID: "name", Title: message.T("api.shop.example.com answers"), Status: status, Observed: message.T("at site A")})
		return nil
	}
}

// withRollouts is a machine whose list has the step rollouts.
func withRollouts() *world {
	w := newWorld()
	w.asks = func(cfg *site.Config) []steps.Stage {
		return []steps.Stage{{ID: "rollouts", Title: message.T("Rollouts"), Steps: []steps.Step{rollouts{w, cfg}}}}
	}
	return w
}

// landHere lands the node with a check that comes to this; what failed is waived.
func landHere(t *testing.T, r *rig, token string, status check.Status) {
	t.Helper()
	r.w.tells(status)
	r.startAs(t, token, "shop")
	if status == check.Fail {
		until(t, r, "the failed check", inState(view.HasFailed))
		must(t, r.Do(t.Context(), token, session.Action{Verb: session.Waive, Step: "rollouts", Check: "name", By: "Kim", Reason: "site A has no DNS"}))
		must(t, r.Do(t.Context(), token, session.Action{Verb: session.Retry}))
	}
	until(t, r, "the landing", inState(view.IsDone))
}

// startAs starts a landing of a cluster of this name.
func (r *rig) startAs(t *testing.T, token, name string) {
	t.Helper()
	r.w.mu.Lock()
	r.w.cable = true
	r.w.mu.Unlock()
	until(t, r, "the form", inState(view.Collecting))
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Inspect}))
	must(t, r.Set(t.Context(), token, "spec.clusterName", name))
	must(t, r.Set(t.Context(), token, "spec.baseDomain", "example.com"))
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Start, Fingerprint: reviewed(t, r, token).Review.Fingerprint}))
}

// moveOn has a landed node handed over and unlocked, and its answers edited.
func moveOn(t *testing.T, r *rig, token string) {
	t.Helper()
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.HandOver}))
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Unlock, Value: "node"}))
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Edit}))
}

// TestReportHasTheChecksOfItsJobAlone: those of the looks before it and of its steps, and none of the landing before.
func TestReportHasTheChecksOfItsJobAlone(t *testing.T) {
	for _, status := range []check.Status{check.Pass, check.Warn, check.Fail} {
		t.Run(string(status), func(t *testing.T) {
			r := newRig(t, withRollouts())
			token := take(t, r)
			landHere(t, r, token, status)
			if first := theReport(r); len(first.Checks) != 2 || (len(first.Waivers) == 1) != (status == check.Fail) {
				t.Fatalf("the first report: %+v", first)
			}
			moveOn(t, r, token)
			r.startAs(t, token, "second")
			until(t, r, "the second landing", inState(view.IsDone))
			second := theReport(r)
			if len(second.Checks) != 1 || second.Checks[0].ID != "cable" || second.Verdict != "landed" {
				t.Errorf("the second report: %s, %+v", second.Verdict, second.Checks)
			}
			r.reopen(t) // what a look saw is not in the journal
			if again := theReport(r); len(again.Checks) > 0 || !reflect.DeepEqual(again.Waivers, second.Waivers) {
				t.Errorf("by the journal it has %+v", again.Checks)
			}
		})
	}
}

// TestAWaiverEndsWithTheHandOver: who took responsibility at one site did not do so for the next.
func TestAWaiverEndsWithTheHandOver(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		r := newRig(t, withRollouts())
		token := take(t, r)
		landHere(t, r, token, check.Fail)
		moveOn(t, r, token)
		if restarted {
			r.reopen(t)
			token = take(t, r)
			must(t, r.Do(t.Context(), token, session.Action{Verb: session.Unlock, Value: "node"}))
		}
		r.startAs(t, token, "third")
		s := until(t, r, "an end", func(s *view.Snapshot) bool { return s.State == view.HasFailed || s.State == view.IsDone })
		if checks := stepOf(t, s, "rollouts").Checks; s.State != view.HasFailed || len(checks) != 1 || checks[0].Waiver != nil {
			t.Errorf("the second landing is %s with %+v", s.State, checks)
		}
	}
}

// TestAWaiverStaysForTheSameSite: back at the answers it is shown and can be withdrawn, and it holds for the next start.
func TestAWaiverStaysForTheSameSite(t *testing.T) {
	r := newRig(t, withRollouts())
	token := take(t, r)
	landHere(t, r, token, check.Fail)
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Edit}))
	r.startAs(t, token, "shop")
	s := until(t, r, "an end", func(s *view.Snapshot) bool { return s.State == view.HasFailed || s.State == view.IsDone })
	if checks := stepOf(t, s, "rollouts").Checks; s.State != view.IsDone || len(checks) != 1 || checks[0].Waiver == nil || checks[0].Waiver.By != "Kim" {
		t.Fatalf("the second job is %s with %+v", s.State, checks)
	}
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Edit}))
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Withdraw, Step: "rollouts", Check: "name"}))
	r.startAs(t, token, "second") // the step is left out: what was withdrawn belongs to the job before
	until(t, r, "the end without it", inState(view.IsDone))
	if told := theReport(r); told.Verdict != "landed" || len(told.Checks) != 1 {
		t.Errorf("the report: %s, %+v", told.Verdict, told.Checks)
	}
}

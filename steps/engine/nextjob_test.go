package engine

import (
	"context"
	"slices"
	"testing"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/backend/report"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// stepOf is a step as a snapshot shows it.
func stepOf(t *testing.T, s *view.Snapshot, id string) view.Step {
	t.Helper()
	for _, stage := range s.Stages {
		for _, step := range stage.Steps {
			if step.ID == id {
				return step
			}
		}
	}
	t.Fatalf("there is no step %s", id)
	return view.Step{}
}

// startedIn counts how often each job of the journal began a step.
func startedIn(t *testing.T, r *rig, step string) (jobs []int) {
	t.Helper()
	for _, e := range journalOf(t, r) {
		switch {
		case e.Kind != event.Started:
		case e.Step == "":
			jobs = append(jobs, 0)
		case e.Step == step:
			jobs[len(jobs)-1]++
		}
	}
	return jobs
}

// theReport is the report of the current job.
func theReport(r *rig) *report.Document {
	return report.New((&stepReport{e: r.Engine}).Job(), report.Facts{}, time.Now())
}

// skipLight has a job come to its end with the step light left out by a person.
func skipLight(t *testing.T, r *rig, token string) {
	t.Helper()
	r.w.setFail("light", broken())
	r.start(t, r, token, false)
	until(t, r, "the failure", inState(view.HasFailed))
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Skip, Step: "light", Reason: "no lamp here"}))
	until(t, r, "the end", inState(view.IsDone))
	r.w.setFail("light", nil)
	if !slices.ContainsFunc(theReport(r).Steps, func(s report.Step) bool {
		return s.ID == "light" && s.Outcome == "skipped" && s.Why == "left out by a person: no lamp here"
	}) {
		t.Errorf("the report does not say why: %+v", theReport(r).Steps)
	}
}

// TestASkipHoldsForItsJobAlone: what a person left out once belongs to the next job as to the first, however that came about.
func TestASkipHoldsForItsJobAlone(t *testing.T) {
	do := func(t *testing.T, r *rig, token string, a session.Action) string {
		t.Helper()
		must(t, r.Do(t.Context(), token, a))
		return token
	}
	for how, between := range map[string]func(t *testing.T, r *rig, token string) string{
		"the answers were edited": func(_ *testing.T, _ *rig, token string) string { return token },
		"it was undone": func(t *testing.T, r *rig, token string) string {
			do(t, r, token, session.Action{Verb: session.Undo})
			if light := stepOf(t, until(t, r, "everything back", inState(view.IsUndone)), "light"); light.Skip != (message.Text{}) {
				t.Errorf("put back, it is still %q", light.Skip)
			}
			return token
		},
		"the engine was restarted": func(t *testing.T, r *rig, _ string) string {
			r.reopen(t)
			return take(t, r)
		},
		"it was handed over": func(t *testing.T, r *rig, token string) string {
			do(t, r, token, session.Action{Verb: session.HandOver})
			return do(t, r, token, session.Action{Verb: session.Unlock, Value: "node"})
		},
	} {
		t.Run(how, func(t *testing.T) {
			r := newRig(t, newWorld())
			token := take(t, r)
			skipLight(t, r, token)
			token = between(t, r, token)
			do(t, r, token, session.Action{Verb: session.Edit})
			r.start(t, r, token, false)
			s := until(t, r, "the second end", inState(view.IsDone))
			if light := stepOf(t, s, "light"); light.Status != view.StepDone || light.Skip != (message.Text{}) || r.w.get("light") != "on" {
				t.Errorf("it is %s (%q), and the light is %s", light.Status, light.Skip, r.w.get("light"))
			}
			if jobs := startedIn(t, r, "light"); !slices.Equal(jobs, []int{1, 1}) {
				t.Errorf("the jobs began it %v times", jobs)
			}
			if !slices.ContainsFunc(theReport(r).Steps, func(s report.Step) bool { return s.ID == "light" && s.Outcome == "done" }) {
				t.Errorf("the report has %+v", theReport(r).Steps)
			}
			r.reopen(t) // the journal tells the same
			if light := stepOf(t, until(t, r, "the end by the journal", inState(view.IsDone)), "light"); light.Status != view.StepDone || light.Skip != (message.Text{}) {
				t.Errorf("by the journal it is %s (%q)", light.Status, light.Skip)
			}
		})
	}
}

// TestASkipHoldsInItsJob: through a failure after it, and through the end of the engine while the work goes on.
func TestASkipHoldsInItsJob(t *testing.T) {
	w := newWorld()
	w.more = []steps.Stage{{ID: "more", Title: message.T("More"), Steps: []steps.Step{&setting{w: w, id: "lamp", want: func() string { return "on" }}}}}
	r := newRig(t, w)
	token := take(t, r)
	w.setFail("light", broken())
	w.setFail("lamp", broken())
	r.start(t, r, token, false)
	until(t, r, "the failure", inState(view.HasFailed))
	w.setFail("light", nil)
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Skip, Step: "light"}))
	until(t, r, "the next failure", func(s *view.Snapshot) bool { return s.State == view.HasFailed && s.Current == "lamp" })

	w.mu.Lock()
	w.run["lamp"] = func(ctx context.Context, _ *backend.Node, _ steps.Report) error {
		<-ctx.Done()
		return ctx.Err()
	}
	w.mu.Unlock()
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Retry}))
	until(t, r, "the work", func(s *view.Snapshot) bool { return stepOf(t, s, "lamp").Status == view.Running })
	must(t, r.Close())
	w.setFail("lamp", nil)
	w.mu.Lock()
	delete(w.run, "lamp")
	w.mu.Unlock()
	r.open(t)
	if light := stepOf(t, until(t, r, "the end", inState(view.IsDone)), "light"); light.Status != view.StepSkip || w.get("light") != "off" {
		t.Errorf("it is %s, and the light is %s", light.Status, w.get("light"))
	}

	// A step that could not be left out has failed: the retry runs it.
	must(t, r.emit(event.Event{Kind: event.Failed, Step: "light", Problem: event.TroubleOf(broken())}))
	token = take(t, r)
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Retry}))
	s := until(t, r, "the end again", inState(view.IsDone))
	if light := stepOf(t, s, "light"); light.Status != view.StepDone || light.Skip != (message.Text{}) || w.get("light") != "on" {
		t.Errorf("it is %s (%q), and the light is %s", light.Status, light.Skip, w.get("light"))
	}
}

// TestALossEndsASkip: whether the skip was of the job that goes on is no longer known, so its step runs.
func TestALossEndsASkip(t *testing.T) {
	r := newRig(t, newWorld())
	token := take(t, r)
	skipLight(t, r, token)
	must(t, r.emit(event.Event{Kind: event.Lost, Text: message.T("records"), Job: &event.Job{State: string(view.HasFailed), Step: "names", Inputs: r.core.job.inputs}}))
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Retry}))
	if light := stepOf(t, until(t, r, "the end", inState(view.IsDone)), "light"); light.Status != view.StepDone || r.w.get("light") != "on" {
		t.Errorf("it is %s, and the light is %s", light.Status, r.w.get("light"))
	}
}

// TestALossOnTheWayBack: where the records of a hand-over and of the way back to the answers are lost, the next job still begins without what
// belongs to the one before.
func TestALossOnTheWayBack(t *testing.T) {
	j := newJob()
	seen := check.Check{ID: "name", Status: check.Waived, Waiver: &check.Waiver{By: "Kim", Reason: "late", Was: check.Fail}}
	for _, e := range []event.Event{
		{Kind: event.Started},
		{Kind: event.Started, Step: "rollouts"},
		{Kind: event.Checked, Step: "rollouts", Check: &seen, By: "tty1"},
		{Kind: event.Lost, Job: &event.Job{State: string(view.Collecting), HandedOver: true}},
		{Kind: event.Started},
	} {
		j.apply(e)
	}
	if s := j.step("rollouts"); len(s.checks) > 0 || len(s.waivers) > 0 || !s.touched {
		t.Errorf("it has %+v", s)
	}
}

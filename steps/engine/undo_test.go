package engine

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/delivery"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/progress"
	"touchdown/steps"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// watched is a step that looks at what was reached, as the health step does: it has nothing to put back.
type watched struct{}

func (watched) ID() string          { return "watched" }
func (watched) Title() message.Text { return message.T("Watch the light") }
func (watched) Run(_ context.Context, _ *backend.Node, report steps.Report) error {
	report.Check(check.Check{ID: "light", Title: message.T("Light"), Status: check.Pass, Observed: message.T("on")})
	report.Say(message.T("the light was on without a break"))
	return nil
}

// held is a setting whose undo notes something and waits.
type held struct {
	*setting
	hold chan struct{}
}

func (s *held) Undo(ctx context.Context, node *backend.Node, report steps.Report) error {
	report.Say(message.T("switching off"))
	<-s.hold
	return s.setting.Undo(ctx, node, report)
}

// ofTheWay is what a snapshot still shows of the way forward.
func ofTheWay(s *view.Snapshot) []string {
	var left []string
	for _, stage := range s.Stages {
		for _, step := range stage.Steps {
			for _, c := range step.Checks {
				left = append(left, "check "+c.ID)
			}
			for _, text := range step.Said {
				if text.String() != "switching off" {
					left = append(left, text.String())
				}
			}
			if step.Progress != nil {
				left = append(left, "progress of "+step.ID)
			}
			if s.State == view.IsUndone && step.Status != view.StepUndone && (step.Status != view.Pending || step.Seconds != 0) {
				left = append(left, step.ID+" is "+string(step.Status))
			}
		}
	}
	return append(left, message.English(s.Met)...)
}

// TestUndoShowsNothingOfTheWayForward: what the work noted and saw describes a node that the undo takes away.
func TestUndoShowsNothingOfTheWayForward(t *testing.T) {
	hold := make(chan struct{})
	w := newWorld()
	on := &setting{w: w, id: "lamp", want: func() string { return "on" }}
	w.run["lamp"] = func(_ context.Context, _ *backend.Node, report steps.Report) error {
		report.Say(message.T("the lamp is on"))
		report.Progress(progress.Progress{Done: 1, Total: 2, Unit: "lamps"})
		return nil
	}
	w.more = []steps.Stage{{ID: "more", Title: message.T("More"), Steps: []steps.Step{&held{on, hold}, watched{}}}}
	r := newRig(t, w)
	token := take(t, r)
	until(t, r, "the form", inState(view.Collecting))
	must(t, r.Set(t.Context(), token, "spec.clusterName", "shop"))
	must(t, r.Set(t.Context(), token, "spec.baseDomain", "example.com"))
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Inspect}))
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Waive, Step: "names", Check: "cable", By: "me", Reason: "it comes later"}))
	review := reviewed(t, r, token).Review
	w.setFail("light", broken())
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Start, Fingerprint: review.Fingerprint}))
	until(t, r, "the failure", inState(view.HasFailed))
	w.setFail("light", nil)
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Retry}))
	done := until(t, r, "the end", inState(view.IsDone))
	if left := ofTheWay(done); len(left) < 5 {
		t.Fatalf("the work left only %q", left)
	}

	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Undo}))
	undoing := until(t, r, "the undo", func(s *view.Snapshot) bool { return s.Current == "lamp" && len(s.Stages[2].Steps[0].Said) > 0 })
	if left := ofTheWay(undoing); len(left) > 0 {
		t.Errorf("during the undo: %q", left)
	}
	for _, step := range undoing.Stages[2].Steps {
		if step.Undo != (step.ID == "lamp") {
			t.Errorf("%s can be put back: %t", step.ID, step.Undo)
		}
	}
	close(hold)
	for range 2 { // live, and by the journal
		if left := ofTheWay(until(t, r, "everything back", inState(view.IsUndone))); len(left) > 0 {
			t.Errorf("put back: %q", left)
		}
		r.reopen(t)
	}

	token = take(t, r)
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Edit}))
	next, err := r.Snapshot(t.Context())
	must(t, err)
	if first := next.Stages[0].Steps[0]; !first.Inspecting && len(first.Checks) == 0 {
		t.Error("the first page has neither checks nor a look that would bring them")
	}
	until(t, r, "the next form", func(s *view.Snapshot) bool {
		checks := s.Stages[0].Steps[0].Checks
		return len(checks) == 1 && checks[0].Status == check.Waived && checks[0].Waiver.By == "me"
	})
}

// TestUndoAfterAFailureTellsWhy: nobody may have watched when it was rolled back.
func TestUndoAfterAFailureTellsWhy(t *testing.T) {
	r := newRig(t, newWorld())
	r.w.setFail("light", broken())
	token := take(t, r)
	r.start(t, r, token, false)
	until(t, r, "the failure", inState(view.HasFailed))
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Undo}))
	if s := until(t, r, "everything back", inState(view.IsUndone)); len(s.Met) != 1 {
		t.Errorf("the failure that led to the undo is %q", s.Met)
	}
}

// ready is a setting that makes the machine ready for the undo of all, which fails at first.
type ready struct {
	*setting
	tries []string // what the others were at each try
}

func (s *ready) PrepareUndo(context.Context, *backend.Node, steps.Report) error {
	s.tries = append(s.tries, s.w.get("light"))
	if len(s.tries) == 1 {
		return broken()
	}
	return nil
}

// TestUndoIsPrepared: before the first step is put back, and again after a failure.
func TestUndoIsPrepared(t *testing.T) {
	w := newWorld()
	first := &ready{setting: &setting{w: w, id: "lamp", want: func() string { return "on" }}}
	w.more = []steps.Stage{{ID: "more", Title: message.T("More"), Steps: []steps.Step{first}}}
	r := newRig(t, w)
	token := take(t, r)
	r.start(t, r, token, false)
	until(t, r, "the end", inState(view.IsDone))
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Undo}))
	if s := until(t, r, "the failure", inState(view.HasFailed)); s.Current != "lamp" || w.get("light") != "on" || w.get("lamp") != "on" {
		t.Errorf("it failed at %s, the light is %s", s.Current, w.get("light"))
	}
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Retry}))
	s := until(t, r, "everything back", inState(view.IsUndone))
	if len(first.tries) != 2 || first.tries[1] != "on" || w.get("lamp") == "on" {
		t.Errorf("tries %q, the lamp is %s", first.tries, w.get("lamp"))
	}
	if v := s.Stages[2].Steps[0]; v.Status != view.StepUndone {
		t.Errorf("the step is %s", v.Status)
	}
}

// TestUndoForgetsTheMonitor: a fault of the hardware sets the monitor before any step that could be undone. Its token does not stay on a
// node whose landing was undone.
func TestUndoForgetsTheMonitor(t *testing.T) {
	r := &rig{w: newWorld(), host: hosttest.New(t), dir: filepath.Join(t.TempDir(), "state")}
	o := r.options()
	o.Outbox = delivery.Open(delivery.Options{Host: r.host.Machine, Folder: layout.Outbox, Log: slog.New(slog.DiscardHandler), Now: r.clock})
	e, err := Open(o)
	must(t, err)
	r.Engine = e
	t.Cleanup(func() { _ = e.Close() })
	r.w.setFail("light", broken())
	token := take(t, r)
	r.start(t, r, token, false)
	until(t, r, "the failure", inState(view.HasFailed))
	must(t, o.Outbox.Aim(delivery.Target{URL: "https://127.0.0.1:1", Token: "secret"}))
	must(t, o.Outbox.Post(delivery.Item{Kind: delivery.Fault, Body: []byte("{}")}))
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Undo}))
	if s := until(t, r, "everything back", inState(view.IsUndone)); s.Monitor.String() != "" || o.Outbox.Target() != (delivery.Target{}) {
		t.Errorf("the monitor is still known: %q", s.Monitor)
	}
	left, err := filepath.Glob(r.host.Path(layout.Outbox) + "/*")
	if err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}

// TestAnUndoEndsThoughTheMonitorStays: its file cannot be removed from a damaged disk. The machine is as it was, so the undo has ended.
func TestAnUndoEndsThoughTheMonitorStays(t *testing.T) {
	r := &rig{w: newWorld(), host: hosttest.New(t), dir: filepath.Join(t.TempDir(), "state")}
	var log bytes.Buffer
	o := r.options()
	o.Node.Log = slog.New(slog.NewTextHandler(&log, nil))
	o.Outbox = delivery.Open(delivery.Options{Host: r.host.Machine, Folder: layout.Outbox, Log: slog.New(slog.DiscardHandler), Now: r.clock})
	e, err := Open(o)
	must(t, err)
	r.Engine = e
	t.Cleanup(func() { _ = e.Close() })
	token := take(t, r)
	r.start(t, r, token, false)
	until(t, r, "the end", inState(view.IsDone))
	must(t, os.MkdirAll(filepath.Join(r.host.Path(layout.Outbox), "monitor.json", "bad"), 0o700))
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Undo}))
	until(t, r, "everything back", inState(view.IsUndone))
	machineIs(t, r, "factory", "off", "")
	must(t, r.Close())
	if !strings.Contains(log.String(), "the monitor cannot be forgotten") {
		t.Errorf("the log does not tell of it: %s", &log)
	}
}

// TestAnUndoToldOfThePINThatStays: a damaged disk keeps the PIN that the start set. The undo ends, each console says why it still locks, and
// the next engine takes the PIN back once the disk lets it.
func TestAnUndoToldOfThePINThatStays(t *testing.T) {
	r := newRig(t, newWorld())
	token := take(t, r)
	must(t, r.Set(t.Context(), token, "spec.console.pin", testHash()))
	r.start(t, r, token, false)
	until(t, r, "the end", inState(view.IsDone))
	lock := filepath.Join(r.dir, "console-lock.json")
	kept, err := os.ReadFile(lock)
	must(t, err)
	must(t, os.Remove(lock))
	must(t, os.MkdirAll(filepath.Join(lock, "bad"), 0o700))
	told := func(s *view.Snapshot) bool {
		return strings.Contains(strings.Join(message.English(s.Notices), "; "), "PIN of the consoles could not be taken back")
	}
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Undo}))
	if s := until(t, r, "everything back", inState(view.IsUndone)); !told(s) || !r.locks(t) {
		t.Errorf("locks %t, notices %q", r.locks(t), s.Notices)
	}
	r.reopen(t)
	if s := until(t, r, "everything back, read again", inState(view.IsUndone)); !told(s) {
		t.Errorf("after a restart: notices %q", s.Notices)
	}
	must(t, os.RemoveAll(lock))
	must(t, os.WriteFile(lock, kept, 0o600))
	r.reopen(t)
	if s := until(t, r, "everything back, on a good disk", inState(view.IsUndone)); told(s) || r.locks(t) {
		t.Errorf("locks %t, notices %q", r.locks(t), s.Notices)
	}
}

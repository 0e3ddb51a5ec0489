package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"touchdown/backend"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// fillAfter makes the disk full once n records were written from now on.
func (f *faulty) fillAfter(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.full = n == 0
	f.after = func(event.Event) {
		n--
		f.full = n == 0
	}
}

// expectDiskFull waits for the failure that a full disk is, unless the job ended first.
func expectDiskFull(t *testing.T, f *faulty, end view.State) (failed bool) {
	t.Helper()
	s := until(t, f, "the failure or the end", func(s *view.Snapshot) bool { return s.State == view.HasFailed || s.State == end })
	if s.State == end {
		return false
	}
	if s.Problem.Code != "DSK-FULL" || len(s.Notices) != 1 {
		t.Errorf("problem %+v, notices %q", s.Problem, s.Notices)
	}
	return true
}

// makeRoom frees the disk for good.
func (f *faulty) makeRoom() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.full, f.after = false, nil
}

// TestDiskFullAtEachRecord: wherever in a job the disk gets full, the work stops before its next change and tells why; with
// room again it comes to its end.
func TestDiskFullAtEachRecord(t *testing.T) {
	for n := 0; ; n++ {
		f := newFaulty(t, nil)
		token := take(t, f)
		review := f.fill(t, token).Review
		f.fillAfter(n)
		err := f.Do(t.Context(), token, session.Action{Verb: session.Start, Fingerprint: review.Fingerprint})
		if n == 0 {
			if problem.From(err).Code != "DSK-FULL" {
				t.Errorf("started without a record of it: %v", err)
			}
			until(t, f, "the review, still", inState(view.Reviewed))
			machineIs(t, f.rig, "factory", "off", "off")
			continue
		}
		must(t, err)
		failed := expectDiskFull(t, f, view.IsDone)
		seen := f.seen()
		for step, factory := range map[string]string{"names": "factory", "light": "off", "lamp": "off"} {
			if f.w.get(step) != factory && seen["started "+step] == 0 {
				t.Errorf("full after %d records: %s was changed without a record", n, step)
			}
		}
		if !failed {
			if n < 7 {
				t.Errorf("a job of only %d records", n)
			}
			return
		}
		f.makeRoom()
		must(t, f.Do(t.Context(), token, session.Action{Verb: session.Retry}))
		until(t, f, "the end", inState(view.IsDone))
		f.reopen(t)
		s := until(t, f, "the end, read again", inState(view.IsDone))
		machineIs(t, f.rig, "shop.example.com", "on", "on")
		if len(s.Notices) > 0 {
			t.Errorf("notices %q", s.Notices)
		}
		must(t, f.Close())
	}
}

// TestDiskFullAtEachRecordOfAnUndo: the undo stops before its next change and tells why; with room again it comes to its end.
func TestDiskFullAtEachRecordOfAnUndo(t *testing.T) {
	for n := 0; ; n++ {
		f := newFaulty(t, nil)
		token := take(t, f)
		f.start(t, f, token, false)
		until(t, f, "the end", inState(view.IsDone))
		f.fillAfter(n)
		err := f.Do(t.Context(), token, session.Action{Verb: session.Undo})
		if n == 0 {
			if problem.From(err).Code != "DSK-FULL" {
				t.Errorf("an undo without a record of it: %v", err)
			}
			until(t, f, "the end, still", inState(view.IsDone))
			machineIs(t, f.rig, "shop.example.com", "on", "on")
			continue
		}
		must(t, err)
		if !expectDiskFull(t, f, view.IsUndone) {
			if n < 7 {
				t.Errorf("an undo of only %d records", n)
			}
			return
		}
		if f.seen()["undoing lamp"] == 0 {
			machineIs(t, f.rig, "shop.example.com", "on", "on")
		}
		f.makeRoom()
		must(t, f.Do(t.Context(), token, session.Action{Verb: session.Retry}))
		until(t, f, "everything back", inState(view.IsUndone))
		f.reopen(t)
		until(t, f, "everything back, read again", inState(view.IsUndone))
		machineIs(t, f.rig, "factory", "off", "off")
		must(t, f.Close())
	}
}

// TestNoRollbackWithoutARecord: a roll-back that cannot be journalled does not begin; the person is told the first failure
// and that the disk is full.
func TestNoRollbackWithoutARecord(t *testing.T) {
	f := newFaulty(t, nil)
	token := take(t, f)
	must(t, f.Set(t.Context(), token, "spec.policy.rollbackOnFailure", "true"))
	f.w.setFail("light", broken())
	f.at(event.Started, "light", func() { f.full = true })
	f.start(t, f, token, true)
	s := until(t, f, "the failure", inState(view.HasFailed))
	if s.Problem.Code != "BRKN" || len(s.Notices) != 1 {
		t.Errorf("problem %+v, notices %q", s.Problem, s.Notices)
	}
	machineIs(t, f.rig, "shop.example.com", "off", "off")
	f.makeRoom()
	must(t, f.Do(t.Context(), token, session.Action{Verb: session.Undo}))
	until(t, f, "everything back", inState(view.IsUndone))
	machineIs(t, f.rig, "factory", "off", "off")
}

// TestNoWayToTheAnswersWithoutARecord: a step that asks for other answers on a full disk stays failed, so that the next engine knows the same;
// with room again the person goes back to them.
func TestNoWayToTheAnswersWithoutARecord(t *testing.T) {
	f := newFaulty(t, nil)
	f.w.run["light"] = func(context.Context, *backend.Node, steps.Report) error {
		return &problem.Problem{Code: "LAMP", Summary: message.T("The bulb is broken."), Fix: message.T("Change it."), Correct: true}
	}
	token := take(t, f)
	f.at(event.Failed, "light", func() { f.full = true })
	f.start(t, f, token, false)
	if s := until(t, f, "the failure", inState(view.HasFailed)); s.Problem.Code != "LAMP" {
		t.Errorf("problem %+v", s.Problem)
	}
	if err := f.Do(t.Context(), token, session.Action{Verb: session.Edit}); problem.From(err).Code != "DSK-FULL" {
		t.Errorf("back to the answers without a record: %v", err)
	}
	f.reopen(t)
	until(t, f, "the failure, read again", inState(view.HasFailed))
	token = take(t, f)
	must(t, f.Do(t.Context(), token, session.Action{Verb: session.Edit}))
	until(t, f, "the answers", inState(view.Collecting))
}

// TestAStopThatCannotBeWrittenDown is told as what it is, and the next engine continues: the stop was never recorded.
func TestAStopThatCannotBeWrittenDown(t *testing.T) {
	f := newFaulty(t, nil)
	token := take(t, f)
	f.w.run["light"] = func(ctx context.Context, _ *backend.Node, _ steps.Report) error {
		f.setFull(true)
		must(t, f.Do(t.Context(), token, session.Action{Verb: session.Cancel}))
		<-ctx.Done()
		return context.Cause(ctx)
	}
	f.start(t, f, token, false)
	if s := until(t, f, "the failure", inState(view.HasFailed)); s.Problem.Code != "DSK-FULL" || s.Current != "light" {
		t.Errorf("problem %+v at %q", s.Problem, s.Current)
	}
	f.w.mu.Lock()
	delete(f.w.run, "light")
	f.w.mu.Unlock()
	f.reopen(t)
	until(t, f, "the end", inState(view.IsDone))
}

// TestNoRebootWithoutARecord: reboots that are not recorded are not counted, so they could repeat without an end.
func TestNoRebootWithoutARecord(t *testing.T) {
	f := newFaulty(t, nil)
	f.w.run["light"] = func(context.Context, *backend.Node, steps.Report) error {
		f.setFull(true)
		return &steps.Reboot{Reason: message.T("new kernel arguments")}
	}
	f.start(t, f, take(t, f), false)
	if s := until(t, f, "the failure", inState(view.HasFailed)); s.Problem.Code != "DSK-FULL" {
		t.Errorf("problem %+v", s.Problem)
	}
	if calls := f.host.Calls(); len(calls) > 0 {
		t.Errorf("the machine was told %q", calls)
	}
}

// TestRefusedResumeIsShownOnAFullDisk: answers that changed on the disk are refused even when that cannot be written down.
func TestRefusedResumeIsShownOnAFullDisk(t *testing.T) {
	f := newFaulty(t, nil)
	begun := make(chan struct{})
	f.w.run["light"] = func(ctx context.Context, _ *backend.Node, _ steps.Report) error {
		close(begun)
		<-ctx.Done()
		return ctx.Err()
	}
	f.start(t, f, take(t, f), false)
	<-begun
	must(t, f.Close())
	o := f.options()
	folder, err := openFolder(o.Dir)
	must(t, err)
	e, err := open(o, folder)
	must(t, err)
	defer e.Close()
	full := true
	e.core.recorder.journal.file = fullDisk{e.core.recorder.journal.file, &full}
	must(t, e.core.draft.site.Set("spec.clusterName", "other"))
	e.begin()
	s := until(t, e, "the refusal", inState(view.HasFailed))
	if s.Problem.Code != "CFG-DFF" || s.Current != "light" {
		t.Errorf("problem %+v at %q", s.Problem, s.Current)
	}
	if light := f.w.get("light"); light != "off" {
		t.Errorf("the light is %s", light)
	}
}

// TestQuestionThatCannotBeEncoded ends the step; the journal stays as it was.
func TestQuestionThatCannotBeEncoded(t *testing.T) {
	for what, q := range map[string]steps.Question{
		"no time":   {Deadline: math.Inf(1)},
		"too large": {Choices: []steps.Choice{{Value: "big", Label: message.Data(string(make([]byte, maxJournalLine)))}}},
	} {
		t.Run(what, func(t *testing.T) {
			f := newFaulty(t, nil)
			q.ID, q.Default, q.Choices = "sure", "no", append(q.Choices, steps.Choice{Value: "no"}, steps.Choice{Value: "yes"})
			f.w.run["light"] = func(ctx context.Context, _ *backend.Node, report steps.Report) error {
				_, err := report.Ask(ctx, q)
				if err == nil {
					err = errors.New("it was answered")
				}
				return fmt.Errorf("asking: %w", err)
			}
			token := take(t, f)
			f.start(t, f, token, false)
			s := until(t, f, "the failure", inState(view.HasFailed))
			if s.Current != "light" || s.Problem.Detail.String() == "asking: it was answered" {
				t.Errorf("problem %+v", s.Problem)
			}
			f.w.mu.Lock()
			delete(f.w.run, "light")
			f.w.mu.Unlock()
			f.reopen(t)
			until(t, f, "the failure, read again", inState(view.HasFailed))
			must(t, f.Do(t.Context(), take(t, f), session.Action{Verb: session.Retry}))
			until(t, f, "the end", inState(view.IsDone))
		})
	}
}

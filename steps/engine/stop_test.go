package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"touchdown/backend"
	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

// expectStop waits for what a person's stop leads to.
func expectStop(t *testing.T, f *faulty, at string) {
	t.Helper()
	s := until(t, f, "the stop", inState(view.HasFailed))
	if s.Problem.Code != "ENG-HALT" || s.Current != at {
		t.Errorf("problem %+v at %q, want STOPPED at %q", s.Problem, s.Current, at)
	}
}

// TestStopBetweenTwoSteps: the step that comes next is not begun, in a job and in an undo.
func TestStopBetweenTwoSteps(t *testing.T) {
	f := newFaulty(t, nil)
	token := take(t, f)
	f.at(event.Done, "names", func() { f.core.stopWork(errCancelled) })
	f.start(t, f, token, false)
	expectStop(t, f, "light")
	machineIs(t, f.rig, "shop.example.com", "off", "off")
	f.makeRoom() // no further stop
	must(t, f.Do(t.Context(), token, session.Action{Verb: session.Retry}))
	until(t, f, "the end", inState(view.IsDone))

	f.at(event.Undone, "lamp", func() { f.core.stopWork(errCancelled) })
	must(t, f.Do(t.Context(), token, session.Action{Verb: session.Undo}))
	expectStop(t, f, "light")
	machineIs(t, f.rig, "shop.example.com", "on", "off")
	must(t, f.Do(t.Context(), token, session.Action{Verb: session.Retry}))
	until(t, f, "everything back", inState(view.IsUndone))
	machineIs(t, f.rig, "factory", "off", "off")
}

// TestStopOfAnUndoAtWork ends the step that is being put back; a retry continues with that step.
func TestStopOfAnUndoAtWork(t *testing.T) {
	hang := true
	f := newFaulty(t, func(ctx context.Context, report steps.Report) error {
		if !hang {
			return nil
		}
		report.Say(message.T("waiting"))
		<-ctx.Done()
		return context.Cause(ctx)
	})
	token := take(t, f)
	f.start(t, f, token, false)
	until(t, f, "the end", inState(view.IsDone))
	must(t, f.Do(t.Context(), token, session.Action{Verb: session.Undo}))
	until(t, f, "the lamp's undo", func(s *view.Snapshot) bool { return len(s.Stages[2].Steps[0].Said) > 0 })
	must(t, f.Do(t.Context(), token, session.Action{Verb: session.Cancel}))
	expectStop(t, f, "lamp")
	machineIs(t, f.rig, "shop.example.com", "on", "on")
	hang = false
	must(t, f.Do(t.Context(), token, session.Action{Verb: session.Retry}))
	until(t, f, "everything back", inState(view.IsUndone))
}

// TestUndoThatFails stops the undo at that step, tells why, and continues there after a retry. A panic is such a failure.
func TestUndoThatFails(t *testing.T) {
	for code, fail := range map[string]func() error{"BRKN": broken, "ENG-BUG": func() error { panic("no lamp") }} {
		t.Run(code, func(t *testing.T) {
			broken := true
			f := newFaulty(t, func(context.Context, steps.Report) error {
				if broken {
					return fail()
				}
				return nil
			})
			token := take(t, f)
			f.start(t, f, token, false)
			until(t, f, "the end", inState(view.IsDone))
			must(t, f.Do(t.Context(), token, session.Action{Verb: session.Undo}))
			s := until(t, f, "the failure", inState(view.HasFailed))
			if s.Problem.Code != code || s.Current != "lamp" {
				t.Errorf("problem %+v at %q", s.Problem, s.Current)
			}
			machineIs(t, f.rig, "shop.example.com", "on", "on")
			if err := f.Do(t.Context(), token, session.Action{Verb: session.Skip, Step: "lamp"}); !errors.Is(err, session.ErrState) {
				t.Errorf("an undo left a step out: %v", err)
			}
			broken = false
			must(t, f.Do(t.Context(), token, session.Action{Verb: session.Retry}))
			until(t, f, "everything back", inState(view.IsUndone))
			machineIs(t, f.rig, "factory", "off", "off")
		})
	}
}

// TestOneUndoAtATime: a second press of Retry does not start a second undo beside the first one, even when the first one
// still waits for what an interrupted step has to put right.
func TestOneUndoAtATime(t *testing.T) {
	f := newFaulty(t, func(context.Context, steps.Report) error { return broken() })
	token := take(t, f)
	f.start(t, f, token, false)
	until(t, f, "the end", inState(view.IsDone))
	must(t, f.Do(t.Context(), token, session.Action{Verb: session.Undo}))
	until(t, f, "the failure", inState(view.HasFailed))
	f.mu.Lock()
	recovered := make(chan struct{})
	f.recovered = recovered
	f.mu.Unlock()
	must(t, f.Do(t.Context(), token, session.Action{Verb: session.Retry}))
	for _, verb := range []session.Verb{session.Retry, session.Undo, session.Edit} {
		if err := f.Do(t.Context(), token, session.Action{Verb: verb}); !errors.Is(err, session.ErrState) {
			t.Errorf("%s while an undo is under way: %v", verb, err)
		}
	}
	close(recovered)
	until(t, f, "the second failure", inState(view.HasFailed))
	if n := f.seen()["undoing lamp"]; n != 2 {
		t.Errorf("the lamp's undo began %d times, want 2", n)
	}
}

// TestOriginalsAreGoneBeforeTheUndoIsOver: the next job saves its own, which a late wipe would take.
func TestOriginalsAreGoneBeforeTheUndoIsOver(t *testing.T) {
	f := newFaulty(t, nil)
	token := take(t, f)
	f.start(t, f, token, false)
	until(t, f, "the end", inState(view.IsDone))
	left := []string{"not looked"}
	f.at(event.Undone, "", func() { left, _ = filepath.Glob(filepath.Join(f.dir, "saved", "*", "*")) })
	must(t, f.Do(t.Context(), token, session.Action{Verb: session.Undo}))
	until(t, f, "everything back", inState(view.IsUndone))
	if len(left) > 0 {
		t.Errorf("when the undo was over there was still %q", left)
	}
}

// TestOriginalsThatCannotBeWiped do not keep an undo from its end, but the next job does not begin beside them: it would
// take them for its own.
func TestOriginalsThatCannotBeWiped(t *testing.T) {
	f := newFaulty(t, nil)
	token := take(t, f)
	f.start(t, f, token, false)
	until(t, f, "the end", inState(view.IsDone))
	saved := filepath.Join(f.dir, "saved", "lamp")
	deepFolder(t, saved)
	must(t, f.Do(t.Context(), token, session.Action{Verb: session.Undo}))
	until(t, f, "everything back", inState(view.IsUndone))
	machineIs(t, f.rig, "factory", "off", "off")
	must(t, f.Do(t.Context(), token, session.Action{Verb: session.Edit}))
	review := f.fill(t, token).Review
	start := session.Action{Verb: session.Start, Fingerprint: review.Fingerprint}
	if err := f.Do(t.Context(), token, start); err == nil || !strings.Contains(err.Error(), "wiping") {
		t.Errorf("started beside old originals: %v", err)
	}
	must(t, os.RemoveAll(saved))
	must(t, f.Do(t.Context(), token, start))
	until(t, f, "the end", inState(view.IsDone))
}

// TestRebootThatCannotBe: the step fails with a reason, and a retry asks for the reboot again.
func TestRebootThatCannotBe(t *testing.T) {
	t.Run("the machine refuses", func(t *testing.T) {
		f := newFaulty(t, nil)
		rebooting(f.rig, false)
		f.host.On("systemctl reboot", "Call to Reboot failed: Access denied\n", errors.New("exit status 1"))
		token := take(t, f)
		f.start(t, f, token, false)
		s := until(t, f, "the failure", inState(view.HasFailed))
		if s.Problem.Code != "PWR-ERR" || !slices.Equal(s.Problem.Output, []string{"Call to Reboot failed: Access denied"}) {
			t.Errorf("problem %+v", s.Problem)
		}
		must(t, f.Do(t.Context(), token, session.Action{Verb: session.Retry}))
		until(t, f, "the second try", func(s *view.Snapshot) bool { return s.State == view.HasFailed && len(f.host.Calls()) == 2 })
	})
	t.Run("the boot cannot be told from the next one", func(t *testing.T) {
		f := newFaulty(t, nil)
		f.w.run["light"] = func(_ context.Context, node *backend.Node, _ steps.Report) error {
			must(t, os.Remove(node.Host.Path("/proc/sys/kernel/random/boot_id")))
			return &steps.Reboot{Reason: message.T("new kernel arguments")}
		}
		f.start(t, f, take(t, f), false)
		s := until(t, f, "the failure", inState(view.HasFailed))
		if !strings.Contains(s.Problem.Detail.String(), "boot id") {
			t.Errorf("problem %+v", s.Problem)
		}
		if calls := f.host.Calls(); len(calls) > 0 {
			t.Errorf("the machine was told %q", calls)
		}
	})
}

// TestCloseWhileAStepRecovers leaves the rest to the next engine, without a word about a failure.
func TestCloseWhileAStepRecovers(t *testing.T) {
	r := tryingRig(t)
	r.openTrying(t)
	r.w.setFail("light", broken())
	r.start(t, r, take(t, r), false)
	until(t, r, "the failure", inState(view.HasFailed))
	must(t, r.Close())
	waiting := make(chan struct{})
	r.w.hangRecover = waiting
	r.openTrying(t)
	<-waiting
	must(t, r.Close())
	if len(r.core.notices) > 0 {
		t.Errorf("notices %q", r.core.notices)
	}
	r.w.hangRecover = nil
	r.openTrying(t)
	<-r.recovered
	if n := r.w.calls["recover"]; n != 1 {
		t.Errorf("recovered %d times by the third engine, want once", n)
	}
}

// TestNoWatchdog: a limit of 0 is none, however long a step works and asks.
func TestNoWatchdog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, newWorld())
		defer r.Close()
		r.w.run["light"] = func(ctx context.Context, _ *backend.Node, report steps.Report) error {
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(100 * time.Hour):
			}
			_, err := report.Ask(ctx, steps.Question{ID: "sure", Default: "no", Choices: []steps.Choice{{Value: "no"}, {Value: "yes"}}, Deadline: 10})
			return err
		}
		r.startUnder(t, take(t, r), 0)
		time.Sleep(101 * time.Hour)
		synctest.Wait()
		if s := until(t, r, "the end", func(s *view.Snapshot) bool { return s.State == view.IsDone || s.State == view.HasFailed }); s.State != view.IsDone {
			t.Errorf("problem %+v", s.Problem)
		}
	})
}

// hiding asks for an address only when told to, and reads the names that another step asks for.
type hiding struct {
	cfg *site.Config
	saw *string
}

func (*hiding) ID() string          { return "hiding" }
func (*hiding) Title() message.Text { return message.T("Hide a field") }
func (*hiding) Reads() []string     { return []string{"spec.clusterName"} }
func (s *hiding) Fields() []steps.Field {
	dns := func() bool { return s.cfg.Spec.ClusterName != "shop" }
	return []steps.Field{{Path: "metadata.name", Kind: steps.Text, Label: message.T("Name"), Optional: true, Visible: dns}}
}

func (s *hiding) Run(context.Context, *backend.Node, steps.Report) error {
	*s.saw, _ = s.cfg.Get("metadata.name")
	return nil
}

// TestAnswerThatBecameNeedless stays in its field and does not reach the step. The step's fingerprint covers what it borrows.
func TestAnswerThatBecameNeedless(t *testing.T) {
	w, saw := newWorld(), "not run"
	w.asks = func(cfg *site.Config) []steps.Stage {
		return []steps.Stage{{ID: "asks", Title: message.T("Asks"), Steps: []steps.Step{&hiding{cfg, &saw}}}}
	}
	r := newRig(t, w)
	token := take(t, r)
	until(t, r, "the form", inState(view.Collecting))
	must(t, r.Set(t.Context(), token, "metadata.name", "typed"))
	r.start(t, r, token, false)
	s := until(t, r, "the end", inState(view.IsDone))
	if f := field(s, "metadata.name"); f.Value != "typed" || saw != "" {
		t.Errorf("the field holds %q, the step got %q", f.Value, saw)
	}
	one, other := site.New(), site.New()
	must(t, other.Set("spec.clusterName", "shop"))
	step := &hiding{one, &saw}
	if r.folder.key.stepInputs(one, step) == r.folder.key.stepInputs(other, step) {
		t.Error("another borrowed answer, the same fingerprint")
	}
}

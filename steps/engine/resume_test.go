package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/view"
	"touchdown/test/race"
)

// reopen starts the next engine, as after a power cut.
func (r *rig) reopen(t *testing.T) {
	t.Helper()
	must(t, r.Close())
	r.open(t)
}

// powerCut makes a state folder whose journal was cut that of a power cut: nobody was told of what is missing.
func powerCut(t *testing.T, dir string) {
	t.Helper()
	s := openSums(filepath.Join(dir, "sums.jsonl"))
	s.mark = nil
	must(t, s.rewrite())
	s.close()
}

// TestResumeFromEveryByte cuts the journal of a whole job at every byte. From each the next engine must come to
// the same end, whatever the machine looked like at the cut.
func TestResumeFromEveryByte(t *testing.T) {
	r := newRig(t, newWorld())
	token := take(t, r)
	r.start(t, r, token, false)
	until(t, r, "the end", inState(view.IsDone))
	must(t, r.Close())
	path := filepath.Join(r.dir, "journal.jsonl")
	whole, err := os.ReadFile(path)
	must(t, err)
	step := 1
	if testing.Short() || race.On {
		step = 23 // a prime, so that the cuts fall on all parts of a record
	}
	for cut := 0; cut <= len(whole); cut += step {
		must(t, os.WriteFile(path, whole[:cut], 0o600))
		powerCut(t, r.dir)
		for key, value := range map[string]string{"names": "factory", "light": "off"} {
			r.w.set(key, value)
		}
		r.open(t)
		accepted := bytes.Contains(whole[:cut], []byte("\"kind\":\"started\"")) && bytes.Count(whole[:cut], []byte("\n")) > 1
		ended := len(bytes.TrimSpace(whole[cut:])) == 0
		switch {
		case ended:
			until(t, r, "the end", inState(view.IsDone))
		case accepted:
			until(t, r, fmt.Sprintf("the end after a cut at byte %d", cut), inState(view.IsDone))
			if r.w.get("names") != "shop.example.com" || r.w.get("light") != "on" {
				t.Fatalf("after a cut at byte %d the machine is %v", cut, r.w.state)
			}
		default:
			until(t, r, "the form", inState(view.Collecting))
			if r.w.get("names") != "factory" {
				t.Fatalf("a cut at byte %d, before the start, changed the machine", cut)
			}
		}
		must(t, r.Close())
	}
}

func TestResumeUndo(t *testing.T) {
	r := newRig(t, newWorld())
	token := take(t, r)
	r.start(t, r, token, false)
	until(t, r, "the end", inState(view.IsDone))
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Undo}))
	until(t, r, "everything back", inState(view.IsUndone))
	must(t, r.Close())
	path := filepath.Join(r.dir, "journal.jsonl")
	whole, err := os.ReadFile(path)
	must(t, err)
	begin := bytes.Index(whole, []byte(`"kind":"undoing"`))
	for i, line := range slices.Collect(bytes.Lines(whole)) {
		cut := 0
		for _, l := range slices.Collect(bytes.Lines(whole))[:i] {
			cut += len(l)
		}
		if cut+len(line) <= begin {
			continue
		}
		must(t, os.WriteFile(path, whole[:cut+len(line)], 0o600))
		powerCut(t, r.dir)
		r.open(t)
		until(t, r, "everything back", inState(view.IsUndone))
		if r.w.get("names") != "factory" || r.w.get("light") != "off" {
			t.Fatalf("after a cut behind record %d the machine is %v", i, r.w.state)
		}
		must(t, r.Close())
	}
}

func TestDraftSurvivesARestart(t *testing.T) {
	r := newRig(t, newWorld())
	token := take(t, r)
	const secret = `{"auths":{"r.example.com":{"auth":"dXNlcjpodW50ZXIyaHVudGVy"}}}`
	must(t, r.Set(t.Context(), token, "spec.clusterName", "shop"))
	must(t, r.Set(t.Context(), token, "spec.pullSecret", secret))
	if s, err := r.Snapshot(t.Context()); err != nil || !s.Resumed.IsZero() {
		t.Errorf("resumed %v, %v", s.Resumed, err)
	}
	r.reopen(t)
	snapshot := until(t, r, "the form", func(s *view.Snapshot) bool { return len(s.Stages) > 0 })
	if snapshot.Resumed.IsZero() {
		t.Error("nobody is told that the answers are those of before")
	}
	if f := field(snapshot, "spec.clusterName"); f.Value != "shop" || f.Source != "typed" {
		t.Errorf("the name after a restart: %+v", f)
	}
	if f := field(snapshot, "spec.pullSecret"); !f.SecretSet || f.Value != "" {
		t.Errorf("the secret after a restart: %+v", f)
	}
	draft, err := os.ReadFile(filepath.Join(r.dir, "site.yaml"))
	must(t, err)
	if strings.Contains(string(draft), "hunter") || strings.Contains(string(draft), "dXNlcj") {
		t.Errorf("the draft holds the secret:\n%s", draft)
	}
	info, err := os.Stat(filepath.Join(r.dir, "secrets", "spec.pullSecret"))
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the secret's file has mode %v", info.Mode())
	}
}

// TestFoundValueSurvivesAPowerCut: what a look put into the config after the last word of a person is a part of the inputs
// that were accepted, so it has to be there when the job goes on.
func TestFoundValueSurvivesAPowerCut(t *testing.T) {
	r := newRig(t, newWorld())
	token := take(t, r)
	r.fill(t, r, token)
	must(t, r.Load(t.Context(), token, map[string]string{"spec.clusterName": "shop", "spec.baseDomain": "example.com"}, "file site.yaml"))
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Inspect}))
	until(t, r, "the name that a look finds", func(*view.Snapshot) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		name, _ := r.core.draft.site.Get("metadata.name")
		return name == "store-1"
	})
	s := reviewed(t, r, token)
	atLight := make(chan struct{})
	r.w.run["light"] = func(ctx context.Context, _ *backend.Node, _ steps.Report) error {
		close(atLight)
		<-ctx.Done()
		return context.Cause(ctx)
	}
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Start, Fingerprint: s.Review.Fingerprint}))
	<-atLight
	r.w.mu.Lock()
	delete(r.w.run, "light")
	r.w.mu.Unlock()
	r.reopen(t)
	until(t, r, "the end", inState(view.IsDone))
}

func TestUnreadableDraftIsKept(t *testing.T) {
	r := newRig(t, newWorld())
	must(t, r.Close())
	must(t, os.WriteFile(filepath.Join(r.dir, "site.yaml"), []byte("spec: [broken"), 0o600))
	r.open(t)
	snapshot := until(t, r, "the form", inState(view.Collecting))
	if len(snapshot.Notices) != 1 || !strings.Contains(snapshot.Notices[0].String(), "site.yaml.unreadable") {
		t.Errorf("notices %q", snapshot.Notices)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "site.yaml.unreadable")); err != nil {
		t.Error(err)
	}
}

func TestDamagedJournalIsKeptAside(t *testing.T) {
	r := newRig(t, newWorld())
	token := take(t, r)
	r.start(t, r, token, false)
	until(t, r, "the end", inState(view.IsDone))
	must(t, r.Close())
	path := filepath.Join(r.dir, "journal.jsonl")
	whole, err := os.ReadFile(path)
	must(t, err)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	lines[3] = []byte("{\"seq\": nonsense\n")
	must(t, os.WriteFile(path, bytes.Join(lines, nil), 0o600))
	r.open(t)
	snapshot := until(t, r, "the end", inState(view.IsDone))
	if len(snapshot.Notices) == 0 || !strings.Contains(snapshot.Notices[0].String(), "journal.jsonl.damaged") {
		t.Errorf("notices %q", snapshot.Notices)
	}
	if kept, err := os.ReadFile(path + ".damaged"); err != nil || !bytes.Contains(kept, lines[4]) {
		t.Errorf("the damaged end was not kept: %v", err)
	}
}

func TestForeignJournalIsRefused(t *testing.T) {
	r := newRig(t, newWorld())
	must(t, r.Close())
	must(t, os.WriteFile(filepath.Join(r.dir, "journal.jsonl"), seal([]byte(`{"journal":"touchdown/v9"}`)), 0o600))
	_, err := Open(r.options())
	if problem.From(err).Code != "JRN-FRMT" {
		t.Errorf("opened a journal of another format: %v", err)
	}
}

func TestSecondEngineIsRefused(t *testing.T) {
	r := newRig(t, newWorld())
	_, err := Open(r.options())
	if p := problem.From(err); p.Code != "ENG-BUSY" || !strings.Contains(p.Fix.String(), fmt.Sprint(os.Getpid())) {
		t.Errorf("a second engine: %v", err)
	}
}

func TestChangedAnswersAreNotResumed(t *testing.T) {
	r := newRig(t, newWorld())
	stop := make(chan struct{})
	r.w.run["light"] = func(ctx context.Context, _ *backend.Node, _ steps.Report) error {
		close(stop)
		<-ctx.Done()
		return ctx.Err()
	}
	token := take(t, r)
	r.start(t, r, token, false)
	<-stop
	must(t, r.Close())
	path := filepath.Join(r.dir, "site.yaml")
	draft, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, bytes.Replace(draft, []byte("shop"), []byte("evil"), 1), 0o600))
	r.open(t)
	if p := until(t, r, "the refusal", inState(view.HasFailed)).Problem; p.Code != "CFG-DFF" {
		t.Errorf("problem %+v", p)
	}
}

// rebooting makes the light step ask for a reboot, once or for ever.
func rebooting(r *rig, forever bool) {
	r.w.run["light"] = func(_ context.Context, node *backend.Node, _ steps.Report) error {
		if boot, _ := node.Host.BootID(); forever || boot == "boot-1" {
			return &steps.Reboot{Reason: message.T("new kernel arguments")}
		}
		return nil
	}
}

func TestReboot(t *testing.T) {
	r := newRig(t, newWorld())
	rebooting(r, false)
	token := take(t, r)
	must(t, r.Set(t.Context(), token, "spec.policy.allowReboot", "true"))
	r.start(t, r, token, false)
	rebooted := func() bool {
		return slices.ContainsFunc(r.host.Calls(), func(c string) bool { return strings.Contains(c, "reboot") })
	}
	until(t, r, "the reboot", func(*view.Snapshot) bool { return rebooted() })
	r.reopen(t) // the fake changed its boot id
	until(t, r, "the end", inState(view.IsDone))
	if r.w.calls["light"] != 1 {
		t.Errorf("the light was set %d times", r.w.calls["light"])
	}
}

func TestRebootThatDidNotHappenIsAskedForAgain(t *testing.T) {
	r := newRig(t, newWorld())
	rebooting(r, false)
	token := take(t, r)
	must(t, r.Set(t.Context(), token, "spec.policy.allowReboot", "true"))
	r.start(t, r, token, false)
	until(t, r, "the reboot", func(*view.Snapshot) bool { return r.host.Content("/proc/sys/kernel/random/boot_id") == "boot-2\n" })
	r.host.File("/proc/sys/kernel/random/boot_id", "boot-1\n") // as if only the engine had restarted
	r.reopen(t)
	until(t, r, "the second request", func(*view.Snapshot) bool { return len(r.host.Calls()) == 2 })
	r.reopen(t)
	until(t, r, "the end", inState(view.IsDone))
}

// TestAnEngineThatEndsWithItsReboot: the shutdown that the engine asked for stops the engine, on a busy machine before systemctl has ended. That
// is not a failure: behind the boot the work goes on.
func TestAnEngineThatEndsWithItsReboot(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		f := newFaulty(t, nil)
		rebooting(f.rig, false)
		token := take(t, f)
		must(t, f.Set(t.Context(), token, "spec.policy.allowReboot", "true"))
		f.at(event.Rebooting, "light", f.close)
		if stopped { // by a person, just before
			f.at(event.Rebooting, "light", func() { f.core.stopWork(errCancelled) })
		}
		f.start(t, f, token, false)
		if stopped {
			if s := until(t, f, "the stop", inState(view.HasFailed)); s.Problem.Code != view.Halted {
				t.Errorf("problem %+v", s.Problem)
			}
			continue
		}
		f.workers.Wait()
		if f.seen()["failed light"] > 0 {
			t.Error("the journal tells of a failure")
		}
		f.host.Boot()
		f.after = nil
		f.reopen(t)
		until(t, f, "the end", inState(view.IsDone))
	}
}

func TestRebootLoopEnds(t *testing.T) {
	r := newRig(t, newWorld())
	rebooting(r, true)
	token := take(t, r)
	must(t, r.Set(t.Context(), token, "spec.policy.allowReboot", "true"))
	r.start(t, r, token, false)
	for boot := range maxBoots {
		until(t, r, "a reboot", func(*view.Snapshot) bool { return len(r.host.Calls()) == boot+1 })
		r.reopen(t)
	}
	if p := until(t, r, "the end of the loop", inState(view.HasFailed)).Problem; p.Code != "RBT-LP" {
		t.Errorf("problem %+v", p)
	}
	if n := len(r.host.Calls()); n != maxBoots {
		t.Errorf("%d reboots", n)
	}
}

func TestRebootRefusedByPolicy(t *testing.T) {
	r := newRig(t, newWorld())
	rebooting(r, false)
	token := take(t, r)
	must(t, r.Set(t.Context(), token, "spec.policy.allowReboot", "false"))
	r.start(t, r, token, false)
	if p := until(t, r, "the refusal", inState(view.HasFailed)).Problem; p.Code != view.RebootRefused {
		t.Errorf("problem %+v", p)
	}
	if len(r.host.Calls()) > 0 {
		t.Errorf("commands %v", r.host.Calls())
	}
}

// asking makes the light step ask a question and remember the answer.
func asking(r *rig, deadline float64) {
	r.w.run["light"] = func(ctx context.Context, _ *backend.Node, report steps.Report) error {
		answer, err := report.Ask(ctx, steps.Question{
			ID: "keep", Text: message.T("Keep the light on?"), Default: "no", Deadline: deadline,
			Choices: []steps.Choice{{Value: "yes", Label: message.T("Keep")}, {Value: "no", Label: message.T("Put back")}},
		})
		if err == nil {
			r.w.set("answer", answer)
		}
		return err
	}
}

// TestHeldQuestion: a person at a console stops the countdown, nobody else does, and the answer counts after it would have passed.
func TestHeldQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, newWorld())
		defer r.Close()
		asking(r, 60)
		token := take(t, r)
		r.start(t, r, token, false)
		until(t, r, "the question", inState(view.InQuestion))
		if err := r.Do(t.Context(), "other", session.Action{Verb: session.Hold, Question: "keep"}); !errors.Is(err, session.ErrNoControl) {
			t.Errorf("stopped without control: %v", err)
		}
		if err := r.Do(t.Context(), token, session.Action{Verb: session.Hold, Question: "other"}); !errors.Is(err, session.ErrNotFound) {
			t.Errorf("stopped another question: %v", err)
		}
		must(t, r.Do(t.Context(), token, session.Action{Verb: session.Hold, Question: "keep"}))
		must(t, r.Do(t.Context(), token, session.Action{Verb: session.Hold, Question: "keep"})) // again, by another key
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if s := until(t, r, "the held question", inState(view.InQuestion)); !s.Question.Held {
			t.Errorf("question %+v", s.Question)
		}
		must(t, r.Do(t.Context(), token, session.Action{Verb: session.Reply, Question: "keep", Value: "yes"}))
		until(t, r, "the end", inState(view.IsDone))
		if got := r.w.get("answer"); got != "yes" {
			t.Errorf("answer %q", got)
		}
	})
}

// TestCorrect: a step whose person chose to fix the answers leads back to them, with the failure on record; where nobody is, it fails, and the policy counts.
func TestCorrect(t *testing.T) {
	for _, alone := range []bool{false, true} {
		r := newRig(t, newWorld())
		r.w.run["light"] = func(context.Context, *backend.Node, steps.Report) error {
			return &problem.Problem{Code: "LAMP", Summary: message.T("The bulb is broken."), Fix: message.T("Change it."), Correct: true}
		}
		token := take(t, r)
		r.start(t, r, token, alone)
		s := until(t, r, "the end of the step", func(s *view.Snapshot) bool {
			return s.State == view.IsUndone && alone || s.State == view.Collecting && !s.Started.IsZero()
		})
		if alone == (s.State == view.Collecting) {
			t.Errorf("alone %t: state %s", alone, s.State)
		}
		r.Close()
	}
}

func TestQuestion(t *testing.T) {
	each(t, func(t *testing.T, r *rig, s session.Session) {
		asking(r, 600)
		token := take(t, s)
		r.start(t, s, token, false)
		snapshot := until(t, s, "the question", inState(view.InQuestion))
		if q := snapshot.Question; q.ID != "keep" || q.Until.IsZero() || len(q.Choices) != 2 {
			t.Errorf("question %+v", q)
		}
		if err := s.Do(t.Context(), token, session.Action{Verb: session.Reply, Question: "other", Value: "yes"}); !errors.Is(err, session.ErrNotFound) {
			t.Errorf("answered another question: %v", err)
		}
		if err := s.Do(t.Context(), token, session.Action{Verb: session.Reply, Question: "keep", Value: "maybe"}); !errors.Is(err, session.ErrInvalid) {
			t.Errorf("answered what is not a choice: %v", err)
		}
		must(t, s.Do(t.Context(), token, session.Action{Verb: session.Reply, Question: "keep", Value: "yes"}))
		until(t, s, "the end", inState(view.IsDone))
		if r.w.get("answer") != "yes" {
			t.Errorf("the step got %q", r.w.get("answer"))
		}
	})
}

func TestPolicyAnswersWhenUnattended(t *testing.T) {
	r := newRig(t, newWorld())
	asking(r, 600)
	token := take(t, r)
	must(t, r.Set(t.Context(), token, "spec.policy.answers.keep", "yes"))
	r.start(t, r, token, true)
	until(t, r, "the end", inState(view.IsDone))
	if r.w.get("answer") != "yes" {
		t.Errorf("the policy answered %q", r.w.get("answer"))
	}
}

// TestWhoRetriesIsAsked: a person who retries a job that was started for nobody is there, so the policy no longer answers for them.
func TestWhoRetriesIsAsked(t *testing.T) {
	r := newRig(t, newWorld())
	asking(r, 0)
	r.w.setFail("names", broken())
	token := take(t, r)
	must(t, r.Set(t.Context(), token, "spec.policy.rollbackOnFailure", "false"))
	r.start(t, r, token, true)
	until(t, r, "the failure", inState(view.HasFailed))
	r.w.setFail("names", nil)
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Retry}))
	until(t, r, "the question", inState(view.InQuestion))
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Reply, Question: "keep", Value: "yes"}))
	until(t, r, "the end", inState(view.IsDone))
	if r.w.get("answer") != "yes" {
		t.Errorf("the step got %q", r.w.get("answer"))
	}
}

// TestDeadline runs on a clock that jumps, so that ten minutes take none.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, newWorld())
		defer r.Close()
		asking(r, 600)
		token := take(t, r)
		r.start(t, r, token, false)
		first := until(t, r, "the question", inState(view.InQuestion)).Question.Until

		ctx, leave := context.WithCancel(t.Context())
		watching := make(chan struct{})
		go func() {
			defer close(watching)
			_ = r.Events(ctx, token, 0, func([]event.Event) error { return nil })
		}()
		time.Sleep(500 * time.Second)
		leave()
		<-watching // the last console goes away: the whole time again
		second := until(t, r, "the question", inState(view.InQuestion)).Question.Until
		if second.Sub(first) < 490*time.Second {
			t.Errorf("the deadline went from %v to %v", first, second)
		}
		time.Sleep(400 * time.Second)
		if r.w.get("answer") != "" {
			t.Fatal("answered before the new deadline")
		}
		time.Sleep(201 * time.Second)
		synctest.Wait()
		if r.w.get("answer") != "no" {
			t.Errorf("the deadline answered %q", r.w.get("answer"))
		}
	})
}

func TestRollbackWhenUnattended(t *testing.T) {
	r := newRig(t, newWorld())
	r.w.setFail("light", broken())
	token := take(t, r)
	must(t, r.Set(t.Context(), token, "spec.policy.rollbackOnFailure", "true"))
	r.start(t, r, token, true)
	until(t, r, "everything back", inState(view.IsUndone))
	if r.w.get("names") != "factory" {
		t.Errorf("the names are %q", r.w.get("names"))
	}
}

// fullDisk is a journal file whose disk is full while full is set.
type fullDisk struct {
	journalFile
	full *bool
}

func (f fullDisk) Write(b []byte) (int, error) {
	if !*f.full {
		return f.journalFile.Write(b)
	}
	n, _ := f.journalFile.Write(b[:len(b)/2]) // as much as still fits
	return n, &os.PathError{Op: "write", Path: "journal.jsonl", Err: syscall.ENOSPC}
}

func TestDiskFullInTheJournal(t *testing.T) {
	r := newRig(t, newWorld())
	full := false
	r.mu.Lock()
	r.core.recorder.journal.file = fullDisk{r.core.recorder.journal.file, &full}
	r.mu.Unlock()
	r.w.onRun(func(step string) {
		if step == "names" {
			r.mu.Lock()
			full = true
			r.mu.Unlock()
		}
	})
	token := take(t, r)
	r.start(t, r, token, false)
	snapshot := until(t, r, "the failure", inState(view.HasFailed))
	if p := snapshot.Problem; p.Code != "DSK-FULL" {
		t.Errorf("problem %+v", p)
	}
	if r.w.get("light") != "off" {
		t.Error("the work went on although nothing could be journalled")
	}
	r.mu.Lock()
	full = false
	r.mu.Unlock()
	r.w.onRun(nil)
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Retry}))
	until(t, r, "the end", inState(view.IsDone))
	r.reopen(t)
	until(t, r, "the end, read again", inState(view.IsDone))
}

func TestSavedOriginals(t *testing.T) {
	s, err := openFolder(filepath.Join(t.TempDir(), "state"))
	must(t, err)
	defer s.close()
	must(t, s.save("step", "key", []byte("first")))
	must(t, s.save("step", "key", []byte("second")))
	if got, err := s.saved("step", "key"); err != nil || string(got) != "first" {
		t.Errorf("saved %q, %v", got, err)
	}
	for _, key := range []string{"", "..", "a/b", "/etc/passwd", ".hidden", "a\x00b", strings.Repeat("x", 200)} {
		if err := s.save("step", key, nil); err == nil {
			t.Errorf("saved under the key %q", key)
		}
	}
}

func TestInspectionIsNotJournalled(t *testing.T) {
	r := newRig(t, newWorld())
	until(t, r, "the form", inState(view.Collecting))
	data, err := os.ReadFile(filepath.Join(r.dir, "journal.jsonl"))
	must(t, err)
	if string(data) != journalFormat+"\n" {
		t.Errorf("an inspection was journalled:\n%s", data)
	}
}

// TestHandOverIsWipedAfterACut looks at the moment between the hand-over's event and the wiping.
func TestHandOverIsWipedAfterACut(t *testing.T) {
	r := newRig(t, newWorld())
	token := take(t, r)
	r.start(t, r, token, false)
	until(t, r, "the end", inState(view.IsDone))
	must(t, r.emit(handOverEvent("", "")))
	must(t, os.WriteFile(filepath.Join(r.dir, "secrets", "spec.pullSecret"), []byte("{}"), 0o600))
	r.reopen(t)
	for _, left := range []string{"secrets/*", "saved/*/*"} {
		if files, _ := filepath.Glob(filepath.Join(r.dir, left)); len(files) > 0 {
			t.Errorf("left after the cut: %v", files)
		}
	}
	if s, err := r.Snapshot(t.Context()); err != nil || !s.Locked {
		t.Errorf("after the cut the node is locked: %v, %v", s.Locked, err)
	}
}

// TestControlOfAConsoleThatWentAway also runs on a clock that jumps.
func TestControlOfAConsoleThatWentAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, newWorld())
		defer r.Close()
		token := take(t, r)
		ctx, leave := context.WithCancel(t.Context())
		watching := make(chan struct{})
		go func() {
			defer close(watching)
			_ = r.Events(ctx, token, 0, func([]event.Event) error { return nil })
		}()
		time.Sleep(time.Minute)
		leave()
		<-watching
		before := until(t, r, "control still held", func(s *view.Snapshot) bool { return s.Control.Holder == "tty1" }).Seq
		time.Sleep(2 * controlGrace)
		after := until(t, r, "control free", func(s *view.Snapshot) bool { return s.Control.Holder == "" })
		if after.Seq == before {
			t.Error("the other consoles were not told")
		}
	})
}

// TestOldFailuresDoNotStandAgainstANewStart: what failed in a step's attempt is about the answers of then.
func TestOldFailuresDoNotStandAgainstANewStart(t *testing.T) {
	r := newRig(t, newWorld())
	token := take(t, r)
	r.w.run["light"] = func(_ context.Context, _ *backend.Node, report steps.Report) error {
		report.Check(check.Check{ID: "gateway", Title: message.T("Gateway"), Status: check.Fail, Observed: message.T("nobody answers"), Fix: message.T("Fix it.")})
		return broken()
	}
	r.start(t, r, token, false)
	until(t, r, "the failure", inState(view.HasFailed))
	r.w.mu.Lock()
	delete(r.w.run, "light")
	r.w.mu.Unlock()
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Edit}))
	r.start(t, r, token, false)
	s := until(t, r, "the end", func(s *view.Snapshot) bool { return s.State == view.IsDone || s.State == view.HasFailed })
	if s.State != view.IsDone {
		t.Errorf("the second attempt: %s, %+v", s.State, s.Problem)
	}
}

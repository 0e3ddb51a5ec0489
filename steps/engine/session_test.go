package engine

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/view"
	"touchdown/steps/wire"
	"touchdown/test/wait"
)

// each runs a test against the engine itself and against the client of its socket.
func each(t *testing.T, test func(t *testing.T, r *rig, s session.Session)) {
	eachIn(t, newWorld, test)
}

func eachIn(t *testing.T, world func() *world, test func(t *testing.T, r *rig, s session.Session)) {
	t.Run("local", func(t *testing.T) {
		r := newRig(t, world())
		test(t, r, r.Engine)
	})
	t.Run("socket", func(t *testing.T) {
		r := newRig(t, world())
		socket := filepath.Join(t.TempDir(), "engine.sock")
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- wire.Serve(ctx, r.Engine, socket) }()
		t.Cleanup(func() {
			stop()
			if err := <-served; err != nil {
				t.Error(err)
			}
		})
		c := wire.Dial(socket)
		wait.Until(t, "the engine's socket", func() error {
			_, err := c.Snapshot(t.Context())
			return err
		})
		test(t, r, c)
	})
}

func field(s *view.Snapshot, path string) view.Field {
	for _, stage := range s.Stages {
		for _, step := range stage.Steps {
			for _, f := range step.Fields {
				if f.Path == path {
					return f
				}
			}
		}
	}
	return view.Field{}
}

func TestForm(t *testing.T) {
	each(t, func(t *testing.T, r *rig, s session.Session) {
		token := take(t, s)
		snapshot := until(t, s, "the form", inState(view.Collecting))
		if c := snapshot.Stages[0].Steps[0].Checks[0]; c.Status != check.Fail {
			t.Errorf("the first inspection saw %+v", c)
		}
		must(t, s.Set(t.Context(), token, "spec.baseDomain", "Not_A_Domain"))
		snapshot, err := s.Snapshot(t.Context())
		must(t, err)
		f := field(snapshot, "spec.baseDomain")
		if f.Value != "Not_A_Domain" || f.Problem.String() == "" || !f.Changed || f.Source != "typed" {
			t.Errorf("a wrong value is kept with its problem, got %+v", f)
		}
		snapshot = reviewed(t, s, token)
		all := strings.Join(message.English(snapshot.Review.Problems), "\n")
		for _, want := range []string{"Base domain", "Cluster name", "Cable"} {
			if !strings.Contains(all, want) {
				t.Errorf("the review's problems lack %q:\n%s", want, all)
			}
		}
		err = s.Do(t.Context(), token, session.Action{Verb: session.Start, Fingerprint: snapshot.Review.Fingerprint})
		if !errors.Is(err, session.ErrInvalid) {
			t.Errorf("a review with problems was started: %v", err)
		}
		if err := s.Set(t.Context(), token, "spec.nothing", "x"); !errors.Is(err, session.ErrNotFound) {
			t.Errorf("setting an unknown path: %v", err)
		}
	})
}

func TestWholeJob(t *testing.T) {
	each(t, func(t *testing.T, r *rig, s session.Session) {
		token := take(t, s)
		snapshot := r.fill(t, s, token)
		if r.w.get("names") != "factory" {
			t.Fatal("something changed before the review was accepted")
		}
		if err := s.Do(t.Context(), token, session.Action{Verb: session.Start, Fingerprint: "other"}); !errors.Is(err, session.ErrInvalid) {
			t.Errorf("started with another review's fingerprint: %v", err)
		}
		if old := snapshot.Review.Steps[0].Plan.Changes[0]; old.Old.String() != "factory" || old.New.String() != "shop.example.com" {
			t.Errorf("plan %+v", old)
		}
		must(t, s.Do(t.Context(), token, session.Action{Verb: session.Start, Fingerprint: snapshot.Review.Fingerprint}))
		snapshot = until(t, s, "the end", inState(view.IsDone))
		if got := snapshot.Stages[1].Steps[1]; got.Status != view.StepSkip || got.Skip.String() != "not asked for" {
			t.Errorf("the step that does not apply: %+v", got)
		}
		if snapshot.Life != "landed" || r.w.get("names") != "shop.example.com" || r.w.get("light") != "on" {
			t.Errorf("life %s, machine %v", snapshot.Life, r.w.state)
		}
		if err := s.Set(t.Context(), token, "spec.clusterName", "x"); !errors.Is(err, session.ErrState) {
			t.Errorf("a finished job's answers were changed: %v", err)
		}
		must(t, s.Do(t.Context(), token, session.Action{Verb: session.Undo}))
		until(t, s, "everything back", inState(view.IsUndone))
		if r.w.get("names") != "factory" || r.w.get("light") != "off" {
			t.Errorf("undo left %v", r.w.state)
		}
	})
}

func TestEventsTellTheWholeStory(t *testing.T) {
	each(t, func(t *testing.T, r *rig, s session.Session) {
		token := take(t, s)
		r.start(t, s, token, false)
		until(t, s, "the end", inState(view.IsDone))
		var got []string
		var last uint64
		enough := errors.New("enough")
		err := s.Events(t.Context(), token, 0, func(events []event.Event) error {
			for _, e := range events {
				if e.Seq <= last {
					t.Errorf("event %d after %d", e.Seq, last)
				}
				last = e.Seq
				if e.Kind == event.Started || e.Kind == event.Done || e.Kind == event.Skipped {
					got = append(got, string(e.Kind)+" "+e.Step)
				}
				if e.Kind == event.Done && e.Step == "" {
					return enough
				}
			}
			return nil
		})
		if !errors.Is(err, enough) {
			t.Fatal(err)
		}
		want := "started |started names|done names|started light|done light|skipped never|done "
		if strings.Join(got, "|") != want {
			t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
		}
	})
}

func TestControlOfConsoles(t *testing.T) {
	each(t, func(t *testing.T, r *rig, s session.Session) {
		if err := s.Set(t.Context(), "", "spec.clusterName", "x"); !errors.Is(err, session.ErrNoControl) {
			t.Errorf("a write without control: %v", err)
		}
		first := take(t, s)
		_, err := s.TakeControl(t.Context(), "ttyS0", false)
		if !errors.Is(err, session.ErrControlHeld) || !strings.Contains(err.Error(), "tty1") {
			t.Errorf("a second console took control unasked: %v", err)
		}
		second, err := s.TakeControl(t.Context(), "ttyS0", true)
		must(t, err)
		if err := s.Set(t.Context(), first, "spec.clusterName", "x"); !errors.Is(err, session.ErrNoControl) {
			t.Errorf("the console that lost control still wrote: %v", err)
		}
		must(t, s.Set(t.Context(), second, "spec.clusterName", "x"))
		snapshot, err := s.Snapshot(t.Context())
		must(t, err)
		if snapshot.Control.Holder != "ttyS0" {
			t.Errorf("control is with %q", snapshot.Control.Holder)
		}
		again, err := s.TakeControl(t.Context(), "ttyS0", false) // the same console, after its line dropped
		must(t, err)
		if err := s.Set(t.Context(), second, "spec.clusterName", "y"); !errors.Is(err, session.ErrNoControl) {
			t.Errorf("the token from before the line dropped still writes: %v", err)
		}
		must(t, s.ReleaseControl(t.Context(), again))
		take(t, s)
	})
}

func TestFailureHasWaysOn(t *testing.T) {
	each(t, func(t *testing.T, r *rig, s session.Session) {
		r.w.setFail("light", broken())
		token := take(t, s)
		r.start(t, s, token, false)
		snapshot := until(t, s, "the failure", inState(view.HasFailed))
		if p := snapshot.Problem; p.Code != "BRKN" || p.Fix.String() != "Fix it." || p.Detail.String() != "cause" || snapshot.Current != "light" {
			t.Errorf("problem %+v at %s", p, snapshot.Current)
		}
		must(t, s.Do(t.Context(), token, session.Action{Verb: session.Retry}))
		until(t, s, "the failure again", func(s *view.Snapshot) bool { return s.State == view.HasFailed && s.Seq > snapshot.Seq+2 })

		must(t, s.Do(t.Context(), token, session.Action{Verb: session.Edit}))
		snapshot = until(t, s, "the form", inState(view.Collecting))
		if f := field(snapshot, "spec.clusterName"); f.Value != "shop" {
			t.Errorf("edit lost an answer: %+v", f)
		}
		r.start(t, s, token, false)
		until(t, s, "the failure", inState(view.HasFailed))
		if err := s.Do(t.Context(), token, session.Action{Verb: session.Skip, Step: "names"}); !errors.Is(err, session.ErrInvalid) {
			t.Errorf("a step that did not fail was skipped: %v", err)
		}
		must(t, s.Do(t.Context(), token, session.Action{Verb: session.Skip, Step: "light", Reason: "no lamp here"}))
		snapshot = until(t, s, "the end", inState(view.IsDone))
		if got := snapshot.Stages[1].Steps[0]; got.Status != view.StepSkip || !strings.Contains(got.Skip.String(), "no lamp here") {
			t.Errorf("the skipped step: %+v", got)
		}
		if r.w.calls["names"] != 1 {
			t.Errorf("the finished step was done %d times", r.w.calls["names"])
		}
	})
}

func TestWaiver(t *testing.T) {
	each(t, func(t *testing.T, r *rig, s session.Session) {
		token := take(t, s)
		r.fill(t, s, token)
		r.w.mu.Lock()
		r.w.run["light"] = func(_ context.Context, _ *backend.Node, report steps.Report) error {
			report.Check(check.Check{ID: "lamp", Title: message.T("Lamp"), Status: check.Fail, Observed: message.T("dark")})
			return nil
		}
		r.w.mu.Unlock()
		r.start(t, s, token, false)
		snapshot := until(t, s, "the failed check", inState(view.HasFailed))
		if snapshot.Problem.Code != "CHK-BAD" {
			t.Errorf("problem %+v", snapshot.Problem)
		}
		if err := s.Do(t.Context(), token, session.Action{Verb: session.Waive, Step: "light", Check: "lamp"}); !errors.Is(err, session.ErrInvalid) {
			t.Errorf("a waiver without a name: %v", err)
		}
		for _, reason := range []string{"two\nlines", "\x1b[2J", strings.Repeat("x", maxWaiver)} {
			a := session.Action{Verb: session.Waive, Step: "light", Check: "lamp", By: "Kim", Reason: reason}
			if err := s.Do(t.Context(), token, a); !errors.Is(err, session.ErrInvalid) {
				t.Errorf("a waiver with the reason %.20q: %v", reason, err)
			}
		}
		waive := session.Action{Verb: session.Waive, Step: "light", Check: "lamp", By: "Kim", Reason: "spare part is on its way"}
		must(t, s.Do(t.Context(), token, waive))
		must(t, s.Do(t.Context(), token, session.Action{Verb: session.Retry}))
		snapshot = until(t, s, "the end", inState(view.IsDone))
		if c := snapshot.Stages[1].Steps[0].Checks[0]; c.Status != check.Waived || c.Waiver.By != "Kim" {
			t.Errorf("the waived check: %+v", c)
		}
	})
}

// TestAReviewNamesItsChecks: a script reads the ID for a waiver out of the review, and none when nothing can be waived any more.
func TestAReviewNamesItsChecks(t *testing.T) {
	each(t, func(t *testing.T, r *rig, s session.Session) {
		token := take(t, s)
		until(t, s, "the form", inState(view.Collecting))
		v := reviewed(t, s, token).Review
		if len(v.Checks) != 1 || v.Checks[0].ID != "cable" || v.Checks[0].Status != check.Fail || !slices.Contains(message.English(v.Problems), v.Checks[0].Text.String()) {
			t.Errorf("checks of the review: %+v, problems %q", v.Checks, v.Problems)
		}
		must(t, s.Do(t.Context(), token, session.Action{Verb: session.Waive, Step: "names", Check: "cable", By: "Kim", Reason: "it comes tomorrow"}))
		if v := reviewed(t, s, token).Review; len(v.Checks) != 0 {
			t.Errorf("checks of the review after the waiver: %+v", v.Checks)
		}
	})
}

// TestWaivedIsSeenInTheReview: whoever starts the work reads what someone else took responsibility for.
func TestWaivedIsSeenInTheReview(t *testing.T) {
	each(t, func(t *testing.T, r *rig, s session.Session) {
		token := take(t, s)
		until(t, s, "the form", inState(view.Collecting))
		must(t, s.Do(t.Context(), token, session.Action{Verb: session.Waive, Step: "names", Check: "cable", By: "Kim", Reason: "it comes tomorrow"}))
		warnings := reviewed(t, s, token).Review.Warnings
		if want := "Cable: no link. Waived by Kim (it comes tomorrow)"; !slices.Contains(message.English(warnings), want) {
			t.Errorf("the review's warnings lack %q: %q", want, warnings)
		}
	})
}

func TestCancel(t *testing.T) {
	each(t, func(t *testing.T, r *rig, s session.Session) {
		r.w.run["light"] = func(ctx context.Context, _ *backend.Node, _ steps.Report) error {
			<-ctx.Done()
			return ctx.Err()
		}
		token := take(t, s)
		r.start(t, s, token, false)
		until(t, s, "the work", func(s *view.Snapshot) bool { return s.Current == "light" })
		must(t, s.Do(t.Context(), token, session.Action{Verb: session.Cancel}))
		if p := until(t, s, "the stop", inState(view.HasFailed)).Problem; p.Code != "ENG-HALT" {
			t.Errorf("problem %+v", p)
		}
		r.w.mu.Lock()
		delete(r.w.run, "light")
		r.w.mu.Unlock()
		must(t, s.Do(t.Context(), token, session.Action{Verb: session.Retry}))
		until(t, s, "the end", inState(view.IsDone))
	})
}

func TestPanicIsAFailure(t *testing.T) {
	each(t, func(t *testing.T, r *rig, s session.Session) {
		r.w.run["light"] = func(context.Context, *backend.Node, steps.Report) error { panic("boom") }
		token := take(t, s)
		r.start(t, s, token, false)
		if p := until(t, s, "the failure", inState(view.HasFailed)).Problem; p.Code != "ENG-BUG" || !strings.Contains(p.Detail.String(), "boom") {
			t.Errorf("problem %+v", p)
		}
	})
}

func TestHandOverEndsUndoAndLocks(t *testing.T) {
	each(t, func(t *testing.T, r *rig, s session.Session) {
		token := take(t, s)
		r.fill(t, s, token)
		must(t, s.Do(t.Context(), token, session.Action{Verb: session.Edit}))
		must(t, s.Set(t.Context(), token, "spec.pullSecret", `{"auths":{"r.example.com":{"auth":"dXNlcjpodW50ZXIyaHVudGVy"}}}`))
		r.start(t, s, token, false)
		until(t, s, "the end", inState(view.IsDone))
		must(t, s.Do(t.Context(), token, session.Action{Verb: session.HandOver}))
		snapshot := until(t, s, "the lock", func(s *view.Snapshot) bool { return s.Locked })
		if field(snapshot, "spec.pullSecret").SecretSet {
			t.Error("the secret is still there after the hand-over")
		}
		for _, left := range []string{"secrets/*", "saved/*/*"} {
			if files, _ := filepath.Glob(filepath.Join(r.dir, left)); len(files) > 0 {
				t.Errorf("left after the hand-over: %v", files)
			}
		}
		for _, verb := range []session.Verb{session.Undo, session.Edit, session.Waive} {
			if err := s.Do(t.Context(), token, session.Action{Verb: verb}); !errors.Is(err, session.ErrLocked) {
				t.Errorf("%s on a landed node: %v", verb, err)
			}
		}
		if err := s.Do(t.Context(), token, session.Action{Verb: session.Unlock, Value: "other"}); !errors.Is(err, session.ErrInvalid) {
			t.Errorf("unlocked with a wrong name: %v", err)
		}
		must(t, s.Do(t.Context(), token, session.Action{Verb: session.Unlock, Value: "node"}))
		if err := s.Do(t.Context(), token, session.Action{Verb: session.Undo}); !errors.Is(err, session.ErrState) {
			t.Errorf("undo after the hand-over: %v", err)
		}
		must(t, s.Do(t.Context(), token, session.Action{Verb: session.Edit}))
	})
}

func TestExport(t *testing.T) {
	each(t, func(t *testing.T, r *rig, s session.Session) {
		if _, err := s.Export(t.Context(), session.ReportText); !errors.Is(err, session.ErrNotFound) {
			t.Errorf("a report before there is one: %v", err)
		}
		token := take(t, s)
		const secret = "c2VjcmV0LXVzZXI6c2VjcmV0LXdvcmQ="
		must(t, s.Set(t.Context(), token, "spec.pullSecret", `{"auths":{"r.example.com":{"auth":"`+secret+`"}}}`))
		answers, err := s.Export(t.Context(), session.Answers)
		must(t, err)
		if !bytes.Contains(answers, []byte("<set>")) || bytes.Contains(answers, []byte(secret)) {
			t.Errorf("answers:\n%s", answers)
		}
		r.w.run["light"] = func(_ context.Context, _ *backend.Node, report steps.Report) error {
			report.Say(message.F("using %s and secret-word", secret))
			return broken()
		}
		r.start(t, s, token, false)
		until(t, s, "the failure", inState(view.HasFailed))
		inventory, err := s.Export(t.Context(), session.Inventory)
		must(t, err)
		if !bytes.HasPrefix(inventory, []byte("Machine ")) || !bytes.Contains(inventory, []byte("\nStorage ")) {
			t.Errorf("inventory:\n%s", inventory)
		}
		bundle, err := s.Export(t.Context(), session.Bundle)
		must(t, err)
		plain, err := gzip.NewReader(bytes.NewReader(bundle))
		must(t, err)
		text, err := io.ReadAll(plain)
		must(t, err)
		for _, want := range []string{"journal.jsonl", "snapshot.json", "BRKN", "inventory.txt", "inventory.tar.gz", "serial no."} {
			if !bytes.Contains(text, []byte(want)) {
				t.Errorf("the bundle lacks %s", want)
			}
		}
		for _, secret := range []string{secret, "secret-word"} {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("the bundle holds the secret %s", secret)
			}
		}
	})
}

func TestWarningsStopWhatNobodyWatches(t *testing.T) {
	each(t, func(t *testing.T, r *rig, s session.Session) {
		token := take(t, s)
		r.fill(t, s, token)
		must(t, s.Set(t.Context(), token, "spec.baseDomain", "shop.local")) // a name that only warns
		review := reviewed(t, s, token).Review
		if len(review.Warnings) == 0 {
			t.Fatalf("no warning in %+v", review)
		}
		start := session.Action{Verb: session.Start, Fingerprint: review.Fingerprint, Unattended: true}
		if err := s.Do(t.Context(), token, start); !errors.Is(err, session.ErrInvalid) {
			t.Errorf("started over warnings with nobody watching: %v", err)
		}
		must(t, s.Set(t.Context(), token, "spec.policy.keepGoingOnWarnings", "true"))
		start.Fingerprint = reviewed(t, s, token).Review.Fingerprint
		must(t, s.Do(t.Context(), token, start))
		until(t, s, "the end", inState(view.IsDone))
	})
}

func TestLogReadsLikeText(t *testing.T) {
	for record, want := range map[string]string{
		`{"time":"2026-11-21T02:59:18.8Z","level":"WARN","msg":"a call to the API is repeated","doing":"listing","n":2}`:                       "02:59:18 WARN  a call to the API is repeated, doing listing, n 2",
		`{"time":"2026-11-21T02:59:18.8Z","level":"INFO","msg":"layer","bytes":12582912,"of":["a","b"]}`:                                       "02:59:18 INFO  layer, bytes 12582912, of a, b",
		`{"time":"2026-11-21T02:59:18.8Z","level":"INFO","msg":"ran","argv":["systemctl","start","crio"],"took":"6ms"}`:                        "02:59:18 INFO  ran systemctl start crio, took 6ms",
		`{"time":"2026-11-21T02:59:18.8Z","level":"WARN","msg":"this command failed:","argv":["ip","link"],"took":"1s","err":"exit status 1"}`: "02:59:18 WARN  this command failed: ip link, took 1s: exit status 1",
		`{"time":"2026-11-21T02:59:18.8Z","level":"WARN","msg":`:                                                                               `{"time":"2026-11-21T02:59:18.8Z","level":"WARN","msg":`,
		"panic: not a record": "panic: not a record",
	} {
		if got := readable(record); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestFoundValueIsKnownToEveryConsole(t *testing.T) {
	each(t, func(t *testing.T, r *rig, s session.Session) {
		token := take(t, s)
		must(t, s.Load(t.Context(), token, map[string]string{"spec.clusterName": "loaded"}, "file x.yaml"))
		must(t, s.Set(t.Context(), token, "spec.clusterName", "typed"))
		snapshot, err := s.Snapshot(t.Context())
		must(t, err)
		if f := field(snapshot, "spec.clusterName"); f.Value != "typed" || f.Found != "loaded" || !f.Changed {
			t.Errorf("the way back to the loaded value: %+v", f)
		}
	})
}

package engine

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend"
	"touchdown/backend/host/hosttest"
	"touchdown/steps"
	"touchdown/steps/session"
	"touchdown/steps/view"
	"touchdown/test/race"
)

// previous opens a copy of a state folder that the previous release left.
func previous(t *testing.T, name string) *rig {
	t.Helper()
	r := &rig{w: newWorld(), host: hosttest.New(t), dir: filepath.Join(t.TempDir(), "state")}
	must(t, os.CopyFS(r.dir, os.DirFS(filepath.Join("testdata", "previous", name))))
	return r
}

// TestStateOfThePreviousRelease: the first journals have no checksums, and their folders no file of them; those of v2 have the answers'
// fingerprint where a text belongs. Work goes on, and from then on each record has a checksum.
func TestStateOfThePreviousRelease(t *testing.T) {
	for _, folder := range []string{"question", "question-v2"} {
		t.Run(folder, func(t *testing.T) { goesOnFromAQuestion(t, previous(t, folder)) })
	}
	t.Run("handed-over", func(t *testing.T) {
		r := previous(t, "handed-over")
		for range 2 {
			r.open(t)
			s := waitStarted(t, r.Engine)
			if s.State != view.IsDone || !s.Locked || len(s.Notices) > 0 || r.w.calls["light"] > 0 {
				t.Errorf("state %s, locked %t, notices %q", s.State, s.Locked, s.Notices)
			}
			must(t, r.Close())
		}
	})
}

// goesOnFromAQuestion answers the question at which the previous release stopped, and undoes what both did.
func goesOnFromAQuestion(t *testing.T, r *rig) {
	t.Helper()
	r.w.set("names", "shop.example.com")
	asking(r, 600)
	r.open(t)
	s := until(t, r, "the question, asked again", func(s *view.Snapshot) bool { return s.Question != nil && s.Question.Until.After(s.Now) })
	if len(s.Notices) > 0 || !field(s, "spec.pullSecret").SecretSet || s.Current != "light" {
		t.Errorf("notices %q, at %q", s.Notices, s.Current)
	}
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Reply, Question: "keep", Value: "yes"}))
	until(t, r, "the end", inState(view.IsDone))
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Undo}))
	until(t, r, "everything back", inState(view.IsUndone))
	if names := r.w.get("names"); names != "factory" {
		t.Errorf("undo brought back %q", names)
	}
	data, err := os.ReadFile(filepath.Join(r.dir, "journal.jsonl"))
	must(t, err)
	for line := range bytes.Lines(data) {
		if _, ok := unseal(line); !ok {
			t.Errorf("a line without its checksum: %s", line)
		}
	}
	r.reopen(t)
	if s := until(t, r, "everything back", inState(view.IsUndone)); len(s.Notices) > 0 {
		t.Errorf("notices %q", s.Notices)
	}
}

// TestFirstLine: the constant is the one that seal makes.
func TestFirstLine(t *testing.T) {
	if line := seal([]byte(`{"journal":"touchdown/v2"}`)); string(line) != journalFormat+"\n" {
		t.Errorf("the first line is %s", line)
	}
}

// atWork starts a job and stops the engine while the light step runs.
func atWork(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, newWorld())
	begun := make(chan struct{})
	r.w.run["light"] = func(ctx context.Context, _ *backend.Node, _ steps.Report) error {
		close(begun)
		<-ctx.Done()
		return ctx.Err()
	}
	token := take(t, r)
	must(t, r.Set(t.Context(), token, "spec.pullSecret", registryPull))
	r.start(t, r, token, true)
	<-begun
	must(t, r.Close())
	delete(r.w.run, "light")
	return r
}

// spoilt are the losses after which a job that was at work waits for a person.
var spoilt = map[string]func(t *testing.T, r *rig){
	"a record of the journal": func(t *testing.T, r *rig) {
		change(t, r, "journal.jsonl", func(b []byte) []byte { return bytes.Replace(b, []byte(`"done"`), []byte(`"dome"`), 1) })
	},
	"the first line of the journal": func(t *testing.T, r *rig) {
		change(t, r, "journal.jsonl", func(b []byte) []byte { return bytes.Replace(b, []byte("v2"), []byte("v3"), 1) })
	},
	"the end of the journal": func(t *testing.T, r *rig) {
		change(t, r, "journal.jsonl", func(b []byte) []byte { return b[:len(b)-30] })
	},
	"a record in the middle": func(t *testing.T, r *rig) {
		change(t, r, "journal.jsonl", func(b []byte) []byte {
			lines := bytes.SplitAfter(b, []byte("\n"))
			return bytes.Join(append(lines[:len(lines)-2:len(lines)-2], lines[len(lines)-3]), nil) // twice the same
		})
	},
	"the journal":   func(t *testing.T, r *rig) { must(t, os.Remove(filepath.Join(r.dir, "journal.jsonl"))) },
	"the checksums": func(t *testing.T, r *rig) { must(t, os.Remove(filepath.Join(r.dir, "sums.jsonl"))) },
	"the answers":   func(t *testing.T, r *rig) { must(t, os.Remove(filepath.Join(r.dir, "site.yaml"))) },
	"the key":       func(t *testing.T, r *rig) { must(t, os.Remove(filepath.Join(r.dir, "key"))) },
	"a secret":      func(t *testing.T, r *rig) { must(t, os.Remove(filepath.Join(r.dir, "secrets", "spec.pullSecret"))) },
	"a mark of the journal, far ahead": func(t *testing.T, r *rig) {
		mark := []byte(`{"journal":{"seq":1152921504606846975,"job":{"state":"working"}}}`)
		change(t, r, "sums.jsonl", func(b []byte) []byte { return append(b, seal(mark)...) })
	},
	"a mark of the journal, in no state": func(t *testing.T, r *rig) {
		change(t, r, "sums.jsonl", func(b []byte) []byte { return append(b, seal([]byte(`{"journal":{"seq":1,"job":{}}}`))...) })
	},
	"an original": func(t *testing.T, r *rig) { must(t, os.Remove(filepath.Join(r.dir, "saved", "names", "names"))) },
	"all but answers": func(t *testing.T, r *rig) {
		must(t, os.Remove(filepath.Join(r.dir, "sums.jsonl")))
		must(t, os.Truncate(filepath.Join(r.dir, "journal.jsonl"), 40))
	},
}

func change(t *testing.T, r *rig, name string, edit func([]byte) []byte) {
	t.Helper()
	path := filepath.Join(r.dir, name)
	data, err := os.ReadFile(path)
	must(t, err)
	edited := edit(bytes.Clone(data))
	if bytes.Equal(edited, data) {
		t.Fatal("nothing changed")
	}
	must(t, os.WriteFile(path, edited, 0o600))
}

// TestAfterALossAPersonDecides: whatever was lost of the records of a job at work, nothing is done until a person says how to
// go on, over restarts too; and each way on leads somewhere.
func TestAfterALossAPersonDecides(t *testing.T) {
	for what, spoil := range spoilt {
		for _, way := range []session.Verb{session.Retry, session.Edit, session.Undo} {
			t.Run(what+"/"+string(way), func(t *testing.T) {
				r := atWork(t)
				spoil(t, r)
				lit := r.w.calls["light"] + r.w.calls["names"]
				var s *view.Snapshot
				for range 2 {
					r.open(t)
					s = waitStarted(t, r.Engine)
					if s.State != view.HasFailed || s.Problem == nil || s.Problem.Code != view.RecordsLost || s.Problem.Detail.String() == "" || len(s.Notices) == 0 {
						t.Fatalf("state %s, problem %+v, notices %q", s.State, s.Problem, s.Notices)
					}
					if r.w.calls["light"]+r.w.calls["names"] != lit {
						t.Fatal("it changed the machine")
					}
					must(t, r.Close())
				}
				r.open(t)
				token := take(t, r)
				if s.Locked {
					if err := r.Do(t.Context(), token, session.Action{Verb: way}); !errors.Is(err, session.ErrLocked) {
						t.Errorf("on a node that may have landed: %v", err)
					}
					must(t, r.Do(t.Context(), token, session.Action{Verb: session.Unlock, Value: s.Hostname}))
				}
				err := r.Do(t.Context(), token, session.Action{Verb: way})
				if way == session.Retry && errors.Is(err, session.ErrState) { // the answers that were accepted are not known
					way, err = session.Edit, r.Do(t.Context(), token, session.Action{Verb: session.Edit})
				}
				must(t, err)
				switch way {
				case session.Edit:
					r.start(t, r, token, false)
					fallthrough
				case session.Retry:
					until(t, r, "the end", inState(view.IsDone))
					if r.w.get("light") != "on" || r.w.get("names") != "shop.example.com" {
						t.Errorf("the machine is %v", r.w.state)
					}
				case session.Undo:
					until(t, r, "everything back", inState(view.IsUndone))
					if what != "an original" && r.w.get("names") != "factory" {
						t.Errorf("the machine is %v", r.w.state)
					}
				}
			})
		}
	}
}

// TestLandedNodeStaysLocked: the end of the journal is lost, with it the hand-over.
func TestLandedNodeStaysLocked(t *testing.T) {
	r := newRig(t, newWorld())
	token := take(t, r)
	r.start(t, r, token, false)
	until(t, r, "the end", inState(view.IsDone))
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.HandOver}))
	must(t, r.Close())
	kept := keep(t, r.dir)
	whole := kept.files["journal.jsonl"]
	before := r.w.calls["light"]
	step := 97
	if testing.Short() || race.On {
		step = 331
	}
	for cut := 0; cut < len(whole)-1; cut += step {
		for _, sums := range []bool{true, false} {
			kept.restore(t)
			must(t, os.WriteFile(filepath.Join(r.dir, "journal.jsonl"), whole[:cut], 0o600))
			if !sums {
				must(t, os.Remove(filepath.Join(r.dir, "sums.jsonl")))
			}
			r.w.set("light", "off")
			before++
			for range 2 {
				r.open(t)
				s := waitStarted(t, r.Engine)
				if r.w.calls["light"] != before || sums && (!s.Locked || s.State != view.IsDone) || len(s.Notices) == 0 && cut > 0 {
					t.Errorf("cut at %d, checksums %t: state %s, locked %t, notices %q", cut, sums, s.State, s.Locked, s.Notices)
				}
				must(t, r.Close())
			}
		}
	}
}

// TestUnlockedNodeThatRestarts: whoever unlocked a landed node and went back to the answers can unlock it again.
func TestUnlockedNodeThatRestarts(t *testing.T) {
	r := newRig(t, newWorld())
	token := take(t, r)
	r.start(t, r, token, false)
	s := until(t, r, "the end", inState(view.IsDone))
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.HandOver}))
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Unlock, Value: s.Hostname}))
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Edit}))
	r.reopen(t)
	token = take(t, r)
	until(t, r, "the form, locked", func(s *view.Snapshot) bool { return s.State == view.Collecting && s.Locked })
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Unlock, Value: s.Hostname}))
	r.start(t, r, token, false)
	until(t, r, "the end", inState(view.IsDone))
}

// TestAnswersOfSomeoneElseAreNotContinued: a failure is retried with the answers that were accepted, or not at all.
func TestAnswersOfSomeoneElseAreNotContinued(t *testing.T) {
	r := atWork(t)
	change(t, r, "site.yaml", func(b []byte) []byte { return bytes.Replace(b, []byte("shop"), []byte("evil"), 1) })
	r.open(t)
	until(t, r, "the refusal", inState(view.HasFailed))
	token := take(t, r)
	for _, a := range []session.Action{{Verb: session.Retry}, {Verb: session.Skip, Step: "light"}} {
		if err := r.Do(t.Context(), token, a); !errors.Is(err, session.ErrState) || !strings.Contains(err.Error(), "accepted") {
			t.Errorf("%s: %v", a.Verb, err)
		}
	}
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Edit}))
}

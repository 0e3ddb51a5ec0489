package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"touchdown/backend"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// atSecondWork lands a node, hands it over, and stops the engine in the middle of a second job, which found other names there.
func atSecondWork(t *testing.T) *rig { return stoppedInSecond(t, "light") }

// stoppedInSecond is atSecondWork, in a step of that name.
func stoppedInSecond(t *testing.T, step string) *rig {
	t.Helper()
	r := newRig(t, newWorld())
	token := take(t, r)
	r.start(t, r, token, false)
	s := until(t, r, "the end", inState(view.IsDone))
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.HandOver}))
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Unlock, Value: s.Hostname}))
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Edit}))
	r.w.set("names", "moved")
	must(t, r.Set(t.Context(), token, "spec.pullSecret", registryPull))
	stopIn(t, r, token, step)
	return r
}

// stopIn starts a job and stops the engine in a step.
func stopIn(t *testing.T, r *rig, token, step string) {
	t.Helper()
	begun := make(chan struct{})
	r.w.run[step] = func(ctx context.Context, _ *backend.Node, _ steps.Report) error {
		close(begun)
		<-ctx.Done()
		return ctx.Err()
	}
	r.start(t, r, token, false)
	<-begun
	must(t, r.Close())
	delete(r.w.run, step)
}

// linesOf are the lines of a kept file.
func (k kept) linesOf(name string) [][]byte {
	return slices.Collect(bytes.Lines(k.files[name]))
}

// handedOverAt is the place of the record of the hand-over among the journal's lines.
func handedOverAt(t *testing.T, lines [][]byte) int {
	t.Helper()
	at := slices.IndexFunc(lines, func(line []byte) bool { return bytes.Contains(line, []byte(handOverText)) })
	if at < 0 {
		t.Fatal("it was not handed over")
	}
	return at
}

// undoneToTheLanding has a person undo the second job: what it found is back, and the node stands landed as before, over a restart too.
func undoneToTheLanding(t *testing.T, r *rig, s *view.Snapshot) {
	t.Helper()
	token := take(t, r)
	if s.Locked {
		must(t, r.Do(t.Context(), token, session.Action{Verb: session.Unlock, Value: s.Hostname}))
	}
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Undo}))
	until(t, r, "everything back", inState(view.IsUndone))
	r.reopen(t)
	s = until(t, r, "everything back", inState(view.IsUndone))
	if names := r.w.get("names"); names != "moved" || s.Life != view.LifeLanded || !s.HandedOver || !s.Locked {
		t.Errorf("the names are %q, life %s, handed over %t, locked %t", names, s.Life, s.HandedOver, s.Locked)
	}
}

// TestOriginalsOfTheSecondJobStay: the end of the journal is lost, so that it ends with the hand-over, or with a record before it or after it.
// What the second job saved is kept until a person decides, and undo puts it back.
func TestOriginalsOfTheSecondJobStay(t *testing.T) {
	r := atSecondWork(t)
	kept := keep(t, r.dir)
	lines := kept.linesOf("journal.jsonl")
	over := handedOverAt(t, lines)
	for end := over; end < len(lines)-1; end++ {
		for _, sums := range []bool{true, false} {
			if !sums && end > over { // a whole record behind it tells nothing of those that followed
				continue
			}
			t.Run(fmt.Sprintf("record %d of %d, checksums %t", end, len(lines)-1, sums), func(t *testing.T) {
				kept.restore(t)
				r.w.set("names", "shop.example.com")
				whole := bytes.Join(lines[:end+1], nil)
				must(t, os.WriteFile(filepath.Join(r.dir, "journal.jsonl"), whole, 0o600))
				if !sums { // and a record is damaged, which tells that the journal is not whole
					must(t, os.Remove(filepath.Join(r.dir, "sums.jsonl")))
					change(t, r, "journal.jsonl", func(b []byte) []byte { return bytes.Replace(b, []byte(`"done"`), []byte(`"dome"`), 1) })
				}
				var s *view.Snapshot
				for range 2 {
					r.open(t)
					s = waitStarted(t, r.Engine)
					if s.State != view.HasFailed || s.Problem == nil || s.Problem.Code != view.RecordsLost || sums && !field(s, "spec.pullSecret").SecretSet {
						t.Errorf("state %s, problem %+v, pull secret %t", s.State, s.Problem, field(s, "spec.pullSecret").SecretSet)
					}
					must(t, r.Close())
				}
				if saved, err := os.ReadFile(filepath.Join(r.dir, "saved", "names", "names")); err != nil || string(saved) != "moved" {
					t.Errorf("saved is %q: %v", saved, err)
				}
				r.open(t)
				undoneToTheLanding(t, r, s)
			})
		}
	}
}

// loseBeginning damages the record of a job's beginning, the one behind line after. Of the marks that were noted beside the journal only the
// durable ones have reached the disk.
func loseBeginning(t *testing.T, r *rig, after int) {
	t.Helper()
	kept := keep(t, r.dir)
	lines, begins := kept.linesOf("journal.jsonl"), after
	var began event.Event
	for began.Kind != event.Started {
		begins++
		must(t, json.Unmarshal(lines[begins], &began))
	}
	marks := kept.linesOf("sums.jsonl")
	newest := slices.IndexFunc(marks, func(line []byte) bool {
		return bytes.Contains(line, fmt.Appendf(nil, `"journal":{"seq":%d,`, began.Seq))
	})
	if newest < 0 {
		t.Fatal("the beginning was not noted")
	}
	marks = slices.DeleteFunc(marks[newest+1:], func(line []byte) bool { return bytes.Contains(line, []byte(`"journal":`)) })
	must(t, os.WriteFile(filepath.Join(r.dir, "sums.jsonl"), bytes.Join(append(kept.linesOf("sums.jsonl")[:newest+1], marks...), nil), 0o600))
	change(t, r, "journal.jsonl", func(b []byte) []byte {
		return bytes.Replace(b, lines[begins], append(bytes.Repeat([]byte("x"), len(lines[begins])-1), '\n'), 1)
	})
}

// TestSecondJobWithoutItsBeginning: its later records are whole. The node is not taken for one whose undo has ended.
func TestSecondJobWithoutItsBeginning(t *testing.T) {
	r := atSecondWork(t)
	loseBeginning(t, r, handedOverAt(t, keep(t, r.dir).linesOf("journal.jsonl")))
	r.open(t)
	s := waitStarted(t, r.Engine)
	if s.State != view.HasFailed || s.Problem == nil || s.Problem.Code != view.RecordsLost {
		t.Errorf("state %s, problem %+v", s.State, s.Problem)
	}
	undoneToTheLanding(t, r, s)
}

// TestALossBeforeAnythingWasSaved: a job has begun and saved nothing yet, the node's first or the one after a hand-over. The mark beside the
// journal alone tells that it began: the hand-over before it does not count as its own.
func TestALossBeforeAnythingWasSaved(t *testing.T) {
	for _, second := range []bool{false, true} {
		var r *rig
		after := 0
		if second {
			r = stoppedInSecond(t, "names")
			after = handedOverAt(t, keep(t, r.dir).linesOf("journal.jsonl"))
		} else {
			r = newRig(t, newWorld())
			stopIn(t, r, take(t, r), "names")
		}
		loseBeginning(t, r, after)
		r.open(t)
		s := waitStarted(t, r.Engine)
		if s.State != view.HasFailed || s.Problem == nil || s.Problem.Code != view.RecordsLost || s.HandedOver || s.Locked != second {
			t.Errorf("second job %t: state %s, problem %+v, handed over %t, locked %t", second, s.State, s.Problem, s.HandedOver, s.Locked)
		}
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"touchdown/backend/message"
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// endsBadly is an engine whose work comes to no good end: after its start it is in a state, with a problem or none.
type endsBadly struct {
	hostile
	mu     sync.Mutex
	now    view.State
	ends   view.State
	why    *event.Trouble
	loaded int
	did    []session.Verb
}

func (e *endsBadly) Snapshot(context.Context) (*view.Snapshot, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := &view.Snapshot{State: e.now, Review: &view.Review{Fingerprint: "one"}}
	if e.now == e.ends {
		s.Problem = e.why
	}
	return s, nil
}

func (e *endsBadly) Do(_ context.Context, _ string, a session.Action) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.did = append(e.did, a.Verb)
	if a.Verb == session.Start || a.Verb == session.Undo {
		e.now = e.ends
	}
	return nil
}

func (e *endsBadly) Load(context.Context, string, map[string]string, string) error {
	e.loaded++
	return nil
}

func (e *endsBadly) Events(_ context.Context, _ string, _ uint64, each func([]event.Event) error) error {
	return each([]event.Event{{Seq: 1, Kind: event.Said, Text: message.T("working")}})
}

// TestWorkThatFailsEndsInJSON: standard output of apply and undo with -o json ends with the error, also where a reboot is refused; in
// text the events have told it, and it is not told twice.
func TestWorkThatFailsEndsInJSON(t *testing.T) {
	broke := &event.Trouble{Code: "BRKN", Summary: message.T("It broke."), Fix: message.T("Fix it."), Detail: message.Data("a cause")}
	reboot := &event.Trouble{Code: view.RebootRefused, Summary: message.T("The node must reboot."), Fix: message.T("Allow it.")}
	apply := []string{"apply", "-f", "../../test/sites/store.yaml"}
	for _, c := range []struct {
		line []string
		ends view.State
		why  *event.Trouble
		code int
		want string
	}{
		{apply, view.HasFailed, broke, exitFailed, `{"error":{"code":"BRKN","summary":"It broke.","fix":"Fix it.","detail":"a cause"}}`},
		{apply, view.HasFailed, reboot, exitReboot, `{"error":{"code":"REB-REFD","summary":"The node must reboot.","fix":"Allow it."}}`},
		{apply, view.IsUndone, nil, exitFailed, fmt.Sprintf(`{"error":{"summary":"the work ended as %s"}}`, view.IsUndone)},
		{[]string{"undo"}, view.HasFailed, broke, exitFailed, `{"error":{"code":"BRKN","summary":"It broke.","fix":"Fix it.","detail":"a cause"}}`},
	} {
		var out bytes.Buffer
		code, said := served(t, &endsBadly{now: view.Collecting, ends: c.ends, why: c.why}, &out, append(slices.Clone(c.line), "-o", "json")...)
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if code != c.code || lines[len(lines)-1] != c.want || len(lines) < 2 || said == "" {
			t.Errorf("%q: exit %d, standard error %q, standard output\n%s", c.line, code, said, out.String())
		}
		for _, line := range lines {
			if !json.Valid([]byte(line)) {
				t.Errorf("%q: not JSON: %s", c.line, line)
			}
		}
		out.Reset()
		code, said = served(t, &endsBadly{now: view.Collecting, ends: c.ends, why: c.why}, &out, c.line...)
		if code != c.code || strings.Contains(said+out.String(), "error") || strings.Contains(said, "It broke.") {
			t.Errorf("%q in text: exit %d, standard error %q, standard output\n%s", c.line, code, said, out.String())
		}
	}
}

// TestADryRunLeavesAJob that is at work, has failed, or is done and not handed over: the answers with which it goes on or is undone stay, and so does
// its state.
func TestADryRunLeavesAJob(t *testing.T) {
	for state, says := range map[view.State]string{
		view.Working: "at work", view.InQuestion: "waits for an answer", view.UndoingAll: "at work", view.HasFailed: "has failed", view.IsDone: "not handed over",
	} {
		e := &endsBadly{now: state, ends: state}
		code, said := served(t, e, &bytes.Buffer{}, "apply", "-f", "../../test/sites/store.yaml", "--dry-run")
		if code != exitFailed || !strings.Contains(said, says) || len(e.did) > 0 || e.loaded > 0 {
			t.Errorf("%s: exit %d, did %q, loaded %d: %s", state, code, e.did, e.loaded, said)
		}
	}
}

// locked is an engine of a node that has landed and is locked.
type locked struct {
	*endsBadly
	handed bool
}

func (l locked) Snapshot(ctx context.Context) (*view.Snapshot, error) {
	s, err := l.endsBadly.Snapshot(ctx)
	s.Locked = !slices.Contains(l.did, session.Unlock)
	s.HandedOver = l.handed
	return s, err
}

func (l locked) Do(ctx context.Context, token string, a session.Action) error {
	if s, err := l.Snapshot(ctx); err != nil || s.Locked && (a.Verb != session.Unlock || a.Value != "sno") {
		return errors.Join(err, session.ErrLocked)
	}
	return l.endsBadly.Do(ctx, token, a)
}

// TestANodeThatHasLandedNeedsItsName: apply and undo change it with --node alone, and say so without.
func TestANodeThatHasLandedNeedsItsName(t *testing.T) {
	for verb, line := range map[session.Verb][]string{session.Start: {"apply", "-f", "../../test/sites/store.yaml"}, session.Undo: {"undo"}} {
		for name, may := range map[string]bool{"": false, "other": false, "sno": true} {
			e := &endsBadly{now: view.IsDone, ends: view.HasFailed}
			args := slices.Clone(line)
			if name != "" {
				args = append(args, "--node", name)
			}
			code, said := served(t, locked{e, false}, &bytes.Buffer{}, args...)
			if did := slices.Contains(e.did, verb); did != may || code != exitFailed || !may && !strings.Contains(said, "locked") {
				t.Errorf("%q: exit %d, did %q, told %q", args, code, e.did, said)
			}
		}
	}
}

// TestNothingIsUndoneAfterAHandOver, and nothing is unlocked for it. Nor does a dry run unlock a node.
func TestNothingIsUndoneAfterAHandOver(t *testing.T) {
	for says, line := range map[string][]string{"ended undo": {"undo", "--node", "sno"}, "a dry run": {"apply", "-f", "../../test/sites/store.yaml", "--dry-run", "--node", "sno"}} {
		e := &endsBadly{now: view.IsDone, ends: view.HasFailed}
		if code, said := served(t, locked{e, true}, &bytes.Buffer{}, line...); code == exitOK || len(e.did) > 0 || !strings.Contains(said, says) {
			t.Errorf("%q: exit %d, did %q, told %q", line, code, e.did, said)
		}
	}
}

// TestAReturnThatCannotBeUndoneInJSON has one error behind its events, with what to do.
func TestAReturnThatCannotBeUndoneInJSON(t *testing.T) {
	f := &factoryFlags{applyFlags: applyFlags{common: &common{}}}
	cmd := newRoot(hooks{})
	cmd.SetErr(&bytes.Buffer{})
	cmd.SetOut(&bytes.Buffer{})
	cmd.SetContext(t.Context())
	broke := &event.Trouble{Code: "BRKN", Summary: message.T("It broke."), Fix: message.T("Fix it.")}
	for _, asJSON := range []bool{false, true} {
		a := &applying{flags: &f.applyFlags, cmd: cmd, session: &endsBadly{now: view.IsDone, ends: view.HasFailed, why: broke}, json: asJSON}
		if is := failureOf(f.undoWhatCanBe(a)).Error; is.Code != "FAC-UNDN" || !strings.Contains(is.Detail, "It broke.") {
			t.Errorf("-o json %t: %+v", asJSON, is)
		}
	}
}

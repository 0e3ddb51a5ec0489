package engine

import (
	"context"
	"slices"
	"testing"

	"touchdown/backend"
	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// renamed is a step whose work stays, as that of the host name does: it has no undo.
type renamed struct {
	watched
	w *world
}

func (renamed) ID() string { return "renamed" }

func (s renamed) Plan(context.Context, *backend.Node) (steps.Plan, error) {
	if s.w.get("renamed") != "" {
		return steps.Plan{}, nil
	}
	return steps.Plan{Permanent: []message.Text{message.T("The node keeps its new name when everything else is undone.")}}, nil
}

func (s renamed) Run(context.Context, *backend.Node, steps.Report) error {
	s.w.set("renamed", "yes")
	return nil
}

// never is one whose turn does not come.
type never struct{ renamed }

func (never) ID() string { return "never" }

// TestWhatAnUndoLeavesIsTold: from the step's beginning on, over a second start whose plan has nothing of it, and after the undo; until a job
// begins that starts from there.
func TestWhatAnUndoLeavesIsTold(t *testing.T) {
	w := newWorld()
	stop := &setting{w: w, id: "stop", want: func() string { return "on" }}
	w.more = []steps.Stage{{ID: "more", Title: message.T("More"), Steps: []steps.Step{renamed{w: w}, stop, never{renamed{w: newWorld()}}}}}
	r := newRig(t, w)
	leaves := func(state view.State, want ...string) {
		t.Helper()
		for range 2 { // live, and by the journal
			if got := message.English(until(t, r, string(state), inState(state)).Permanent); !slices.Equal(got, want) {
				t.Errorf("%s: an undo leaves %q", state, got)
			}
			r.reopen(t)
		}
	}
	const name = "The node keeps its new name when everything else is undone."
	token := take(t, r)
	w.setFail("stop", broken())
	r.start(t, r, token, false)
	leaves(view.HasFailed, name)
	for range 2 {
		token = take(t, r)
		must(t, r.Do(t.Context(), token, session.Action{Verb: session.Edit}))
		leaves(view.Collecting, name)
		token = take(t, r)
		r.start(t, r, token, false)
		leaves(view.HasFailed, name)
	}
	token = take(t, r)
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Undo}))
	leaves(view.IsUndone, name)
	token = take(t, r)
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Edit}))
	leaves(view.Collecting)
	r.start(t, r, take(t, r), false)
	leaves(view.HasFailed)
}

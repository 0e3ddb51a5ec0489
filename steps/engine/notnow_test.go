package engine

import (
	"errors"
	"strings"
	"testing"

	"touchdown/backend/problem"
	"touchdown/steps/handout"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// TestAnActionThatDoesNotFit is told with how things are and what to do, and no word of a program stands in that.
func TestAnActionThatDoesNotFit(t *testing.T) {
	says := func(t *testing.T, err error, what, fix string) {
		t.Helper()
		p := problem.From(err)
		if !errors.Is(err, session.ErrState) || p.Code != "ENG-STAT" || !strings.Contains(p.Summary.String(), what) || !strings.Contains(p.Fix.String(), fix) {
			t.Errorf("%v\nfix: %s\nwant %q, %q", err, p.Fix, what, fix)
		}
	}
	each(t, func(t *testing.T, r *rig, s session.Session) {
		token := take(t, s)
		until(t, s, "the form", inState(view.Collecting))
		do := func(verb session.Verb) error { return s.Do(t.Context(), token, session.Action{Verb: verb}) }
		says(t, do(session.Undo), "has not started", "nothing to undo")
		_, err := s.Give(t.Context(), token, handout.Ask{Password: true})
		says(t, err, "has not started", "after the landing")
		says(t, do(session.Start), "has not started", "Make the review")
		says(t, do(session.Cancel), "has not started", "no work to stop")
		says(t, do(session.HandOver), "has not started", "when the work is done")
		says(t, do(session.Retry), "has not started", "Only a step that failed")
		r.start(t, s, token, false)
		until(t, s, "the end", inState(view.IsDone))
		says(t, s.Set(t.Context(), token, "spec.clusterName", "x"), "is done", "Go back to the answers")
		must(t, do(session.Edit))
		says(t, do(session.HandOver), "went back to the answers", "when the work is done")
	})
}

// TestEveryStateHasWords: no action in no state is told by the names of both alone.
func TestEveryStateHasWords(t *testing.T) {
	for _, state := range []view.State{
		view.Inspecting, view.Collecting, view.Reviewed, view.Working, view.InQuestion, view.HasFailed, view.UndoingAll, view.IsDone, view.IsUndone,
	} {
		for _, verb := range []session.Verb{
			"set", "load", handsOut, session.Act, session.Restore, session.Inspect, session.Review, session.Start, session.Edit, session.Reply, session.Hold,
			session.Retry, session.Skip, session.Waive, session.Withdraw, session.Undo, session.Cancel, session.HandOver, session.Unlock, session.Update, session.Reboot,
		} {
			for _, touched := range []bool{false, true} {
				if stands(state, touched).String() == "" || wayOn(verb, state).String() == "" {
					t.Errorf("%s while %s has no words", verb, state)
				}
			}
		}
	}
}

package engine

import (
	"testing"

	"touchdown/backend/problem"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// TestWhoWentBackToTheAnswersCanUndo: from the form and from the review, after a job that failed and after one that is done, over a restart
// of the engine too; the answers of a job that was put back offer nothing to undo.
func TestWhoWentBackToTheAnswersCanUndo(t *testing.T) {
	for name, ends := range map[string]view.State{"failed": view.HasFailed, "done": view.IsDone} {
		for page, from := range map[string]view.State{"form": view.Collecting, "review": view.Reviewed} {
			t.Run(name+" "+page, func(t *testing.T) {
				w := newWorld()
				r, before := newRig(t, w), w.get("names")
				token := take(t, r)
				if ends == view.HasFailed {
					w.setFail("light", broken())
				}
				r.start(t, r, token, false)
				until(t, r, "the end", inState(ends))
				if w.get("names") == before {
					t.Fatal("nothing was changed")
				}
				must(t, r.Do(t.Context(), token, session.Action{Verb: session.Edit}))
				r.reopen(t)
				token = take(t, r)
				if s := until(t, r, "the form", inState(view.Collecting)); !s.Touched {
					t.Error("it is not told that the work stands")
				}
				if from == view.Reviewed {
					reviewed(t, r, token)
				}
				must(t, r.Do(t.Context(), token, session.Action{Verb: session.Undo}))
				s := until(t, r, "everything back", inState(view.IsUndone))
				if s.Touched || s.Review != nil || w.get("names") != before {
					t.Errorf("touched: %t, review: %v, names: %q", s.Touched, s.Review, w.get("names"))
				}
				must(t, r.Do(t.Context(), token, session.Action{Verb: session.Edit}))
				if err := r.Do(t.Context(), token, session.Action{Verb: session.Undo}); problem.From(err).Code != "ENG-STAT" {
					t.Errorf("a second undo: %v", err)
				}
			})
		}
	}
}

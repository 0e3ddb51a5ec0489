package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"touchdown/backend"
	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// keeper is a step that asks for one thing.
type keeper struct{ field steps.Field }

func (*keeper) ID() string                                             { return "seal" }
func (*keeper) Title() message.Text                                    { return message.T("Seal") }
func (k *keeper) Fields() []steps.Field                                { return []steps.Field{k.field} }
func (*keeper) Run(context.Context, *backend.Node, steps.Report) error { return nil }

// TestAStepKeepsAValue: a value that is not part of the site config goes to the step that keeps it, and comes from there. What was reviewed
// with another one is reviewed again; restoring, and starting, leave it; what cannot be kept is refused.
func TestAStepKeepsAValue(t *testing.T) {
	kept, full := "", error(nil)
	field := steps.Field{
		Path: "seal.first", Kind: steps.Text, Label: message.T("First person"), Beside: true,
		Kept: func() string { return kept },
		Keep: func(value string) error {
			if full == nil {
				kept = value
			}
			return full
		},
	}
	world := func() *world {
		kept, full = "from the command line", nil
		w := newWorld()
		w.more, w.cable = []steps.Stage{{ID: "seal", Steps: []steps.Step{&keeper{field}}}}, true
		return w
	}
	eachIn(t, world, func(t *testing.T, r *rig, s session.Session) {
		token := take(t, s)
		asked := func() view.Field {
			t.Helper()
			now := until(t, s, "the form", inState(view.Collecting))
			fields := now.Stages[len(now.Stages)-1].Steps[0].Fields
			return fields[len(fields)-1]
		}
		if v := asked(); v.Value != "from the command line" || v.Changed {
			t.Errorf("%+v", v)
		}
		must(t, s.Set(t.Context(), token, field.Path, "Ben"))
		if v := asked(); kept != "Ben" || v.Value != "Ben" || v.Changed {
			t.Errorf("%q, %+v", kept, v)
		}
		must(t, s.Do(t.Context(), token, session.Action{Verb: session.Restore, Path: field.Path}))
		for _, bad := range []string{"two\x1b[2J", strings.Repeat("x", longestBeside+1)} {
			if err := s.Set(t.Context(), token, field.Path, bad); !errors.Is(err, session.ErrInvalid) || kept != "Ben" {
				t.Errorf("%.20q: %v, kept %q", bad, err, kept)
			}
		}
		before := r.fill(t, s, token).Review
		must(t, s.Set(t.Context(), token, field.Path, "Carl"))
		err := s.Do(t.Context(), token, session.Action{Verb: session.Start, Fingerprint: before.Fingerprint})
		if !errors.Is(err, session.ErrState) {
			t.Errorf("started with a name that nobody reviewed: %v", err)
		}
		full = errors.New("the disk is full")
		if err := s.Set(t.Context(), token, field.Path, "Dora"); err == nil || kept != "Carl" {
			t.Errorf("%v, kept %q", err, kept)
		}
		full = nil
		must(t, s.Do(t.Context(), token, session.Action{Verb: session.Start, Fingerprint: reviewed(t, s, token).Review.Fingerprint}))
		until(t, s, "the end", inState(view.IsDone))
		if kept != "Carl" {
			t.Errorf("kept %q", kept)
		}
	})
}

package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"touchdown/backend"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps"
	"touchdown/steps/session"
	"touchdown/steps/view"
	"touchdown/test/wait"
)

// lamp is a step that can show which port is meant. What it does ends when it is told to, or with its context.
type lamp struct {
	begun chan string
	end   chan error
	ended chan string // values whose act was ended from outside
}

func (*lamp) ID() string          { return "port" }
func (*lamp) Title() message.Text { return message.T("Choose the port") }
func (*lamp) Fields() []steps.Field {
	return []steps.Field{
		{Path: "spec.network.interface", Kind: steps.Pick, Label: message.T("Port"), Dynamic: true, Act: &steps.Act{Label: message.T("Blink"), Doing: message.T("blinks")}},
		{Path: "spec.network.mtu", Kind: steps.Text, Label: message.T("MTU"), Optional: true},
	}
}

func (*lamp) Inspect(_ context.Context, _ *backend.Node, report steps.Report) error {
	report.Offer("spec.network.interface", []steps.Choice{{Value: "one", Label: message.T("one")}, {Value: "two", Label: message.T("two")}})
	return nil
}

func (l *lamp) Act(ctx context.Context, _ *backend.Node, path, value string) error {
	l.begun <- path + " " + value
	select {
	case <-ctx.Done():
		l.ended <- value
		return nil
	case err := <-l.end:
		return err
	}
}

func (*lamp) Run(context.Context, *backend.Node, steps.Report) error { return nil }

// withLamp puts the lamp beside the steps of the other tests.
func withLamp(t *testing.T, test func(t *testing.T, r *rig, s session.Session, l *lamp)) {
	l := &lamp{begun: make(chan string, 4), end: make(chan error), ended: make(chan string, 4)}
	world := func() *world {
		w := newWorld()
		w.more = []steps.Stage{{ID: "network", Steps: []steps.Step{l}}}
		return w
	}
	eachIn(t, world, func(t *testing.T, r *rig, s session.Session) { test(t, r, s, l) })
}

func got(t *testing.T, from chan string, want string) {
	t.Helper()
	select {
	case what := <-from:
		if what != want {
			t.Errorf("got %q, want %q", what, want)
		}
	case <-time.After(wait.Timeout(10 * time.Second)):
		t.Fatalf("never came: %q", want)
	}
}

const portPath = "spec.network.interface"

func TestAct(t *testing.T) {
	withLamp(t, func(t *testing.T, _ *rig, s session.Session, l *lamp) {
		token := take(t, s)
		snapshot := until(t, s, "the choices", func(s *view.Snapshot) bool { return len(field(s, portPath).Choices) == 2 })
		if a := field(snapshot, portPath).Act; a == nil || a.Label.String() != "Blink" || field(snapshot, "spec.network.mtu").Act != nil {
			t.Errorf("what can be done for the fields: %+v", snapshot.Stages[2].Steps[0].Fields)
		}
		done := make(chan error, 2)
		act := func(value string) {
			done <- s.Do(t.Context(), token, session.Action{Verb: session.Act, Path: portPath, Value: value})
		}
		go act("one")
		got(t, l.begun, portPath+" one")
		must(t, s.Set(t.Context(), token, "spec.network.mtu", "1500")) // nothing waits for it
		go act("two")
		got(t, l.ended, "one") // one at a time
		must(t, <-done)
		got(t, l.begun, portPath+" two")
		l.end <- &problem.Problem{Code: "LED", Summary: message.T("No lamp."), Fix: message.T("Look at the label."), Err: errors.New("EOPNOTSUPP")}
		if p := problem.From(<-done); p.Code != "LED" || p.Summary.String() != "No lamp." || p.Fix.String() != "Look at the label." {
			t.Errorf("it cannot be done: %+v", p)
		}
		snapshot, err := s.Snapshot(t.Context())
		must(t, err)
		if v := field(snapshot, portPath); v.Value != "" || v.Changed {
			t.Errorf("trying a value set it: %+v", v)
		}
	})
}

func TestActRefused(t *testing.T) {
	withLamp(t, func(t *testing.T, r *rig, s session.Session, l *lamp) {
		token := take(t, s)
		until(t, s, "the choices", func(s *view.Snapshot) bool { return len(field(s, portPath).Choices) == 2 })
		for _, c := range []struct {
			token, path, value string
			want               error
		}{
			{"", portPath, "one", session.ErrNoControl},
			{token, portPath, "three", session.ErrInvalid},
			{token, portPath, "", session.ErrInvalid},
			{token, "spec.network.mtu", "1500", session.ErrNotFound},
			{token, "spec.clusterName", "shop", session.ErrNotFound},
		} {
			if err := s.Do(t.Context(), c.token, session.Action{Verb: session.Act, Path: c.path, Value: c.value}); !errors.Is(err, c.want) {
				t.Errorf("%s for %q: %v, want %v", c.path, c.value, err, c.want)
			}
		}
		r.w.run["light"] = func(ctx context.Context, _ *backend.Node, _ steps.Report) error {
			<-ctx.Done()
			return ctx.Err()
		}
		r.start(t, s, token, false)
		until(t, s, "the work", func(s *view.Snapshot) bool { return s.Current == "light" })
		if err := s.Do(t.Context(), token, session.Action{Verb: session.Act, Path: portPath, Value: "one"}); !errors.Is(err, session.ErrState) {
			t.Errorf("while the work goes on: %v", err)
		}
		if len(l.begun) > 0 {
			t.Errorf("what was refused was done: %q", <-l.begun)
		}
	})
}

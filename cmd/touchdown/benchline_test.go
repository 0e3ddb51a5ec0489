package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/backend/progress"
	"touchdown/steps"
)

// boltStep tightens a bolt, and asks before it does.
type boltStep struct{ err error }

func (*boltStep) ID() string          { return "bolt" }
func (*boltStep) Title() message.Text { return message.T("Tighten the bolt") }

func (s *boltStep) Run(ctx context.Context, _ *backend.Node, report steps.Report) error {
	report.Progress(progress.Progress{Waiting: message.T("the spanner")})
	report.Progress(progress.Progress{Waiting: message.T("the spanner"), Done: 1})
	answer, err := report.Ask(ctx, steps.Question{ID: "sure", Default: "yes", Choices: []steps.Choice{{Value: "no"}, {Value: "yes"}}})
	if err != nil || answer != "yes" {
		return errors.Join(err, errors.New("asked in vain"))
	}
	report.Check(check.Check{ID: "torque", Title: message.T("Torque"), Status: check.Warn, Observed: message.T("low"), Fix: message.T("Turn."), Evidence: []message.Text{message.Data("9 Nm")}})
	report.Say(message.F("The bolt is %s.", "tight"))
	return s.err
}

func (*boltStep) Undo(_ context.Context, _ *backend.Node, report steps.Report) error {
	report.Say(message.T("The bolt is loose."))
	return nil
}

// TestBenchLinePrints what a list does, and what is taken back; an error is the step's own.
func TestBenchLinePrints(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.DiscardHandler)
	bolt := &boltStep{}
	b := &benchLine{
		node: &backend.Node{Host: host.Open(host.Options{Root: t.TempDir(), NoPower: true, Log: log}), Now: time.Now, Log: log},
		dir:  "/state", out: &out,
	}
	list := []steps.Stage{{Steps: []steps.Step{bolt}}}
	if err := b.run(t.Context(), list); err != nil || !b.changed {
		t.Fatalf("changed %t, %v", b.changed, err)
	}
	if err := b.undo(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	const want = `Tighten the bolt
  ... the spanner
  warn  Torque: low
        try: Turn.
        9 Nm
  The bolt is tight.
Taking back: Tighten the bolt
  The bolt is loose.
`
	if out.String() != want {
		t.Errorf("it printed\n%s\ninstead of\n%s", out.String(), want)
	}
	bolt.err = errors.New("it broke")
	if err := b.run(t.Context(), list); !errors.Is(err, bolt.err) {
		t.Errorf("the error is %v", err)
	}
}

package engine

import (
	"context"
	"errors"
	"slices"
	"testing"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/progress"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

// newForeground is the list of every test for a command, with the events that it told.
func newForeground(t *testing.T, w *world) (f *Foreground, told func() []string) {
	t.Helper()
	var events []string
	f = &Foreground{
		Node: &backend.Node{Host: hosttest.New(t).Machine}, Stages: w.stages(site.New()), Dir: "/state/saved",
		Each: func(e event.Event) {
			if e.Kind != event.Changed {
				events = append(events, string(e.Kind)+" "+e.Step)
			}
		},
	}
	return f, func() []string {
		all := events
		events = nil
		return all
	}
}

// TestForeground: a command runs the list and takes it back as the engine does, with the originals on the machine.
func TestForeground(t *testing.T) {
	w := newWorld()
	f, told := newForeground(t, w)
	w.run["light"] = func(ctx context.Context, _ *backend.Node, report steps.Report) error {
		answer, err := report.Ask(ctx, steps.Question{
			ID: "sure", Default: "yes", Choices: []steps.Choice{{Value: "no"}, {Value: "yes"}},
		})
		if err != nil || answer != "yes" {
			t.Errorf("the answer is %q, %v", answer, err)
		}
		if err := report.Note("where", []byte("half")); err != nil {
			return err
		}
		report.Progress(progress.Progress{Waiting: message.T("one")})
		report.Progress(progress.Progress{Waiting: message.T("two")})
		report.Say(message.T("it is lit"))
		return nil
	}
	must(t, f.Run(t.Context()))
	want := []string{
		"started ", "started names", "progress names", "done names",
		"started light", "question light", "answered light", "progress light", "progress light", "say light", "progress light", "done light",
		"skipped never", "done ",
	}
	if got := told(); !slices.Equal(got, want) {
		t.Errorf("it told %q, not %q", got, want)
	}
	if original, err := f.Node.Host.ReadFile("/state/saved/light/light"); err != nil || string(original) != "off" {
		t.Errorf("the original is %q, %v", original, err)
	}
	if note, err := f.Node.Host.ReadFile("/state/saved/light/note-where"); err != nil || string(note) != "half" {
		t.Errorf("the note is %q, %v", note, err)
	}
	w.set("light", "blinking")
	must(t, f.Run(t.Context())) // again, from its beginning; the first original stays
	told()
	must(t, f.Undo(t.Context()))
	want = []string{"started ", "undoing never", "undone never", "undoing light", "undone light", "undoing names", "undone names", "undone "}
	if got := told(); !slices.Equal(got, want) || w.get("light") != "off" || w.get("names") != "factory" {
		t.Errorf("undo told %q, the light is %s", got, w.get("light"))
	}
	if f.Node.Host.Exists("/state/saved/light/light") || f.Node.Host.Exists("/state/saved/light/note-where") {
		t.Error("originals outlived the undo")
	}
}

// TestForegroundEnds: a command gets the very error of the step that failed, and goes no further.
func TestForegroundEnds(t *testing.T) {
	w := newWorld()
	f, told := newForeground(t, w)
	why := broken()
	w.fail["light"] = why
	if err := f.Run(t.Context()); !errors.Is(err, why) {
		t.Errorf("the command gets %v", err)
	}
	if got := told(); got[len(got)-1] != "failed light" {
		t.Errorf("it told %q", got)
	}
	w.fail["light"] = nil
	w.run["light"] = func(_ context.Context, _ *backend.Node, report steps.Report) error {
		report.Check(check.Check{ID: "bulb", Title: message.T("Bulb"), Status: check.Fail})
		return nil
	}
	if p, ok := errors.AsType[*problem.Problem](f.Run(t.Context())); !ok || p.Code != view.ChecksFailed {
		t.Errorf("a check that failed ends with %v", p)
	}
	ctx, stop := context.WithCancel(t.Context())
	w.run["light"] = func(context.Context, *backend.Node, steps.Report) error {
		stop()
		return ctx.Err()
	}
	if err := f.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a command that is stopped gets %v", err)
	}
	if err := f.Undo(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("an undo that is stopped gets %v", err)
	}
}

// TestForegroundRecovers: what an interrupted run of each step needs comes before the list and before its undo, which go on unless it is a reboot.
func TestForegroundRecovers(t *testing.T) {
	for _, end := range []error{nil, errors.New("refused"), &steps.Reboot{Reason: message.T("units")}} {
		w := newWorld()
		f, told := newForeground(t, w)
		began := 0
		f.Stages = append(f.Stages, steps.Stage{ID: "last", Steps: []steps.Step{fixing{func() error {
			if began++; began == 1 && len(told()) != 1 { // the list's own start
				t.Error("the list began before it")
			}
			return end
		}}}})
		_, reboots := errors.AsType[*steps.Reboot](end)
		for _, run := range []func(context.Context) error{f.Run, f.Undo} {
			err := run(t.Context())
			p, due := errors.AsType[*problem.Problem](err)
			if due != reboots || due && p.Code != "RBT-DUE" || !due && err != nil {
				t.Errorf("of %v: %v", end, err)
			}
		}
		if began != 2 {
			t.Errorf("it recovered %d times", began)
		}
	}
}

// TestOriginalsThatStay: an original that cannot be forgotten is told.
func TestOriginalsThatStay(t *testing.T) {
	w := newWorld()
	f, _ := newForeground(t, w)
	must(t, f.Node.Host.WriteFile("/state/saved/light/light/in-the-way", nil, 0o600))
	if err := (originalsFolder{f.Node.Host, f.Dir}).forget("light"); err == nil {
		t.Error("a folder that is not empty is forgotten")
	}
	if err := (originalsFolder{f.Node.Host, "/state/["}).forget("light"); err == nil {
		t.Error("originals that cannot be listed are forgotten")
	}
}

// TestAForegroundKeepsNoJournal: whatever its engine asks of one works, and keeps nothing.
func TestAForegroundKeepsNoJournal(t *testing.T) {
	f, _ := newForeground(t, newWorld())
	r := f.begin()
	defer r.e.close()
	if got := r.e.o.Stages(site.New()); len(got) != len(f.Stages) {
		t.Errorf("its engine has %d stages of %d", len(got), len(f.Stages))
	}
	must(t, errors.Join(nowhere{}.Truncate(0), nowhere{}.Sync(), nowhere{}.Close()))
}

type fixing struct{ recover func() error }

func (fixing) ID() string                                                   { return "fixing" }
func (fixing) Title() message.Text                                          { return message.T("fixing") }
func (fixing) Run(context.Context, *backend.Node, steps.Report) error       { return nil }
func (m fixing) Recover(context.Context, *backend.Node, steps.Report) error { return m.recover() }

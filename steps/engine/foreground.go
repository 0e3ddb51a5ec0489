package engine

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"path/filepath"

	"touchdown/backend"
	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

// Foreground runs a list while a command waits for it: nobody is asked, no journal is kept, and a list that was interrupted is
// run again from its beginning. Questions get their default.
type Foreground struct {
	Node   *backend.Node
	Stages []steps.Stage
	Dir    string            // of the saved originals, on the node: a folder below it for each step
	Each   func(event.Event) // called with each event
}

// Run runs the steps in order and returns why one of them failed.
func (f *Foreground) Run(ctx context.Context) error {
	r := f.begin()
	defer r.e.close()
	if err := r.recovered(ctx); err != nil {
		return err
	}
	r.all(ctx)
	return r.err
}

// recovered does for each step what an engine does where it was interrupted: without a journal any may have been.
func (r *run) recovered(ctx context.Context) error {
	for _, stage := range r.stages {
		for _, step := range stage.Steps {
			again, ok := step.(steps.Recoverer)
			if !ok {
				continue
			}
			report := &stepReport{e: r.e, step: step.ID()}
			err := guard(func() error { return again.Recover(ctx, r.e.o.Node, report) })
			if reboot, due := errors.AsType[*steps.Reboot](err); due {
				return &problem.Problem{
					Code: "RBT-DUE", Summary: message.T("The node must reboot before this goes on."),
					Fix: message.T("Reboot the node, then run the same command once more."), Err: message.Failed(reboot.Reason),
				}
			}
			if err != nil { // it is told, and the list shows what it means
				report.Say(message.Detail(err))
			}
		}
	}
	return nil
}

// Undo puts back what the steps changed, last in, first out. Any of them may have run.
func (f *Foreground) Undo(ctx context.Context) error {
	r := f.begin()
	defer r.e.close()
	if err := r.recovered(ctx); err != nil {
		return err
	}
	kept := originalsFolder{f.Node.Host, f.Dir}
	r.undone = kept.forget
	known := event.Job{State: string(view.UndoingAll), Undoing: true}
	for _, stage := range f.Stages {
		for _, step := range stage.Steps {
			known.Touched = append(known.Touched, step.ID())
		}
	}
	r.e.core.recorder.fold(event.Event{Kind: event.Lost, Job: &known})
	r.undoAll(ctx)
	return r.err
}

// begin starts a job of an engine whose journal and checksums are written nowhere.
func (f *Foreground) begin() *run {
	key := make([]byte, sha256.Size)
	rand.Read(key)
	folder := &stateFolder{key: key, sums: &sums{files: map[string]sum{}, log: &journal{file: nowhere{}}}}
	e := newEngine(Options{Node: f.Node, Stages: func(*site.Config) []steps.Stage { return f.Stages }}, folder, &journal{file: nowhere{}}, nil)
	e.originals, e.progressPause = originalsFolder{f.Node.Host, f.Dir}, 0
	e.core.recorder.each = f.Each
	cfg := &site.Config{} // without a policy: no watchdog, no roll-back
	e.core.draft.open(cfg)
	_ = e.emit(event.Event{Kind: event.Started, By: byNobody}) // nobody is asked; it is written nowhere, so it cannot fail
	return &run{e: e, cfg: cfg, stages: f.Stages}
}

// nowhere is a journal's file that keeps nothing.
type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (nowhere) Sync() error                 { return nil }
func (nowhere) Truncate(int64) error        { return nil }
func (nowhere) Close() error                { return nil }

// folder keeps the steps' originals and notes on a machine without an engine.
type originalsFolder struct {
	host *host.Machine
	dir  string
}

func (f originalsFolder) save(step, key string, original []byte) error {
	if f.host.Exists(f.file(step, key)) {
		return nil
	}
	return f.host.WriteFile(f.file(step, key), original, 0o600)
}

func (f originalsFolder) note(step, key string, value []byte) error {
	return f.host.WriteFile(f.file(step, noteName(key)), value, 0o600)
}

func (f originalsFolder) saved(step, key string) ([]byte, error) {
	return f.host.ReadFile(f.file(step, key))
}

// wipeSaved removes what the steps shared; each step's originals are forgotten once they are put back.
func (f originalsFolder) wipeSaved() error { return f.forget(jobNotes) }

// forget removes what a step saved, once it is put back.
func (f originalsFolder) forget(step string) error {
	files, err := f.host.Glob(f.file(step, "*"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := f.host.Remove(file); err != nil {
			return err
		}
	}
	return nil
}

func (f originalsFolder) file(step, key string) string { return filepath.Join(f.dir, step, key) }

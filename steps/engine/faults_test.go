package engine

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/view"
)

// faulty is a rig on which something goes wrong right after a record of the journal is on the disk.
type faulty struct {
	*rig
	full  bool                  // the journal's disk; under e.mu
	after func(e event.Event)   // called with e.mu held
	seen  func() map[string]int // records of the journal, by kind and step
}

// newFaulty starts an engine with the stages of every test and, last, a lamp whose undo may be told to do something.
func newFaulty(t *testing.T, undo func(context.Context, steps.Report) error) *faulty {
	t.Helper()
	w := newWorld()
	lamp := &setting{w: w, id: "lamp", want: func() string { return "on" }}
	w.state["lamp"] = "off"
	w.more = []steps.Stage{{ID: "more", Title: message.T("More"), Steps: []steps.Step{&undoing{lamp, undo}}}}
	f := &faulty{rig: &rig{w: w, host: hosttest.New(t), dir: filepath.Join(t.TempDir(), "state")}}
	f.seen = func() map[string]int {
		counts := map[string]int{}
		data, err := os.ReadFile(filepath.Join(f.dir, "journal.jsonl"))
		must(t, err)
		for _, e := range readJournal(data).events {
			counts[strings.TrimSpace(string(e.Kind)+" "+e.Step)]++
		}
		return counts
	}
	f.reopen(t)
	return f
}

// reopen starts the next engine, whose disk has room.
func (f *faulty) reopen(t *testing.T) {
	t.Helper()
	if f.Engine != nil {
		must(t, f.Close())
	}
	o := f.options()
	o.AfterEvent = func(e event.Event) {
		if f.after != nil {
			f.after(e)
		}
	}
	folder, err := openFolder(o.Dir)
	must(t, err)
	e, err := open(o, folder)
	must(t, err)
	f.full = false
	e.core.recorder.journal.file = fullDisk{e.core.recorder.journal.file, &f.full}
	f.Engine = e
	e.begin()
	t.Cleanup(func() { _ = e.Close() })
}

// at lets do happen, with e.mu held, right after the record of that kind and step.
func (f *faulty) at(kind event.Kind, step string, do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.after = func(e event.Event) {
		if e.Kind == kind && e.Step == step {
			do()
		}
	}
}

func (f *faulty) fill(t *testing.T, token string) *view.Snapshot {
	t.Helper()
	return f.rig.fill(t, f.Engine, token)
}

func (f *faulty) setFull(full bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.full = full
}

// undoing is a setting with an undo that does something else first, when it is told to.
type undoing struct {
	*setting
	first func(context.Context, steps.Report) error
}

func (s *undoing) Undo(ctx context.Context, node *backend.Node, report steps.Report) error {
	if s.first != nil {
		if err := s.first(ctx, report); err != nil {
			return err
		}
	}
	return s.setting.Undo(ctx, node, report)
}

// deepFolder makes a folder below dir whose path is too long for the kernel, so that it can be neither read nor emptied by
// its path: as a damaged disk would be, for root too.
func deepFolder(t *testing.T, dir string) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	must(t, err)
	name := strings.Repeat("d", 200)
	for range 25 {
		must(t, root.Mkdir(name, 0o700))
		next, err := root.OpenRoot(name)
		must(t, err)
		must(t, root.Close())
		root = next
	}
	must(t, root.Close())
}

// machineIs compares what the work is about.
func machineIs(t *testing.T, r *rig, names, light, lamp string) {
	t.Helper()
	if r.w.get("names") != names || r.w.get("light") != light || r.w.get("lamp") != lamp {
		t.Errorf("names %q, light %q, lamp %q; want %q, %q, %q", r.w.get("names"), r.w.get("light"), r.w.get("lamp"), names, light, lamp)
	}
}

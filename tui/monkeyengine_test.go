package tui

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"touchdown/backend/message"
	"touchdown/steps/engine"
	"touchdown/test/rounds"
)

// jungle is the engine of the monkey: the tests' fake, which changes its state at random as well.
type jungle struct {
	*fake
	m     *monkey
	asked cause // why the console that asks now does so
}

func newJungle(m *monkey) *jungle {
	j := &jungle{fake: newFake(), m: m}
	for i := range 40 {
		j.log = append(j.log, fmt.Sprintf("line %d %s", i, strings.Repeat("wide ", i)))
	}
	j.log = append(j.log, planted)
	return j
}

// monkeyScenes are what a job can look like.
var monkeyScenes = []func(*engine.Snapshot){
	func(*engine.Snapshot) {},
	func(*engine.Snapshot) {},
	func(s *engine.Snapshot) { s.State = engine.Inspecting; s.Stages[0].Steps[0].Inspecting = true },
	func(s *engine.Snapshot) { s.Stages = nil },
	func(s *engine.Snapshot) { s.Locked = true },
	func(s *engine.Snapshot) { s.State, s.Review = engine.Reviewed, reviewView() },
	func(s *engine.Snapshot) { s.State, s.Review = engine.Reviewed, reviewView() },
	func(s *engine.Snapshot) {
		s.State, s.Review = engine.Reviewed, reviewView()
		s.Review.Problems = []message.Text{message.T("No cable.")}
	},
	working, working,
	func(s *engine.Snapshot) { working(s); s.Life = engine.LifeMoving },
	func(s *engine.Snapshot) { working(s); s.Current = "" },
	asking, asking,
	func(s *engine.Snapshot) { asking(s); s.Question.ID = "other" },
	func(s *engine.Snapshot) { asking(s); s.Question = nil },
	failed, failed, lost,
	func(s *engine.Snapshot) { failed(s); s.Locked = true },
	func(s *engine.Snapshot) { failed(s); s.Problem = nil },
	finished, finished, finished, undoing, undone,
	func(s *engine.Snapshot) { finished(s); s.Locked = true },
	func(s *engine.Snapshot) { finished(s); s.List, s.Life = engine.ListFactory, "armed" },
	func(s *engine.Snapshot) { undone(s); s.List = engine.ListFactory },
}

// turn has the engine do something: most often the job comes to another state.
func (j *jungle) turn() {
	r := j.m.r
	switch r.IntN(20) {
	case 0:
		j.gone = !j.gone
	case 1:
		j.change(func(s *engine.Snapshot) { s.Pen = engine.PenView{} }) // the engine restarted
		j.pen = ""
	case 2:
		j.change(func(s *engine.Snapshot) { plant(reflect.ValueOf(s).Elem()) })
	case 3:
		j.change(func(s *engine.Snapshot) { s.Hostname = rounds.One(r, "", "localhost", "store0042.example.com") })
	default:
		j.gone = false
		n := r.IntN(len(monkeyScenes))
		j.change(func(s *engine.Snapshot) {
			pen, seq := s.Pen, s.Seq
			*s = collectingSnapshot()
			monkeyScenes[n](s)
			s.Pen, s.Seq, s.Now = pen, seq, j.m.now
			if s.Review != nil {
				s.Review.Fingerprint = rounds.One(r, "f00d", "beef")
			}
			if s.Question != nil {
				s.Question.Until = j.m.now.Add(95 * time.Second)
			}
		})
	}
	j.m.counts["engine"]++
	j.m.note("engine", fmt.Sprintf("%s, locked %t, %q, gone %t", j.snap.State, j.snap.Locked, j.snap.Hostname, j.gone))
	for _, s := range j.m.seats {
		s.run(func() tea.Msg { return eventMsg{s.app.link.look()} }, cause{})
	}
}

// Set is the fake's, and refuses what a field cannot hold.
func (j *jungle) Set(ctx context.Context, pen, path, value string) error {
	j.sets = nil
	if err := j.fake.Set(ctx, pen, path, value); err != nil || !strings.Contains(value, "!") {
		return err
	}
	return fmt.Errorf("%w: no exclamation marks", engine.ErrInvalid)
}

// Do judges what is asked for, and does it where the state allows it.
func (j *jungle) Do(ctx context.Context, pen string, a engine.Action) error {
	j.m.judge(j.asked, string(a.Verb), a)
	j.actions = nil
	select {
	case j.acting <- nil:
	default:
	}
	if !slices.Contains(monkeyAllowed[a.Verb], j.snap.State) || a.Verb == engine.Start && a.Fingerprint != j.snap.Review.Fingerprint {
		return engine.ErrState
	}
	if j.snap.Locked && !slices.Contains([]engine.Verb{engine.Unlock, engine.Reboot, engine.PowerOff, engine.Inspect}, a.Verb) {
		return engine.ErrLocked
	}
	if err := j.fake.Do(ctx, pen, a); err != nil {
		return err
	}
	j.m.counts["actions"]++
	switch a.Verb {
	case engine.HandOver:
		j.change(func(s *engine.Snapshot) { s.Locked = true })
	case engine.Unlock:
		j.change(func(s *engine.Snapshot) { s.Locked = false })
	case engine.Reboot:
		j.change(func(s *engine.Snapshot) { s.Pen = engine.PenView{} })
		j.pen = ""
	}
	return nil
}

// TakePen judges who takes control from another console.
func (j *jungle) TakePen(ctx context.Context, console string, force bool) (string, error) {
	if force {
		j.m.judge(j.asked, "take control", engine.Action{})
	}
	return j.fake.TakePen(ctx, console, force)
}

// Export judges who wants a support bundle, which takes the engine a while.
func (j *jungle) Export(ctx context.Context, what engine.Document) ([]byte, error) {
	if what == engine.Bundle {
		j.m.judge(j.asked, "bundle", engine.Action{})
	}
	return j.fake.Export(ctx, what)
}

// monkeyAllowed are the states in which the engine carries an action out.
var monkeyAllowed = func() map[engine.Verb][]engine.State {
	before := []engine.State{engine.Inspecting, engine.Collecting, engine.Reviewed}
	idle := append(before[:3:3], engine.HasFailed, engine.IsDone, engine.IsUndone)
	return map[engine.Verb][]engine.State{
		engine.Act: before, engine.Restore: before, engine.Inspect: before, engine.Review: before, engine.Start: {engine.Reviewed},
		engine.Edit: {engine.Reviewed, engine.HasFailed, engine.IsDone, engine.IsUndone}, engine.Reply: {engine.InQuestion},
		engine.Hold:  {engine.InQuestion},
		engine.Retry: {engine.HasFailed}, engine.Skip: {engine.HasFailed}, engine.Undo: {engine.HasFailed, engine.IsDone},
		engine.Cancel: {engine.Working, engine.InQuestion, engine.UndoingAll}, engine.HandOver: {engine.IsDone},
		engine.Waive: idle, engine.Unlock: idle, engine.Reboot: idle, engine.PowerOff: idle,
	}
}()

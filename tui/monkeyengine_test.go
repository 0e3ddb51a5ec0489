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
	"touchdown/steps/session"
	"touchdown/steps/view"
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
var monkeyScenes = []func(*view.Snapshot){
	func(*view.Snapshot) {},
	func(*view.Snapshot) {},
	func(s *view.Snapshot) { s.State = view.Inspecting; s.Stages[0].Steps[0].Inspecting = true },
	func(s *view.Snapshot) { s.Stages = nil },
	func(s *view.Snapshot) { s.Locked = true },
	func(s *view.Snapshot) { s.State, s.Review = view.Reviewed, reviewView() },
	func(s *view.Snapshot) { s.State, s.Review = view.Reviewed, reviewView() },
	func(s *view.Snapshot) {
		s.State, s.Review = view.Reviewed, reviewView()
		s.Review.Problems = []message.Text{message.T("No cable.")}
	},
	working, working,
	func(s *view.Snapshot) { working(s); s.Life = view.LifeMoving },
	func(s *view.Snapshot) { working(s); s.Current = "" },
	asking, asking,
	func(s *view.Snapshot) { asking(s); s.Question.ID = "other" },
	func(s *view.Snapshot) { asking(s); s.Question = nil },
	failed, failed, lost,
	func(s *view.Snapshot) { failed(s); s.Locked = true },
	func(s *view.Snapshot) { failed(s); s.Problem = nil },
	finished, finished, finished, undoing, undone,
	func(s *view.Snapshot) { finished(s); s.Locked = true },
	func(s *view.Snapshot) { finished(s); s.List, s.Life = view.ListFactory, "armed" },
	func(s *view.Snapshot) { undone(s); s.List = view.ListFactory },
}

// turn has the engine do something: most often the job comes to another state.
func (j *jungle) turn() {
	r := j.m.r
	switch r.IntN(20) {
	case 0:
		j.gone = !j.gone
	case 1:
		j.change(func(s *view.Snapshot) { s.Control = view.Control{} }) // the engine restarted
		j.token = ""
	case 2:
		j.change(func(s *view.Snapshot) { plant(reflect.ValueOf(s).Elem()) })
	case 3:
		j.change(func(s *view.Snapshot) { s.Hostname = rounds.One(r, "", "localhost", "store0042.example.com") })
	default:
		j.gone = false
		n := r.IntN(len(monkeyScenes))
		j.change(func(s *view.Snapshot) {
			token, seq := s.Control, s.Seq
			*s = collectingSnapshot()
			monkeyScenes[n](s)
			s.Control, s.Seq, s.Now = token, seq, j.m.now
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
func (j *jungle) Set(ctx context.Context, token, path, value string) error {
	j.sets = nil
	if err := j.fake.Set(ctx, token, path, value); err != nil || !strings.Contains(value, "!") {
		return err
	}
	return fmt.Errorf("%w: no exclamation marks", session.ErrInvalid)
}

// Do judges what is asked for, and does it where the state allows it.
func (j *jungle) Do(ctx context.Context, token string, a session.Action) error {
	j.m.judge(j.asked, string(a.Verb), a)
	j.actions = nil
	select {
	case j.acting <- nil:
	default:
	}
	if !slices.Contains(monkeyAllowed[a.Verb], j.snap.State) || a.Verb == session.Start && a.Fingerprint != j.snap.Review.Fingerprint {
		return session.ErrState
	}
	if j.snap.Locked && !slices.Contains([]session.Verb{session.Unlock, session.Reboot, session.PowerOff, session.Inspect}, a.Verb) {
		return session.ErrLocked
	}
	if err := j.fake.Do(ctx, token, a); err != nil {
		return err
	}
	j.m.counts["actions"]++
	switch a.Verb {
	case session.HandOver:
		j.change(func(s *view.Snapshot) { s.Locked = true })
	case session.Unlock:
		j.change(func(s *view.Snapshot) { s.Locked = false })
	case session.Reboot:
		j.change(func(s *view.Snapshot) { s.Control = view.Control{} })
		j.token = ""
	}
	return nil
}

// TakeControl judges who takes control from another console.
func (j *jungle) TakeControl(ctx context.Context, console string, force bool) (string, error) {
	if force {
		j.m.judge(j.asked, "take control", session.Action{})
	}
	return j.fake.TakeControl(ctx, console, force)
}

// Export judges who wants a support bundle, which takes the engine a while.
func (j *jungle) Export(ctx context.Context, what session.Document) ([]byte, error) {
	if what == session.Bundle {
		j.m.judge(j.asked, "bundle", session.Action{})
	}
	return j.fake.Export(ctx, what)
}

// monkeyAllowed are the states in which the engine carries an action out.
var monkeyAllowed = func() map[session.Verb][]view.State {
	before := []view.State{view.Inspecting, view.Collecting, view.Reviewed}
	idle := append(before[:3:3], view.HasFailed, view.IsDone, view.IsUndone)
	return map[session.Verb][]view.State{
		session.Act: before, session.Restore: before, session.Inspect: before, session.Review: before, session.Start: {view.Reviewed},
		session.Edit: {view.Reviewed, view.HasFailed, view.IsDone, view.IsUndone}, session.Reply: {view.InQuestion},
		session.Hold:  {view.InQuestion},
		session.Retry: {view.HasFailed}, session.Skip: {view.HasFailed}, session.Undo: {view.HasFailed, view.IsDone},
		session.Cancel: {view.Working, view.InQuestion, view.UndoingAll}, session.HandOver: {view.IsDone},
		session.Withdraw: before,
		session.Waive:    idle, session.Unlock: idle, session.Reboot: idle, session.PowerOff: idle,
	}
}()

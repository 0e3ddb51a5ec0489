package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/progress"
	"touchdown/steps"
	"touchdown/steps/session"
	"touchdown/steps/site"
	"touchdown/steps/view"
	"touchdown/test/wait"
)

// world is the machine of a test: what steps change and count.
type world struct {
	mu    sync.Mutex
	state map[string]string // what is on the "machine"
	calls map[string]int    // how often a step changed it
	fail  map[string]error  // a step that fails, until taken out
	hook  func(step string) // set by onRun
	look  func()            // set by onLook
	cable bool              // what the port's Inspect sees
	run   map[string]func(context.Context, *backend.Node, steps.Report) error
	lasts map[string]float64               // what their plans say, in seconds
	more  []steps.Stage                    // after those that every test has
	asks  func(*site.Config) []steps.Stage // the same, for steps that read the answers

	hangRecover chan struct{} // closed by a Recover that then waits for its end
}

func newWorld() *world {
	return &world{
		state: map[string]string{"names": "factory", "light": "off"}, calls: map[string]int{},
		fail: map[string]error{}, run: map[string]func(context.Context, *backend.Node, steps.Report) error{},
	}
}

func (w *world) get(key string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state[key]
}

func (w *world) set(key, value string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state[key] = value
	w.calls[key]++
}

func (w *world) setFail(step string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail[step] = err
}

// onRun has every Run call f first; nil ends it.
func (w *world) onRun(f func(step string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hook = f
}

// onLook has every Inspect call f first. An engine looks from the moment it is opened, before the test has it in hand: an f that
// asks the rig for its engine is set when that is open.
func (w *world) onLook(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.look = f
}

// setting is a step that gives one thing on the machine a value: observe, save, change, verify.
type setting struct {
	w    *world
	id   string
	want func() string
	skip string
}

func (s *setting) ID() string          { return s.id }
func (s *setting) Title() message.Text { return message.F("Set the %s", s.id) }
func (s *setting) Skip() message.Text  { return message.Data(s.skip) }
func (s *setting) Fields() []steps.Field {
	if s.id != "names" {
		return nil
	}
	return []steps.Field{
		{Path: "spec.clusterName", Kind: steps.Text, Label: message.T("Cluster name"), Check: site.ClusterName},
		{Path: "spec.baseDomain", Kind: steps.Text, Label: message.T("Base domain"), Check: site.BaseDomain},
		{Path: "spec.pullSecret", Kind: steps.Secret, Long: true, Label: message.T("Pull secret"), Optional: true, Check: site.PullSecret},
	}
}

func (s *setting) Inspect(_ context.Context, _ *backend.Node, report steps.Report) error {
	if s.id != "names" {
		return nil
	}
	s.w.mu.Lock()
	cable, look := s.w.cable, s.w.look
	s.w.mu.Unlock()
	if look != nil {
		look()
	}
	c := check.Check{ID: "cable", Title: message.T("Cable"), Status: check.Fail, Observed: message.T("no link"), Fix: message.T("Plug it in.")}
	if cable {
		c = check.Check{ID: "cable", Title: message.T("Cable"), Status: check.Pass, Observed: message.T("link")}
	}
	report.Check(c)
	report.Suggest("metadata.name", "store-1", "hostname")
	return nil
}

func (s *setting) Plan(context.Context, *backend.Node) (steps.Plan, error) {
	return steps.Plan{Changes: []steps.Change{{What: message.Data(s.id), Old: message.Data(s.w.get(s.id)), New: message.Data(s.want())}}, Seconds: s.w.lasts[s.id]}, nil
}

func (s *setting) Run(ctx context.Context, node *backend.Node, report steps.Report) error {
	s.w.mu.Lock()
	hook, run, err := s.w.hook, s.w.run[s.id], s.w.fail[s.id]
	s.w.mu.Unlock()
	if hook != nil {
		hook(s.id)
	}
	if run != nil {
		if err := run(ctx, node, report); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	if s.w.get(s.id) == s.want() {
		report.Say(message.F("%s is right already", s.id))
		return nil
	}
	if err := report.Save(s.id, []byte(s.w.get(s.id))); err != nil {
		return err
	}
	s.w.set(s.id, s.want())
	report.Progress(progress.Progress{Done: 1, Total: 1, Unit: "settings"})
	return nil
}

func (s *setting) Undo(_ context.Context, _ *backend.Node, report steps.Report) error {
	old, err := report.Saved(s.id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	s.w.set(s.id, string(old))
	return nil
}

var (
	_ steps.Inspector = (*setting)(nil)
	_ steps.Skipper   = (*setting)(nil)
	_ steps.Planner   = (*setting)(nil)
	_ steps.Undoer    = (*setting)(nil)
)

// stages is the wizard of the tests.
func (w *world) stages(cfg *site.Config) []steps.Stage {
	lit := func() string { return "on" }
	more := w.more
	if w.asks != nil {
		more = append(w.asks(cfg), more...)
	}
	return append([]steps.Stage{
		{ID: "entry", Title: message.T("Entry"), Steps: []steps.Step{&setting{w: w, id: "names", want: cfg.Domain}}},
		{ID: "work", Title: message.T("Work"), Steps: []steps.Step{
			&setting{w: w, id: "light", want: lit},
			&setting{w: w, id: "never", want: lit, skip: "not asked for"},
		}},
	}, more...)
}

// rig is an engine with its world and machine.
type rig struct {
	*Engine
	w    *world
	host *hosttest.Fake
	dir  string

	dry bool // its engines are those of dry runs

	ahead atomic.Int64 // how far the engine's clock was moved
	still atomic.Int64 // Unix nanoseconds at which it stands but for that; 0: it goes
}

func newRig(t *testing.T, w *world) *rig {
	t.Helper()
	r := &rig{w: w, host: hosttest.New(t), dir: filepath.Join(t.TempDir(), "state")}
	r.open(t)
	return r
}

// open starts an engine on the rig's folder; a test may Close it and open again.
func (r *rig) open(t *testing.T) {
	t.Helper()
	e, err := Open(r.options())
	if err != nil {
		t.Fatal(err)
	}
	r.Engine = e
	t.Cleanup(func() { _ = e.Close() }) // closing twice is harmless
}

// clock is the engine's.
func (r *rig) clock() time.Time {
	now := time.Now()
	if still := r.still.Load(); still != 0 {
		now = time.Unix(0, still)
	}
	return now.Add(time.Duration(r.ahead.Load()))
}

func (r *rig) options() Options {
	return Options{
		Dir: r.dir, Node: &backend.Node{Host: r.host.Machine, Now: r.clock}, Version: "test", Stages: r.w.stages, DryRun: r.dry,
	}
}

// until waits for a snapshot that satisfies ok.
func until(t *testing.T, s session.Session, what string, ok func(*view.Snapshot) bool) *view.Snapshot {
	t.Helper()
	var last *view.Snapshot
	wait.Soon(t, 10*time.Second, what, func() (err error) {
		if last, err = s.Snapshot(t.Context()); err != nil {
			return wait.Final(err)
		}
		if !ok(last) {
			return fmt.Errorf("state %s, current %q, problem %+v", last.State, last.Current, last.Problem)
		}
		return nil
	})
	return last
}

func inState(state view.State) func(*view.Snapshot) bool {
	return func(s *view.Snapshot) bool { return s.State == state }
}

// answer returns the current answer. It takes the lock, because looks at the machine change answers.
func (r *rig) answer(path string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	value, _ := r.core.draft.site.Get(path)
	return value
}

// must fails the test on an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// take takes control.
func take(t *testing.T, s session.Session) string {
	t.Helper()
	token, err := s.TakeControl(t.Context(), "tty1", false)
	must(t, err)
	return token
}

// fill types the answers, plugs the cable in and asks for the review.
func (r *rig) fill(t *testing.T, s session.Session, token string) *view.Snapshot {
	t.Helper()
	r.w.mu.Lock()
	r.w.cable = true
	r.w.mu.Unlock()
	until(t, s, "the form", func(s *view.Snapshot) bool { return s.State == view.Collecting || s.State == view.Reviewed })
	must(t, s.Do(t.Context(), token, session.Action{Verb: session.Inspect}))
	until(t, s, "the cable", func(s *view.Snapshot) bool {
		return len(s.Stages[0].Steps[0].Checks) > 0 && s.Stages[0].Steps[0].Checks[0].Status == check.Pass
	})
	must(t, s.Set(t.Context(), token, "spec.clusterName", "shop"))
	must(t, s.Set(t.Context(), token, "spec.baseDomain", "example.com"))
	return reviewed(t, s, token)
}

// reviewed asks for the review, again where a look at the machine found another answer meanwhile.
func reviewed(t *testing.T, s session.Session, token string) *view.Snapshot {
	t.Helper()
	var snapshot *view.Snapshot
	wait.Soon(t, 10*time.Second, "the review", func() (err error) {
		if err = s.Do(t.Context(), token, session.Action{Verb: session.Review}); err != nil {
			if !errors.Is(err, session.ErrState) {
				err = wait.Final(err)
			}
			return err
		}
		if snapshot, err = s.Snapshot(t.Context()); err != nil {
			return wait.Final(err)
		}
		if snapshot.State != view.Reviewed {
			return fmt.Errorf("state %s, problem %+v", snapshot.State, snapshot.Problem)
		}
		return nil
	})
	return snapshot
}

// start fills and starts.
func (r *rig) start(t *testing.T, s session.Session, token string, unattended bool) {
	t.Helper()
	snapshot := r.fill(t, s, token)
	must(t, s.Do(t.Context(), token, session.Action{Verb: session.Start, Fingerprint: snapshot.Review.Fingerprint, Unattended: unattended}))
}

// broken is a failure with a code.
func broken() error {
	return &problem.Problem{Code: "BRKN", Summary: message.T("It broke."), Fix: message.T("Fix it."), Err: errors.New("cause")}
}

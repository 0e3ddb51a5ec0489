package tui

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps"
	"touchdown/steps/chosen"
	"touchdown/steps/event"
	"touchdown/steps/handout"
	"touchdown/steps/idle"
	"touchdown/steps/offered"
	"touchdown/steps/records"
	"touchdown/steps/session"
	"touchdown/steps/site"
	"touchdown/steps/updates"
	"touchdown/steps/view"
)

var epoch = time.Date(2026, 11, 21, 2, 13, 7, 0, time.UTC)

// shownPassword is what the fake engine gives to the console that has control.
const shownPassword = "h7kqm-2xw9n-pd4rt-vz8cj"

// fake is an engine that plays a script. Its state changes as the real one's does, with no time in between.
type fake struct {
	mu      sync.Mutex
	snap    view.Snapshot
	secrets map[string]string
	tokens  int
	present int // calls of Present
	token   string
	gone    bool
	deaf    bool // never answers, not even when the asker gives up
	pauseAt int  // of looks: from that one on there is no answer; 0: never
	actions []session.Action
	sets    []string
	log     []string
	journal []string      // the node's
	stick   *chosen.Saved // what is told of a bundle on a stick; nil: there is no stick
	changed chan struct{}
	looks   int
	volumes []chosen.Volume // what is in its sockets
	fix     message.Text    // what to do about a file that is not taken; "" for choosing another one
	acting  chan error      // when an act ends, and how
	logIn   *handout.LogIn
	asked   []handout.Ask
	spell   func(*view.Snapshot) // changes the examples' words, for a console in another language

	refuses bool // it takes no text, and quotes it

	presents  int
	noNetwork bool
	shown     []string // what the console told of what it showed
}

func newFake() *fake {
	return &fake{
		snap: collectingSnapshot(), secrets: map[string]string{}, changed: make(chan struct{}), acting: make(chan error, 1),
		logIn: &handout.LogIn{
			Console: "https://console-openshift-console.apps.store0042.example.com", API: "https://api.store0042.example.com:6443",
			User: "kubeadmin", Password: shownPassword,
		},
		log: []string{"engine started", "inspecting hardware", "names: found store0042", "all quiet"},
	}
}

var _ session.Session = (*fake)(nil)

func (f *fake) Snapshot(ctx context.Context) (*view.Snapshot, error) {
	if f.deaf {
		select {}
	}
	f.mu.Lock()
	f.looks++
	if f.pauseAt > 0 && f.looks >= f.pauseAt {
		f.mu.Unlock()
		<-ctx.Done()
		return nil, fmt.Errorf("%w: %w", session.ErrNoEngine, ctx.Err())
	}
	defer f.mu.Unlock()
	if f.gone {
		return nil, fmt.Errorf("%w: connection refused", session.ErrNoEngine)
	}
	s := f.snap
	s.Stages = make([]view.Stage, len(f.snap.Stages))
	for i, stage := range f.snap.Stages {
		s.Stages[i] = stage
		s.Stages[i].Steps = make([]view.Step, len(stage.Steps))
		for j, step := range stage.Steps {
			step.Fields = append([]view.Field{}, step.Fields...)
			s.Stages[i].Steps[j] = step
		}
	}
	if f.spell != nil {
		f.spell(&s)
	}
	return &s, nil
}

// change edits the snapshot and wakes the event streams.
func (f *fake) change(edit func(*view.Snapshot)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	edit(&f.snap)
	f.wake()
}

// wake tells the event streams that the snapshot changed. Its callers hold mu, as those of take, may, takeFile and restore do.
func (f *fake) wake() {
	f.snap.Seq++
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *fake) Set(_ context.Context, token, path, value string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.may(token); err != nil {
		return err
	}
	f.sets = append(f.sets, path+"="+value)
	if f.refuses && value != "" {
		return fmt.Errorf("%w: %w", session.ErrInvalid, &site.Error{Msg: message.Data(fmt.Sprintf("%q is wrong", value))})
	}
	for i := range f.snap.Stages {
		for j := range f.snap.Stages[i].Steps {
			for k := range f.snap.Stages[i].Steps[j].Fields {
				switch v := &f.snap.Stages[i].Steps[j].Fields[k]; {
				case v.Repeats == path && path != "": // as the engine does: what was typed is typed again
					v.Visible, v.SecretSet = value != "", false
				case v.Path == path && v.Repeats != "" && value != "" && value != f.secrets[v.Repeats]:
					return fmt.Errorf("%w: %w", session.ErrInvalid, &site.Error{Msg: message.T("The two PINs differ. Type both again.")})
				case v.Path == path:
					f.take(v, value)
				}
			}
		}
	}
	f.wake()
	return nil
}

func (f *fake) take(v *view.Field, value string) {
	v.Source, v.Changed, v.Problem = "typed", true, message.Text{}
	if v.Kind == steps.Secret {
		v.SecretSet = value != ""
		f.secrets[v.Path] = value
		return
	}
	v.Value = value
	if value == "" {
		v.Value = v.Found // as the engine does: what was found stands until someone says otherwise
	}
	if strings.Contains(value, "_") {
		v.Problem = message.T("a name has letters, digits and hyphens; leave out the underscore")
	}
}

func (f *fake) may(token string) error {
	if f.gone {
		return fmt.Errorf("%w: connection refused", session.ErrNoEngine)
	}
	if f.snap.Idle != nil && f.snap.Idle.Left <= 0 {
		return idle.ErrLocked
	}
	if token == "" || token != f.token {
		return session.ErrNoControl
	}
	return nil
}

func (f *fake) Load(context.Context, string, map[string]string, string) error { return nil }

func (f *fake) Do(_ context.Context, token string, a session.Action) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.may(token); err != nil {
		return err
	}
	f.actions = append(f.actions, a)
	switch a.Verb {
	case session.Act:
		if a.Volume != "" {
			return f.takeFile(a)
		}
		if a.Value == "" {
			if f.volumes != nil { // else those of the example
				f.snap.Volumes = f.volumes
			}
			break
		}
		f.mu.Unlock()
		defer f.mu.Lock()
		return <-f.acting
	case session.Restore:
		f.restore(a)
	case session.Review:
		f.snap.State, f.snap.Review = view.Reviewed, reviewView()
	case session.Edit:
		f.snap.State, f.snap.Review = view.Collecting, nil
	case session.Start, session.Retry, session.Skip:
		working(&f.snap)
	case session.Reply:
		working(&f.snap)
	case session.Hold:
		held := *f.snap.Question
		held.Held, held.Until = true, epoch.Add(30*time.Minute)
		f.snap.Question = &held
	case session.Update:
		if a.Fingerprint == "" {
			f.snap.Update = nil
			break
		}
		o := *f.snap.Update
		o.State = updates.Reads
		f.snap.Update = &o
	case session.Undo:
		f.snap.State = view.UndoingAll
	case session.Cancel:
		failed(&f.snap)
	}
	f.wake()
	return nil
}

// takeFile takes a file as the engine does; one that ends with .key is none for the field.
func (f *fake) takeFile(a session.Action) error {
	if strings.HasSuffix(a.Value, ".key") {
		return &problem.Problem{Code: "MED-VAL", Summary: message.F("The file %s is not taken: it holds a private key.", a.Value), Fix: cmp.Or(f.fix, message.T("Choose the right file."))}
	}
	for i := range f.snap.Stages {
		for j, step := range f.snap.Stages[i].Steps {
			for k := range step.Fields {
				if v := &f.snap.Stages[i].Steps[j].Fields[k]; v.Path == a.Path {
					v.SecretSet, v.Changed, v.Source = v.Kind == steps.Secret, true, chosen.From("TOUCHDOWN", a.Value)
					if v.Kind != steps.Secret {
						v.Value = "from " + a.Value
					}
				}
			}
		}
	}
	f.snap.Volumes = nil
	f.wake()
	return nil
}

func (f *fake) restore(a session.Action) {
	for i := range f.snap.Stages {
		for j, step := range f.snap.Stages[i].Steps {
			for k := range step.Fields {
				if v := &f.snap.Stages[i].Steps[j].Fields[k]; v.Path == a.Path || step.ID == a.Step {
					v.Value, v.Source, v.Changed, v.Problem, v.SecretSet = v.Found, "", false, message.Text{}, false
				}
			}
		}
	}
}

func (f *fake) verbs() []session.Verb {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []session.Verb
	for _, a := range f.actions {
		out = append(out, a.Verb)
	}
	return out
}

// decided is what was asked for that decides anything; that any key stops a countdown does not.
func (f *fake) decided() []session.Verb {
	return slices.DeleteFunc(f.verbs(), func(v session.Verb) bool { return v == session.Hold })
}

func (f *fake) TakeControl(_ context.Context, console string, force bool) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gone {
		return "", fmt.Errorf("%w: connection refused", session.ErrNoEngine)
	}
	if f.snap.Control.Holder != "" && !force {
		return "", fmt.Errorf("%w: %s", session.ErrControlHeld, f.snap.Control.Holder)
	}
	f.tokens++
	f.token = fmt.Sprint("token", f.tokens)
	f.snap.Control = view.Control{Holder: console, Since: epoch}
	f.wake()
	return f.token, nil
}

// fakePIN is what the fake engine wants where a test has its snapshot tell of a lock.
const fakePIN = "739215"

func (f *fake) Present(_ context.Context, pin string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.present++
	lock := f.snap.Idle
	switch {
	case lock == nil:
		return nil
	case pin == "" && lock.Left <= 0:
		return idle.ErrLocked
	case pin != "" && lock.Wait > 0:
		return idle.ErrSoon
	case pin != "" && pin != fakePIN:
		f.snap.Idle = &idle.View{After: lock.After, Wait: 4}
		return idle.ErrWrong
	}
	f.presents++
	f.snap.Idle = &idle.View{After: lock.After, Left: lock.After}
	return nil
}

func (f *fake) ReleaseControl(_ context.Context, token string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if token == f.token {
		f.token, f.snap.Control = "", view.Control{}
	}
	return nil
}

func (f *fake) Events(ctx context.Context, _ string, _ uint64, each func([]event.Event) error) error {
	for {
		f.mu.Lock()
		if f.gone {
			f.mu.Unlock()
			return session.ErrNoEngine
		}
		wait, seq := f.changed, f.snap.Seq
		f.mu.Unlock()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-wait:
			if err := each([]event.Event{{Seq: seq + 1, Kind: event.Changed}}); err != nil {
				return err
			}
		}
	}
}

func (f *fake) Log(_ context.Context, ask records.Ask) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	from := f.log
	if ask.Node {
		from = f.journal
	}
	var lines []string
	for _, line := range from {
		if !ask.Grave || strings.Contains(line, "WARN") {
			lines = append(lines, line)
		}
	}
	return lines[max(0, len(lines)-ask.Lines):], nil
}

func (f *fake) Give(_ context.Context, token string, ask handout.Ask) (*handout.LogIn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.may(token); err != nil {
		return nil, err
	}
	f.asked = append(f.asked, ask)
	return f.logIn, nil
}

func (f *fake) Shown(_ context.Context, text string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gone {
		return session.ErrNoEngine
	}
	f.shown = append(f.shown, text)
	return nil
}

// anOffer is a bundle that the fake engine offers.
func anOffer() *offered.Bundle {
	return &offered.Bundle{
		URLs: []string{"http://198.51.100.10:8765/k7mq-2xwp-r9tc"}, Name: "touchdown-support.tar.gz", Bytes: 1_400_000,
		SHA256: strings.Repeat("0123456789abcdef", 4), Left: 600,
	}
}

func (f *fake) offerLocked(what session.Document) ([]byte, error) {
	if f.noNetwork {
		return nil, &problem.Problem{Code: "BND-ADDR", Summary: message.T("This node has no address in a network, so nobody could fetch the support bundle."), Fix: message.T("Plug in the network cable and try again, write the bundle to a stick, or print its summary on a serial line.")}
	}
	f.snap.Offer = anOffer()
	if what == offered.End {
		f.snap.Offer.Ended = offered.Withdrawn
	}
	f.wake()
	return json.Marshal(f.snap.Offer)
}

func (f *fake) Export(_ context.Context, what session.Document) ([]byte, error) {
	if what == session.ReportText {
		return []byte("HAND-OVER REPORT\n\nNode sno-042, serial 7XK2Q13\n\n" + strings.Repeat("PASS  a check\n", 30)), nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gone {
		return nil, fmt.Errorf("%w: connection refused", session.ErrNoEngine)
	}
	if what == offered.Begin || what == offered.End {
		return f.offerLocked(what)
	}
	if what == session.BundleOnStick && f.stick == nil {
		return nil, fmt.Errorf("%w: there is no stick", session.ErrNotFound)
	}
	if what == session.BundleOnStick {
		return json.Marshal(f.stick)
	}
	if what == session.InventoryPage {
		return os.ReadFile("../backend/hardware/testdata/server.page.json")
	}
	return []byte("bundle"), nil
}

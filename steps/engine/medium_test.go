package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"touchdown/backend"
	"touchdown/backend/envelope"
	"touchdown/backend/layout"
	"touchdown/backend/media"
	"touchdown/backend/media/volume"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/site"
	"touchdown/steps/view"
	"touchdown/test/stick"
	"touchdown/test/wait"
)

const onStick = "apiVersion: touchdown.dev/v1alpha1\nkind: SiteConfig\nspec:\n  clusterName: shop\n  baseDomain: stick.example\n  pullSecret: '{\"auths\":{\"r.example\":{\"auth\":\"c2VjcmV0OnNlY3JldA==\"}}}'\n"

// TestMain lets this program be the process that reads or writes a volume, as cmd/touchdown does. Such a process ends with syscall.Exit:
// with -race, os.Exit sleeps for one second (atexit_sleep_ms).
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == media.WriterCommand {
		if err := media.ServeWriter(os.Stdin, os.NewFile(3, "order"), os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		syscall.Exit(0)
	}
	if len(os.Args) == 2 && os.Args[1] == media.ReaderCommand {
		if err := media.Serve(os.Stdin, os.NewFile(3, "order"), os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		syscall.Exit(0)
	}
	os.Exit(m.Run())
}

// sealedRig is an engine on a node that the factory sealed: armed, with keys for media, whose sockets are watched.
type sealedRig struct {
	*rig
	key   envelope.SigningKey
	known media.Known

	volumes int // that are read of one disk; 0: as on a node
}

// offering is the step that offers the answers of media, without the rest of its page.
type offering struct{ steps.Step }

func (s *offering) Inspect(ctx context.Context, node *backend.Node, report steps.Report) error {
	return s.Step.(steps.Inspector).Inspect(ctx, node, report)
}

func (s *offering) Fields() (fields []steps.Field) {
	for _, f := range steps.FieldsOf(s.Step) {
		if f.Beside {
			fields = append(fields, f)
		}
	}
	return fields
}

func newSealedRig(t *testing.T) *sealedRig {
	t.Helper()
	w := newWorld()
	w.cable = true
	r := &sealedRig{rig: newRig(t, w)}
	must(t, r.Close())
	r.host.File("/sys/class/dmi/id/product_serial", "SN1\n")
	r.host.File(layout.Armed, "")
	var public []byte
	r.key, public = stick.Key(t)
	r.known = media.Of(r.host.Machine)
	_, err := r.known.Lay(public)
	must(t, err)
	return r
}

// open starts the engine with its eyes on the sockets.
func (r *sealedRig) open(t *testing.T) {
	t.Helper()
	o := r.options()
	o.Media = media.NewWatcher(r.host.Machine)
	o.Media.Every = time.Millisecond
	o.Media.Limits.Volumes = cmp.Or(r.volumes, o.Media.Limits.Volumes)
	r.w.asks = func(cfg *site.Config) []steps.Stage {
		return []steps.Stage{{ID: "network", Steps: []steps.Step{&offering{steps.Site(cfg, steps.Wiring{Media: o.Media})[1].Steps[0]}}}}
	}
	e, err := Open(o)
	must(t, err)
	r.Engine = e
	t.Cleanup(func() { _ = e.Close() })
}

// forNobody is a document that lands the node with nobody there.
func forNobody() envelope.Document {
	d := envelope.New("SN1")
	d.Unattended = true
	return d
}

// plug puts in a stick with a document, sealed for the node. The engine may have used it before this returns.
func (r *sealedRig) plug(t *testing.T, name string, d envelope.Document) {
	t.Helper()
	r.plugText(t, name, d, onStick)
}

// plugText is plug with a site config.
func (r *sealedRig) plugText(t *testing.T, name string, d envelope.Document, config string) {
	t.Helper()
	recipient, err := r.known.Recipient()
	must(t, err)
	lock, err := envelope.NodeLock(recipient)
	must(t, err)
	stick.Plug(t, r.host.Root(), name, stick.Image(t, d, config, lock, r.key))
}

// used tells whether the node noted that it used a document.
func (r *sealedRig) used(t *testing.T, id string) bool {
	t.Helper()
	return strings.Contains(r.host.Content(layout.Media+"/used"), id)
}

// look is one look at the sockets, beside those of the engine itself.
func (r *sealedRig) look(t *testing.T) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	r.o.Media.Watch(ctx, func() media.Want {
		r.mu.Lock()
		defer r.mu.Unlock()
		return media.Want{Sites: beforeLanding(r.core)}
	}, func() {
		(&lander{Engine: r.Engine, tried: map[string]try{}}).judgeMedia()
		end()
	})
}

func noticed(words ...string) func(*view.Snapshot) bool {
	return func(s *view.Snapshot) bool {
		all := strings.Join(message.English(s.Notices), "\n")
		if all != "" { // what is in one line there is told whole by the checks
			for _, c := range s.Stages[2].Steps[0].Checks {
				all += "\n" + c.Title.String() + ": " + c.Observed.String() + " " + c.Fix.String()
			}
		}
		for _, word := range words {
			if !strings.Contains(all, word) {
				return false
			}
		}
		return true
	}
}

// TestAStickLands: a stick that comes late starts the landing of a sealed node with no key pressed. It is noted as used before the
// first change, and fires once: not after a restart, not after the landing, not after the hand-over, however long it stays.
func TestAStickLands(t *testing.T) {
	r := newSealedRig(t)
	r.open(t)
	until(t, r, "the form", inState(view.Collecting))
	d := forNobody()
	r.w.onRun(func(step string) {
		if step == "names" && !r.used(t, d.ID) {
			t.Error("something changes, and the stick is not noted as used")
		}
	})
	r.plug(t, "sdb", d)
	s := until(t, r, "the landing", inState(view.IsDone))
	if got := r.w.get("names"); got != "shop.stick.example" {
		t.Errorf("landed as %s", got)
	}
	if s.Control.Holder != "" && s.Control.Holder != "stick SITECONFIG" {
		t.Errorf("control: %+v", s.Control)
	}
	journal, err := os.ReadFile(filepath.Join(r.dir, "journal.jsonl"))
	must(t, err)
	for _, what := range []string{`"by":"unattended"`, "started by medium SITECONFIG (sdb)", d.ID, r.key.ID()} {
		if !strings.Contains(string(journal), what) {
			t.Errorf("the journal does not tell %s", what)
		}
	}
	changed := r.w.calls["names"]
	again := func(when string) {
		must(t, r.Close())
		r.host.File(layout.Armed, "") // as if it were sealed still
		r.open(t)
		r.look(t)
		if found := r.o.Media.Found(); len(found) > 0 {
			t.Errorf("%s: the stick is read: %v", when, found[0].Name())
		}
		if s, err := r.Snapshot(t.Context()); err != nil || s.State != view.IsDone || r.w.calls["names"] != changed {
			t.Errorf("%s: %s, %v", when, s.State, err)
		}
	}
	again("after the landing")
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.HandOver}))
	again("after the hand-over")
}

// TestAStickPulledOut: what was read and judged is enough. The landing that it started goes on without the stick, and no other one starts a second.
func TestAStickPulledOut(t *testing.T) {
	r := newSealedRig(t)
	pulled := false
	r.w.onRun(func(string) {
		if !pulled {
			pulled = true
			stick.Pull(t, r.host.Root(), "sdb")
		}
	})
	r.open(t)
	d := forNobody()
	r.plug(t, "sdb", d)
	until(t, r, "the landing", inState(view.IsDone))
	if !pulled || !r.used(t, d.ID) || r.w.get("names") != "shop.stick.example" {
		t.Errorf("pulled out %t, %q", pulled, r.w.get("names"))
	}
	must(t, r.Close())
	r.host.File(layout.Armed, "")
	r.plug(t, "sdb", forNobody()) // another stick, for a node that has landed
	r.open(t)
	r.look(t)
	if s, err := r.Snapshot(t.Context()); err != nil || s.State != view.IsDone || r.w.calls["names"] != 1 {
		t.Errorf("%s, %v", s.State, err)
	}
}

// TestAStickPulledOutInTime: who pulls the stick while the answers are looked at keeps the landing from starting, and the stick stays unused.
func TestAStickPulledOutInTime(t *testing.T) {
	r := newSealedRig(t)
	pulled := make(chan struct{})
	var once sync.Once
	r.open(t)
	r.w.onLook(func() {
		if s, err := r.Snapshot(t.Context()); err == nil && strings.HasPrefix(s.Control.Holder, "stick ") {
			once.Do(func() {
				stick.Pull(t, r.host.Root(), "sdb")
				close(pulled)
			})
		}
	})
	d := forNobody()
	r.plug(t, "sdb", d)
	select {
	case <-pulled:
	case <-time.After(wait.Timeout(20 * time.Second)):
		t.Fatal("the answers were not checked")
	}
	until(t, r, "control to be free", func(s *view.Snapshot) bool { return s.Control.Holder == "" })
	if s, err := r.Snapshot(t.Context()); err != nil || s.Started != (time.Time{}) || r.used(t, d.ID) {
		t.Errorf("started %v, used %t, %v", s.Started, r.used(t, d.ID), err)
	}
}

// TestAUsedStickNeverFiresAgain: an engine that finds a stick noted as used waits for a person, whatever became of the start.
func TestAUsedStickNeverFiresAgain(t *testing.T) {
	r := newSealedRig(t)
	d := forNobody()
	r.plug(t, "sdb", d)
	w := media.NewWatcher(r.host.Machine)
	ctx, end := context.WithCancel(t.Context())
	w.Watch(ctx, func() media.Want { return media.Want{Sites: true} }, end)
	taken, err := w.Take(d.ID, "")
	must(t, err)
	must(t, taken.Use())
	r.open(t)
	s := until(t, r, "why nothing starts", noticed("SITECONFIG (sdb) was used on this node"))
	r.look(t)
	if s.State == view.Working || len(r.w.calls) > 0 {
		t.Errorf("%s, %v", s.State, r.w.calls)
	}
}

// TestWhatNeverStarts: each is told on every screen in a sentence, and nothing on the node changes.
func TestWhatNeverStarts(t *testing.T) {
	for name, test := range map[string]struct {
		begin func(*testing.T, *sealedRig)
		says  string
	}{
		"another machine": {func(t *testing.T, r *sealedRig) {
			d := forNobody()
			d.Serial = "SN2"
			r.plug(t, "sdb", d)
		}, "MED-SER"},
		"another key": {func(t *testing.T, r *sealedRig) {
			r.key, _ = stick.Key(t)
			r.plug(t, "sdb", forNobody())
		}, "MED-UKEY"},
		"a revoked key": {func(t *testing.T, r *sealedRig) {
			r.host.File(layout.Media+"/revoked", r.key.ID()+"\n")
			r.plug(t, "sdb", forNobody())
		}, "MED-RVKD"},
		"not signed": {func(t *testing.T, r *sealedRig) {
			stick.Plug(t, r.host.Root(), "sdb", stick.Volume(t, media.PlainFile, []byte(onStick)))
		}, "MED-NSGN"},
		"no record of what was used": {func(t *testing.T, r *sealedRig) {
			must(t, r.host.Remove(layout.Media+"/used"))
			r.plug(t, "sdb", forNobody())
		}, "MED-REC"},
		"another node's seal": {func(t *testing.T, r *sealedRig) {
			_, other, err := envelope.NewNodeKey()
			must(t, err)
			lock, err := envelope.NodeLock(other)
			must(t, err)
			stick.Plug(t, r.host.Root(), "sdb", stick.Image(t, forNobody(), onStick, lock, r.key))
		}, "MED-NKEY"},
		"no site config": {func(t *testing.T, r *sealedRig) {
			stick.Plug(t, r.host.Root(), "sdb", stick.Image(t, forNobody(), "- hello", envelope.Lock{}, r.key))
		}, "MED-CFG"},
		"two of them": {func(t *testing.T, r *sealedRig) {
			r.plug(t, "sdb", forNobody())
			r.plug(t, "sdc", forNobody())
		}, "another medium is there, too"},
		"one, and one for a person": {func(t *testing.T, r *sealedRig) {
			r.plug(t, "sdb", forNobody())
			r.plug(t, "sdc", envelope.New("SN1"))
		}, "another medium is there, too"},
		"not sealed": {func(t *testing.T, r *sealedRig) {
			must(t, r.host.Remove(layout.Armed))
			r.plug(t, "sdb", forNobody())
		}, "has not sealed this node"},
		"no valid answers": {func(t *testing.T, r *sealedRig) {
			stick.Plug(t, r.host.Root(), "sdb", stick.Image(t, forNobody(), strings.Replace(onStick, "shop", "Not a name", 1), envelope.Lock{}, r.key))
		}, "the review found what has to be fixed first"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newSealedRig(t)
			used := r.host.Content(layout.Media + "/used")
			test.begin(t, r)
			r.open(t)
			s := until(t, r, "why not", noticed(test.says))
			if test.says != "MED-REC" && r.host.Content(layout.Media+"/used") != used {
				t.Error("it is noted as used")
			}
			if !s.Started.IsZero() || len(r.w.calls) > 0 {
				t.Errorf("%s, %v", s.State, r.w.calls)
			}
		})
	}
}

// TestADryRunLandsByNoStick: the engine of a dry run leaves a stick alone that would land the node.
func TestADryRunLandsByNoStick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newSealedRig(t)
		r.dry = true
		r.open(t)
		until(t, r, "the form", inState(view.Collecting))
		d := forNobody()
		r.plug(t, "sdb", d)
		time.Sleep(time.Minute) // another engine has used it by then
		if s := until(t, r, "a state", func(*view.Snapshot) bool { return true }); s.State != view.Collecting || r.used(t, d.ID) {
			t.Fatalf("state %s", s.State)
		}
		must(t, r.Close())
	})
}

// TestAPersonComesFirst: what a person typed is never overwritten, by an unattended stick, and neither is one who has
// control. When nobody has, it starts.
func TestAPersonComesFirst(t *testing.T) {
	r := newSealedRig(t)
	r.open(t)
	token := take(t, r)
	r.plug(t, "sdb", forNobody())
	until(t, r, "who has control", noticed("tty1 has control"))
	must(t, r.Set(t.Context(), token, "spec.clusterName", "mine"))
	must(t, r.ReleaseControl(t.Context(), token))
	until(t, r, "that someone typed", noticed("answers were typed"))
	must(t, r.Close())
	r.open(t)
	s := until(t, r, "that someone typed, after a restart", noticed("answers were typed"))
	if v := r.answer("spec.clusterName"); v != "mine" || !s.Started.IsZero() {
		t.Errorf("%q, %s", v, s.State)
	}
	token = take(t, r)
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Restore, Step: "names"}))
	must(t, r.Set(t.Context(), token, "spec.clusterName", ""))
	must(t, r.ReleaseControl(t.Context(), token))
	until(t, r, "the landing", inState(view.IsDone))
}

// TestAProblemWaitsForAPerson: a review with a problem stops where the wizard would ask. The stick is not used up: a person goes on
// from there, or pulls it out and puts it in again.
func TestAProblemWaitsForAPerson(t *testing.T) {
	r := newSealedRig(t)
	r.w.cable = false
	r.open(t)
	d := forNobody()
	r.plug(t, "sdb", d)
	s := until(t, r, "the problem", noticed("the review found what has to be fixed first", "no link"))
	if s.State != view.Reviewed || s.Review == nil || len(s.Review.Problems) != 1 || len(r.w.calls) > 0 || r.used(t, d.ID) {
		t.Errorf("%s, %+v, %v", s.State, s.Review, r.w.calls)
	}
	until(t, r, "the question on the stick", noticed("Medium SITECONFIG (sdb) has question.txt"))
	if _, text := r.onDisk(t, "sdb", "question.txt"); !strings.Contains(text, "has not started") || !strings.Contains(text, "no link") || r.used(t, d.ID) {
		t.Errorf("%q, used %t", text, r.used(t, d.ID))
	}
	r.w.mu.Lock()
	r.w.cable = true
	r.w.mu.Unlock()
	until(t, r, "the wait for the next try", tells(again))
	must(t, r.ReleaseControl(t.Context(), take(t, r)))
	until(t, r, "that it does not wait", func(s *view.Snapshot) bool { return s.Starts == 0 && noticed("SITECONFIG (sdb) starts nothing")(s) })
	r.ahead.Add(int64(tryAgainTime)) // who was there decides: this stick does not land, another one does below
	stick.Pull(t, r.host.Root(), "sdb")
	until(t, r, "that it is gone", func(s *view.Snapshot) bool { return !noticed("SITECONFIG")(s) })
	d = forNobody()
	r.plug(t, "sdc", d)
	until(t, r, "the landing", inState(view.IsDone))
	if !r.used(t, d.ID) {
		t.Error("it is not noted as used")
	}
}

// TestAStickIsTriedAgain: what the review found may be over after a while. What the first try left in the draft is not a person's.
func TestAStickIsTriedAgain(t *testing.T) {
	r := newSealedRig(t)
	r.still.Store(time.Now().UnixNano())
	r.w.cable = false
	r.open(t)
	d := forNobody()
	r.plug(t, "sdb", d)
	until(t, r, "the wait", tells(again))
	r.w.mu.Lock()
	r.w.cable = true
	r.w.mu.Unlock()
	if s, err := r.Snapshot(t.Context()); err != nil || !s.Started.IsZero() || r.used(t, d.ID) {
		t.Fatalf("started %v, %v", s.Started, err)
	}
	r.ahead.Add(int64(tryAgainTime))
	until(t, r, "the landing", inState(view.IsDone))
	if !r.used(t, d.ID) || media.StartOf(r.host.Machine, d.ID).Halted() {
		t.Error("it is not noted as used, or noted as stopped")
	}
}

// TestAnswersAreTakenOver: a person takes the answers of a stick, with its passphrase, beside what they typed. Nothing is set before,
// the passphrase is kept nowhere, and the stick is used up.
func TestAnswersAreTakenOver(t *testing.T) {
	r := newSealedRig(t)
	lock, passphrase, err := envelope.GeneratedLock()
	must(t, err)
	d := envelope.New("")
	stick.Plug(t, r.host.Root(), "sdb", stick.Image(t, d, onStick, lock, r.key))
	r.open(t)
	offered := func(s *view.Snapshot) bool { return len(s.Stages[2].Steps[0].Fields) == 2 }
	s := until(t, r, "the stick", offered)
	volume := s.Stages[2].Steps[0].Fields[1]
	if len(volume.Choices) != 1 || !strings.Contains(volume.Choices[0].Label.String(), "SITECONFIG (sdb)") || volume.Act == nil {
		t.Fatalf("%+v", volume)
	}
	if r.answer("spec.clusterName") != "" {
		t.Error("an answer was set without asking")
	}
	token := take(t, r)
	must(t, r.Set(t.Context(), token, "spec.baseDomain", "typed.example"))
	takeOver := session.Action{Verb: session.Act, Path: volume.Path, Value: d.ID}
	must(t, r.Set(t.Context(), token, "medium.passphrase", "AAAAA-AAAAA-AAAAA-AAAAA"))
	if err := r.Do(t.Context(), token, takeOver); problem.From(err).Code != "MED-PASS" || strings.Contains(err.Error(), "AAAAA") {
		t.Errorf("a wrong passphrase: %v", err)
	}
	if r.answer("spec.clusterName") != "" || r.used(t, d.ID) {
		t.Error("a wrong passphrase did something")
	}
	must(t, r.Set(t.Context(), token, "medium.passphrase", passphrase))
	must(t, r.Do(t.Context(), token, takeOver))
	s = until(t, r, "the answers", func(s *view.Snapshot) bool { return s.Stages[0].Steps[0].Fields[0].Value == "shop" })
	name, domain, secret := s.Stages[0].Steps[0].Fields[0], s.Stages[0].Steps[0].Fields[1], s.Stages[0].Steps[0].Fields[2]
	if name.Source != "stick SITECONFIG" || name.Changed || domain.Value != "typed.example" || domain.Found != "stick.example" || !secret.SecretSet {
		t.Errorf("%+v\n%+v\n%+v", name, domain, secret)
	}
	if !r.used(t, d.ID) {
		t.Error("it is not noted as used")
	}
	if err := r.Do(t.Context(), token, takeOver); err == nil {
		t.Error("it was taken twice")
	}
	if got := r.mask.Mask("c2VjcmV0OnNlY3JldA=="); strings.Contains(got, "c2Vj") {
		t.Error("a secret of the stick is not masked")
	}
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Restore, Path: "spec.baseDomain"}))
	until(t, r, "the stick's answer", func(s *view.Snapshot) bool { return s.Stages[0].Steps[0].Fields[1].Value == "stick.example" })
	must(t, r.Close())
	must(t, filepath.WalkDir(r.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), passphrase) {
			t.Errorf("%s has the passphrase", path)
		}
		return err
	}))
	r.open(t)
	s = until(t, r, "the answers after a restart", func(s *view.Snapshot) bool { return s.Stages[0].Steps[0].Fields[0].Value == "shop" })
	if s.Stages[0].Steps[0].Fields[0].Source != "stick SITECONFIG" {
		t.Errorf("%+v", s.Stages[0].Steps[0].Fields[0])
	}
	until(t, r, "that it was used", noticed("SITECONFIG (sdb) was used on this node"))
}

// bare is a step with fields and nothing else.
type bare struct {
	steps.Step
	fields []steps.Field
}

func (*bare) ID() string              { return "asking" }
func (a *bare) Fields() []steps.Field { return a.fields }

// TestAMediumIsNoAnswer: a stick that comes or goes does not change what a step has looked at.
func TestAMediumIsNoAnswer(t *testing.T) {
	name := steps.Field{Path: "spec.clusterName"}
	without := hmacKey("k").stepInputs(site.New(), &bare{fields: []steps.Field{name}})
	if with := hmacKey("k").stepInputs(site.New(), &bare{fields: []steps.Field{{Path: "medium.volume", Beside: true}, name}}); with != without {
		t.Errorf("%s, %s", with, without)
	}
}

// TestAnswersThatCannotBeNoted: where the use of a stick cannot be noted, none of its answers is taken.
func TestAnswersThatCannotBeNoted(t *testing.T) {
	r := newSealedRig(t)
	d := envelope.New("SN1")
	r.plug(t, "sdb", d)
	r.open(t)
	until(t, r, "the stick", func(s *view.Snapshot) bool { return len(s.Stages[2].Steps[0].Fields) == 2 })
	taken, err := r.o.Media.Take(d.ID, "")
	must(t, err)
	must(t, r.host.Remove(layout.Media+"/used"))
	values, err := answersOf(taken)
	must(t, err)
	r.mu.Lock()
	err = r.core.draft.fill(values, taken)
	name := r.core.draft.site.Spec.ClusterName
	r.mu.Unlock()
	if problem.From(err).Code != "MED-REC" || name != "" {
		t.Errorf("%v, %q", err, name)
	}
	kept, _, err := r.folder.loadDraft()
	if err != nil || kept.Spec.ClusterName != "" {
		t.Errorf("%v, %q", err, kept.Spec.ClusterName)
	}
}

// TestAnExchangedMedium: who takes the answers of a medium that was exchanged since it was shown gets a problem, not those of the
// other one.
func TestAnExchangedMedium(t *testing.T) {
	r := newSealedRig(t)
	r.open(t)
	listed := func(d envelope.Document) func(*view.Snapshot) bool {
		return func(s *view.Snapshot) bool {
			fields := s.Stages[2].Steps[0].Fields
			return len(fields) == 2 && len(fields[1].Choices) == 1 && fields[1].Choices[0].Value == d.ID
		}
	}
	shown, other := envelope.New("SN1"), envelope.New("SN1")
	r.plug(t, "sdb", shown)
	until(t, r, "the stick", listed(shown))
	stick.Pull(t, r.host.Root(), "sdb")
	until(t, r, "an empty socket", func(s *view.Snapshot) bool { return len(s.Stages[2].Steps[0].Fields) == 0 }) // a folder has no number for each disk that comes
	r.plug(t, "sdb", other)
	until(t, r, "the other stick", listed(other))
	token := take(t, r)
	for _, value := range []string{shown.ID, "sdb", ""} {
		if err := r.Do(t.Context(), token, session.Action{Verb: session.Act, Path: "medium.volume", Value: value}); problem.From(err).Code != "MED-AWAY" {
			t.Errorf("%q: %v", value, err)
		}
	}
	if r.answer("spec.clusterName") != "" || r.used(t, other.ID) {
		t.Error("the other document's answers were taken")
	}
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Act, Path: "medium.volume", Value: other.ID}))
	if r.answer("spec.clusterName") != "shop" {
		t.Error("what is shown is not taken")
	}
}

// TestAPassphraseIsForgotten: with its medium, with control, and when the work starts.
func TestAPassphraseIsForgotten(t *testing.T) {
	r := newSealedRig(t)
	lock, _, err := envelope.GeneratedLock()
	must(t, err)
	plug := func(name string) {
		t.Helper()
		stick.Plug(t, r.host.Root(), name, stick.Image(t, envelope.New(""), onStick, lock, r.key))
	}
	r.open(t)
	plug("sdb")
	typed := func(is bool) func(*view.Snapshot) bool {
		return func(s *view.Snapshot) bool {
			fields := s.Stages[2].Steps[0].Fields
			return len(fields) == 2 && fields[0].Visible && fields[0].SecretSet == is
		}
	}
	kept := func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.core.draft.beside) > 0
	}
	typeIt := func(token string) {
		t.Helper()
		must(t, r.Set(t.Context(), token, "medium.passphrase", "AAAAA-AAAAA-AAAAA-AAAAA"))
		until(t, r, "the passphrase", typed(true))
	}
	until(t, r, "the stick", typed(false))
	token := take(t, r)
	typeIt(token)
	stick.Pull(t, r.host.Root(), "sdb")
	plug("sdc")
	until(t, r, "another stick without a passphrase", typed(false))

	typeIt(token)
	must(t, r.ReleaseControl(t.Context(), token))
	if kept() {
		t.Error("it outlives the release of control")
	}
	token = take(t, r)
	typeIt(token)
	token, err = r.TakeControl(t.Context(), "ttyS0", true)
	must(t, err)
	if kept() {
		t.Error("the next console has it")
	}

	typeIt(token)
	must(t, r.Load(t.Context(), token, map[string]string{"spec.clusterName": "store1", "spec.baseDomain": "example.com"}, "file site.yaml"))
	s := reviewed(t, r, token)
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Start, Fingerprint: s.Review.Fingerprint}))
	if kept() {
		t.Error("it outlives the start")
	}
	until(t, r, "the landing", inState(view.IsDone))
}

// onDisk are the names of what lies on a medium, and the content of a file of it.
func (r *sealedRig) onDisk(t *testing.T, name, file string) (names []string, text string) {
	t.Helper()
	f, err := os.Open(filepath.Join(r.host.Root(), "dev", name))
	must(t, err)
	defer f.Close()
	info, err := f.Stat()
	must(t, err)
	content, err := volume.Read(f, info.Size(), func(path string) bool { return path == file })
	must(t, err)
	for _, e := range content.Entries {
		names = append(names, e.Path)
		text += string(e.Data)
	}
	return names, text
}

// TestTheReportIsLeft: on the medium that brought the site config, once, also after a restart and when it comes back later; never on
// another one.
func TestTheReportIsLeft(t *testing.T) {
	r := newSealedRig(t)
	r.w.onRun(func(string) {
		_ = os.WriteFile(filepath.Join(r.dir, "report.txt"), []byte("it has landed"), 0o600)
	})
	r.open(t)
	d := forNobody()
	r.plug(t, "sdb", d)
	said := func(s *view.Snapshot) bool {
		return strings.Contains(strings.Join(message.English(s.Notices), "\n"), "Medium SITECONFIG (sdb) has report.txt, and can be taken out.")
	}
	until(t, r, "the report on the stick", said)
	if names, text := r.onDisk(t, "sdb", "report.txt"); fmt.Sprint(names) != "[report.txt used.txt]" || text != "it has landed" {
		t.Errorf("%v, %q", names, text)
	}
	if _, text := r.onDisk(t, "sdb", "used.txt"); !strings.Contains(text, "used by shop.stick.example (machine SN1) on 20") {
		t.Errorf("used.txt is %q", text)
	}
	until(t, r, "that the site config was overwritten", func(s *view.Snapshot) bool {
		return strings.Contains(strings.Join(message.English(s.Notices), "\n"), "The site config on medium SITECONFIG (sdb) was overwritten.")
	})
	must(t, r.Close())
	r.plug(t, "sdc", forNobody()) // another stick, unused
	r.open(t)
	until(t, r, "the landing", inState(view.IsDone))
	l := &lander{Engine: r.Engine}
	l.leave()
	if names, _ := r.onDisk(t, "sdb", ""); len(names) != 2 {
		t.Errorf("after a restart: %v", names)
	}
	stick.Pull(t, r.host.Root(), "sdb")
	must(t, r.host.Remove(layout.Media+"/left")) // as if nothing had been left
	must(t, r.host.Remove(layout.Media+"/overwriting"))
	l = &lander{Engine: r.Engine}
	l.leave()
	if s, err := r.Snapshot(t.Context()); err != nil || !strings.Contains(strings.Join(message.English(s.Notices), "\n"), "The site config is still on its medium (MED-LEFT): put it in again.") {
		t.Errorf("nothing tells that the medium is not there: %v, %v", s.Notices, err)
	}
	if names, _ := r.onDisk(t, "sdc", ""); len(names) != 1 {
		t.Errorf("on another stick: %v", names)
	}
	if l.toLeave(r.known) == nil {
		t.Error("before the hand-over nothing is to be left")
	}
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.HandOver}))
	if l.toLeave(r.known) != nil {
		t.Error("after the hand-over sticks are read still")
	}
}

// TestWhatIsToldOfLeaving: what comes again with each stick is one event, and each sentence says no more than is known.
func TestWhatIsToldOfLeaving(t *testing.T) {
	r := newSealedRig(t)
	r.open(t)
	until(t, r, "the form", inState(view.Collecting))
	l := &lander{Engine: r.Engine}
	told := func(text string) int {
		r.mu.Lock()
		defer r.mu.Unlock()
		return strings.Count(strings.Join(message.English(r.core.job.step(mediumStep).said), "\n"), text)
	}
	shows := func(text string) {
		t.Helper()
		s, err := r.Snapshot(t.Context())
		must(t, err)
		if got := strings.Join(message.English(s.Notices), "\n"); !strings.Contains(got, text) {
			t.Errorf("the screens have not %q, but %q", text, got)
		}
	}
	report := &leaving{id: "document", what: "document landed"}
	protected := &problem.Problem{Code: "MED-PRT", Summary: message.T("The medium is write-protected.")}
	for range 3 {
		l.notLeft(r.known, report, protected)
		shows("Nothing was written to the medium (MED-PRT).")
	}
	if n := told("write-protected"); n != 1 || r.known.HasLeft(report.what) {
		t.Errorf("told %d times, left %t", n, r.known.HasLeft(report.what))
	}
	l.notLeft(r.known, report, volume.Unwritten(os.ErrDeadlineExceeded))
	shows("It is not certain what was written to the medium (MED-WERR).")
	if n := told("It is not certain what was written to the medium: "); n != 1 || r.known.HasLeft(report.what) {
		t.Errorf("told %d times, left %t", n, r.known.HasLeft(report.what))
	}
	l.notLeft(r.known, report, volume.ReadOnly(volume.ISO))
	if !r.known.HasLeft(report.what) {
		t.Error("an image is tried again")
	}

	l.wasLeft(r.known, &leaving{id: "document", what: "a question", waits: true}, &media.Left{Medium: "SITECONFIG (sdb)", Files: []string{"question.txt"}})
	shows("Medium SITECONFIG (sdb) has question.txt. Leave it in.")
	if !r.known.HasLeft("a question") {
		t.Error("it is not noted")
	}
	must(t, r.host.Remove(layout.Media+"/left"))
	must(t, os.MkdirAll(filepath.Join(r.host.Root(), layout.Media, "left/x"), 0o700)) // nothing can be noted
	l.wasLeft(r.known, report, &media.Left{Medium: "SITECONFIG (sdb)", Files: []string{"report.txt", "report.json"}})
	shows("Medium SITECONFIG (sdb) has report.txt, and can be taken out.")
	l.tellOverwritten(r.known, report, &media.Left{Medium: "SITECONFIG (sdb)", Stays: &problem.Problem{Code: "MED-LEFT", Summary: message.T("The site config stays.")}})
	shows("The site config may still be on the medium (MED-LEFT). The log says why.")
	if n := told("The site config stays."); n != 1 {
		t.Errorf("that the site config stays is told %d times", n)
	}
	if n := told("has report.txt, report.json. The node could not note that"); n != 1 || l.leftLast != report.what {
		t.Errorf("told %d times, %q", n, l.leftLast)
	}
}

// TestOpenQuestion: what a person reads on another computer is where the landing stopped, and nothing of a question that answers itself.
func TestOpenQuestion(t *testing.T) {
	asked := func(deadline float64) *view.Question {
		return &view.Question{Question: steps.Question{
			Text: message.T("Go on?"), Default: "no", Deadline: deadline,
			Choices: []steps.Choice{{Value: "yes", Label: message.T("Yes")}, {Value: "no", Label: message.T("No")}},
		}}
	}
	trouble := &event.Trouble{Code: "DNS-1", Summary: message.T("No server answers.")}
	for name, test := range map[string]struct {
		job  job
		want string // its beginning
	}{
		"attended":         {job{state: view.InQuestion, question: asked(0)}, ""},
		"a deadline":       {job{unattended: true, state: view.InQuestion, question: asked(120)}, ""},
		"waits":            {job{unattended: true, state: view.InQuestion, question: asked(0)}, "The landing waits for an answer.||Go on?||- Yes|- No (default)|"},
		"a step":           {job{unattended: true, state: view.HasFailed, current: "names", problem: trouble}, "The landing has stopped at step names.||DNS-1: No server answers."},
		"no step":          {job{unattended: true, state: view.HasFailed, problem: trouble}, "The landing has stopped.|"},
		"an undo":          {job{unattended: true, state: view.HasFailed, undoing: true, current: "names", problem: trouble}, "The undo of the landing has stopped at step names.|"},
		"works":            {job{unattended: true, state: view.Working}, ""},
		"undone by a hand": {job{unattended: true, state: view.IsUndone}, ""},
	} {
		got := strings.ReplaceAll(openQuestion(&core{job: &test.job, serial: "SN1"}), "\r\n", "|")
		if !strings.HasPrefix(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestTheQuestionIsLeft: a landing with nobody there that fails tells it on the stick, without secrets, and the next person goes on.
func TestTheQuestionIsLeft(t *testing.T) {
	for state, test := range map[view.State]struct{ policy, says string }{
		view.HasFailed: {"  policy:\n    rollbackOnFailure: false\n", "stopped at step names"},
		view.IsUndone:  {"", "failed and was undone"},
	} {
		t.Run(string(state), func(t *testing.T) {
			r := newSealedRig(t)
			r.w.setFail("names", &problem.Problem{Code: "DNS-1", Summary: message.T("No server answers c2VjcmV0OnNlY3JldA==."), Fix: message.T("Check the cable.")})
			r.open(t)
			stick.Plug(t, r.host.Root(), "sdb", stick.Image(t, forNobody(), onStick+test.policy, envelope.Lock{}, r.key))
			until(t, r, "the question on the stick", func(s *view.Snapshot) bool {
				return s.State == state && strings.Contains(strings.Join(message.English(s.Notices), "\n"), "has question.txt")
			})
			_, text := r.onDisk(t, "sdb", "question.txt")
			for _, want := range []string{test.says, "DNS-1", "No server answers", "SN1"} {
				if !strings.Contains(text, want) {
					t.Errorf("it does not tell %s:\n%s", want, text)
				}
			}
			if strings.Contains(text, "c2VjcmV0") {
				t.Errorf("it tells a secret:\n%s", text)
			}
			if state == view.HasFailed {
				r.w.setFail("names", nil)
				must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Retry}))
				until(t, r, "the landing", inState(view.IsDone))
			}
		})
	}
}

// TestACutWhileTheSiteConfigIsOverwritten: after a loss of power the node ends what it began, as soon as it sees the medium, and lands no
// worse for it.
func TestACutWhileTheSiteConfigIsOverwritten(t *testing.T) {
	r := newSealedRig(t)
	r.w.onRun(func(string) {
		_ = os.WriteFile(filepath.Join(r.dir, "report.txt"), []byte("it has landed"), 0o600)
	})
	r.open(t)
	d := forNobody()
	d.Keep = true // so that it is there still after the landing
	r.plug(t, "sdb", d)
	until(t, r, "the landing", inState(view.IsDone))
	until(t, r, "the report on the stick", func(s *view.Snapshot) bool {
		return strings.Contains(strings.Join(message.English(s.Notices), "\n"), "can be taken out")
	})
	must(t, r.Close())
	_, signed := r.onDisk(t, "sdb", media.EnvelopeFile)
	if signed == "" {
		t.Fatal("a document that says keep was overwritten")
	}
	disk := filepath.Join(r.host.Root(), "dev/sdb")
	b, err := os.ReadFile(disk)
	must(t, err)
	at := strings.Index(string(b), signed)
	clear(b[at+volume.HeadSize : at+len(signed)])
	must(t, os.WriteFile(disk, b, 0o600))
	r.host.File(layout.Media+"/overwriting", fmt.Sprintf("%s %x\n", d.ID, sha256.Sum256([]byte(signed[:volume.HeadSize]))))
	must(t, r.host.Remove(layout.Media+"/left")) // the cut came before it was noted
	r.open(t)
	until(t, r, "the end of it", func(s *view.Snapshot) bool {
		return strings.Contains(strings.Join(message.English(s.Notices), "\n"), "The site config on medium SITECONFIG (sdb) was overwritten.") && s.State == view.IsDone
	})
	if _, left := r.onDisk(t, "sdb", media.EnvelopeFile); strings.Contains(left, signed[:40]) {
		t.Errorf("it has %q still", left)
	}
}

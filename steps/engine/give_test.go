package engine

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend"
	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/handout"
	"touchdown/steps/records"
	"touchdown/steps/session"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

const (
	givenPassword   = "pass2-word3-mnpqr-stuvw"
	givenKubeconfig = "kind: Config\nusers: [{client-key-data: TUlJRXZRSUJBREFOQmdrcWhraUc5dzBC}]\n"
)

// gift is a step that hands out a login; hook is called while it works.
type gift struct {
	w    *world
	last *handout.LogIn // that it was told
	hook func() error
}

func (*gift) ID() string          { return "login" }
func (*gift) Title() message.Text { return message.T("Login") }

func (g *gift) Run(_ context.Context, _ *backend.Node, report steps.Report) error {
	return report.Save("password", []byte("the factory's hash"))
}

func (g *gift) Give(_ context.Context, _ *backend.Node, report steps.Report, ask handout.Ask, last *handout.LogIn) (*handout.LogIn, error) {
	g.last = last
	got := &handout.LogIn{API: "https://api.shop.example.com:6443", User: "kubeadmin"}
	if ask.Password {
		got.Password = givenPassword
	}
	if ask.Kubeconfig {
		got.Kubeconfig = givenKubeconfig
	}
	if err := report.Note("hash", []byte("its hash")); err != nil {
		return nil, err
	}
	if g.hook != nil {
		return got, g.hook()
	}
	return got, nil
}

// landed lets a job with a gift come to its end.
func landed(t *testing.T, test func(*testing.T, *rig, session.Session, string, *gift)) {
	g := &gift{}
	eachIn(t, func() *world {
		w := newWorld()
		*g = gift{w: w}
		w.more = []steps.Stage{{ID: "end", Title: message.T("End"), Steps: []steps.Step{g}}}
		return w
	}, func(t *testing.T, r *rig, s session.Session) {
		token := take(t, s)
		snapshot := r.fill(t, s, token)
		if _, err := s.Give(t.Context(), token, handout.Ask{Password: true}); !errors.Is(err, session.ErrState) {
			t.Errorf("before the work: %v", err)
		}
		must(t, s.Do(t.Context(), token, session.Action{Verb: session.Start, Fingerprint: snapshot.Review.Fingerprint}))
		until(t, s, "the end", inState(view.IsDone))
		test(t, r, s, token, g)
	})
}

// TestGivenToOneConsoleAlone: the login goes to the console that has control, and is found nowhere else: not in the state folder, the
// journal, the events, the snapshot of another session, the log, the report, the answers or the support bundle.
func TestGivenToOneConsoleAlone(t *testing.T) {
	landed(t, func(t *testing.T, r *rig, s session.Session, token string, g *gift) {
		must(t, os.WriteFile(filepath.Join(r.dir, "report.txt"), []byte("a report\n"), 0o600))
		if _, err := s.Give(t.Context(), "", handout.Ask{Password: true}); !errors.Is(err, session.ErrNoControl) {
			t.Errorf("without control: %v", err)
		}
		ask := handout.Ask{Password: true, Kubeconfig: true}
		for round := range 2 {
			got, err := s.Give(t.Context(), token, ask)
			if err != nil || got.Password != givenPassword || got.Kubeconfig != givenKubeconfig || got.User != "kubeadmin" {
				t.Fatalf("given %v, %v", got != nil, err)
			}
			if again := round > 0; again != (g.last != nil && g.last.Password == givenPassword) {
				t.Errorf("round %d: what was given before is told: %v", round, g.last != nil)
			}
		}
		if _, err := s.Give(t.Context(), token, handout.Ask{Kubeconfig: true}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Give(t.Context(), token, handout.Ask{Password: true}); err != nil || g.last.Kubeconfig != givenKubeconfig || g.last.Password != givenPassword {
			t.Errorf("one part was forgotten when the other was asked for: %v", err)
		}
		// A step that puts it into an error, or says it, is stopped by the mask.
		g.hook = func() error { return fmt.Errorf("wrote %s and %s", givenPassword, givenKubeconfig) }
		if _, err := s.Give(t.Context(), token, ask); err == nil {
			t.Error("an error is none")
		}
		g.hook = nil
		(&stepReport{e: r.Engine, step: "login"}).Say(message.Data(message.F("the password is %s", givenPassword).String()))
		text := everything(t, r, s)
		for _, secret := range []string{givenPassword, "TUlJRXZRSUJBREFOQmdrcWhraUc5dzBC"} {
			if strings.Contains(text, secret) {
				i := strings.Index(text, secret)
				t.Errorf("the login is in what the engine keeps or tells: %q", text[max(0, i-200):i+50])
			}
		}
		if !strings.Contains(text, "The password was given to ") || !strings.Contains(text, `the password is \u003csecret\u003e`) {
			t.Error("nobody is told that it was given, or the search is blind")
		}
	})
}

// everything is all that the engine keeps, and all that another session is told.
func everything(t *testing.T, r *rig, s session.Session) string {
	t.Helper()
	var all bytes.Buffer
	must(t, filepath.WalkDir(r.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(&all, "== %s\n%s\n", path, data)
		return err
	}))
	snapshot, err := s.Snapshot(t.Context())
	must(t, err)
	must(t, json.NewEncoder(&all).Encode(snapshot))
	enough := errors.New("enough")
	err = s.Events(t.Context(), "", 0, func(events []event.Event) error {
		for _, e := range events {
			must(t, json.NewEncoder(&all).Encode(e))
			if e.Seq >= snapshot.Seq {
				return enough
			}
		}
		return nil
	})
	if !errors.Is(err, enough) {
		t.Fatal(err)
	}
	lines, err := s.Log(t.Context(), records.Ask{Lines: 1000})
	must(t, err)
	fmt.Fprintln(&all, lines)
	for _, what := range []session.Document{session.ReportText, session.Answers, session.Inventory} {
		data, err := s.Export(t.Context(), what)
		must(t, err)
		all.Write(data)
	}
	bundle, err := s.Export(t.Context(), session.Bundle)
	must(t, err)
	zip, err := gzip.NewReader(bytes.NewReader(bundle))
	must(t, err)
	for files := tar.NewReader(zip); ; {
		if _, err := files.Next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		_, err := io.Copy(&all, files)
		must(t, err)
	}
	return all.String()
}

// TestNothingIsGivenToWhoLostControl: neither to a console from which control was taken while the login was made, nor to one that
// asks the wrong list.
func TestNothingIsGivenToWhoLostControl(t *testing.T) {
	landed(t, func(t *testing.T, _ *rig, s session.Session, token string, g *gift) {
		other := ""
		g.hook = func() (err error) {
			other, err = s.TakeControl(t.Context(), "tty2", true)
			return err
		}
		if got, err := s.Give(t.Context(), token, handout.Ask{Password: true}); !errors.Is(err, session.ErrNoControl) || got != nil {
			t.Errorf("%v, %v", got != nil, err)
		}
		g.hook = nil
		if got, err := s.Give(t.Context(), other, handout.Ask{Password: true}); err != nil || got.Password != givenPassword {
			t.Errorf("the console with control: %v", err)
		}
	})
	r := newRig(t, newWorld())
	token := take(t, r.Engine)
	snapshot := r.fill(t, r.Engine, token)
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Start, Fingerprint: snapshot.Review.Fingerprint}))
	until(t, r.Engine, "the end", inState(view.IsDone))
	if _, err := r.Give(t.Context(), token, handout.Ask{}); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("a list without credentials: %v", err)
	}
}

// TestGivingEndsWithTheHandOver: the engine forgets what it gave; a node that landed for good has to be unlocked first.
func TestGivingEndsWithTheHandOver(t *testing.T) {
	landed(t, func(t *testing.T, r *rig, s session.Session, token string, g *gift) {
		ask := handout.Ask{Password: true}
		g.hook = func() error { // undo and hand-over wait for it
			for _, verb := range []session.Verb{session.Undo, session.HandOver, session.Edit} {
				if err := s.Do(t.Context(), token, session.Action{Verb: verb}); !errors.Is(err, session.ErrState) {
					t.Errorf("%s while the login is made: %v", verb, err)
				}
			}
			return nil
		}
		if _, err := s.Give(t.Context(), token, ask); err != nil {
			t.Fatal(err)
		}
		g.hook = nil
		must(t, s.Do(t.Context(), token, session.Action{Verb: session.HandOver}))
		if _, err := s.Give(t.Context(), token, ask); !errors.Is(err, session.ErrLocked) {
			t.Errorf("after the hand-over: %v", err)
		}
		snapshot, err := s.Snapshot(t.Context())
		must(t, err)
		must(t, s.Do(t.Context(), token, session.Action{Verb: session.Unlock, Value: snapshot.Hostname}))
		if _, err := s.Give(t.Context(), token, ask); err != nil || g.last != nil {
			t.Errorf("after unlocking: %v; what was given before the hand-over is known: %v", err, g.last != nil)
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		r.oneGift <- struct{}{}
		if _, err := r.Give(ctx, token, ask); !errors.Is(err, context.Canceled) {
			t.Errorf("a console that left: %v", err)
		}
		<-r.oneGift
	})
}

// TestAnErrorLosesNoLogin: what a step made before an error is what it is told when someone asks again.
func TestAnErrorLosesNoLogin(t *testing.T) {
	landed(t, func(t *testing.T, r *rig, s session.Session, token string, g *gift) {
		must(t, os.WriteFile(filepath.Join(r.dir, "report.txt"), []byte("a report\n"), 0o600))
		g.hook = func() error { return errors.New("no room for the secret of a hub") }
		if got, err := s.Give(t.Context(), token, handout.Ask{Password: true}); err == nil || got != nil {
			t.Errorf("given %v, %v", got != nil, err)
		}
		g.hook = nil
		if _, err := s.Give(t.Context(), token, handout.Ask{Kubeconfig: true}); err != nil || g.last == nil || g.last.Password != givenPassword {
			t.Errorf("the password is lost with the error: %v", err)
		}
		if strings.Contains(everything(t, r, s), givenPassword) {
			t.Error("the password is in what the engine keeps or tells")
		}
	})
}

// TestYoungerAnswersCount: what an earlier release did not ask changes the fingerprint of the answers where it is not the default.
func TestYoungerAnswersCount(t *testing.T) {
	k := hmacKey("key")
	before := k.inputs(site.New())
	for _, path := range site.New().Paths() {
		value, younger := map[string]string{
			"spec.credentials.kubeadmin": "keep", "spec.credentials.show": "false", "spec.credentials.kubeconfigDays": "7",
			"spec.credentials.clusterSecret": "true", "spec.wiring": "- {nic: eno1, switch: sw-7}", "spec.nodeLabels": "zone=berlin",
			"spec.hardware.profile": "vdu", "spec.hardware.diskTest": "true",
		}[path]
		if !younger {
			continue
		}
		cfg := site.New()
		must(t, cfg.Set(path, value))
		if k.inputs(cfg) == before {
			t.Errorf("%s does not count", path)
		}
		must(t, cfg.Set(path, ""))
		if k.inputs(cfg) != before {
			t.Errorf("the default of %s counts", path)
		}
	}
}

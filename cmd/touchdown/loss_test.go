package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// lost is an engine that waits for a person after a loss of its records.
type lost struct {
	session.Session
	did []session.Verb
}

func (l *lost) Snapshot(context.Context) (*view.Snapshot, error) {
	return &view.Snapshot{State: view.HasFailed, Problem: &event.Trouble{Code: view.RecordsLost, Summary: message.T("Lost.")}}, nil
}

func (l *lost) Do(_ context.Context, _ string, a session.Action) error {
	l.did = append(l.did, a.Verb)
	return errors.New("enough")
}

// TestApplyDoesNotContinueAfterALoss: a document that is applied says nothing about records that were lost; a person has to.
func TestApplyDoesNotContinueAfterALoss(t *testing.T) {
	for _, after := range []bool{false, true} {
		engine := &lost{}
		a := &applying{flags: &applyFlags{afterLoss: after}, session: engine, answers: answers{give: func(context.Context, session.Session, string) error { return nil }}}
		_, _, err := a.review(t.Context())
		refused := problem.From(err).Code == view.RecordsLost
		if refused == after || (len(engine.did) > 0) != after {
			t.Errorf("--after-loss=%t: %v, did %v", after, err, engine.did)
		}
		if p := problem.From(err); !after && (!strings.Contains(p.Fix.String(), "--after-loss") || !strings.Contains(p.Fix.String(), "touchdown undo")) {
			t.Errorf("no way on in %q", p.Fix)
		}
	}
}

// TestLogThatIsNoFile: the engine starts whatever lies in the place of its log, or beside it.
func TestLogThatIsNoFile(t *testing.T) {
	for what, spoil := range map[string]func(path string) error{
		"a pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"a link":   func(path string) error { return os.Symlink("/dev/full", path) },
		"a long one that cannot be set aside": func(path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, maxLog+1), os.MkdirAll(filepath.Join(path+".1", "in"), 0o700))
		},
		"nothing, nor a place": func(path string) error { return os.RemoveAll(filepath.Dir(path)) },
	} {
		dir := filepath.Join(t.TempDir(), "state")
		if err := errors.Join(os.Mkdir(dir, 0o700), spoil(filepath.Join(dir, "engine.log"))); err != nil {
			t.Fatal(err)
		}
		f, err := openLog(filepath.Join(dir, "engine.log"))
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if _, err := f.WriteString("line\n"); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		f.Close()
	}
}

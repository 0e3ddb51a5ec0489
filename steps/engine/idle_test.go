package engine

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/steps/handout"
	"touchdown/steps/idle"
	"touchdown/steps/session"
	"touchdown/steps/site/pin"
	"touchdown/steps/view"
)

const testPIN = "739215"

// testHash is made once: with the race detector a hash takes seconds.
var testHash = sync.OnceValue(func() string { return string(pin.Make(testPIN)) })

// beginsLock has the consoles lock as a start does.
func (r *rig) beginsLock(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	must(t, r.core.draft.lock(r.core.draft.idle.Begin))
}

// TestAnIdleConsoleCannotWrite: the engine itself refuses each write of a console that nobody used, until it has the PIN. What
// root's commands do goes on, and so does what consoles read.
func TestAnIdleConsoleCannotWrite(t *testing.T) {
	each(t, func(t *testing.T, r *rig, s session.Session) {
		until(t, s, "the form", inState(view.Collecting))
		r.still.Store(time.Now().UnixNano()) // a PIN takes a busy machine longer to try than the wait after it
		tty, serial := idle.At(t.Context(), "tty1"), idle.At(t.Context(), "ttyS0")
		token, err := s.TakeControl(tty, "tty1", false)
		must(t, err)
		must(t, s.Set(tty, token, "spec.console.pin", testPIN))
		must(t, s.Set(tty, token, "spec.console.lockAfter", "5m"))
		r.beginsLock(t)
		must(t, s.Set(tty, token, "spec.clusterName", "store1")) // who set it is not locked by it
		if _, err := s.TakeControl(serial, "ttyS0", true); !errors.Is(err, idle.ErrLocked) {
			t.Errorf("a console that nobody used takes control: %v", err)
		}
		r.ahead.Add(int64(4 * time.Minute))
		must(t, s.Present(tty, ""))
		r.ahead.Add(int64(4 * time.Minute))
		if v, err := s.Snapshot(tty); err != nil || v.Idle == nil || v.Idle.Left <= 0 || v.Idle.Left > 60 {
			t.Fatalf("a minute before it locks: %+v, %v", v.Idle, err)
		}
		r.ahead.Add(int64(time.Minute))
		taken := func() error { _, err := s.TakeControl(tty, "tty1", false); return err }
		given := func() error { _, err := s.Give(tty, token, handout.Ask{Password: true}); return err }
		for what, err := range map[string]error{
			"set": s.Set(tty, token, "spec.clusterName", "thief"), "load": s.Load(tty, token, nil, "x"), "action": s.Do(tty, token, session.Action{Verb: session.Review}),
			"reboot": s.Do(tty, token, session.Action{Verb: session.Reboot}), "control": taken(), "credentials": given(), "a key": s.Present(tty, ""),
		} {
			if !errors.Is(err, idle.ErrLocked) {
				t.Errorf("%s at a locked console: %v", what, err)
			}
		}
		if v, err := s.Snapshot(tty); err != nil || v.Idle.Left != 0 || field(v, "spec.clusterName").Value != "store1" {
			t.Errorf("a locked console shows %+v, %v", v, err)
		}
		must(t, s.Set(t.Context(), token, "spec.baseDomain", "example.com")) // root's command
		if err := s.Present(tty, "000001"); !errors.Is(err, idle.ErrWrong) {
			t.Errorf("a wrong PIN: %v", err)
		}
		if err := s.Present(serial, testPIN); !errors.Is(err, idle.ErrSoon) {
			t.Errorf("the right one at once at another console: %v", err)
		}
		r.ahead.Add(int64(2 * time.Second))
		must(t, s.Present(tty, testPIN))
		must(t, s.Set(tty, token, "spec.clusterName", "store2"))
	})
}

// unpacked is the text of a bundle.
func unpacked(t *testing.T, bundle []byte) string {
	t.Helper()
	plain, err := gzip.NewReader(bytes.NewReader(bundle))
	must(t, err)
	text, err := io.ReadAll(plain)
	must(t, err)
	return string(text)
}

// TestPINStaysSecret: it is in no file, answer, log or event, and its hash in 0600 files alone.
func TestPINStaysSecret(t *testing.T) {
	r := newRig(t, newWorld())
	var log bytes.Buffer
	tty := idle.At(t.Context(), "tty1")
	token := take(t, r)
	must(t, r.Set(tty, token, "spec.console.pin", testPIN))
	r.beginsLock(t)
	_ = r.Present(tty, "000001")
	hash := r.answer("spec.console.pin")
	answers, err := r.Export(t.Context(), session.Answers)
	must(t, err)
	if !strings.Contains(string(answers), "pin: <set>") {
		t.Errorf("the answers do not tell that there is one:\n%s", answers)
	}
	bundle, err := r.Export(t.Context(), session.Bundle)
	must(t, err)
	snapshot, err := r.Snapshot(tty)
	must(t, err)
	must(t, json.NewEncoder(&log).Encode(snapshot))
	for name, text := range map[string]string{"answers": string(answers), "bundle": unpacked(t, bundle), "snapshot": log.String()} {
		if strings.Contains(text, testPIN) || strings.Contains(text, hash) || strings.Contains(text, "000001") {
			t.Errorf("%s has the PIN or its hash:\n%s", name, text)
		}
	}
	holders := 0
	must(t, filepath.WalkDir(r.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(name)
		must(t, err)
		info, err := d.Info()
		must(t, err)
		if bytes.Contains(data, []byte(hash)) {
			holders++
		}
		if bytes.Contains(data, []byte(testPIN)) || bytes.Contains(data, []byte(hash)) && info.Mode().Perm() != 0o600 {
			t.Errorf("%s, %s, has it:\n%s", name, info.Mode(), data)
		}
		return nil
	}))
	if holders != 2 { // the answer, which the hand-over wipes, and the lock
		t.Errorf("%d files have the hash", holders)
	}
}

// TestLockOutlivesTheHandOver: a landed node goes on to lock its consoles, and the bake's PIN does where the site config has none.
func TestLockOutlivesTheHandOver(t *testing.T) {
	r := newRig(t, newWorld())
	token := take(t, r)
	must(t, r.Set(t.Context(), token, "spec.console.pin", testPIN))
	r.beginsLock(t)
	r.mu.Lock()
	must(t, r.core.handOver())
	r.mu.Unlock()
	must(t, r.Close())
	r.open(t)
	if v, err := r.Snapshot(t.Context()); err != nil || v.Idle == nil || r.answer("spec.console.pin") != "" {
		t.Errorf("after the hand-over: %+v, %v", v.Idle, err)
	}
	must(t, os.WriteFile(filepath.Join(r.dir, "console-lock.json"), []byte("{"), 0o600))
	must(t, r.Close())
	r.open(t)
	v, err := r.Snapshot(t.Context())
	must(t, err)
	if said := message.English(v.Notices); v.Idle != nil || !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, "spec.console.pin") }) {
		t.Errorf("a lock that cannot be read: %+v, %q", v.Idle, said)
	}
	must(t, r.host.WriteFile(layout.ConsolePIN, []byte(`{"pin":"`+string(pin.Make(testPIN))+`"}`), 0o600))
	if v, err := r.Snapshot(t.Context()); err != nil || v.Idle == nil || v.Idle.After != 600 {
		t.Errorf("with the PIN of the bake: %+v, %v", v.Idle, err)
	}
}

// TestALoadedPINCountsFromTheStart: until the review is accepted nothing changes on the word of a document.
func TestALoadedPINCountsFromTheStart(t *testing.T) {
	countsFromTheStart(t, func(r *rig, token string) {
		must(t, r.Load(t.Context(), token, map[string]string{
			"spec.clusterName": "store1", "spec.baseDomain": "example.com", "spec.console.pin": testHash(),
		}, "file site.yaml"))
	})
}

// TestATypedPINCountsFromTheStart: nor by what a person typed; who takes the PIN away again, takes the lock away.
func TestATypedPINCountsFromTheStart(t *testing.T) {
	countsFromTheStart(t, func(r *rig, token string) {
		for path, value := range map[string]string{"spec.clusterName": "store1", "spec.baseDomain": "example.com", "spec.console.pin": testPIN} {
			must(t, r.Set(t.Context(), token, path, value))
		}
	})
	r := newRig(t, newWorld())
	token := take(t, r)
	must(t, r.Set(t.Context(), token, "spec.console.pin", testPIN))
	r.beginsLock(t)
	must(t, r.Set(t.Context(), token, "spec.clusterName", "store1"))
	if s, err := r.Snapshot(t.Context()); err != nil || s.Idle == nil {
		t.Errorf("another answer took the lock away: %v", err)
	}
	must(t, r.Set(t.Context(), token, "spec.console.pin", ""))
	if s, err := r.Snapshot(t.Context()); err != nil || s.Idle != nil {
		t.Errorf("the lock stays: %v", err)
	}
}

// countsFromTheStart gives the answers, with a PIN, and starts.
func countsFromTheStart(t *testing.T, answer func(*rig, string)) {
	t.Helper()
	w := newWorld()
	w.cable = true
	r := newRig(t, w)
	until(t, r, "the form", inState(view.Collecting))
	token := take(t, r)
	answer(r, token)
	s := reviewed(t, r, token)
	if s.Idle != nil {
		t.Errorf("the consoles lock before the review is accepted: %+v", s.Idle)
	}
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Start, Fingerprint: s.Review.Fingerprint}))
	if s, err := r.Snapshot(t.Context()); err != nil || s.Idle == nil {
		t.Errorf("the consoles do not lock after the start: %v", err)
	}
}

// lands has a document land the node, and returns when it has.
func (r *rig) lands(t *testing.T, answers map[string]string) {
	t.Helper()
	until(t, r, "the form", inState(view.Collecting))
	token := take(t, r)
	must(t, r.Load(t.Context(), token, answers, "file site.yaml"))
	s := reviewed(t, r, token)
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Start, Fingerprint: s.Review.Fingerprint}))
	until(t, r, "the landing", inState(view.IsDone))
}

// locks tells whether the consoles lock.
func (r *rig) locks(t *testing.T) bool {
	t.Helper()
	s, err := r.Snapshot(t.Context())
	must(t, err)
	return s.Idle != nil
}

// TestThePINOfAStart: a site without a PIN does not keep the earlier site's, an undo takes back the one that the start set, and so
// does a restart where the power was cut before the start was on record.
func TestThePINOfAStart(t *testing.T) {
	w := newWorld()
	w.cable = true
	r := newRig(t, w)
	without := map[string]string{"spec.clusterName": "store1", "spec.baseDomain": "example.com"}
	with := map[string]string{"spec.clusterName": "store1", "spec.baseDomain": "example.com", "spec.console.pin": testHash()}

	r.lands(t, with)
	if !r.locks(t) {
		t.Fatal("the PIN of the document does not count")
	}
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Undo}))
	until(t, r, "the undo", inState(view.IsUndone))
	if r.locks(t) {
		t.Error("the PIN of the start outlives its undo")
	}
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Edit}))
	r.lands(t, with)
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.HandOver}))
	s, err := r.Snapshot(t.Context())
	must(t, err)
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Unlock, Value: s.Hostname}))
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Edit}))
	if !r.locks(t) {
		t.Error("the PIN does not outlive the hand-over")
	}
	until(t, r, "the form", inState(view.Collecting))
	must(t, r.Set(t.Context(), take(t, r), "spec.clusterName", "store2"))
	s = reviewed(t, r, take(t, r))
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Start, Fingerprint: s.Review.Fingerprint}))
	until(t, r, "the second landing", inState(view.IsDone))
	if !r.locks(t) {
		t.Error("another start of the same site, whose answers no longer have the PIN, takes the lock away")
	}
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Edit}))
	r.lands(t, without)
	if r.locks(t) {
		t.Error("a site without a PIN keeps the earlier site's")
	}
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Undo}))
	until(t, r, "the undo", inState(view.IsUndone))
	if !r.locks(t) {
		t.Error("the undo does not bring the earlier site's PIN back")
	}
}

// TestAStartCutShort: what a start set before it was on record does not count after a power cut.
func TestAStartCutShort(t *testing.T) {
	r := newRig(t, newWorld())
	until(t, r, "the form", inState(view.Collecting))
	must(t, r.Set(t.Context(), take(t, r), "spec.console.pin", testHash()))
	r.beginsLock(t)
	if !r.locks(t) {
		t.Fatal("the PIN does not count from the start")
	}
	must(t, r.Close())
	r.open(t)
	until(t, r, "the form", inState(view.Collecting))
	if r.locks(t) {
		t.Error("the PIN of a start that never was counts")
	}
}

// TestLostRecordsOfAStartKeepTheLock: a journal that ends with an undo does not mean that nothing was started after it.
func TestLostRecordsOfAStartKeepTheLock(t *testing.T) {
	r := newRig(t, newWorld())
	token := take(t, r)
	r.start(t, r, token, false)
	until(t, r, "the end", inState(view.IsDone))
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Undo}))
	until(t, r, "the undo", inState(view.IsUndone))
	file := filepath.Join(r.dir, "journal.jsonl")
	first, err := os.ReadFile(file)
	must(t, err)
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Edit}))
	must(t, r.Set(t.Context(), token, "spec.console.pin", testHash()))
	r.start(t, r, token, false)
	until(t, r, "the second landing", inState(view.IsDone))
	must(t, r.Close())
	must(t, os.WriteFile(file, first, 0o600))
	r.open(t)
	until(t, r, "what is known", inState(view.IsDone))
	if !r.locks(t) {
		t.Error("the lock is gone with the records of its start")
	}
}

// TestALostJournalKeepsTheLock: what lost its records cannot know that no work began.
func TestALostJournalKeepsTheLock(t *testing.T) {
	w := newWorld()
	w.cable = true
	r := newRig(t, w)
	r.lands(t, map[string]string{"spec.clusterName": "store1", "spec.baseDomain": "example.com", "spec.console.pin": testHash()})
	must(t, r.Close())
	must(t, os.Remove(filepath.Join(r.dir, "journal.jsonl")))
	r.open(t)
	until(t, r, "what is known", inState(view.IsDone))
	if !r.locks(t) {
		t.Error("the lock is gone with the journal")
	}
}

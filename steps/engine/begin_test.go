package engine

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"touchdown/backend/layout"
	"touchdown/backend/media"
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/unattended"
	"touchdown/steps/view"
	"touchdown/test/stick"
)

// withPIN is a site config whose consoles lock, so that a start writes all that one can write.
func withPIN() string {
	return strings.Replace(onStick, "spec:\n", "spec:\n  console:\n    pin: '"+testHash()+"'\n", 1)
}

// unmanned is a node with a document that starts the landing with nobody there, and revokes a key.
type unmanned struct {
	*sealedRig
	id      string
	baked   bool
	revoked string // by the document
}

// newUnmanned is one with a baked document, which revokes nothing, or with a stick. The engine is not open.
func newUnmanned(t *testing.T, baked bool) *unmanned {
	t.Helper()
	if baked {
		r := newSealedRig(t)
		r.still.Store(time.Now().UnixNano())
		r.host.Boot()
		d, err := r.known.Bake([]byte(withPIN()), true)
		must(t, err)
		must(t, media.StartOf(r.host.Machine, d.ID).Seal())
		r.host.Boot()
		return &unmanned{sealedRig: r, id: d.ID, baked: true}
	}
	r := newSealedRig(t)
	r.still.Store(time.Now().UnixNano())
	d := forNobody()
	d.Revoked = []string{r.key.ID()} // the last document that it signs
	a := &unmanned{sealedRig: r, id: d.ID, revoked: d.Revoked[0]}
	a.plugText(t, "sdb", d, withPIN())
	return a
}

// run opens the engine, with a journal that sees each record before it is written, and lets the countdown pass.
func (a *unmanned) run(t *testing.T, onRecord func(record []byte) error) {
	t.Helper()
	a.sealedRig.open(t)
	a.mu.Lock()
	j := a.core.recorder.journal
	j.file = overseen{j.file, onRecord}
	a.mu.Unlock()
	a.countDown(t)
}

// countDown lets the countdown of a baked document pass.
func (a *unmanned) countDown(t *testing.T) {
	t.Helper()
	if a.baked {
		until(t, a, "the countdown", func(s *view.Snapshot) bool { return tells(counting)(s) || !s.Started.IsZero() })
		a.pass()
	}
}

// landed waits for the one landing, and for what it leaves: a document that was used once, and no secret of the bake.
func (a *unmanned) landed(t *testing.T) {
	t.Helper()
	until(t, a, "the landing", inState(view.IsDone))
	until(t, a, "the notes", func(*view.Snapshot) bool { return !a.host.Exists(layout.Media + "/begin") })
	if n := strings.Count(a.host.Content(layout.Media+"/used"), a.id); n != 1 {
		t.Errorf("noted as used %d times", n)
	}
	if a.host.Exists(bakedDocument) || a.host.Exists(layout.Media+"/baked.key") {
		t.Error("the baked document is still there")
	}
	if !strings.Contains(a.host.Content(layout.Media+"/revoked"), a.revoked) {
		t.Error("the key is not revoked")
	}
	data, err := os.ReadFile(filepath.Join(a.dir, "journal.jsonl"))
	must(t, err)
	starts := 0
	for _, e := range readJournal(data).events {
		if e.Kind == event.Started && e.Step == "" {
			starts++
		}
	}
	if starts != 1 || a.w.get("names") != "shop.stick.example" {
		t.Errorf("%d starts, landed as %s", starts, a.w.get("names"))
	}
}

// overseen is a journal that tells each record before it is written.
type overseen struct {
	journalFile
	do func(record []byte) error
}

func (w overseen) Write(p []byte) (int, error) {
	if err := w.do(p); err != nil {
		return 0, err
	}
	return w.journalFile.Write(p)
}

// beginsAlone tells whether a record is the start of a landing.
func beginsAlone(record []byte) bool { return bytes.Contains(record, []byte(`"by":"unattended"`)) }

// kinds runs a test with a baked document and with a stick.
func kinds(t *testing.T, test func(t *testing.T, baked bool)) {
	for name, baked := range map[string]bool{"baked": true, "stick": false} {
		t.Run(name, func(t *testing.T) { test(t, baked) })
	}
}

// TestAStartThatADiskRefuses: whichever write of a start fails once, the same engine lands the node, once, with nobody there.
func TestAStartThatADiskRefuses(t *testing.T) {
	kinds(t, func(t *testing.T, baked bool) {
		for _, file := range []string{"begin", "console-before.json", "console-lock.json", "journal", "revoked", "used"} {
			if file == "revoked" && baked {
				continue // it revokes nothing
			}
			t.Run(file, func(t *testing.T) {
				a, mu, failed := newUnmanned(t, baked), sync.Mutex{}, false
				once := func() error {
					mu.Lock()
					defer mu.Unlock()
					if failed {
						return nil
					}
					failed = true
					return syscall.ENOSPC
				}
				a.host.OnWrite(func(path string) error {
					if path == a.host.Path(layout.Media+"/"+file) {
						return once()
					}
					return nil
				})
				if strings.HasPrefix(file, "console-") { // a folder in its place takes no file
					must(t, os.MkdirAll(filepath.Join(a.dir, file, "x"), 0o700))
				}
				a.run(t, func(record []byte) error {
					if file == "journal" && beginsAlone(record) {
						return once()
					}
					return nil
				})
				if strings.HasPrefix(file, "console-") {
					until(t, a, "the refusal", tells(again))
					must(t, os.RemoveAll(filepath.Join(a.dir, file)))
					failed = true
				}
				if file != "revoked" && file != "used" { // before the journal has the start
					until(t, a, "the wait", tells(again))
					if a.used(t, a.id) || a.baked && !a.host.Exists(bakedDocument) {
						t.Error("the document is used, and nothing started")
					}
					a.ahead.Add(int64(tryAgainTime))
				}
				a.landed(t)
				if !failed {
					t.Error("nothing failed")
				}
			})
		}
	})
}

// disk is what a node keeps, at one moment.
type disk struct{ state, machine string }

func (a *unmanned) copyDisk(t *testing.T) disk {
	d := disk{filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), "machine")}
	must(t, os.CopyFS(d.state, os.DirFS(a.dir)))
	must(t, os.CopyFS(d.machine, os.DirFS(a.host.Path(layout.State))))
	return d
}

// boots is the node that boots from a disk, with its stick.
func (a *unmanned) boots(t *testing.T, d disk) *unmanned {
	t.Helper()
	next := &unmanned{newSealedRig(t), a.id, a.baked, a.revoked}
	next.still.Store(time.Now().UnixNano())
	for path, from := range map[string]string{next.dir: d.state, next.host.Path(layout.State): d.machine} {
		must(t, os.RemoveAll(path))
		must(t, os.CopyFS(path, os.DirFS(from)))
	}
	for range 5 {
		next.host.Boot()
	}
	if !a.baked {
		for _, at := range []string{"/sys", "/dev"} {
			must(t, os.RemoveAll(next.host.Path(at)))
			must(t, os.CopyFS(next.host.Path(at), os.DirFS(a.host.Path(at))))
		}
	}
	return next
}

// cuts are the disks of a node on which the power went at each moment of a start, by what the last write was.
func cuts(t *testing.T, baked bool) (*unmanned, map[string]disk) {
	t.Helper()
	a, disks := newUnmanned(t, baked), map[string]disk{}
	cut := func(name string) disk {
		if _, was := disks[name]; !was {
			disks[name] = a.copyDisk(t)
		}
		return disks[name]
	}
	a.host.OnWrite(func(path string) error {
		switch path {
		case a.host.Path(layout.Media + "/begin"):
			cut("nothing")
		case a.host.Path(layout.Media + "/revoked"):
			cut("the start, before the revocation")
		case a.host.Path(layout.Media + "/used"):
			cut("the start, before the use")
		}
		return nil
	})
	a.run(t, func(record []byte) error {
		if !beginsAlone(record) {
			return nil
		}
		cut("the PIN")
		d := cut("the note")
		for _, file := range []string{"console-lock.json", "console-before.json"} {
			must(t, os.Remove(filepath.Join(d.state, file)))
		}
		d = cut("the PIN, before it counts")
		must(t, os.Remove(filepath.Join(d.state, "console-lock.json")))
		d = cut("half a start")
		journal, err := os.OpenFile(filepath.Join(d.state, "journal.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
		must(t, err)
		_, err = journal.Write(record[:len(record)/2])
		must(t, err)
		must(t, journal.Close())
		return nil
	})
	a.landed(t)
	must(t, a.Close())
	a.host.OnWrite(nil)
	// From here on the journal has the start. What comes behind is that, with what the finished start did not wipe yet.
	from := disks["the start, before the use"]
	for name, wiped := range map[string]bool{"the use": false, "the wiping": true} {
		d := disk{filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), "machine")}
		must(t, os.CopyFS(d.state, os.DirFS(from.state)))
		must(t, os.CopyFS(d.machine, os.DirFS(from.machine)))
		media := filepath.Join(d.machine, "media")
		must(t, os.WriteFile(filepath.Join(media, "used"), []byte(a.host.Content(layout.Media+"/used")), 0o600))
		if wiped && baked {
			must(t, os.Remove(filepath.Join(media, "baked.dsse.json")))
		}
		disks[name] = d
	}
	return a, disks
}

// TestAPowerCutInAStart: wherever the power goes between two writes of a start, the next boot lands the node, once, with nobody there.
func TestAPowerCutInAStart(t *testing.T) {
	kinds(t, func(t *testing.T, baked bool) {
		a, disks := cuts(t, baked)
		if want := map[bool]int{true: 8, false: 9}[baked]; len(disks) != want {
			t.Errorf("%d disks, want %d", len(disks), want)
		}
		for name, d := range disks {
			t.Run("behind "+name, func(t *testing.T) {
				next := a.boots(t, d)
				if !baked && (strings.Contains(name, "start, before") || strings.HasSuffix(name, "use")) { // the landing has begun: it does without the stick
					stick.Pull(t, next.host.Root(), "sdb")
				}
				next.sealedRig.open(t)
				next.countDown(t)
				next.landed(t)
			})
		}
	})
}

// TestAStartAfterALoss: where records of the journal were lost, nobody can say that the start did not run. The document counts as used.
func TestAStartAfterALoss(t *testing.T) {
	a, disks := cuts(t, true)
	d := disks["the start, before the use"]
	must(t, os.Remove(filepath.Join(d.state, "journal.jsonl")))
	next := a.boots(t, d)
	next.sealedRig.open(t)
	next.quietAfterLoss(t)
}

// quietAfterLoss fails if something starts, or could.
func (a *unmanned) quietAfterLoss(t *testing.T) {
	t.Helper()
	until(t, a, "the loss", func(s *view.Snapshot) bool { return len(s.Notices) > 0 })
	a.pass()
	(&lander{Engine: a.Engine, tried: map[string]try{}}).judgeMedia()
	if len(a.w.calls) > 0 || !a.used(t, a.id) || a.host.Exists(bakedDocument) {
		t.Errorf("%v, used %t, still there %t", a.w.calls, a.used(t, a.id), a.host.Exists(bakedDocument))
	}
}

// TestAPersonAfterAFailedStart lands the node with other answers: the document of the start that failed is not the one that was used.
func TestAPersonAfterAFailedStart(t *testing.T) {
	a := newUnmanned(t, false)
	a.run(t, func(record []byte) error {
		if beginsAlone(record) {
			return syscall.EIO
		}
		return nil
	})
	until(t, a, "the wait", tells(again))
	if !a.host.Exists(layout.Media + "/begin") {
		t.Error("the start is not noted")
	}
	token := take(t, a)
	must(t, a.Set(t.Context(), token, "spec.clusterName", "typed"))
	must(t, a.reviewed(t, token))
	until(t, a, "the landing", inState(view.IsDone))
	if a.used(t, a.id) || a.host.Exists(layout.Media+"/begin") || a.w.get("names") != "typed.stick.example" {
		t.Errorf("used %t, landed as %s", a.used(t, a.id), a.w.get("names"))
	}
}

// reviewed has a person review and start.
func (a *unmanned) reviewed(t *testing.T, token string) error {
	t.Helper()
	must(t, a.Do(t.Context(), token, session.Action{Verb: session.Inspect}))
	must(t, a.Do(t.Context(), token, session.Action{Verb: session.Review}))
	s, err := a.Snapshot(t.Context())
	must(t, err)
	return a.Do(t.Context(), token, session.Action{Verb: session.Start, Fingerprint: s.Review.Fingerprint})
}

// TestAUsedDocumentThatStartedNothing: an earlier release noted it as used before the start was in the journal. Every screen says so, and
// what to do; answers that a person gives end that, and so does a new stick.
func TestAUsedDocumentThatStartedNothing(t *testing.T) {
	const told = "The site config was used, but nothing started."
	kinds(t, func(t *testing.T, baked bool) {
		a, disks := cuts(t, baked)
		d := disks["the PIN"]
		machine := filepath.Join(d.machine, "media")
		must(t, os.RemoveAll(filepath.Join(machine, "begin")))
		must(t, os.WriteFile(filepath.Join(machine, "used"), []byte(a.host.Content(layout.Media+"/used")), 0o600))
		if baked {
			must(t, os.Remove(filepath.Join(machine, "baked.dsse.json")))
		}
		next := a.boots(t, d)
		next.sealedRig.open(t)
		s := until(t, next, "what happened", tells(told))
		if !s.Started.IsZero() || len(next.w.calls) > 0 {
			t.Errorf("started %v", s.Started)
		}
		token := take(t, next)
		must(t, next.Set(t.Context(), token, "spec.clusterName", "typed"))
		until(t, next, "no more of it", func(s *view.Snapshot) bool { return !tells(told)(s) })
		must(t, next.reviewed(t, token))
		until(t, next, "the landing", inState(view.IsDone))
	})
}

// TestAFreshNodeSaysNothingOfAUse: neither before a document was tried, nor after one that could not start.
func TestAFreshNodeSaysNothingOfAUse(t *testing.T) {
	a := newUnmanned(t, true)
	a.w.cable = false
	a.sealedRig.open(t)
	a.countDown(t)
	if s := until(t, a, "the wait", tells(again)); tells("was used")(s) {
		t.Errorf("%v", s.Notices)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !strings.HasPrefix(a.core.draft.site.Sources["spec.clusterName"], unattended.Source(media.BakedSource)) {
		t.Errorf("%v", a.core.draft.site.Sources)
	}
}

package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"touchdown/backend/envelope"
	"touchdown/backend/layout"
	"touchdown/backend/media"
	"touchdown/backend/media/volume"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/update"
	"touchdown/steps/idle"
	"touchdown/steps/session"
	"touchdown/steps/site/pin"
	"touchdown/steps/updates"
	"touchdown/steps/view"
	"touchdown/test/stick"
)

// updateRig is a sealed node that trusts a key for releases, and whose program has the version 1.8.2.
type updateRig struct {
	*sealedRig
	releases envelope.SigningKey
	version  string // of the engine
}

func newUpdateRig(t *testing.T) *updateRig {
	t.Helper()
	r := &updateRig{sealedRig: newSealedRig(t), version: "v1.8.2"}
	var public []byte
	r.releases, public = stick.Key(t)
	_, err := media.ReleasesOf(r.host.Machine).Lay(envelope.ForReleases(public))
	must(t, err)
	r.host.File(layout.Program, "program 1.8.2")
	r.host.On(layout.Program+" version", "touchdown v1.8.2 linux/amd64 go1.26\n", nil)
	r.host.On(layout.CheckedProgram+" version", "touchdown v1.9.0 linux/amd64 go1.26\n", nil)
	return r
}

// open starts the engine as a unit whose program can be exchanged.
func (r *updateRig) open(t *testing.T) {
	t.Helper()
	o := r.options()
	o.Version, o.Updates, o.Media = r.version, true, media.NewWatcher(r.host.Machine)
	o.Media.Every, o.Media.Release, o.Media.Beside = time.Millisecond, update.Files(), []string{update.OrderFile}
	e, err := Open(o)
	must(t, err)
	r.Engine = e
	t.Cleanup(func() { _ = e.Close() })
}

// put puts in a stick with a release whose program has a content.
func (r *updateRig) put(t *testing.T, disk, program string) {
	t.Helper()
	stick.Plug(t, r.host.Root(), disk, stick.Files(t, "TOUCHDOWN", stick.Release(t, r.releases, program)...))
}

// offers waits for what is told of a release.
func (r *updateRig) offers(t *testing.T, state updates.State) *updates.Offer {
	t.Helper()
	return until(t, r, "a release that "+string(state), func(s *view.Snapshot) bool { return s.Update != nil && s.Update.State == state }).Update
}

// gone waits until nothing is told, and a few looks more.
func (r *updateRig) gone(t *testing.T) {
	t.Helper()
	until(t, r, "no release", func(s *view.Snapshot) bool { return s.Update == nil })
}

// commands are the lines that began with a word.
func (r *updateRig) commands(word string) (lines []string) {
	for _, line := range r.host.Calls() {
		if strings.HasPrefix(line, word) {
			lines = append(lines, line)
		}
	}
	return lines
}

// says tells whether a sentence for every screen has a part.
func says(part string) func(*view.Snapshot) bool {
	return func(s *view.Snapshot) bool {
		return strings.Contains(strings.Join(message.English(s.Notices), "\n"), part)
	}
}

// accept has a release installed.
func accept(o *updates.Offer, value string) session.Action {
	return session.Action{Verb: session.Update, Fingerprint: o.Program, Value: value}
}

// TestAStickAsksForAnUpdate: a person is told what is on the stick and what the node runs, on every console; whoever has control starts it, and
// systemd is given the command with the program that was shown. Nothing else begins until it is over.
func TestAStickAsksForAnUpdate(t *testing.T) {
	r := newUpdateRig(t)
	r.open(t)
	token := take(t, r)
	r.put(t, "sdb", "program 1.9.0")
	o := r.offers(t, updates.Asks)
	if o.Version != "v1.9.0" || o.Has != "v1.8.2" || o.Volume != "TOUCHDOWN (sdb)" || o.Signer != r.releases.ID() {
		t.Errorf("%+v", o)
	}
	until(t, r, "the notice", says("Touchdown v1.9.0 is on the stick TOUCHDOWN (sdb)."))
	if content := r.host.Content(layout.Program); content != "program 1.8.2" || r.host.Exists(layout.CheckedProgram) || len(r.commands("systemd-run")) > 0 {
		t.Fatalf("something changed before anybody was asked: %q, %v", content, r.host.Calls())
	}
	for name, a := range map[string]session.Action{"another release": {Verb: session.Update, Fingerprint: strings.Repeat("0", 64)}} {
		if err := r.Do(t.Context(), token, a); !errors.Is(err, session.ErrState) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := r.Do(t.Context(), "", accept(o, "")); !errors.Is(err, session.ErrNoControl) {
		t.Errorf("without control: %v", err)
	}
	must(t, r.Do(t.Context(), token, accept(o, "")))
	r.offers(t, updates.Reads)
	want := "systemd-run --quiet --collect --unit=touchdown-update --property=RuntimeMaxSec=1800 --description=Touchdown takes the release on a stick " +
		layout.Program + " update --from-stick=sdb --sha256=" + o.Program
	if lines := r.commands("systemd-run"); len(lines) != 1 || lines[0] != want {
		t.Fatalf("%q", lines)
	}
	for _, a := range []session.Action{accept(o, ""), {Verb: session.Review}, {Verb: session.Update}, {Verb: session.Reboot}} {
		if err := r.Do(t.Context(), token, a); !errors.Is(err, session.ErrState) {
			t.Errorf("%s meanwhile: %v", a.Verb, err)
		}
	}
}

// TestTheNextEngineTellsOfTheUpdate: the one of the trial, and the one that is there when it is over.
func TestTheNextEngineTellsOfTheUpdate(t *testing.T) {
	r := newUpdateRig(t)
	r.open(t)
	r.put(t, "sdb", "program 1.9.0")
	o := r.offers(t, updates.Asks)
	must(t, r.Do(t.Context(), take(t, r), accept(o, "")))
	must(t, r.Close())
	r.host.File(layout.TrialDropIn, "[Service]\n")
	r.open(t)
	r.offers(t, updates.Tries)
	must(t, r.Close())

	must(t, r.host.Remove(layout.TrialDropIn))
	failed := &problem.Problem{Code: "UPD-BACK", Summary: message.T("It failed."), Fix: message.T("Look.")}
	must(t, updates.End(r.host.Machine, o.Program, failed, r.clock()))
	r.open(t)
	is := r.offers(t, updates.Failed)
	if is.Problem.Code != "UPD-BACK" || is.Problem.Summary != failed.Summary {
		t.Errorf("%+v", is.Problem)
	}
	must(t, r.Do(t.Context(), take(t, r), session.Update.Close(is)))
	r.gone(t)
	if updates.Last(r.host.Machine) != nil {
		t.Error("the failure is told again by the next engine")
	}
	stick.Pull(t, r.host.Root(), "sdb")
	until(t, r, "an empty socket", func(*view.Snapshot) bool { return len(r.o.Media.Releases()) == 0 })
	r.put(t, "sdb", "program 1.9.0") // the same stick, put in again
	o = r.offers(t, updates.Asks)

	must(t, r.Do(t.Context(), take(t, r), accept(o, "")))
	must(t, r.Close())
	r.host.File(layout.Program, "program 1.9.0")
	must(t, updates.End(r.host.Machine, o.Program, nil, r.clock()))
	r.version = "v1.9.0"
	r.open(t)
	until(t, r, "how it ended", says("Touchdown is now v1.9.0. To go back to v1.8.2: touchdown update --back"))
	r.gone(t)
	r.ahead.Store(int64(2 * time.Hour))
	until(t, r, "the end of that", func(s *view.Snapshot) bool { return len(s.Notices) == 0 && s.Update == nil })
	r.ahead.Store(0)
	until(t, r, "it again", says("Touchdown is now v1.9.0."))
	r.ahead.Store(int64(-time.Minute))
	until(t, r, "a clock that was set back", func(s *view.Snapshot) bool { return len(s.Notices) == 0 })
	must(t, r.Close())

	r.version = "v1.8.2" // a person went back
	r.ahead.Store(0)
	r.open(t)
	r.sees(t, "sdb")
	if s, err := r.Snapshot(t.Context()); err != nil || says("Touchdown is now")(s) {
		t.Errorf("%v, %v", message.English(s.Notices), err)
	}
}

// exited is the error of a command that ended with a status; -1: a signal ended it.
type exited int

func (e exited) Error() string { return fmt.Sprint("exit status ", int(e)) }
func (e exited) ExitCode() int { return int(e) }

// isActive has systemd answer whether the command of an update is at work, and returns how often it was asked so far.
func (r *updateRig) isActive(says string, err error) (asked func() int) {
	const command = "systemctl is-active touchdown-update.service"
	r.host.On(command, says+"\n", err)
	before := len(r.commands(command))
	return func() int { return len(r.commands(command)) - before }
}

// TestAnUpdateThatIsCutOffIsTold: its command is gone, and said nothing. A look that fails tells nothing of it, and what the command says
// itself counts more.
func TestAnUpdateThatIsCutOffIsTold(t *testing.T) {
	r := newUpdateRig(t)
	r.open(t)
	r.put(t, "sdb", "program 1.9.0")
	o := r.offers(t, updates.Asks)
	must(t, r.Do(t.Context(), take(t, r), accept(o, "")))
	for name, c := range map[string]struct {
		says string
		err  error
	}{
		"the look was killed": {"", exited(-1)}, "it is ending": {"deactivating", exited(3)}, "no bus": {"", exited(1)},
		"no systemctl": {"", errors.New("not found")}, "killed late": {"inactive", exited(-1)},
	} {
		asked := r.isActive(c.says, c.err)
		until(t, r, "looks", func(*view.Snapshot) bool { return asked() > 3 })
		if last := updates.Last(r.host.Machine); !last.Runs() {
			t.Fatalf("%s: %+v", name, last.Problem)
		}
	}
	r.isActive("inactive", exited(3))
	if o := r.offers(t, updates.Failed); o.Problem.Code != "UPD-CUT" {
		t.Errorf("%+v", o.Problem)
	}
	must(t, updates.End(r.host.Machine, o.Program, &problem.Problem{Code: "UPD-BACK"}, r.clock()))
	until(t, r, "the command's word", func(s *view.Snapshot) bool { return s.Update != nil && s.Update.Problem.Code == "UPD-BACK" })
	must(t, updates.End(r.host.Machine, o.Program, nil, r.clock()))
	if last := updates.Last(r.host.Machine); last.State != updates.Failed {
		t.Errorf("the command's word is %s now", last.State)
	}
}

// TestAnEngineOpensIntoAnUpdate: it lets nothing begin before its first look at the sticks. What a power cut left of a judgement goes, where
// no update is under way.
func TestAnEngineOpensIntoAnUpdate(t *testing.T) {
	r := newUpdateRig(t)
	r.host.File(layout.CheckedProgram, "half")
	o := r.options()
	o.Updates = true // and no sockets: nothing looks
	e, err := Open(o)
	must(t, err)
	if r.host.Exists(layout.CheckedProgram) {
		t.Error("the program that was judged is still there")
	}
	must(t, e.Do(t.Context(), take(t, e), session.Action{Verb: session.Inspect}))
	must(t, e.Close())
	must(t, updates.Start(t.Context(), r.host.Machine, updates.Offer{Device: "sdb", Program: "5a"}, ""))
	r.host.File(layout.CheckedProgram, "half")
	e, err = Open(o)
	must(t, err)
	defer func() { _ = e.Close() }()
	token := take(t, e)
	for _, verb := range []session.Verb{session.Inspect, session.Reboot, session.PowerOff} {
		if err := e.Do(t.Context(), token, session.Action{Verb: verb}); !errors.Is(err, session.ErrState) {
			t.Errorf("%s: %v", verb, err)
		}
	}
	if !r.host.Exists(layout.CheckedProgram) {
		t.Error("it took the program from the update")
	}
}

// TestOneLookEndsNoUpdate: the command may come to its end between the look at its record and the one at its unit.
func TestOneLookEndsNoUpdate(t *testing.T) {
	r := newUpdateRig(t)
	must(t, updates.Start(t.Context(), r.host.Machine, updates.Offer{Device: "sdb", Program: "5a"}, ""))
	r.open(t)
	r.host.OnFunc("systemctl is-active", func([]string, []byte) (string, error) {
		if len(r.commands("systemctl is-active"))%2 == 0 {
			return "active\n", nil
		}
		return "inactive\n", exited(3)
	})
	until(t, r, "looks", func(*view.Snapshot) bool { return len(r.commands("systemctl is-active")) > 6 })
	if last := updates.Last(r.host.Machine); !last.Runs() {
		t.Errorf("%+v", last.Problem)
	}
}

// TestWhatIsNotOffered: is told with its reason, and starts nothing.
func TestWhatIsNotOffered(t *testing.T) {
	other, _ := stick.Key(t)
	spoil := func(name string, change func([]byte) []byte) func(*updateRig) []volume.File {
		return func(r *updateRig) []volume.File {
			files := stick.Release(t, r.releases, "program 1.9.0")
			for i := range files {
				if files[i].Name == name {
					files[i].Data = change(files[i].Data)
				}
			}
			return files
		}
	}
	older := func(r *updateRig) []volume.File {
		r.host.On(layout.CheckedProgram+" version", "touchdown v1.7.9 linux/amd64 go1.26\n", nil)
		return stick.Release(t, r.releases, "program 1.7.9")
	}
	for name, c := range map[string]struct {
		files func(*updateRig) []volume.File
		code  string
		runs  bool // its program, for its version
	}{
		"another key":      {func(*updateRig) []volume.File { return stick.Release(t, other, "program 1.9.0") }, "UPD-SGN", false},
		"a key for media":  {func(r *updateRig) []volume.File { return stick.Release(t, r.key, "program 1.9.0") }, "UPD-MKEY", false},
		"changed sums":     {spoil("SHA256SUMS", func(d []byte) []byte { return append(d, '\n') }), "UPD-SGN", false},
		"another program":  {spoil("touchdown", func(d []byte) []byte { return append(d, '!') }), "UPD-SUM", false},
		"an older release": {older, "UPD-PAST", true},
		"two at once":      {nil, "UPD-MANY", false},
		"no key on the node": {func(r *updateRig) []volume.File {
			must(t, r.host.Remove(layout.Media+"/releases.pub"))
			return stick.Release(t, r.releases, "program 1.9.0")
		}, "UPD-NKEY", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newUpdateRig(t)
			if c.files == nil {
				r.put(t, "sdb", "program 1.9.0")
				r.put(t, "sdc", "program 1.9.1")
			} else {
				stick.Plug(t, r.host.Root(), "sdb", stick.Files(t, "TOUCHDOWN", c.files(r)...))
			}
			r.open(t)
			o := r.offers(t, updates.Refused)
			if o.Problem.Code != c.code {
				t.Errorf("%+v", o.Problem)
			}
			until(t, r, "the notice", says("is not used: "+c.code))
			if ran := len(r.commands(layout.CheckedProgram)) > 0; ran != c.runs {
				t.Errorf("its program ran: %t", ran)
			}
			token := take(t, r)
			for _, program := range []string{o.Program, strings.Repeat("0", 64)} {
				if program == "" { // it was not even read
					continue
				}
				if err := r.Do(t.Context(), token, session.Action{Verb: session.Update, Fingerprint: program}); !errors.Is(err, session.ErrState) {
					t.Errorf("accepted: %v", err)
				}
			}
			must(t, r.Do(t.Context(), token, session.Update.Close(o)))
			r.gone(t)
			if len(r.commands("systemd-run")) > 0 {
				t.Errorf("%v", r.host.Calls())
			}
		})
	}
}

// TestANodeHasTheReleaseAlready: nobody is asked. A stick that was refused by a person is not asked about again until it is put in again.
func TestANodeHasTheReleaseAlready(t *testing.T) {
	r := newUpdateRig(t)
	r.put(t, "sdb", "program 1.8.2")
	r.open(t)
	until(t, r, "a look", func(*view.Snapshot) bool { return len(r.o.Media.Releases()) == 1 })
	stick.Pull(t, r.host.Root(), "sdb")
	until(t, r, "an empty socket", func(*view.Snapshot) bool { return len(r.o.Media.Releases()) == 0 })
	if s, err := r.Snapshot(t.Context()); err != nil || s.Update != nil || len(r.commands(layout.CheckedProgram)) > 0 {
		t.Fatalf("%+v, %v", s.Update, err)
	}
	r.put(t, "sdb", "program 1.9.0")
	must(t, r.Do(t.Context(), take(t, r), session.Update.Close(r.offers(t, updates.Asks))))
	r.gone(t)
	checked := len(r.commands(layout.CheckedProgram))
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Inspect}))
	if now := len(r.commands(layout.CheckedProgram)); now != checked {
		t.Errorf("it was judged again: %d, %d", now, checked)
	}
	stick.Pull(t, r.host.Root(), "sdb")
	until(t, r, "an empty socket", func(*view.Snapshot) bool { return len(r.o.Media.Releases()) == 0 })
	r.put(t, "sdb", "program 1.9.0")
	r.offers(t, updates.Asks)
}

// TestALandedNodeIsUpdatedByItsName: before and after the hand-over; the name unlocks nothing else. A node at work is left alone.
func TestALandedNodeIsUpdatedByItsName(t *testing.T) {
	r := newUpdateRig(t)
	r.open(t)
	token := take(t, r)
	waiting := make(chan struct{})
	r.w.onRun(func(string) { <-waiting })
	r.put(t, "sdb", "program 1.9.0")
	o := r.offers(t, updates.Asks)
	r.start(t, r, token, false)
	if err := r.Do(t.Context(), token, accept(o, "")); !errors.Is(err, session.ErrState) {
		t.Errorf("at work: %v", err)
	}
	r.gone(t)
	close(waiting)
	until(t, r, "the end", inState(view.IsDone))
	for _, handed := range []bool{false, true} {
		if handed {
			must(t, r.Do(t.Context(), token, session.Action{Verb: session.HandOver}))
		}
		o = r.offers(t, updates.Asks)
		for _, name := range []string{"", "yes", "nod"} {
			if err := r.Do(t.Context(), token, accept(o, name)); !errors.Is(err, session.ErrLocked) {
				t.Errorf("handed over %t, %q: %v", handed, name, err)
			}
		}
	}
	if len(r.commands("systemd-run")) > 0 {
		t.Fatalf("%v", r.host.Calls())
	}
	must(t, r.Do(t.Context(), token, accept(o, "NODE")))
	r.offers(t, updates.Reads)
	if s, err := r.Snapshot(t.Context()); err != nil || !s.Locked {
		t.Errorf("the node is unlocked: %v", err)
	}
}

// TestNobodyUpdatesWithoutAPIN: a console that locked itself takes no answer.
func TestNobodyUpdatesWithoutAPIN(t *testing.T) {
	r := newUpdateRig(t)
	r.open(t)
	r.put(t, "sdb", "program 1.9.0")
	o := r.offers(t, updates.Asks)
	token := take(t, r)
	must(t, r.idle.Begin(pin.Hash(testHash()), time.Minute))
	r.ahead.Store(int64(time.Hour))
	for _, a := range []session.Action{accept(o, ""), {Verb: session.Update}} {
		if err := r.Do(idle.At(t.Context(), "tty1"), token, a); !errors.Is(err, idle.ErrLocked) {
			t.Errorf("%s: %v", a.Verb, err)
		}
	}
}

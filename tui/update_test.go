package tui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/message"
	"touchdown/steps/event"
	"touchdown/steps/idle"
	"touchdown/steps/session"
	"touchdown/steps/updates"
	"touchdown/steps/view"
)

// aRelease is one on a stick about which a person is asked.
func aRelease() *updates.Offer {
	return &updates.Offer{
		State: updates.Asks, Volume: "TOUCHDOWN (sdb)", Device: "sdb", Version: "v1.9.0", Has: "v1.8.2", Signer: "5c1f0a9be2d74431",
		Program: strings.Repeat("5a", 32),
	}
}

// unsigned makes it one that no trusted key has signed.
func unsigned(o *updates.Offer) {
	o.State, o.Version, o.Signer, o.Program = updates.Refused, "", "", ""
	o.Problem = &event.Trouble{
		Code: "UPD-SGN", Summary: message.F("No key that this node trusts for releases has signed the release in %s.", "TOUCHDOWN (sdb)"),
		Fix: message.T("Take the stick out, and get a release from whoever made this node. An engineer can name another key with --key."),
	}
}

// ordered puts an order beside it, which the node follows or refuses.
func ordered(refused bool) func(*updates.Offer) {
	return func(o *updates.Offer) {
		o.Order = &updates.Ordered{ID: "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
		if refused {
			o.Order.Problem = &event.Trouble{
				Code: "UPD-SERL", Summary: message.F("The update order on the stick is not for this machine, whose serial number is %q.", "SN0042"),
				Fix: message.T("Have a stick made whose order names this serial number, or install the release at a console."),
			}
		}
	}
}

// notUpdated makes it one whose engine did not answer.
func notUpdated(o *updates.Offer) {
	o.State = updates.Failed
	o.Problem = &event.Trouble{
		Code: "UPD-BACK", Summary: message.T("The engine does not answer with this program. The node has the program that it had before."),
		Fix: message.T("Look at `journalctl -u touchdown-engine`, and keep what it says for whoever made the release."),
	}
}

// plugged is a bench at whose first page a stick with a release is put in.
func pluggedIn(t *testing.T, edits ...func(*view.Snapshot)) *bench {
	t.Helper()
	b := newBench(t, 80, 24, append([]func(*view.Snapshot){realSite}, edits...)...)
	b.fake.change(func(s *view.Snapshot) { s.Update = aRelease() })
	b.refresh()
	b.shows("Touchdown v1.9.0 is on the stick TOUCHDOWN (sdb)")
	b.shows("This node runs v1.8.2.")
	return b
}

// TestEnterNeverUpdates: keys that were meant for the page before do nothing, Enter says "Not now", and the number of an answer only moves
// the focus.
func TestEnterNeverUpdates(t *testing.T) {
	b := pluggedIn(t)
	b.press("enter", "enter")
	if verbs := b.fake.verbs(); len(verbs) > 0 {
		t.Fatalf("%v in the first second", verbs)
	}
	b.now = b.now.Add(2 * time.Second)
	b.press("2")
	if verbs := b.fake.verbs(); len(verbs) > 0 {
		t.Fatalf("%v by a number alone", verbs)
	}
	b.press("1", "enter")
	if a := b.fake.actions; !slices.Equal(a, []session.Action{session.Update.Close(aRelease())}) {
		t.Fatalf("%+v", a)
	}
	if s := b.screen(); strings.Contains(s, "Not now") {
		t.Errorf("it is asked again:\n%s", s)
	}
}

// TestUpdateAtAConsole: a node that has not landed is updated by two keys; the page tells how it goes, on each console, and what became of it.
func TestUpdateAtAConsole(t *testing.T) {
	b := pluggedIn(t)
	b.now = b.now.Add(2 * time.Second)
	b.press("2", "enter")
	if a := b.fake.actions; len(a) != 1 || a[0].Verb != session.Update || a[0].Fingerprint != aRelease().Program || a[0].Value != "" {
		t.Fatalf("%+v", a)
	}
	b.shows("Touchdown is being updated to v1.9.0")
	b.shows("The release is read from the stick")
	b.fake.change(func(s *view.Snapshot) { s.Update.State = updates.Tries })
	b.refresh()
	b.shows("The engine of the new program is being tried.")
	b.press("2", "enter")
	b.fake.change(func(s *view.Snapshot) { s.Update = aRelease(); notUpdated(s.Update) })
	b.refresh()
	b.shows("Touchdown was not updated")
	b.shows("UPD-BACK")
	b.now = b.now.Add(2 * time.Second)
	b.press("enter")
	failed := aRelease()
	notUpdated(failed)
	if a := b.fake.actions; len(a) != 2 || a[1] != session.Update.Close(failed) {
		t.Fatalf("%+v", a)
	}
}

// TestUpdateOfALandedNodeWantsItsName: a landed node has users, and nothing changes there without its name.
func TestUpdateOfALandedNodeWantsItsName(t *testing.T) {
	for _, edit := range []func(*view.Snapshot){finished, func(s *view.Snapshot) { finished(s); s.Locked = true }} {
		b := pluggedIn(t, edit)
		again := func(keys ...string) {
			b.now = b.now.Add(2 * time.Second) // the page may have come up just now
			b.press(append([]string{"2", "enter"}, keys...)...)
		}
		again("enter")
		again("tab", "'sno-042", "tab", "enter")
		if verbs := b.fake.verbs(); len(verbs) > 0 {
			t.Fatalf("%v without the whole name", verbs)
		}
		b.press("esc")
		again()
		b.golden("update-landed")
		b.press("esc")
		again("tab", "'"+b.fake.snap.Hostname, "tab", "enter")
		if a := b.fake.actions; len(a) != 1 || a[0].Verb != session.Update || a[0].Value != b.fake.snap.Hostname {
			t.Fatalf("%+v\n%s", a, b.screen())
		}
	}
}

// TestAReleaseInterruptsNoTyping: the page waits until the field is left. At work it does not come at all.
func TestAReleaseInterruptsNoTyping(t *testing.T) {
	b := newBench(t, 80, 24, realSite)
	b.press("c", "c", "'shop")
	b.fake.change(func(s *view.Snapshot) { s.Update = aRelease() })
	b.refresh()
	b.press("'s")
	if s := b.screen(); !strings.Contains(s, "shops") || strings.Contains(s, "Not now") {
		t.Fatalf("typing is interrupted:\n%s", s)
	}
	b.press("shift+tab")
	b.shows("Not now")
	b = newBench(t, 80, 24, realSite, func(s *view.Snapshot) { s.State, s.Review = view.Reviewed, reviewView() })
	word := b.app.words()[0]
	b.press("'"+word, "tab")
	b.fake.change(func(s *view.Snapshot) { s.Update = aRelease() })
	b.refresh()
	b.shows("[" + word)
	b.press("enter")
	if verbs := b.fake.verbs(); !slices.Equal(verbs, []session.Verb{session.Start}) {
		t.Fatalf("%v\n%s", verbs, b.screen())
	}
	for name, state := range map[string]func(*view.Snapshot){"work": working, "question": asking, "problem": failed, "undo": undoing} {
		b := newBench(t, 80, 24, realSite, state, func(s *view.Snapshot) { s.Update = aRelease() })
		if s := b.screen(); strings.Contains(s, "Not now") {
			t.Errorf("%s:\n%s", name, s)
		}
	}
}

// TestUpdateBelongsToControl: a console that only watches shows the question and cannot answer it.
func TestUpdateBelongsToControl(t *testing.T) {
	b := pluggedIn(t)
	b.fake.change(func(s *view.Snapshot) { s.Control = view.Control{Holder: "tty1", Since: epoch} })
	b.refresh()
	b.now = b.now.Add(2 * time.Second)
	for _, answer := range []string{"1", "2"} {
		b.press(answer, "enter")
		b.shows("Read-only.")
	}
	if verbs := b.fake.verbs(); len(verbs) > 0 {
		t.Errorf("%v", verbs)
	}
}

// TestUpdateBehindThePIN: a console that nobody used shows the question, and its keys are the PIN.
func TestUpdateBehindThePIN(t *testing.T) {
	b := pluggedIn(t)
	b.fake.change(func(s *view.Snapshot) { s.Idle = &idle.View{After: 60} })
	b.refresh()
	b.now = b.now.Add(2 * time.Second)
	b.press("2", "enter", "enter")
	b.shows("PIN:")
	if verbs := b.fake.verbs(); len(verbs) > 0 {
		t.Errorf("%v", verbs)
	}
}

// TestWhoWatchesReadsToo: a console without control closes the page about a release that is not used, for itself. Another release is told again.
func TestWhoWatchesReadsToo(t *testing.T) {
	for _, edit := range []func(*updates.Offer){unsigned, notUpdated} {
		for _, way := range [][]string{{"enter"}, {"1", "enter"}, {"b"}, {"esc"}} {
			b := pluggedIn(t, finished)
			b.fake.change(func(s *view.Snapshot) { s.Control = view.Control{Holder: "tty1", Since: epoch}; edit(s.Update) })
			b.refresh()
			b.press(way...)
			b.shows("Close") // not in the first second
			b.now = b.now.Add(2 * time.Second)
			b.press(way...)
			b.shows("This node has landed")
			b.refresh()
			b.shows("This node has landed")
			if verbs := b.fake.verbs(); len(verbs) > 0 {
				t.Errorf("%v: %v", way, verbs)
			}
			was := b.fake.snap.Update
			b.fake.change(func(s *view.Snapshot) { s.Update = nil })
			b.refresh()
			b.fake.change(func(s *view.Snapshot) { s.Update = was })
			b.refresh()
			b.shows(was.Volume)
			b.now = b.now.Add(2 * time.Second)
			b.press(way...)
			b.fake.change(func(s *view.Snapshot) { other := *was; other.Volume = "OTHER (sdc)"; s.Update = &other })
			b.refresh()
			b.shows("OTHER (sdc)")
		}
	}
}

// TestAnotherProblemIsAnotherPage: the same stick can be refused for another reason at the next look, which whoever closed the page of the
// first has not read.
func TestAnotherProblemIsAnotherPage(t *testing.T) {
	b := pluggedIn(t)
	say := func(code, summary string) {
		b.fake.change(func(s *view.Snapshot) {
			other := *s.Update
			unsigned(&other)
			other.Problem = &event.Trouble{Code: code, Summary: message.Data(summary), Fix: message.Data("Ask for another one.")}
			s.Update = &other
		})
		b.refresh()
		b.shows(summary)
	}
	say("UPD-SGN", "Nobody signed it.")
	say("UPD-STRT", "It does not start.")
	b.fake.change(func(s *view.Snapshot) { s.Control = view.Control{Holder: "tty1", Since: epoch} })
	b.refresh()
	b.now = b.now.Add(2 * time.Second)
	b.press("b")
	if strings.Contains(b.screen(), "It does not start.") {
		t.Fatal("the page that was closed is there")
	}
	say("UPD-DISK", "No room for it.")
}

package tui

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"touchdown/steps/session"
	"touchdown/steps/view"
	"touchdown/test/race"
)

// keysOf are the messages for bytes that come together.
func keysOf(data string) tea.Msg {
	var d decoder
	d.feed([]byte(data))
	d.rest()
	return typed(d.take(), true, true)
}

// paste sends bytes all at once.
func (b *bench) paste(data string) {
	b.t.Helper()
	_, cmd := b.app.Update(keysOf(data))
	b.run(cmd)
}

// harmless are the actions that nobody else notices.
func harmless(v session.Verb) bool {
	return slices.Contains([]session.Verb{session.Inspect, session.Review, session.Act, session.Restore}, v)
}

// words are what people type or paste in the wrong place. Tabs and ends of lines are part of it.
func words() []string {
	all := []string{
		"Ready", "Property", "Policy", "Play", "every", "proxy", "Really", "Retry", "matrix\t\n", "root\ntoor\n", "kubeadmin",
		"ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQDRkPyq7 core@laptop\n", "u\ty\nu\t\ty\t\nR\t\nP\t\nk\t\n", "\n\n\n\t\n\t\t\n\t\t\t\n",
		"  RPuehkxs\t\n\n\tyes\n", "y\ny\nYes\nyes\nY\n",
	}
	random := rand.New(rand.NewPCG(5, 0))
	const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/\n\t "
	for range 20 {
		var line strings.Builder
		for range 68 {
			line.WriteByte(base64[random.IntN(len(base64))])
		}
		all = append(all, line.String())
	}
	return all
}

// TestTextDoesNothing types words key by key, as slowly as anyone, on every page where nothing is to be filled in. No text
// reboots, switches off, cancels, undoes, unlocks or moves a node, because each needs its own word or a key that is in
// no text.
func TestTextDoesNothing(t *testing.T) {
	locked := func(s *view.Snapshot) { finished(s); s.Locked = true }
	moving := func(s *view.Snapshot) { working(s); s.Life = view.LifeMoving }
	sealed := func(s *view.Snapshot) { finished(s); s.List, s.Life = view.ListFactory, "armed" }
	for name, edit := range map[string]func(*view.Snapshot){
		"landed": finished, "locked": locked, "undone": undone, "work": working, "moving": moving, "undoing": undoing, "sealed": sealed,
	} {
		for i, word := range words() {
			if race.On && i%5 != len(name)%5 { // without the detector each page gets each word
				continue
			}
			b := newBench(t, 80, 24, edit)
			for _, r := range word {
				b.key(map[rune]string{'\n': "enter", '\t': "tab", ' ': "space"}[r] + strings.Trim(string(r), "\n\t "))
			}
			if got := b.fake.verbs(); len(got) > 0 {
				t.Errorf("%s: typing %q did %v", name, word, got)
			}
		}
	}
}

// TestLettersChooseEnterDoes: on the pages that decide, a letter moves the focus and no more.
func TestLettersChooseEnterDoes(t *testing.T) {
	for _, edit := range []func(*view.Snapshot){failed, asking} {
		b := newBench(t, 80, 24, edit)
		b.now = b.now.Add(time.Minute)
		b.press("'RetryproxySkipUndoEditwaive12")
		if got := b.fake.decided(); len(got) > 0 {
			t.Errorf("letters did %v", got)
		}
	}
	b := newBench(t, 80, 24, failed)
	b.press("r", "enter")
	if got := b.fake.verbs(); !slices.Equal(got, []session.Verb{session.Retry}) {
		t.Errorf("r and Enter did %v", got)
	}
}

// TestLockedIsQuiet: on a locked node a letter shows something, or does nothing at all.
func TestLockedIsQuiet(t *testing.T) {
	for _, r := range "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!\"$%&/()=+*#'_.:,;<>@" {
		b := newBench(t, 80, 24, finished, func(s *view.Snapshot) { s.Locked = true })
		before := b.screen()
		b.press(string(r))
		page := b.app.top().name()
		if page != "dashboard" && page != "log" && page != "report" && page != "inventory" {
			t.Errorf("%q opened %s", r, page)
		}
		if page == "dashboard" && basicGlyphs.Replace(b.screen()) != before {
			t.Errorf("%q changed the page:\n%s", r, b.screen())
		}
	}
}

// TestLandedWantsTheName: whatever users of a landed node would notice wants its name.
func TestLandedWantsTheName(t *testing.T) {
	for key, verb := range map[string]session.Verb{
		"R": session.Reboot, "P": session.PowerOff, "u": session.Undo, "e": session.Edit, "h": session.HandOver,
	} {
		b := newBench(t, 80, 24, finished)
		b.press(key, "enter", "ctrl+y", "right", "enter", "y", "'yes", "enter", "esc")
		b.press(key, "enter", "tab", "'sno-04", "enter", "tab", "enter", "esc")
		if got := b.fake.verbs(); len(got) > 0 {
			t.Errorf("without the name %s did %v", key, got)
		}
		b = newBench(t, 80, 24, finished)
		b.press(key, "enter", "tab", "'sno-042", "enter")
		if got := b.fake.verbs(); !slices.Equal(got, []session.Verb{verb}) {
			t.Errorf("with the name %s did %v, want %s", key, got, verb)
		}
	}
	b := newBench(t, 80, 24, finished, func(s *view.Snapshot) { s.Locked = true })
	b.press("tab", "enter", "tab", "'sno-042.factory.example", "enter")
	if got := b.fake.verbs(); !slices.Equal(got, []session.Verb{session.Unlock}) {
		t.Errorf("with the name Unlock did %v", got)
	}
}

// TestTypedWordFindsItsField: who types the word that a page asks for need not go to its field first; a letter that does something does that.
func TestTypedWordFindsItsField(t *testing.T) {
	b := newBench(t, 80, 24, finished)
	b.press("u", "enter")
	b.shows("Put everything back?")
	b.press("'sno-042")
	b.shows("[sno-042 ")
	b.press("enter")
	if !slices.Equal(b.fake.verbs(), []session.Verb{session.Undo}) {
		t.Errorf("did %v", b.fake.verbs())
	}
	b = newBench(t, 80, 24, finished)
	b.press("u", "enter", "x", "b")
	b.shows("[ Hand over ]")
}

// TestEscInAWaiver: it leads from what is typed to "Go back", which another Esc is, and takes nothing away before.
func TestEscInAWaiver(t *testing.T) {
	b := newBench(t, 80, 24, func(s *view.Snapshot) { s.Stages[0].Steps[0].Checks[1].Status = "fail" })
	b.press("w", "'Kim", "esc")
	b.shows("[Kim ")
	b.shows(">[ Go back ]")
	b.press("esc")
	b.shows("[ Continue ]")
}

// TestDialogSaysNo: any key but an arrow with Enter, and Ctrl-Y, leaves a dialog with nothing done.
func TestDialogSaysNo(t *testing.T) {
	for _, key := range []string{"enter", "tab", "shift+tab", "space", "y", "Y", "n", "b", "esc", "x", "?", "m", "l", "ctrl+u", "backspace"} {
		b := newBench(t, 80, 24, working)
		b.press("x", "enter")
		b.shows("Stop the work?")
		b.press(key)
		if strings.Contains(b.screen(), "Stop the work?") || len(b.fake.verbs()) > 0 {
			t.Errorf("%s: did %v\n%s", key, b.fake.verbs(), b.screen())
		}
	}
	for _, keys := range [][]string{{"ctrl+y"}, {"right", "enter"}, {"down", "enter"}} {
		b := newBench(t, 80, 24, working)
		b.press(append([]string{"x", "enter"}, keys...)...)
		if !slices.Equal(b.fake.verbs(), []session.Verb{session.Cancel}) {
			t.Errorf("%s did %v", keys, b.fake.verbs())
		}
	}
	b := newBench(t, 80, 24, working)
	b.press("x", "enter")
	if _, err := b.fake.TakeControl(t.Context(), "tty1", true); err != nil {
		t.Fatal(err)
	}
	b.refresh()
	if strings.Contains(b.screen(), "Stop the work?") {
		t.Error("a console that lost control still asks")
	}
}

// TestPasteReachesNoButton pastes keys that would do something if a person pressed them one by one.
func TestPasteReachesNoButton(t *testing.T) {
	for name, edit := range map[string]func(*view.Snapshot){
		"landed": finished, "work": working, "problem": failed, "question": asking,
		"review": func(s *view.Snapshot) { s.State, s.Review = view.Reviewed, reviewView() },
	} {
		for _, data := range []string{
			"x\x19", "x\r\x1b[C\r", "R\r\tsno-042\r", "u\r\tsno-042\r", "\tsno-042\r", "r\r", "e\r", "1\r", "\r", "\x1b[C\r", "\x07\x19", "ab\x1b1\r", "\x03\x19", "\x1b\x1b\x1b",
		} {
			for _, data := range []string{data, "\x1b[200~" + data + "\x1b[201~", strings.Repeat(data, 100)} {
				if data == "\r" {
					continue // one key
				}
				b := newBench(t, 80, 24, edit)
				b.now = b.now.Add(time.Minute)
				b.paste(data)
				if got := b.fake.decided(); len(got) > 0 || b.app.over != nil {
					t.Errorf("%s: pasting %q did %v, opened %v", name, data, got, b.app.over)
				}
			}
		}
	}
}

// TestPasteIntoADialog: the word that agrees to something is typed by hand.
func TestPasteIntoADialog(t *testing.T) {
	b := newBench(t, 80, 24, finished)
	b.press("R", "enter", "tab")
	b.paste("sno-042\r")
	b.shows("came too fast")
	b.press("enter")
	b = newBench(t, 80, 24, working)
	b.press("x", "enter")
	b.paste("\x1b[C\x1b[C\x1b[C\r")
	if got := b.fake.verbs(); len(got) > 0 {
		t.Errorf("did %v", got)
	}
}

// TestPasteIntoFields: in a form it does what typing does, as far as there are text fields, and goes no further.
func TestPasteIntoFields(t *testing.T) {
	const pem = "-----BEGIN X-----\r\nAA==\r\n\r\nBB==\r\n-----END X-----\r\n"
	b := newBench(t, 80, 24)
	b.press("c")
	b.paste("\x15store0042\texample.com\r{\"auths\":\r\n{}}\r" + pem + pem + "\r\n")
	b.press("tab")
	want := []string{
		"spec.clusterName=store0042", "spec.baseDomain=example.com", "spec.pullSecret={\"auths\":\n\n{}}",
		"spec.apiCert.cert=" + strings.Repeat("-----BEGIN X-----\nAA==\nBB==\n-----END X-----\n", 2),
	}
	if !slices.Equal(b.fake.sets, want) {
		t.Errorf("set %q, want %q", b.fake.sets, want)
	}
	b = newBench(t, 80, 24)
	b.press("c", "tab")
	b.paste("\x1b[200~" + strings.Repeat("abcd efgh\r", 20) + "\x1b[201~")
	if got := b.fake.verbs(); len(got) > 0 || b.app.page.name() != "form" {
		t.Errorf("many lines did %v, and show %s", got, b.app.page.name())
	}
}

package tui

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"touchdown/steps/session"
	"touchdown/steps/view"
)

// TestStrayEnter: an Enter that was meant for the page before, or for what lay on top, decides nothing.
func TestStrayEnter(t *testing.T) {
	for name, c := range map[string]struct {
		scene func(*view.Snapshot)
		does  session.Verb
	}{"a failure": {failed, session.Retry}, "a question": {asking, session.Reply}} {
		b := newBench(t, 80, 24, working)
		b.now = b.now.Add(time.Minute)
		b.fake.change(c.scene)
		b.refresh()
		b.press("enter")
		b.now = b.now.Add(time.Minute)
		b.press("l", "enter", "enter") // the second one is a bouncing key
		b.now = b.now.Add(time.Minute)
		b.press("ctrl+c", "enter", "enter")
		if got := b.fake.decided(); len(got) > 0 {
			t.Errorf("%s: a stray Enter did %v", name, got)
		}
		b.now = b.now.Add(enterDelay)
		b.press("enter")
		if got := b.fake.decided(); !slices.Equal(got, []session.Verb{c.does}) {
			t.Errorf("%s: Enter did %v", name, got)
		}
	}
}

// TestChosenAtOnce: who moves the focus has seen the page, and need not wait.
func TestChosenAtOnce(t *testing.T) {
	b := newBench(t, 80, 24, working)
	b.now = b.now.Add(time.Minute)
	b.fake.change(failed)
	b.refresh()
	b.press("r", "enter")
	if got := b.fake.decided(); !slices.Equal(got, []session.Verb{session.Retry}) {
		t.Errorf("Enter did %v", got)
	}
}

// TestWordForAnotherReview: the word was typed, and another console went back and asked for a new review.
func TestWordForAnotherReview(t *testing.T) {
	reviewed := func(fingerprint string) func(*view.Snapshot) {
		return func(s *view.Snapshot) {
			s.State, s.Review = view.Reviewed, reviewView()
			s.Review.Fingerprint = fingerprint
		}
	}
	b := newBench(t, 80, 24, reviewed("read"))
	b.press("tab", "'sno-042", "tab")
	b.fake.change(reviewed("not read"))
	b.refresh()
	b.press("enter")
	if got := b.fake.decided(); slices.Contains(got, session.Start) {
		t.Errorf("the keys did %v", got)
	}
}

// TestDialogOfAnotherJob: the work of a landing may be stopped with two keys, that of a node with users with its name.
func TestDialogOfAnotherJob(t *testing.T) {
	b := newBench(t, 80, 24, working)
	b.press("x", "enter")
	b.shows("Stop the work?")
	b.fake.change(func(s *view.Snapshot) { s.Life = view.LifeMoving })
	b.refresh()
	b.press("ctrl+y")
	if got := b.fake.decided(); len(got) > 0 {
		t.Errorf("the keys did %v", got)
	}
}

// TestDialogOfTheBenchLine: on the bench line two keys are enough where a node with users wants its name.
func TestDialogOfTheBenchLine(t *testing.T) {
	b := newBench(t, 80, 24, undone, func(s *view.Snapshot) { s.List = view.ListFactory })
	for !strings.Contains(b.screen(), ">[ Reboot") {
		b.press("tab")
	}
	b.press("enter")
	b.shows("Reboot")
	b.fake.change(func(s *view.Snapshot) { s.List = view.ListSite })
	b.refresh()
	b.press("ctrl+y")
	if got := b.fake.decided(); len(got) > 0 {
		t.Errorf("the keys did %v", got)
	}
}

// TestUnlockWithoutAHostName: a node that has lost its name is not unlocked by typing nothing.
func TestUnlockWithoutAHostName(t *testing.T) {
	b := newBench(t, 80, 24, finished, func(s *view.Snapshot) { s.Locked, s.Hostname = true, "" })
	unlock := func(word string) {
		for !strings.Contains(b.screen(), ">[ Unlock") {
			b.press("tab")
		}
		b.press("enter", "tab", word, "enter")
	}
	unlock("'")
	if got := b.fake.decided(); len(got) > 0 {
		t.Errorf("no word did %v", got)
	}
	b.press("'relocate", "enter")
	if got := b.fake.decided(); !slices.Equal(got, []session.Verb{session.Unlock}) {
		t.Errorf("the word did %v:\n%s", got, b.screen())
	}
}

// TestKeyBesideASequence: what comes together with a sequence that is not a key was not pressed by a person.
func TestKeyBesideASequence(t *testing.T) {
	for _, data := range []string{
		"\x1b]0;title\x07\r", "\x1b[0m\r", "\r\x1b[0m", "\x1b[M !!\r", "\r\x1bP never ends \r\r", "\x1b[99~y", "\x1b\x1b[20192.0.2.1/24\x1b[201~",
		"\x1b[\x1b[\x1b\x1b]0;title\x07\xe2\x82", "\xe2\x82\x1b", "\x1b[20192.0.2.1/24\x1b[\x1b[\x1b", "\x1b\x1bO\x1b", "y\xe2\x82", "y\x1bOz", "\x1b[201~\r", "\r\x1b[1",
	} {
		if msg, alone := keysOf(data).(tea.KeyPressMsg); alone {
			t.Errorf("%q is the key %s", data, msg)
		}
	}
	for _, data := range []string{"\r", "\x1b[A", "\x1bOP", "\x1b[[A", "\x1b", "y", "\x1b1", "\r\x00"} {
		if msg, alone := keysOf(data).(tea.KeyPressMsg); !alone {
			t.Errorf("%q is %v", data, msg)
		}
	}
}

// TestKeyBeforeALongString: a key with a string for a terminal right behind it was not pressed by a person, although the line
// is looked at before the string has ended.
func TestKeyBeforeALongString(t *testing.T) {
	in, line, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	i, err := newInput(in, 0)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = line.WriteString("y\x1b_" + strings.Repeat("a", 3*showBytes))
		_ = line.Close()
	}()
	i.run(func(msg tea.Msg) {
		if key, alone := msg.(tea.KeyPressMsg); alone {
			t.Errorf("%s counts as pressed by hand", key)
		}
	}, func() {})
}

// TestKeyOnABusyMachine: a key is a key however late the program gets to run after it was read.
func TestKeyOnABusyMachine(t *testing.T) {
	in, line, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	i, err := newInput(in, 0)
	if err != nil {
		t.Fatal(err)
	}
	late := time.Now()
	i.now = func() time.Time { // each look at the clock comes later than a paste is shown
		late = late.Add(2 * showAfter)
		return late
	}
	const keys = "\ry\r"
	press := func(n int) { _, _ = line.WriteString(keys[n : n+1]) }
	press(0)
	n := 0
	i.run(func(msg tea.Msg) {
		if key, alone := msg.(tea.KeyPressMsg); !alone {
			t.Errorf("key %d is %v", n, msg)
		} else if want := keysOf(keys[n : n+1]).(tea.KeyPressMsg); key.String() != want.String() {
			t.Errorf("key %d is %s, want %s", n, key, want)
		}
		if n++; n == len(keys) {
			_ = line.Close()
			return
		}
		press(n) // the next one follows what the console drew
	}, func() {})
	if n != len(keys) {
		t.Errorf("%d of %d keys came", n, len(keys))
	}
}

// TestSizeOfTheStart: on a busy machine Bubble Tea tells the size of the start after the terminal was resized.
func TestSizeOfTheStart(t *testing.T) {
	b := newBench(t, 80, 24)
	b.took(resizedMsg{79, 23})
	b.took(tea.WindowSizeMsg{Width: 80, Height: 24})
	b.shows("this window is 79x23")
}

// TestLeaveBeforeTheEngineAnswers: the dialog needs nothing of the engine.
func TestLeaveBeforeTheEngineAnswers(t *testing.T) {
	b := newBench(t, 80, 24)
	b.app.snap, b.app.held = nil, false
	b.app.page = b.app.choose(nil)
	b.press("ctrl+c")
	b.shows("Leave this console?")
	b.took(resizedMsg{100, 30})
	b.shows("Leave this console?")
}

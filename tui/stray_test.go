package tui

import (
	"slices"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"touchdown/steps/engine"
)

// TestStrayEnter: an Enter that was meant for the page before, or for what lay on top, decides nothing.
func TestStrayEnter(t *testing.T) {
	for name, c := range map[string]struct {
		scene func(*engine.Snapshot)
		does  engine.Verb
	}{"a failure": {failed, engine.Retry}, "a question": {asking, engine.Reply}} {
		b := newBench(t, 80, 24, working)
		b.now = b.now.Add(time.Minute)
		b.fake.change(c.scene)
		b.refresh()
		b.press("enter")
		b.now = b.now.Add(time.Minute)
		b.press("l", "enter", "enter") // the second one is a bouncing key
		if got := b.fake.verbs(); len(got) > 0 {
			t.Errorf("%s: a stray Enter did %v", name, got)
		}
		b.now = b.now.Add(settle)
		b.press("enter")
		if got := b.fake.verbs(); !slices.Equal(got, []engine.Verb{c.does}) {
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
	if got := b.fake.verbs(); !slices.Equal(got, []engine.Verb{engine.Retry}) {
		t.Errorf("Enter did %v", got)
	}
}

// TestKeyBesideASequence: what comes together with a sequence that is no key was not pressed by a person.
func TestKeyBesideASequence(t *testing.T) {
	for _, data := range []string{
		"\x1b]0;title\x07\r", "\x1b[0m\r", "\r\x1b[0m", "\x1b[M !!\r", "\r\x1bP never ends \r\r", "\x1b[99~y", "y\x1bOz", "\x1b[201~\r", "\r\x1b[1",
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

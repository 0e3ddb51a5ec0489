package tui

import (
	"strings"
	"testing"

	"touchdown/steps/session"
	"touchdown/steps/view"
)

// TestTheWordGoesBeforeKeys: who types the word need not go to its field first, whatever key its first letter is elsewhere. Once the word
// is whole, its letters are keys again.
func TestTheWordGoesBeforeKeys(t *testing.T) {
	for _, host := range []string{"muc-sno-01", "berlin-1", "leipzig", "1st-node"} {
		named := func(s *view.Snapshot) { s.Hostname = host }
		b := newBench(t, 80, 24, named, finished, func(s *view.Snapshot) { s.Locked = true })
		b.app.over = newUnlock(b.app.desk)
		b.press("'"+host, "tab", "enter")
		if a := b.fake.actions; len(a) != 1 || a[0].Verb != session.Unlock {
			t.Errorf("unlock of %s: %+v\n%s", host, a, b.screen())
		}
		b = newBench(t, 80, 24, named, func(s *view.Snapshot) { s.State, s.Review = view.Reviewed, reviewView() })
		b.press("'"+host, "enter")
		if a := b.fake.actions; len(a) != 1 || a[0].Verb != session.Start {
			t.Errorf("review of %s: %+v\n%s", host, a, b.screen())
		}
		if b.app.wantsPlain || !b.app.basic {
			t.Errorf("%s: a letter of the word was a key", host)
		}
	}
	b := newBench(t, 80, 24, finished, func(s *view.Snapshot) { s.Hostname, s.Locked = "berlin-1", true })
	b.app.over = newUnlock(b.app.desk)
	b.press("'berlin-1", "shift+tab", "b")
	if s := b.screen(); strings.Contains(s, "[berlin-1") {
		t.Errorf("b does not close it any more:\n%s", s)
	}
}

// TestFastKeysAreToldOfAWordWhereThereIsOne: the list of keyboard layouts takes letters, and asks for no word.
func TestFastKeysAreToldOfAWordWhereThereIsOne(t *testing.T) {
	b := newBench(t, 80, 24, finished)
	b.app.over = newUndo(b.app.desk)
	b.press("s")
	b.paste("no-042")
	b.shows("Type this word by hand.")
	b.app.over = newLayoutList(b.app.desk)
	b.paste("de-latin1")
	b.shows("Pasted text goes into text fields only.")
}

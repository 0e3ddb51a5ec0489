package tui

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"touchdown/steps/session"
	"touchdown/steps/view"
)

// TestLettersReachEverything does all that a person can do, from a console that was just opened to the switch of the node, with
// nothing but Tab, Enter, arrows, letters and digits.
func TestLettersReachEverything(t *testing.T) {
	b := fresh(t)
	press := func(keys ...string) {
		t.Helper()
		for _, k := range keys {
			if strings.Contains(k, "ctrl") || k == "esc" {
				t.Fatalf("%s is not a key of this test", k)
			}
		}
		b.press(keys...)
	}
	did := func(want ...session.Verb) {
		t.Helper()
		if got := b.fake.verbs(); !slices.Equal(got, want) {
			t.Fatalf("did %v, want %v\n%s", got, want, b.screen())
		}
		b.fake.actions = nil
	}
	becomes := func(edit func(*view.Snapshot)) {
		t.Helper()
		b.fake.change(edit)
		b.refresh()
		b.now = b.now.Add(2 * time.Second)
	}
	reach := func(label string) {
		t.Helper()
		for range 30 {
			if f := b.app.frame(b.app.top(), 80, 24); strings.Contains(f.lines[f.y], marker) && b.focused() == label {
				return
			}
			press("tab")
		}
		t.Fatalf("Tab never comes to %q\n%s", label, b.screen())
	}
	reach("Take control")
	press("enter")
	b.shows("you have control")
	press("w")
	b.shows("Waive: ")
	press("'Kim", "tab", "'agreed", "tab", "tab", "enter")
	did(session.Waive)
	wipe := b.app.wipe
	if press("m", "m"); b.app.wipe == wipe {
		t.Error("no letter draws the screen again")
	}
	press("i")
	did(session.Inspect)
	press("c", "'sno-0429", "tab", "'example.com", "tab", "tab", "tab", "o", "right", "enter")
	did(session.Restore, session.Restore) // of the page's two steps
	press("tab")
	reach("Restore page")
	press("l")
	b.shows("all quiet")
	press("b", "?")
	b.shows("Whom to call")
	press("b")
	press("up")
	b.app.page.(*form).focus("spec.baseDomain")
	press("'example.com", "tab", "tab", "tab", "c", "right", "tab", "n", "tab", "c")
	did(session.Review)
	press("tab", "'sno-042", "enter")
	did(session.Start)
	press("x", "enter", "right", "enter")
	did(session.Cancel)
	b.now = b.now.Add(2 * time.Second)
	press("s", "enter", "tab", "'sno-042", "enter")
	did(session.Skip)
	becomes(asking)
	press("1", "enter")
	did(session.Hold, session.Reply)
	becomes(failed)
	press("p", "enter")
	b.shows("Support bundle: /var/tmp")
	press("b")
	press("u", "enter", "tab", "'sno-042", "enter")
	did(session.Undo)
	becomes(finished)
	press("r")
	b.shows("HAND-OVER REPORT")
	press("b")
	for _, key := range []string{"h", "R", "P", "e"} {
		press(key, "enter", "tab", "'sno-042", "enter")
	}
	did(session.HandOver, session.Reboot, session.PowerOff, session.Edit)
	reach("Leave")
	press("enter")
	b.shows("Leave this console?")
	press("right")
	if _, cmd := b.app.Update(keyPress("enter")); cmd == nil || cmd() != (tea.QuitMsg{}) {
		t.Error("the console was not left")
	}
}

// focused is the label of the button in focus, "" when there is none.
func (b *bench) focused() string {
	f := b.app.frame(b.app.top(), b.app.w, b.app.h)
	_, rest, _ := strings.Cut(strings.Split(b.screen(), "\n")[f.y], marker+"[ ")
	label, _, _ := strings.Cut(rest, " ]")
	return label
}

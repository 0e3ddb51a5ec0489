package tui

import (
	"strings"
	"testing"

	"touchdown/steps/session"
)

// TestRestorePage: the button is about the whole page and asks before; Ctrl-R is about one field.
func TestRestorePage(t *testing.T) {
	b := newBench(t, 80, 24)
	b.press("c", "'sno-0429", "tab", "'example.com", "tab", "tab", "tab")
	b.shows("sno-0429")
	b.press("up", "up", "up", "ctrl+r")
	b.shows("Base domain: back to what was found.")
	b.shows("sno-0429")
	if strings.Contains(b.screen(), "[example.com") {
		t.Errorf("the field is not restored:\n%s", b.screen())
	}
	b.press("'example.net", "tab", "tab", "tab", "right", "right", "right", "enter")
	b.shows("Restore the page: Names and credentials")
	b.press("enter")
	b.shows("sno-0429") // the default gives nothing up
	b.press("o", "right", "enter")
	b.shows("The whole page is back to what was found.")
	b.shows("[sno-042 ")
	if strings.Contains(b.screen(), "[example") {
		t.Errorf("a field is not restored:\n%s", b.screen())
	}
}

// TestRestoreKeepsALoadedSecret: going back is the engine's to do, since no secret ever comes to a console.
func TestRestoreKeepsALoadedSecret(t *testing.T) {
	b := newBench(t, 80, 24)
	b.press("c", "tab", "tab", "'{}", "ctrl+r")
	last := b.fake.actions[len(b.fake.actions)-1]
	if last.Verb != session.Restore || last.Path != "spec.pullSecret" || len(b.fake.sets) > 0 {
		t.Errorf("did %+v, set %q", last, b.fake.sets)
	}
}

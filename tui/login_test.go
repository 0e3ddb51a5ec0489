package tui

import (
	"errors"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"touchdown/backend/message"
	"touchdown/steps/handout"
	"touchdown/steps/view"
)

// TestLogInIsShownAndCleared: the console that has control shows the password on request; when the page is closed, nobody touched it
// for two minutes, or control is lost, everything is painted again and the password is gone.
func TestLogInIsShownAndCleared(t *testing.T) {
	for name, leave := range map[string]func(*bench){
		"Enter": func(b *bench) { b.press("enter") },
		"time": func(b *bench) {
			b.now = b.now.Add(logInTime)
			b.run(func() tea.Msg { return tickMsg{b.app.generation} })
		},
		"control lost": func(b *bench) {
			b.fake.change(func(s *view.Snapshot) { s.Control.Holder = "tty1" })
			b.refresh()
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 80, 24, finished)
			b.press("g")
			b.shows("Password     " + shownPassword)
			if !slices.Equal(b.fake.asked, []handout.Ask{{Password: true}}) {
				t.Errorf("asked for %+v", b.fake.asked)
			}
			wiped := b.app.wipe
			leave(b)
			if strings.Contains(b.screen(), shownPassword) || b.app.wipe == wiped {
				t.Errorf("wiped %d times; the screen shows\n%s", b.app.wipe-wiped, b.screen())
			}
			if _, still := b.app.top().(*logIn); still {
				t.Error("the page is still there")
			}
		})
	}
}

// TestNoLogInWithoutControl: neither to read-only consoles, on a locked node, on the bench line nor before the end.
func TestNoLogInWithoutControl(t *testing.T) {
	for name, edits := range map[string][]func(*view.Snapshot){
		"read-only": {finished, func(s *view.Snapshot) { s.Control.Holder = "tty1" }},
		"locked":    {finished, func(s *view.Snapshot) { s.Locked = true }},
		"factory":   {finished, func(s *view.Snapshot) { s.List = view.ListFactory }},
		"working":   {working},
	} {
		b := newBench(t, 80, 24, edits...)
		b.press("g")
		if strings.Contains(b.screen(), "Credentials") || len(b.fake.asked) > 0 {
			t.Errorf("%s: asked %d times:\n%s", name, len(b.fake.asked), b.screen())
		}
	}
}

// TestLogInThatCannotBeGiven says why, and what there is.
func TestLogInThatCannotBeGiven(t *testing.T) {
	b := newBench(t, 80, 24, finished)
	b.fake.logIn = &handout.LogIn{API: "https://api.example.com:6443", User: "kubeadmin", Why: message.Data("The cluster's owner has removed kubeadmin.")}
	b.press("g")
	b.shows("Password     none: The cluster's owner has removed kubeadmin.")
	b.press("enter", "g")
	b.app.Update(logInMsg{nil, errors.New("the API is away")})
	b.shows("the API is away")
}

package tui

import (
	"slices"
	"testing"

	"touchdown/steps/session"
	"touchdown/steps/view"
)

const (
	pinPath   = "spec.console.pin"
	againPath = "console.pinAgain"
)

// atPIN is a console with the focus on the PIN of the real list.
func atPIN(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, 80, 24, realSite, func(s *view.Snapshot) { at(s, "names").Fields[1].Value = "retail.example.com" })
	for _, stage := range b.fake.snap.Stages {
		if slices.ContainsFunc(stageFields(stage), func(v view.Field) bool { return v.Path == pinPath }) {
			b.app.goTo(stage.ID)
		}
	}
	b.refresh() // opens the page
	f, ok := b.app.top().(*form)
	if !ok {
		t.Fatalf("no form asks for the PIN:\n%s", b.screen())
	}
	f.focus(pinPath)
	return b
}

// TestPINIsTypedTwice: the next field asks for it again, before the engine has answered; a slip in either is told, and keeps the page
// from being left; whoever types the first again types both again.
func TestPINIsTypedTwice(t *testing.T) {
	b := atPIN(t)
	at := func(want string) {
		t.Helper()
		if f := b.app.top().(*form); f.path != want {
			t.Fatalf("the focus is on %q, want %q:\n%s", f.path, want, b.screen())
		}
	}
	for range 6 {
		b.key("7")
	}
	_, sent := b.app.Update(keyPress("enter"))
	at(againPath)
	b.run(sent)
	at(againPath)
	b.press("'777778", "enter")
	b.shows("The two PINs differ.")
	at(pinPath)
	_, cmd := b.app.top().(*form).leave(b.app.onward)
	b.run(cmd)
	at(pinPath)
	b.press("'739215", "enter")
	if f := b.app.top().(*form); f.entry.ed.value() != "" {
		t.Errorf("%d characters of the refused PIN are still there", len(f.entry.ed.value()))
	}
	at(againPath)
	if s := b.screen(); slices.Contains(b.fake.sets, againPath+"=") || b.app.answers.refused[againPath] != "" || b.app.answers.unsent[againPath] != "" {
		t.Errorf("the old one is still there:\n%s", s)
	}
	_, cmd = b.app.top().(*form).leave(b.app.onward)
	b.run(cmd)
	at(againPath)
	b.press("'739215", "enter")
	if b.app.answers.refused[againPath] != "" || b.fake.secrets[pinPath] != "739215" || b.fake.secrets[againPath] != "739215" {
		t.Errorf("the same PIN is refused:\n%s", b.screen())
	}
}

// TestTheRepeatAloneIsTypedAgain: who goes back to the repeat, past the first, types it into an empty field.
func TestTheRepeatAloneIsTypedAgain(t *testing.T) {
	b := atPIN(t)
	b.press("'739215", "enter", "'739216", "enter")
	b.shows("The two PINs differ.")
	b.press("enter", "'739215", "enter")
	if got := b.fake.secrets[againPath]; got != "739215" || b.app.answers.refused[againPath] != "" {
		t.Errorf("the repeat is %q:\n%s", got, b.screen())
	}
}

// TestPINOfADocumentIsNotRepeated: nobody typed it here.
func TestPINOfADocumentIsNotRepeated(t *testing.T) {
	b := atPIN(t)
	b.fake.change(func(s *view.Snapshot) {
		v := &at(s, "credentials").Fields[slices.IndexFunc(at(s, "credentials").Fields, func(v view.Field) bool { return v.Path == pinPath })]
		v.SecretSet, v.Source = true, "file site.yaml"
	})
	b.refresh()
	if b.press("enter"); b.app.top().(*form).path != "" {
		t.Errorf("it is asked for again:\n%s", b.screen())
	}
}

// TestPlainPINIsTypedTwice: line mode asks for it again, until both are the same; "back" leads to the first.
func TestPlainPINIsTypedTwice(t *testing.T) {
	f := newFake()
	realSite(&f.snap)
	for i := range f.snap.Stages {
		for j := range f.snap.Stages[i].Steps {
			step := &f.snap.Stages[i].Steps[j]
			step.Fields = slices.DeleteFunc(step.Fields, func(v view.Field) bool { return v.Path != pinPath && v.Path != againPath })
		}
	}
	p, done := startPlain(t, f)
	p.after(t, "Type control to take control:", "control")
	p.after(t, "PIN for idle consoles []:", "777777")
	p.after(t, "PIN again []:", "777778")
	p.printed(t, "The two PINs differ.")
	p.after(t, "PIN again []:", "back")
	p.after(t, "PIN for idle consoles [set, not shown]:", "739215")
	p.after(t, "PIN again []:", "")
	p.after(t, "PIN again []:", "739215")
	f.did(t, session.Review)
	if f.mu.Lock(); f.secrets[againPath] != "739215" {
		t.Errorf("the PIN was not typed again: %v", f.secrets)
	}
	f.mu.Unlock()
	_ = p.in.Close()
	<-done
}

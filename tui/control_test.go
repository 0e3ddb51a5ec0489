package tui

import (
	"strings"
	"testing"

	"touchdown/steps/session"
	"touchdown/steps/view"
)

// fresh is a console that was just opened: it does not have control.
func fresh(t *testing.T, edits ...func(*view.Snapshot)) *bench {
	t.Helper()
	b := newBench(t, 80, 24, edits...)
	b.app.link.release()
	b.app.held = false
	b.fake.tokens = 0
	b.refresh()
	return b
}

// TestControlIsTakenOnPurpose: no key of a text takes control of a node, free or not, and Ctrl-G does.
func TestControlIsTakenOnPurpose(t *testing.T) {
	b := fresh(t)
	b.run(b.app.Init())
	b.refresh()
	b.shows("nobody has control: Ctrl-G takes it")
	b.golden("control-free")
	b.press("ctrl+l", "c", "'Take the Train!", "enter", "tab", "space", "c")
	if b.fake.tokens != 0 {
		t.Fatalf("control was taken without Ctrl-G:\n%s", b.screen())
	}
	b.press("ctrl+g")
	b.shows("you have control")
	if b.fake.tokens != 1 {
		t.Errorf("control was taken %d times", b.fake.tokens)
	}
}

// TestControlInAField: the key works where text is typed, which a console without control shows but does not take.
func TestControlInAField(t *testing.T) {
	b := fresh(t, func(s *view.Snapshot) { s.Stages = s.Stages[1:] }) // the first page has a text in focus
	b.press("'x")
	b.shows("Read-only. Press Ctrl-G to take control.")
	b.press("ctrl+g")
	b.shows("you have control")
	b.shows("[sno-042 ")
}

// TestFooterOfWhoLooksOn: the keys below the work are those that do something on this console.
func TestFooterOfWhoLooksOn(t *testing.T) {
	b := fresh(t, working)
	if strings.Contains(b.screen(), "x stop") {
		t.Errorf("stop is offered without control:\n%s", b.screen())
	}
	b.shows("Ctrl-G take control")
	b.press("ctrl+g")
	b.shows("x stop")
}

// TestAnotherWasFaster: the screen says who has control.
func TestAnotherWasFaster(t *testing.T) {
	b := fresh(t)
	if _, err := b.fake.TakeControl(t.Context(), "tty1", false); err != nil {
		t.Fatal(err)
	}
	b.press("ctrl+g")
	b.shows("tty1 has control. Press Ctrl-G to take it.")
	b.press("c") // to look is free
	b.shows("Base domain")
}

// TestControlOfAnotherEnds: what says that another console has control goes when that gives it up, and no other sentence does.
func TestControlOfAnotherEnds(t *testing.T) {
	for _, c := range []struct {
		name, says string
		begin      func(*bench)
	}{
		{"taken", "tty1 took control.", func(*bench) {}},
		{"refused", "tty1 has control. Press Ctrl-G to take it.", func(b *bench) { b.press("ctrl+g") }},
		{"another sentence", "Read-only. Press Ctrl-G to take control.", func(b *bench) { b.press("c", "'x") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := fresh(t)
			b.app.held = c.name == "taken"
			if _, err := b.fake.TakeControl(t.Context(), "tty1", false); err != nil {
				t.Fatal(err)
			}
			if c.name != "refused" { // who asks does not know it yet
				b.refresh()
			}
			c.begin(b)
			b.shows(c.says)
			b.refresh()
			b.shows(c.says) // while it is so
			b.fake.change(func(s *view.Snapshot) { s.Control = view.Control{} })
			b.refresh()
			b.shows("nobody has control: Ctrl-G takes it")
			if stays := strings.Contains(b.screen(), c.says); stays != (c.name == "another sentence") {
				t.Errorf("%q stays: %v\n%s", c.says, stays, b.screen())
			}
		})
	}
}

// TestOwnControlOfBefore: a console that was restarted is not told that it has to take control from itself.
func TestOwnControlOfBefore(t *testing.T) {
	b := fresh(t)
	b.fake.change(func(s *view.Snapshot) { s.Control.Holder = "ttyS0" })
	b.refresh()
	b.shows("nobody has control: Ctrl-G takes it")
}

// TestPlainTakesNothingUnasked: a line terminal takes control by one word alone, in a question too.
func TestPlainTakesNothingUnasked(t *testing.T) {
	f := newFake()
	asking(&f.snap)
	p, _ := startPlain(t, f)
	defer p.in.Close()
	p.after(t, "Type control to take control:", "")
	p.after(t, "Type control to take control:", "yes")
	p.printed(t, "Type control to take control:")
	if s, err := f.Snapshot(t.Context()); err != nil || s.Control.Holder != "" {
		t.Errorf("before the word was typed control is with %q, %v", s.Control.Holder, err)
	}
	p.after(t, "", "control")
	p.printed(t, "Keep the new settings")
	p.after(t, "Number:", "1")
	f.did(t, session.Reply)
}

// TestALateAnswerHidesNothing: an action that went well does not take away what was said since, such as that a check failed or who took
// control. That is said once.
func TestALateAnswerHidesNothing(t *testing.T) {
	for _, verb := range []session.Verb{session.Waive, session.Withdraw, session.Inspect, session.HandOver, session.Edit} {
		b := newBench(t, 80, 24)
		if _, err := b.fake.TakeControl(t.Context(), "tty1", true); err != nil {
			t.Fatal(err)
		}
		b.refresh()
		b.shows("tty1 took control.")
		b.took(actMsg{b.app.link.look(), session.Action{Verb: verb}, nil})
		if !strings.Contains(b.screen(), "tty1 took control.") {
			t.Errorf("%s hid who took control:\n%s", verb, b.screen())
		}
	}
}

// TestControlOfASilentEngine: where nobody has control there is nobody to take it from, also while the engine does not answer.
func TestControlOfASilentEngine(t *testing.T) {
	b := fresh(t)
	b.app.gone = session.ErrNoEngine
	b.press("ctrl+g")
	b.shows("you have control")
}

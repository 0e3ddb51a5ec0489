package tui

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/steps/idle"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// lockable has the engine say that this console locks after ten minutes.
func lockable(s *view.Snapshot) { s.Idle = &idle.View{After: 600, Left: 600} }

// lockOf edits the fake's lock.
func (b *bench) lockOf(v idle.View) {
	b.fake.change(func(s *view.Snapshot) { s.Idle = &v })
}

// TestIdleLock: after the time the page can still be read, keys do nothing but ask for the PIN, and the right one opens.
func TestIdleLock(t *testing.T) {
	for name, edit := range map[string]func(*view.Snapshot){
		"form": func(*view.Snapshot) {}, "review": func(s *view.Snapshot) { s.State, s.Review = view.Reviewed, reviewView() },
		"work": working, "question": asking, "problem": failed, "landed": finished,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 80, 24, edit, lockable)
			b.press("tab")
			b.now = b.now.Add(9 * time.Minute)
			if b.press("tab"); b.app.locked() { // tells the engine that someone is there
				t.Fatal("it is locked before the time")
			}
			b.now = b.now.Add(9 * time.Minute)
			open := b.screen()
			b.now = b.now.Add(61 * time.Second)
			b.lockOf(idle.View{After: 600}) // the engine's clock is the same
			b.shows("Locked: nobody used this console for 10 min. PIN:")
			page := func(s string) string { return strings.Join(strings.Split(s, "\n")[3:22], "\n") }
			if name != "work" && page(b.screen()) != page(open) { // the work goes on
				t.Errorf("the page changed:\n%s", b.screen())
			}
			locked := b.app.top()
			b.fake.actions = nil // a key while it was open stopped the countdown of a question
			b.press("x", "ctrl+u", "enter", "ctrl+g", "ctrl+c", "?", "l", "m", "ctrl+y", "tab", "ctrl+u", "enter", "right", "esc", "ctrl+u", "1", "ctrl+u", "R", "ctrl+u")
			b.paste("\x07x\x19\x03")
			if got := b.fake.verbs(); len(got) > 0 || b.app.top() != locked || len(b.fake.sets) > 0 {
				t.Errorf("keys at a locked console did %v, opened %v, set %v", got, b.app.over, b.fake.sets)
			}
			b.press("ctrl+u", "'000001")
			if strings.Contains(b.screen(), "000001") || !strings.Contains(b.screen(), "[****** ") {
				t.Errorf("the PIN is on the screen:\n%s", b.screen())
			}
			b.press("ctrl+c")
			b.shows("Press Ctrl-C again to leave. It stays locked.")
			if b.press("right"); b.app.lock.going || strings.Contains(b.screen(), "leave. It") {
				t.Error("another key does not take it back")
			}
			b.press("enter")
			b.shows("The PIN is wrong. Try again in 4 s. PIN: [     ")
			b.press("'"+fakePIN, "enter")
			b.shows("Too soon after a wrong PIN. Try again in 4 s.")
			b.lockOf(idle.View{After: 600})
			b.refresh()
			b.paste(fakePIN + "\r") // a slow line brings it at once; Enter comes alone
			if b.press("enter"); b.app.locked() || strings.Contains(b.screen(), "PIN:") {
				t.Errorf("the right PIN does not open it:\n%s", b.screen())
			}
			if b.press("?"); b.app.top().name() != "help" {
				t.Error("keys do nothing after the PIN")
			}
		})
	}
}

// TestLockPicture is what a locked console looks like, and that it fits a small one.
func TestLockPicture(t *testing.T) {
	b := newBench(t, 80, 24, lockable)
	b.now = b.now.Add(11 * time.Minute)
	b.golden("locked")
	f := b.app.frame(b.app.top(), 80, 24)
	if line := f.lines[f.y]; f.x != strings.Index(line, "[")+1 && !strings.Contains(line, "PIN:") {
		t.Errorf("the cursor is at %d, %d", f.x, f.y)
	}
	for _, size := range [][2]int{{20, 3}, {1, 1}, {40, 5}} {
		if f := b.app.frame(b.app.top(), size[0], size[1]); len(f.lines) > size[1] {
			t.Errorf("%v: %d lines", size, len(f.lines))
		}
	}
}

// TestPresenceIsToldSeldom: typing costs the engine one request in fifteen seconds, and nothing where no PIN is set.
func TestPresenceIsToldSeldom(t *testing.T) {
	b := newBench(t, 80, 24, lockable)
	for range 60 {
		b.now = b.now.Add(time.Second)
		b.press("tab")
	}
	b.paste("text")
	if n := b.fake.presents; n < 4 || n > 5 {
		t.Errorf("told %d times in a minute", n)
	}
	b = newBench(t, 80, 24)
	b.press("tab", "x")
	if b.fake.presents != 0 {
		t.Error("told without a PIN")
	}
}

// TestLockedTakesNoControl: a console whose engine was started again takes control back only with the PIN.
func TestLockedTakesNoControl(t *testing.T) {
	b := newBench(t, 80, 24)
	b.fake.change(func(s *view.Snapshot) { s.Control, s.Idle = view.Control{}, &idle.View{After: 600} })
	b.refresh()
	if b.fake.snap.Control.Holder != "" {
		t.Errorf("a locked console took control")
	}
	b.press("'"+fakePIN, "enter")
	if b.refresh(); b.fake.snap.Control.Holder != "ttyS0" {
		t.Error("an open one did not")
	}
}

// TestPlainLock: line mode asks for the PIN too, and what was typed at the prompt before is not an answer.
func TestPlainLock(t *testing.T) {
	f := newFake()
	asking(&f.snap)
	lockable(&f.snap)
	p, done := startPlain(t, f)
	p.after(t, "Type control to take control:", "control")
	p.printed(t, "Number:")
	f.change(func(s *view.Snapshot) { s.Idle = &idle.View{After: 600} })
	p.after(t, "", "1") // an answer, if the console were open
	p.after(t, "Locked: nobody used this console for 10 min.\r\nPIN:", "000001")
	p.printed(t, "The PIN is wrong. Try again in 4 s.")
	f.change(func(s *view.Snapshot) { s.Idle = &idle.View{After: 600} })
	p.after(t, "PIN:", fakePIN)
	p.after(t, "Number:", "1")
	f.did(t, session.Reply)
	if got := f.verbs(); !slices.Equal(got, []session.Verb{session.Reply}) {
		t.Errorf("did %v", got)
	}
	p.in.Close()
	if err := <-done; !errors.Is(err, ErrHungUp) && !errors.Is(err, io.EOF) {
		t.Errorf("ended with %v", err)
	}
}

// TestAnyKeyStopsTheCountdown: while the node is about to start without a person, each key tells the engine that one is here, at a locked
// console too; before and after, none does so where no PIN is set.
func TestAnyKeyKeepsTheNodeFromStarting(t *testing.T) {
	for name, edit := range map[string]func(*view.Snapshot){
		"open": func(*view.Snapshot) {}, "locked": func(s *view.Snapshot) { s.Idle = &idle.View{After: 600} },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 80, 24, edit)
			here := func() int {
				b.fake.mu.Lock()
				defer b.fake.mu.Unlock()
				return b.fake.present
			}
			b.press("tab")
			if n := here(); n != 0 {
				t.Errorf("told %d times without a countdown", n)
			}
			for n, press := range []func(){func() { b.press("x") }, func() { b.press("ctrl+l") }, func() { b.press("down") }, func() { b.paste("xy") }} {
				b.fake.change(func(s *view.Snapshot) { s.Starts = 30 })
				b.refresh()
				if press(); here() != n+1 {
					t.Errorf("key %d: told %d times", n, here())
				}
			}
			b.fake.change(func(s *view.Snapshot) { s.Starts = 30 })
			b.refresh()
			for _, noise := range []string{"\xf0", "\x1b[0n", "\x1b[24;80R", "\x1b[M !!", "\x1b]0;title\a", "\xe2\x82\x1b[0n\x1b[", "\x00"} {
				if b.paste(noise); here() != 4 {
					t.Errorf("%q: told %d times", noise, here())
				}
			}
			if b.paste("\xf0x"); here() != 5 {
				t.Errorf("a letter behind noise: told %d times", here())
			}
			b.fake.change(func(s *view.Snapshot) { s.Starts = 0 })
			b.refresh()
			if b.press("tab"); here() != 5 {
				t.Errorf("told %d times", here())
			}
		})
	}
}

package tui

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps/view"
)

// someLayouts are those of the benches' machine, as they are shown.
var someLayouts = []string{"de", "fr", "us", "de-latin1", "de-latin1-nodeadkeys", "hu"}

// Layouts implements Keyboard, in the order of localectl.
func (b *bench) Layouts(context.Context) ([]string, error) {
	return slices.Sorted(slices.Values(someLayouts)), b.bad
}

// Use implements Keyboard.
func (b *bench) Use(_ context.Context, layout string) error {
	b.used = append(b.used, layout)
	return b.bad
}

// Types implements Keyboard.
func (b *bench) Types(console string) bool {
	return strings.HasPrefix(console, "tty") && console != "ttyS0"
}

// newScreen is a console on a screen of the machine that was just opened; dir remembers what was chosen there.
func newScreen(t *testing.T, dir string, edits ...func(*view.Snapshot)) *bench {
	t.Helper()
	b := &bench{t: t, fake: newFake(), now: epoch}
	for _, edit := range edits {
		edit(&b.fake.snap)
	}
	o := Options{Name: "tty1", Mode: Basic, Clock: func() time.Time { return b.now }, Keyboard: b, Memory: dir}
	b.app = newApp(newDesk(newLink(t.Context(), b.fake, o.Name, time.Second), o), 80, 24, time.Second)
	b.app.Update(b.app.link.refresh())
	b.run(b.app.Init())
	return b
}

// looks lets a person look at the page that came up, for as long as it ignores Enter.
func (b *bench) looks() {
	b.t.Helper()
	b.screen()
	b.now = b.now.Add(enterDelay)
}

// TestKeyboardIsAskedFor: at a screen of the machine the layout is chosen before the first text is typed, once; the next console
// of the line loads it again without a question.
func TestKeyboardIsAskedFor(t *testing.T) {
	dir := t.TempDir()
	b := newScreen(t, dir)
	if b.app.top().name() != "checks" || len(b.used) > 0 {
		t.Fatalf("before anybody did anything:\n%s", b.screen())
	}
	b.press("ctrl+g")
	b.looks()
	b.shows("Keyboard layout")
	b.shows("> leave it unchanged")
	b.press("'de", "down", "enter")
	b.shows("Keyboard layout: de-latin1.")
	if !slices.Equal(b.used, []string{"de-latin1"}) || b.app.top().name() != "checks" {
		t.Errorf("used %q:\n%s", b.used, b.screen())
	}
	if b.app.frame(b.app.top(), 80, 24); !b.app.held {
		t.Error("it has no control")
	}
	b = newScreen(t, dir)
	if !slices.Equal(b.used, []string{"de-latin1"}) {
		t.Errorf("the next console used %q", b.used)
	}
	b.press("ctrl+g")
	if b.app.top().name() != "checks" {
		t.Errorf("it is asked for again:\n%s", b.screen())
	}
}

// TestKeyboardStaysAsItIs: Enter alone leaves it unchanged, and that is remembered too; Tab decides nothing.
func TestKeyboardStaysAsItIs(t *testing.T) {
	dir := t.TempDir()
	b := newScreen(t, dir)
	b.press("ctrl+g", "tab")
	if b.app.top().name() != "checks" || (memory{dir}).get(allScreens, ofKeyboard) != "" {
		t.Errorf("Tab decides:\n%s", b.screen())
	}
	b = newScreen(t, dir)
	b.press("ctrl+g")
	b.looks()
	b.press("enter")
	b = newScreen(t, dir)
	b.press("ctrl+g")
	if b.app.top().name() != "checks" || len(b.used) > 0 {
		t.Errorf("used %q:\n%s", b.used, b.screen())
	}
}

// TestKeyboardIsAskedForOnce: of two consoles that run, the second does not ask for what was chosen at the first.
func TestKeyboardIsAskedForOnce(t *testing.T) {
	dir := t.TempDir()
	b, second := newScreen(t, dir), newScreen(t, dir)
	second.app.name = "tty2"
	b.press("ctrl+g")
	b.looks()
	b.press("'hu", "enter")
	if second.press("ctrl+g"); !second.app.held || second.app.top().name() != "checks" {
		t.Errorf("it is asked for again:\n%s", second.screen())
	}
}

// TestKeyboardOfAnEarlierRelease: a layout that was kept for this console alone still counts, until one is chosen for all screens.
func TestKeyboardOfAnEarlierRelease(t *testing.T) {
	dir := t.TempDir()
	memory{dir}.keep("tty1", ofKeyboard, "de")
	for _, want := range []string{"de", "hu"} {
		b := newScreen(t, dir)
		if b.press("ctrl+g"); b.app.top().name() != "checks" || !slices.Equal(b.used, []string{want}) {
			t.Errorf("used %q, want %q:\n%s", b.used, want, b.screen())
		}
		memory{dir}.keep(allScreens, ofKeyboard, "hu")
	}
}

// TestKeyboardDisturbsNoWork: who takes control while the work goes on sees the work.
func TestKeyboardDisturbsNoWork(t *testing.T) {
	b := newScreen(t, t.TempDir(), working)
	if b.press("ctrl+g"); b.app.top().name() != "work" {
		t.Errorf("the page is %s", b.app.top().name())
	}
}

// TestKeyboardOnTheHelpPage: common layouts come first, the list narrows with each letter, and k is there for all time.
func TestKeyboardOnTheHelpPage(t *testing.T) {
	dir := t.TempDir()
	b := newScreen(t, dir)
	b.press("ctrl+g")
	b.looks()
	b.press("enter", "?", "k")
	b.looks()
	list := b.app.top().(*layoutList)
	if got, want := list.shown(), append([]string{asItIs}, someLayouts...); !slices.Equal(got, want) {
		t.Errorf("shown: %q, want %q", got, want)
	}
	b.press("'DE-")
	if got, want := list.shown(), []string{"de-latin1", "de-latin1-nodeadkeys"}; !slices.Equal(got, want) {
		t.Errorf("shown: %q, want %q", got, want)
	}
	b.press("'q", "enter", "up", "down")
	b.shows("No layout name begins with this")
	b.press("backspace", "up", "enter")
	if !slices.Equal(b.used, []string{"de-latin1-nodeadkeys"}) {
		t.Errorf("used %q", b.used)
	}
}

// TestKeyboardOfAnother: without control the layout of this screen is changed, unless the person with control sits at another screen
// of the machine: that one has the same keyboard. This holds for a list that is open when control is taken, too.
func TestKeyboardOfAnother(t *testing.T) {
	held := func(by string) func(*view.Snapshot) {
		return func(s *view.Snapshot) { s.Control = view.Control{Holder: by, Since: epoch} }
	}
	open := func(b *bench) {
		b.press("?", "k")
		b.looks()
	}
	for holder, mine := range map[string]bool{"": true, "tty1": true, "ttyS0": true, "ssh pts/3": true, "tty2": false} {
		b := newScreen(t, t.TempDir(), held(holder))
		if open(b); (b.app.top().name() == "keyboard") != mine {
			t.Errorf("control at %q: the page is %s:\n%s", holder, b.app.top().name(), b.screen())
			continue
		}
		if !mine {
			b.shows("tty2 has control and the same keyboard.")
		}
		if b.press("'fr", "enter"); slices.Equal(b.used, []string{"fr"}) != mine || b.app.held {
			t.Errorf("control at %q: used %q", holder, b.used)
		}
	}
	b := newScreen(t, t.TempDir(), held("ttyS0"))
	open(b)
	b.fake.change(held("tty2"))
	b.refresh()
	b.press("'fr", "enter")
	b.shows("tty2 has control and the same keyboard.")
	if len(b.used) > 0 {
		t.Errorf("used %q under the hands of another", b.used)
	}
}

// TestKeyboardThatFails: what could not be loaded is told, and not remembered; without layouts nothing is offered.
func TestKeyboardThatFails(t *testing.T) {
	dir := t.TempDir()
	b := newScreen(t, dir)
	b.bad = &problem.Problem{Code: "KEY-SET", Summary: message.T("The layout could not be loaded."), Fix: message.T("Look at the log.")}
	b.press("ctrl+g")
	b.looks()
	b.press("'fr", "enter")
	b.shows("could not be loaded")
	if got := (memory{dir}).get(allScreens, ofKeyboard); got != "" {
		t.Errorf("%q is remembered", got)
	}
	b = &bench{t: t, bad: b.bad}
	if msg := (keyboard{of: b}).start(t.Context()); msg.failed != nil {
		t.Errorf("who chose nothing is told: %v", msg.failed)
	}
	b = newBench(t, 80, 24)
	b.app.board = keyboard{}
	if b.press("?", "k"); strings.Contains(b.screen(), "Keyboard") {
		t.Errorf("a console with the keyboard of another machine:\n%s", b.screen())
	}
}

// Types implements Keyboard.
func (l layouts) Types(console string) bool { return strings.HasPrefix(console, "tty") }

// layouts is a keyboard for line mode. Its channel tells what is used.
type layouts struct {
	used chan string
	bad  error
}

func (l layouts) Layouts(context.Context) ([]string, error) { return slices.Clone(someLayouts), l.bad }

func (l layouts) Use(_ context.Context, layout string) error {
	l.used <- layout
	return nil
}

// talkAt is line mode at a screen of the machine.
func talkAt(t *testing.T, f *fake, board Keyboard, dir string) *typist {
	t.Helper()
	r, w := io.Pipe()
	p := &typist{in: w}
	ended := make(chan error, 1)
	go func() {
		ended <- prompting(t.Context(), f, Options{Name: "tty1", Clock: time.Now, Keyboard: board, Memory: dir}, talk{in: r, out: p}, nil)
	}()
	t.Cleanup(func() {
		_ = w.Close()
		<-ended
	})
	return p
}

// TestKeyboardInLineMode: a word and a name change it; another name lists those like it; it is remembered.
func TestKeyboardInLineMode(t *testing.T) {
	dir := t.TempDir()
	board := layouts{used: make(chan string, 8)}
	p := talkAt(t, newFake(), board, dir)
	const ready = "Type control to take control:"
	p.printed(t, "such as use de.")
	p.after(t, ready, "use klingon")
	p.printed(t, "Layouts that start with the same letter:")
	p.after(t, ready, "use d")
	p.printed(t, "de, de-latin1, de-latin1-nodeadkeys")
	p.after(t, ready, "use hu")
	p.printed(t, "Keyboard layout: hu.")
	p.after(t, ready, "control")
	p.printed(t, "Cluster name [sno-042]:")
	if got := <-board.used; got != "hu" || len(board.used) > 0 {
		t.Errorf("used %q", got)
	}
	talkAt(t, newFake(), board, dir).printed(t, ready)
	if got := <-board.used; got != "hu" {
		t.Errorf("the next console used %q", got)
	}
}

// TestKeyboardOfAnotherInLineMode: whoever took control at another screen after the prompt keeps the layout of their keyboard.
func TestKeyboardOfAnotherInLineMode(t *testing.T) {
	f, board := newFake(), layouts{used: make(chan string, 8)}
	p := talkAt(t, f, board, t.TempDir())
	p.printed(t, "Type control to take control:")
	f.change(func(s *view.Snapshot) { s.Control = view.Control{Holder: "tty2", Since: epoch} })
	p.after(t, "", "use hu")
	p.printed(t, "tty2 has control and the same keyboard.")
	if len(board.used) > 0 {
		t.Errorf("used %q", <-board.used)
	}
}

// TestKeyboardThatTellsNothing: line mode goes on where the layouts cannot be listed, and tells it who had chosen one.
func TestKeyboardThatTellsNothing(t *testing.T) {
	dir := t.TempDir()
	memory{dir}.keep(allScreens, ofKeyboard, "de")
	p := talkAt(t, newFake(), layouts{bad: errors.New("listing keyboard layouts: no bus")}, dir)
	p.printed(t, "no bus")
	p.after(t, "Type control to take control:", "control")
	p.printed(t, "Cluster name [sno-042]:")
}

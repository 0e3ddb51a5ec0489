package tui

import (
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"touchdown/steps/view"
	"touchdown/test/wait"
)

var update = flag.Bool("update", false, "write the golden files")

// bench runs an app without a terminal and without time: commands run at once, those that wait are left out.
type bench struct {
	t    *testing.T
	fake *fake
	app  *app
	now  time.Time
	used []string // layouts of the keyboard
	bad  error    // why none can be used
}

func newBench(t *testing.T, w, h int, edits ...func(*view.Snapshot)) *bench {
	t.Helper()
	return newBenchIn(t, "", w, h, edits)
}

// newBenchIn is newBench in a language.
func newBenchIn(t *testing.T, language string, w, h int, edits []func(*view.Snapshot)) *bench {
	t.Helper()
	f := newFake()
	for _, edit := range edits {
		edit(&f.snap)
	}
	b := &bench{t: t, fake: f, now: epoch}
	o := Options{
		Name: "ttyS0", Mode: Basic, Language: language, Clock: func() time.Time { return b.now },
		Save: func(data []byte) (string, error) { return "/var/tmp/touchdown-support.tar.gz, 1 kB", nil },
	}
	link := newLink(t.Context(), f, o.Name, time.Second)
	b.app = newApp(newDesk(link, o), w, h, time.Second)
	b.app.after = func(time.Duration, func(time.Time) tea.Msg) tea.Cmd { return nil }
	b.app.board = keyboard{of: b, layouts: someLayouts, chosen: asItIs} // as if the person had been asked
	_, cmd := b.app.Update(link.take(false)())                          // as if Ctrl-G had been pressed; a busy machine may take its time
	b.run(cmd)
	return b
}

// run carries out a command and what follows from it.
func (b *bench) run(cmd tea.Cmd) {
	b.t.Helper()
	if cmd == nil {
		return
	}
	done := make(chan tea.Msg, 1)
	go func() { done <- cmd() }()
	var msg tea.Msg
	returned := false
	wait.Soon(b.t, 5*time.Second, "a command to return, or to wait", func() bool {
		select {
		case msg = <-done:
			returned = true
		case <-time.After(20 * time.Millisecond):
		}
		return returned || waiting()
	})
	if !returned {
		select {
		case msg = <-done: // it returned between the two looks
		default: // it waits for events, or for the clock
			return
		}
	}
	b.took(msg)
}

func (b *bench) took(msg tea.Msg) {
	b.t.Helper()
	switch msg := msg.(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			b.run(c)
		}
	case tea.QuitMsg:
		b.t.Log("quit")
	default:
		_, next := b.app.Update(msg)
		b.run(next)
	}
}

// waiting tells whether each command that has not returned waits for something. On a busy machine one may not have had its
// turn yet.
func waiting() bool {
	all := make([]byte, 1<<20)
	n := runtime.Stack(all, true)
	for ; n == len(all); n = runtime.Stack(all, true) { // cut off
		all = make([]byte, 2*len(all))
	}
	all = all[:n]
	for stack := range strings.SplitSeq(string(all), "\n\n") {
		state, _, _ := strings.Cut(stack, "\n")
		blocked := strings.Contains(state, "[select") || strings.Contains(state, "[chan receive") || strings.Contains(state, "[sleep")
		if strings.Contains(stack, "(*bench).run in goroutine") && !blocked {
			return false
		}
	}
	return true
}

// press types keys by name; a longer word in quotes is typed letter by letter.
func (b *bench) press(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		if text, ok := strings.CutPrefix(k, "'"); ok {
			for _, r := range text {
				b.key(string(r))
			}
			continue
		}
		b.key(k)
	}
}

func (b *bench) key(name string) {
	b.t.Helper()
	b.app.View() // as the program does after each message
	_, cmd := b.app.Update(keyPress(name))
	b.run(cmd)
}

func keyPress(name string) tea.KeyPressMsg {
	codes := map[string]tea.KeyPressMsg{
		"tab": {Code: tea.KeyTab}, "shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift}, "enter": {Code: tea.KeyEnter},
		"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight},
		"backspace": {Code: tea.KeyBackspace}, "home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd}, "pgdown": {Code: tea.KeyPgDown}, "esc": {Code: tea.KeyEscape},
		"ctrl+c": {Code: 'c', Mod: tea.ModCtrl}, "ctrl+r": {Code: 'r', Mod: tea.ModCtrl}, "ctrl+o": {Code: 'o', Mod: tea.ModCtrl}, "ctrl+l": {Code: 'l', Mod: tea.ModCtrl},
		"ctrl+j": {Code: 'j', Mod: tea.ModCtrl}, "ctrl+u": {Code: 'u', Mod: tea.ModCtrl}, "ctrl+g": {Code: 'g', Mod: tea.ModCtrl}, "ctrl+y": {Code: 'y', Mod: tea.ModCtrl},
		"space": {Code: ' ', Text: " "},
	}
	if msg, ok := codes[name]; ok {
		return msg
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

// refresh takes over what the fake was changed to.
func (b *bench) refresh() {
	b.t.Helper()
	b.run(b.app.link.refresh)
}

// screen is the picture as text, with ^ never drawn: the cursor is told below it.
func (b *bench) screen() string {
	f := b.app.frame(b.app.top(), b.app.w, b.app.h)
	var out strings.Builder
	for _, line := range f.lines {
		out.WriteString(strings.TrimRight(ansi.Strip(line), " ") + "\n")
	}
	return out.String()
}

func (b *bench) shows(want string) {
	b.t.Helper()
	if s := b.screen(); !strings.Contains(s, want) {
		b.t.Fatalf("the screen does not show %q:\n%s", want, s)
	}
}

func (b *bench) golden(name string) {
	b.t.Helper()
	compare(b.t, name, b.screen())
}

// compare holds pictures to a golden file, or writes it.
func compare(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; run with -update when that is right.\n--- got\n%s--- want\n%s", name, got, want)
	}
}

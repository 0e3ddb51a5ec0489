package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"touchdown/test/wait"
)

// What the environment tells a console that a test starts: where its line keeps its mode, and which page fails.
const (
	childMemory = "TOUCHDOWN_TUI_MEMORY"
	childPanic  = "TOUCHDOWN_TUI_PANIC"
)

// panicky is the program with a fault on one page.
type panicky struct {
	painted
	page string
}

func (p panicky) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	_, cmd := p.painted.Update(msg)
	return p, cmd
}

func (p panicky) View() tea.View {
	if p.top().name() == p.page {
		panic("the page " + p.page + " fails")
	}
	return p.painted.View()
}

// prints waits until the line printed text, anywhere in what it wrote since the start.
func (l *line) prints(text string) {
	l.t.Helper()
	l.printsTimes(text, 1)
}

// printsTimes waits until a text was printed so often.
func (l *line) printsTimes(text string, times int) {
	l.t.Helper()
	wait.Soon(l.t, 20*time.Second, "a text", func() error {
		if got := l.output(); strings.Count(got, text) < times {
			return fmt.Errorf("%q was not printed:\n%s", text, got)
		}
		return nil
	})
}

// TestEachScreenCanFail: a page that panics each time leaves no dead line. After three times the line has plain text, with the
// same questions, and the console goes on.
func TestEachScreenCanFail(t *testing.T) {
	for scene, c := range map[string]struct{ page, asks string }{
		"": {"checks", "control:"}, "form": {"form", "control:"}, "review": {"review", "control:"}, "work": {"work", "Wait until the new names"},
		"question": {"question", "control:"}, "problem": {"problem", "control:"}, "done": {"dashboard", "control:"}, "hello": {"hello", "control:"},
	} {
		t.Run(c.page, func(t *testing.T) {
			t.Parallel()
			l := openLine(t, scene, "vt220", size(80, 24), childPanic+"="+c.page)
			l.prints(texts["plain.crashed"])
			l.prints(c.asks)
			fails := strings.Count(l.output(), "the page "+c.page+" fails")
			if fails != mostPanics {
				t.Errorf("it failed %d times", fails)
			}
		})
	}
}

// TestPlainAndBack: "1" leads to plain text, a word back to screens, and the line remembers which.
func TestPlainAndBack(t *testing.T) {
	dir := t.TempDir()
	memory := childMemory + "=" + dir
	l := openLine(t, "", "vt220", size(80, 24), memory)
	l.shows("1 plain text")
	l.send("1")
	l.prints("Type control to take control:")
	if !(memoryOf(dir)) {
		t.Error("the line does not remember plain text")
	}
	l.send("control\r")
	l.prints("Cluster name [sno-042]:")
	l.cmd.Process.Kill()
	<-l.ended
	l = openLine(t, "question", "vt220", size(80, 24), memory)
	l.prints("Type control to take control:")
	if got := l.output(); strings.Contains(got, "\x1b") {
		t.Errorf("plain text has an escape sequence: %q", got)
	}
	l.send("screens\r")
	l.shows("Keep the new settings")
	l.shows("Up/Down")
	if memoryOf(dir) {
		t.Error("the line still remembers plain text")
	}
	l.send("\x03")
	l.shows(texts["leave.title"])
	l.shows(`its countdown ends with`)
	l.send("\x19")
	if err := <-l.ended; err != nil {
		t.Errorf("left with %v", err)
	}
	l.shows("The wizard is closed")
	if strings.Contains(l.screen(), texts["leave.title"]) || strings.Contains(l.screen(), "Keep the new") {
		t.Errorf("what can no longer be answered stays in front of the login:\n%s", l.screen())
	}
}

// TestOtherModeKeepsControl: a console that has control has it in its other mode, too.
func TestOtherModeKeepsControl(t *testing.T) {
	l := openLine(t, "", "vt220", size(80, 24))
	l.shows("1 plain text")
	l.send("\x07")
	l.shows("you have control")
	l.send("1")
	l.prints("Cluster name [sno-042]:")
	for _, answer := range []string{"", "example.com", "", "", "", ""} {
		l.send(answer + "\r")
	}
	l.prints("To start, type")
	l.send("screens\r")
	l.shows("Review: nothing was changed so far")
	l.shows("you have control")
	if got := l.output(); strings.Contains(got, texts["plain.take"][:4]+" control") {
		t.Errorf("it asked for control:\n%s", got)
	}
}

// output is all that came so far.
func (l *line) output() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.String()
}

func memoryOf(dir string) bool { return memory{dir}.get("ttyS0", ofMode) == wantsLines }

// TestMemory: only a file of our own counts, and a window keeps nothing.
func TestMemory(t *testing.T) {
	m := memory{t.TempDir()}
	m.keep("tty1", ofMode, wantsLines)
	if m.get("tty1", ofMode) != wantsLines || m.get("ttyS0", ofMode) != "" || m.get("tty1", ofTheme) != "" {
		t.Error("it is kept for another line, or not")
	}
	if m.keep("tty1", ofMode, "other"); m.get("tty1", ofMode) != "other" {
		t.Error("another choice is not kept")
	}
	if m.keep("tty1", ofMode, ""); m.get("tty1", ofMode) != "" {
		t.Error("it is not forgotten")
	}
	m.keep("tty1", ofMode, "")
	ours := filepath.Join(t.TempDir(), "ours")
	if err := os.WriteFile(ours, []byte(wantsLines), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(ours, m.file("tty1", ofMode)); err != nil {
		t.Fatal(err)
	}
	if m.get("tty1", ofMode) != "" {
		t.Error("a link counts")
	}
	if err := syscall.Mkfifo(m.file("ttyS1", ofMode), 0o600); err != nil {
		t.Fatal(err)
	}
	if m.get("ttyS1", ofMode) != "" {
		t.Error("a pipe counts")
	}
	if err := os.WriteFile(m.file("ttyS2", ofMode), []byte(strings.Repeat("x", 1<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := m.get("ttyS2", ofMode); len(got) > longestChoice {
		t.Errorf("%d bytes were read", len(got))
	}
	m.keep("pts/3 (ssh)", ofMode, wantsLines)
	if m.get("pts/3 (ssh)", ofMode) != "" || (memory{}).get("tty1", ofMode) != "" {
		t.Error("a window keeps its mode")
	}
	for _, basic := range []bool{true, false, true} {
		m.setTheme("tty1", basic)
		want := map[bool]Mode{true: Basic, false: Rich}[basic]
		if m.theme("tty1", Basic) != want || m.theme("tty1", Rich) != want || m.theme("tty1", Line) != Line || m.theme("ttyS0", Rich) != Rich {
			t.Errorf("basic %t is not remembered, or for another line", basic)
		}
	}
	b := newBench(t, 80, 24)
	b.app.memory = m
	for _, want := range []string{wantsRich, wantsBasic} {
		if b.press("m"); m.get("ttyS0", ofTheme) != want {
			t.Errorf("m chose %q, want %q", m.get("ttyS0", ofTheme), want)
		}
	}
}

// TestLanguageIsRemembered: the language that a person chooses, on a help page or in line mode, is that of the line's next
// console too; one that was asked for comes before it, and what is not a language does not count.
func TestLanguageIsRemembered(t *testing.T) {
	t.Setenv("LC_ALL", "C")
	t.Cleanup(func() { here.Store(nil) })
	m := memory{t.TempDir()}
	is := func(asked, want string) {
		t.Helper()
		if got := m.language("ttyS0", asked); got != want {
			t.Errorf("asked for %q: it speaks %q, want %q", asked, got, want)
		}
	}
	is("", "en")
	b := newBench(t, 80, 24)
	b.app.memory = m
	b.press("?", "d")
	b.shows("Sprache")
	is("", "de")
	is("en", "en")
	if got := m.language("tty1", ""); got != "en" {
		t.Errorf("another line speaks %q", got)
	}
	if b.press("d"); m.get("ttyS0", ofLanguage) != "en" {
		t.Error("English is not remembered")
	}
	t.Setenv("LC_ALL", "de_DE.UTF-8")
	is("", "en")
	m.keep("ttyS0", ofLanguage, "../de")
	is("", "de")
}

// TestLanguageOutlivesTheConsole: a console that was killed is followed by one in the same language, in line mode too.
func TestLanguageOutlivesTheConsole(t *testing.T) {
	memory := childMemory + "=" + t.TempDir()
	l := openLine(t, "dumb", "dumb", size(80, 24), memory)
	l.prints("Type control to take control:")
	l.send("de\r")
	l.prints("Zum Uebernehmen steuern eintippen:")
	l.cmd.Process.Kill()
	<-l.ended
	l = openLine(t, "dumb", "dumb", size(80, 24), memory)
	l.prints("Zum Uebernehmen steuern eintippen:")
	l.send("en\r")
	l.prints("Type control to take control:")
	l.cmd.Process.Kill()
	<-l.ended
	openLine(t, "dumb", "dumb", size(80, 24), memory).prints("Type control to take control:")
}

// TestPlainAsksBeforeLeaving: Ctrl-C at a prompt and during the work asks; another one is not an answer.
func TestPlainAsksBeforeLeaving(t *testing.T) {
	for scene, prompt := range map[string]string{"dumb": "Type control to take control:", "work": "Wait until the new names"} {
		t.Run(scene, func(t *testing.T) {
			t.Parallel()
			l := openLine(t, scene, "dumb", size(80, 24))
			l.prints(prompt)
			l.send("\x03")
			const asks = "Type leave to leave:"
			l.prints(asks)
			l.prints(wrap(texts["leave.text"], minWidth, "")[0] + "\r")
			l.send("\x03") // a bouncing key is not an answer
			l.send("\x03") // and the next one asks again
			l.printsTimes(asks, 2)
			l.send("leave\r")
			select {
			case err := <-l.ended:
				if err != nil {
					t.Errorf("left with %v", err)
				}
				l.prints("The wizard is closed, and work that has begun continues.")
			case <-time.After(wait.Timeout(20 * time.Second)):
				t.Error("it did not leave")
			}
		})
	}
}

// TestNoByteStopsPlainText: Ctrl-S, pressed by habit or noise on the line, does not stop what is printed, and is not a part of an answer.
func TestNoByteStopsPlainText(t *testing.T) {
	l := openLine(t, "dumb", "dumb", size(80, 24))
	l.prints("Type control to take control:")
	l.send("\x13\x11\x13")
	l.send("con\x13trol\r")
	l.prints("Cluster name [sno-042]:")
}

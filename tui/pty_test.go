package tui

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
	"golang.org/x/sys/unix"

	"touchdown/steps/session"
	"touchdown/steps/view"
	"touchdown/test/wait"
)

// childScene makes the test binary a console with a fake engine on its standard input, for tests with a real line.
const (
	childScene    = "TOUCHDOWN_TUI_SCENE"
	childLanguage = "TOUCHDOWN_TUI_LANGUAGE"
	childSlow     = "TOUCHDOWN_TUI_SLOW" // its line has 9600 baud
)

func TestMain(m *testing.M) {
	if scene, ok := os.LookupEnv(childScene); ok {
		os.Exit(child(scene))
	}
	os.Exit(m.Run())
}

// child runs the console until it is left. What was set is told on file 3.
func child(scene string) int {
	f := newFake()
	edits := map[string]func(*view.Snapshot){
		"work": working, "question": asking, "problem": failed, "done": finished, "undone": undone,
		"review": func(s *view.Snapshot) { s.State, s.Review = view.Reviewed, reviewView() },
		"form":   func(s *view.Snapshot) { s.Stages = s.Stages[1:] },
		"hello":  func(s *view.Snapshot) { s.Stages = nil },
	}
	if edit, ok := edits[scene]; ok {
		edit(&f.snap)
	}
	if scene == "paused" {
		working(&f.snap)
		f.pauseAt = 4
	}
	if _, slow := os.LookupEnv(childSlow); slow {
		tio, err := unix.IoctlGetTermios(0, unix.TCGETS)
		if err == nil {
			tio.Cflag = tio.Cflag&^unix.CBAUD | unix.B9600
			err = unix.IoctlSetTermios(0, unix.TCSETS, tio)
		}
		if err != nil {
			panic(err)
		}
	}
	o := Options{Name: "ttyS0", Language: os.Getenv(childLanguage), Memory: os.Getenv(childMemory)}
	if page, ok := os.LookupEnv(childPanic); ok {
		o.model = func(m tea.Model) tea.Model { return panicky{m.(painted), page} }
	}
	if scene == "silent" {
		f.deaf = true
	}
	if scene == "play" { // everything, one after the other
		go play(f)
	}
	err := Run(context.Background(), f, o)
	if told := os.NewFile(3, "told"); told != nil {
		_ = json.NewEncoder(told).Encode(f.sets)
	}
	if errors.Is(err, ErrHungUp) {
		return 7
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// play goes on with the work as soon as it was started.
func play(f *fake) {
	for {
		time.Sleep(50 * time.Millisecond)
		s, err := f.Snapshot(context.Background())
		if err != nil || s.State != view.Working {
			continue
		}
		switch n := len(f.verbs()); f.verbs()[n-1] {
		case session.Start:
			f.change(asking)
		case session.Reply:
			f.change(failed)
		case session.Retry:
			f.change(finished)
		}
	}
}

// line is a terminal that never answers anything.
type line struct {
	t     *testing.T
	cmd   *exec.Cmd
	tty   *os.File
	told  *os.File
	rich  bool // a window, with box drawing and colours
	start time.Time

	mu    sync.Mutex
	out   bytes.Buffer
	first time.Duration // until the first text
	vt    vt10x.Terminal
	ended chan error
}

func openLine(t *testing.T, scene, term string, size *pty.Winsize, env ...string) *line {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	l := &line{t: t, told: r, rich: window(term), vt: vt10x.New(vt10x.WithSize(80, 24)), ended: make(chan error, 1)}
	l.cmd = exec.Command(self)
	l.cmd.Env = append(os.Environ(), "LC_ALL=C", childScene+"="+scene, "TERM="+term, "NO_COLOR=")
	l.cmd.Env = append(l.cmd.Env, env...)
	l.cmd.ExtraFiles = []*os.File{w}
	l.start = time.Now()
	if l.tty, err = pty.StartWithSize(l.cmd, size); err != nil {
		t.Fatal(err)
	}
	w.Close()
	go l.read()
	go func() { l.ended <- l.cmd.Wait() }()
	t.Cleanup(func() { l.cmd.Process.Kill(); l.tty.Close(); r.Close() })
	return l
}

func (l *line) read() {
	buf := make([]byte, 4096)
	for {
		n, err := l.tty.Read(buf)
		if n > 0 {
			l.mu.Lock()
			if l.first == 0 && strings.Contains(string(buf[:n]), "Touchdown") {
				l.first = time.Since(l.start)
			}
			l.out.Write(buf[:n])
			l.vt.Write(buf[:n])
			l.mu.Unlock()
		}
		if err != nil {
			return
		}
	}
}

func (l *line) send(s string) {
	l.t.Helper()
	if _, err := l.tty.WriteString(s); err != nil {
		l.t.Fatal(err)
	}
}

func (l *line) screen() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.vt.String()
}

func (l *line) written() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Len()
}

// shows waits until the screen shows want.
func (l *line) shows(want string) {
	l.t.Helper()
	wait.Soon(l.t, 10*time.Second, "the screen", func() error {
		if screen := l.screen(); !strings.Contains(screen, want) {
			return fmt.Errorf("it does not show %q:\n%s", want, screen)
		}
		return nil
	})
}

// quiet waits until nothing was written for a while, and returns how much there is.
func (l *line) quiet() int { return l.quietFor(100 * time.Millisecond) }

func (l *line) quietFor(pause time.Duration) int {
	l.t.Helper()
	n, since := l.written(), time.Now()
	wait.Soon(l.t, 10*time.Second, "a screen at rest", func() error {
		if now := l.written(); now != n {
			n, since = now, time.Now()
		}
		if time.Since(since) < pause {
			return fmt.Errorf("%d bytes by now:\n%s", n, l.screen())
		}
		return nil
	})
	return n
}

// cost is how many bytes a key makes.
func (l *line) cost(key string) int {
	l.t.Helper()
	before := l.quiet()
	l.send(key)
	ctx, stop := context.WithTimeout(l.t.Context(), 5*time.Second)
	defer stop()
	_ = wait.For(ctx, "an answer to a key", func() bool { return l.written() != before }) // some keys have none
	return l.quiet() - before
}

// sequences are all that may leave the console: CUP, CUU, CUD, CUF, CUB, ED, EL, SGR, cursor on and off, the second screen.
var sequences = regexp.MustCompile(`\x1b\[[0-9;]*[HABCDJK]|\x1b\[((0|1|7|3[0-7]|39|4[0-7]|49)(;(1|7|3[0-7]|39|4[0-7]|49))*)?m|\x1b\[\?25[hl]|\x1b\[\?1049[hl]|[\x08\r\n]`)

// shining are bright colours, which only the rich theme has.
var shining = regexp.MustCompile(`\x1b\[(0|1|7|[39][0-7]|4[0-7]|10[0-7])(;(1|7|[39][0-7]|4[0-7]|10[0-7]))*m`)

// clean checks every byte that was written so far.
func (l *line) clean() {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	rest := sequences.ReplaceAll(l.out.Bytes(), nil)
	if l.rich { // the four marks that are not ASCII
		rest = []byte(basicGlyphs.Replace(string(shining.ReplaceAll(rest, nil))))
	}
	for i, b := range rest {
		if b < ' ' || b > '~' {
			l.t.Fatalf("byte %#x is not allowed: %q", b, rest[max(0, i-20):min(len(rest), i+20)])
		}
	}
}

func size(w, h uint16) *pty.Winsize { return &pty.Winsize{Cols: w, Rows: h} }

func TestBytes(t *testing.T) {
	for _, term := range []string{"vt220", "linux", "xterm-256color"} {
		t.Run(term, func(t *testing.T) {
			t.Parallel()
			c := measured(t, term)
			tab := 80
			if window(term) { // no serial line: a bar is filled up to the edge
				tab = 100
			}
			most := bytesOf{first: 2100, page: 950, tab: tab, char: 16, repaint: 2100}
			// Once a minute the clock in the header is written too, and on a busy machine what one key costs may come after the next one.
			for tries := 0; c.over(most) != "" && tries < 4; tries++ {
				t.Logf("%+v: %s", c, c.over(most))
				c = c.least(measured(t, term))
			}
			t.Logf("%+v", c)
			if over := c.over(most); over != "" {
				t.Errorf("too many bytes, each time: %s", over)
			}
		})
	}
}

// bytesOf are what a walk through the first pages costs, in bytes.
type bytesOf struct {
	first, page, tab, char, mid, idle, repaint int

	text time.Duration // until the first text
}

// over tells which of the figures are larger than the most that they may be; "" is none.
func (c bytesOf) over(most bytesOf) string {
	var all []string
	for _, f := range []struct {
		name    string
		is, may int
	}{
		{"first", c.first, most.first},
		{"page", c.page, most.page},
		{"tab", c.tab, most.tab},
		{"char", c.char, most.char},
		{"idle", c.idle, most.idle},
		{"repaint", c.repaint, most.repaint},
	} {
		if f.is > f.may {
			all = append(all, fmt.Sprintf("%s %d of %d", f.name, f.is, f.may))
		}
	}
	return strings.Join(all, ", ")
}

// least are the smaller figures of two walks: what the program writes, it writes in each.
func (c bytesOf) least(other bytesOf) bytesOf {
	return bytesOf{
		min(c.first, other.first), min(c.page, other.page), min(c.tab, other.tab), min(c.char, other.char), min(c.mid, other.mid),
		min(c.idle, other.idle), min(c.repaint, other.repaint), min(c.text, other.text),
	}
}

// TestOneLateByteIsNoCost: what came late in one walk counts only if each walk has it.
func TestOneLateByteIsNoCost(t *testing.T) {
	most := bytesOf{char: 16, tab: 80}
	late, other := bytesOf{char: 30, tab: 70}, bytesOf{char: 16, tab: 90}
	if late.over(most) != "char 30 of 16" || late.least(other).over(most) != "" || late.least(late).over(most) == "" {
		t.Errorf("%q, %q", late.over(most), late.least(other).over(most))
	}
}

func measured(t *testing.T, term string) (c bytesOf) {
	t.Helper()
	l := openLine(t, "", term, size(80, 24))
	l.shows("Hardware check")
	c.first = l.quiet()
	c.text = l.first.Round(time.Millisecond)
	l.cost("\x07")
	c.page = l.cost("c")
	l.shows("Base domain")
	for range 3 {
		c.tab = max(c.tab, l.cost("\t"))
	}
	l.cost("\x1b[Z")
	l.cost("\x1b[Z")
	l.quietFor(4 * rested) // what is said of the field comes by then
	for _, letter := range "site" {
		c.char = max(c.char, l.cost(string(letter)))
	}
	l.cost("\x1b[D")
	for _, letter := range "abc" {
		c.mid = max(c.mid, l.cost(string(letter)))
	}
	for range 3 { // on a busy machine an answer to the last key may come late; what ticks would write each time
		idle := l.quiet()
		time.Sleep(1500 * time.Millisecond) // what is observed is that nothing happens
		if c.idle = l.written() - idle; c.idle == 0 {
			break
		}
	}
	c.repaint = l.cost("\f")
	l.clean()
	return c
}

func TestWorkIsCheap(t *testing.T) {
	t.Parallel()
	l := openLine(t, "work", "vt220", size(80, 24))
	l.shows("Running for")
	before, since := l.quiet(), time.Now()
	wait.Soon(t, 4*time.Second, "four seconds of work", func() bool { // a starved machine's first second comes late
		return time.Since(since) >= 4*time.Second && l.written() != before
	})
	rate := float64(l.written()-before) / time.Since(since).Seconds()
	t.Logf("%.1f B/s", rate)
	if rate > 60 {
		t.Errorf("%.1f B/s", rate)
	}
	l.clean()
}

func TestSizeZero(t *testing.T) {
	l := openLine(t, "", "vt220", &pty.Winsize{})
	l.shows("Hardware check")
	l.shows("Tab next")
	if h, w, err := pty.Getsize(l.tty); err != nil || w != 80 || h != 24 {
		t.Errorf("the line has %dx%d, %v", w, h, err)
	}
}

func TestResize(t *testing.T) {
	l := openLine(t, "", "vt220", size(80, 24))
	l.shows("Hardware check")
	if err := pty.Setsize(l.tty, size(79, 23)); err != nil {
		t.Fatal(err)
	}
	l.shows("this window is 79x23")
}

// TestSplitKeys sends an arrow key byte by byte: it must move the cursor and never be typed.
func TestSplitKeys(t *testing.T) {
	t.Parallel()
	open := func() *line {
		l := openLine(t, "", "vt220", size(80, 24))
		l.shows("Hardware check")
		l.send("\x07")
		l.shows("you have control")
		l.send("c")
		l.shows("Base domain")
		return l
	}
	l := open()
	for _, key := range []string{"\x1b[D", "\x1bOD"} {
		for _, gap := range []time.Duration{0, 2, 20, 45, 60, 100} {
			l.send("\x15ab")
			l.shows("[ab ")
			for !l.split(key, gap*time.Millisecond) { // the test did not get its turn in time: these were single keys
				l = open()
				l.send("\x15ab")
				l.shows("[ab ")
			}
			l.send("X")
			l.shows("[aXb ")
		}
	}
	l.send("\x15ab")
	l.shows("[ab ")
	l.send("\x1b1") // Dell's F1
	l.shows("Whom to call")
	l.send("\r")
	l.shows("[ab ")
}

// split sends a key byte by byte and tells whether each came before the terminal takes them for single keys.
func (l *line) split(key string, gap time.Duration) bool {
	l.t.Helper()
	together := true
	last := time.Now()
	for _, b := range key {
		l.send(string(b))
		together = together && time.Since(last) < joinWait-60*time.Millisecond // the terminal has its own way to go
		last = time.Now()
		time.Sleep(gap) // the gap is what is tested
	}
	return together
}

// press presses keys as a person does who looks at the screen after each.
func (l *line) press(keys ...string) {
	l.t.Helper()
	for _, key := range keys {
		l.cost(key)
	}
}

// TestScript walks through every screen on a real line, typing ahead in the form, and checks every byte and every answer.
func TestScript(t *testing.T) {
	for _, term := range []string{"vt220", "linux", "xterm-256color"} {
		t.Run(term, func(t *testing.T) {
			t.Parallel()
			l := openLine(t, "play", term, size(80, 24))
			l.shows("Hardware check")
			l.send("\x07")
			l.shows("you have control")
			l.send("c")
			l.shows("Base domain")
			l.send("\x15store0042\texample.com\t{\"auths\":{}}\t-----BEGIN X-----\r\nAA==\r\n-----END X-----\r\n\r\n\t")
			l.shows("[store0042")
			l.send("\r")
			l.shows("Network port")
			l.send("\r")
			l.shows("2  eno2, no link") // keys that come together are taken for a paste, and choose nothing
			l.send("2")
			l.shows("< eno2, no link >")
			l.press("?", "\r", "b")
			l.shows("store0042")
			l.press("\t", "\t", "\t", "\t", "c")
			l.shows("eno2, no link")
			l.press("\t", "\t", "c")
			l.shows("To start, type")
			l.send("l")
			l.shows("all quiet")
			l.press("b", "\t", "s", "n", "o", "-", "0", "4", "2", "\r")
			l.shows("(default)")
			time.Sleep(enterDelay) // a question ignores what was typed ahead
			l.press("1", "\r")
			l.shows("RLT-DNS")
			l.press("w", "\r", "\x1b[Z", "b", "u", "\r")
			l.shows("Put everything back?")
			l.press("\r", "r", "\r")
			l.shows("This node has landed")
			l.send("r")
			l.shows("HAND-OVER REPORT")
			l.press("\r", "\x03")
			l.shows("Leave this console?")
			l.send("\x19")
			if err := <-l.ended; err != nil {
				t.Errorf("the console ended with %v", err)
			}
			l.clean()
			var sets []string
			if err := json.NewDecoder(l.told).Decode(&sets); err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{
				"spec.clusterName=store0042", "spec.baseDomain=example.com", `spec.pullSecret={"auths":{}}`,
				"spec.apiCert.cert=-----BEGIN X-----\nAA==\n-----END X-----\n", "spec.network.interface=eno2",
			} {
				if !strings.Contains(strings.Join(sets, "|"), want) {
					t.Errorf("%q was not set: %q", want, sets)
				}
			}
		})
	}
}

// TestHangUp: a line that drops ends the console, nothing else.
func TestHangUp(t *testing.T) {
	t.Parallel()
	l := openLine(t, "work", "vt220", size(80, 24))
	l.shows("Running for")
	l.tty.Close()
	select {
	case err := <-l.ended:
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			t.Errorf("ended with %v", err)
		}
	case <-time.After(wait.Timeout(10 * time.Second)):
		t.Error("the console is still there")
	}
}

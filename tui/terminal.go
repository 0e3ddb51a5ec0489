package tui

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// The smallest size for which the screens are made, and the size of a line that tells none.
const (
	minWidth  = 80
	minHeight = 24
)

// slowBaud is the speed up to which a serial line is refreshed less often.
const slowBaud = 38400

// refresh is how often a page that changes is drawn again, but on a slow line.
const refresh = time.Second

// kdgkbtype asks for the type of keyboard; only a kernel console answers, whatever TERM says.
const kdgkbtype = 0x4B33

// terminal is the line that the console runs on.
type terminal struct {
	in, out *os.File
	old     *term.State
	baud    int  // of a slow serial line, else 0
	rich    bool // has a second screen to run on
}

// openTerminal prepares the line: raw mode, and a size when it has none.
func openTerminal(in, out *os.File) (*terminal, error) {
	t := &terminal{in: in, out: out, baud: slowLine(int(out.Fd()))}
	name := os.Getenv("TERM")
	t.rich = window(name)
	old, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, fmt.Errorf("preparing the terminal: %w", err)
	}
	t.old = old
	if w, h := t.size(); w == minWidth && h == minHeight {
		// Children such as an editor must agree with what is drawn here.
		_ = unix.IoctlSetWinsize(int(out.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: minHeight, Col: minWidth})
	}
	if t.rich {
		fmt.Fprint(out, "\x1b[?1049h")
	}
	return t, nil
}

// close gives the line back as it was.
func (t *terminal) close() {
	if t.rich {
		fmt.Fprint(t.out, "\x1b[?1049l")
	}
	_ = term.Restore(int(t.in.Fd()), t.old)
}

// size is what the line says, or 80x24 where it says nothing, as serial lines do.
func (t *terminal) size() (w, h int) {
	ws, err := unix.IoctlGetWinsize(int(t.out.Fd()), unix.TIOCGWINSZ)
	if err != nil || ws.Col == 0 || ws.Row == 0 {
		return minWidth, minHeight
	}
	return bounded(int(ws.Col), int(ws.Row))
}

// The largest size that is drawn. A client of ssh may claim any: 65535x65535 would take gigabytes.
const (
	maxWidth  = 400
	maxHeight = 150
)

func bounded(w, h int) (int, int) { return min(w, maxWidth), min(h, maxHeight) }

// resized tells about each change of size until stop is called, also about one since it was w and h.
func (t *terminal) resized(w, h int, tell func(w, h int)) (stop func()) {
	signals := make(chan os.Signal, 1)
	done := make(chan struct{})
	signal.Notify(signals, unix.SIGWINCH)
	go func() {
		if nw, nh := t.size(); nw != w || nh != h {
			tell(nw, nh)
		}
		for {
			select {
			case <-done:
				return
			case <-signals:
				tell(t.size())
			}
		}
	}()
	return func() { signal.Stop(signals); close(done) }
}

// kernelConsole reports whether fd is one of the kernel's virtual terminals.
func kernelConsole(fd int) bool {
	_, err := unix.IoctlGetInt(fd, kdgkbtype)
	return err == nil
}

// slowLine returns the speed of a slow serial line, 0 for anything else. Kernel consoles and pseudo terminals say
// 38400 although they have no speed, so there only a lower one counts: someone set it.
func slowLine(fd int) int {
	tio, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return 0
	}
	baud, known := bauds[tio.Cflag&unix.CBAUD]
	if !known || baud > slowBaud {
		return 0
	}
	if baud == slowBaud && (kernelConsole(fd) || pseudo(fd)) {
		return 0
	}
	return baud
}

// pseudo reports whether fd is a Unix 98 pseudo terminal.
func pseudo(fd int) bool {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return false
	}
	major := unix.Major(st.Rdev)
	return major >= 136 && major <= 143
}

// bauds are the speeds that a line can be slow at.
var bauds = map[uint32]int{
	unix.B300: 300, unix.B600: 600, unix.B1200: 1200, unix.B1800: 1800, unix.B2400: 2400, unix.B4800: 4800,
	unix.B9600: 9600, unix.B19200: 19200, unix.B38400: 38400,
}

// window reports whether a terminal of that name is a window with UTF-8, colours and a second screen.
func window(name string) bool {
	return strings.HasPrefix(name, "xterm") || strings.HasPrefix(name, "screen") || strings.HasPrefix(name, "tmux")
}

// utf8Locale tells whether the characters of the line are UTF-8, as the locale says that programs are to write; where it says
// nothing, a window is taken to show UTF-8.
func utf8Locale() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(os.Getenv(name)); locale != "" {
			return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
		}
	}
	return true
}

// old reports whether a terminal of that name may have neither colours nor UTF-8, as serial lines are told to be.
func old(name string) bool {
	return name == "" || name == "vt220" || name == "vt102" || name == "vt100"
}

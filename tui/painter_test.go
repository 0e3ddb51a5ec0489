package tui

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
	"golang.org/x/sys/unix"
)

// TestPainter paints random pictures after each other on a terminal: it shows each of them, whatever was there before.
func TestPainter(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const w, h = 40, 8
	var out bytes.Buffer
	p, vt := newPainter(&out, true, 0), vt10x.New(vt10x.WithSize(w, h))
	words := []string{"", " ", "    ", "ab", "#####....", "\x1b[1mbold\x1b[m", "\x1b[7mx\x1b[m", "\x1b[31mred\x1b[0m", "a\x1b[2Jb", "\tz", "caf\u00e9", "\x1b]0;t", "{"}
	for n := range 3000 {
		f := frame{page: page{x: random.IntN(w), y: random.IntN(h)}, w: w, h: h, wipe: n / 500}
		for range h {
			line := ""
			for range random.IntN(8) {
				line += words[random.IntN(len(words))]
			}
			f.lines = append(f.lines, line)
		}
		out.Reset()
		p.baud = 9600 * (n % 2)
		p.paint(f)
		out.Write(p.buf.Bytes())
		p.buf.Reset()
		if rest := sequences.ReplaceAll(out.Bytes(), nil); strings.ContainsFunc(string(rest), func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Fatalf("frame %d wrote %q", n, rest)
		}
		vt.Write(out.Bytes())
		for y := range h {
			want := parse(f.lines[y], w, true)
			for x := range w {
				c := blank()
				if x < len(want) && (x != w-1 || y != h-1) {
					c = want[x]
				}
				glyph := vt.Cell(x, y)
				got := glyph.Char
				if got == 0 {
					got = ' '
				}
				if got != c.r {
					t.Fatalf("frame %d: %q at %d,%d instead of %q", n, got, x, y, c.r)
				}
				if (glyph.FG == vt10x.Red) != (c.a&colour != 0) {
					t.Fatalf("frame %d: %q at %d,%d has the colour %d", n, got, x, y, glyph.FG)
				}
			}
		}
		if c := vt.Cursor(); c.X != f.x || c.Y != f.y {
			t.Fatalf("frame %d: the cursor is at %d,%d instead of %d,%d", n, c.X, c.Y, f.x, f.y)
		}
	}
}

// TestPageChangeIsCheap counts what it takes to go from each scene to the next: no more than its characters, on the whole, with the
// cursor's ways between them.
func TestPageChangeIsCheap(t *testing.T) {
	var out bytes.Buffer
	p := newPainter(&out, true, 0)
	bytes, cells := 0, 0
	for i, s := range scenes() {
		b := newBench(t, 80, 24, s.edits...)
		b.press(s.keys...)
		v := b.app.View()
		var before [][]cell
		for _, row := range p.screen {
			before = append(before, slices.Clone(row))
		}
		p.buf.Reset()
		p.paint(frame{page: page{lines: strings.Split(v.Content, "\n"), x: v.Cursor.X, y: v.Cursor.Y}, w: 80, h: 24, ascii: true})
		n, changed := p.buf.Len(), 0
		if i == 0 {
			continue
		}
		for y, row := range before {
			for x := range row {
				if row[x] != p.screen[y][x] {
					changed++
				}
			}
		}
		bytes, cells = bytes+n, cells+changed
		if n > 200 && float64(n) > 1.45*float64(changed) || n > 1250 { // below 200 it is the same page with other values
			t.Errorf("%s: %d bytes for %d cells", s.name, n, changed)
		}
	}
	each := float64(bytes) / float64(cells)
	t.Logf("%d bytes for %d cells: %.2f", bytes, cells, each)
	if each > 1 {
		t.Errorf("%.2f bytes for each cell that changed", each)
	}
}

// TestTheCursorsRowComesFirst on a slow line, at no more than the way there and back.
func TestTheCursorsRowComesFirst(t *testing.T) {
	for i, s := range scenes() {
		b := newBench(t, 80, 24, s.edits...)
		b.press(s.keys...)
		v := b.app.View()
		f := frame{page: page{lines: strings.Split(v.Content, "\n"), x: v.Cursor.X, y: v.Cursor.Y}, w: 80, h: 24, ascii: true}
		painted := func(baud int) string {
			p := newPainter(io.Discard, true, baud)
			p.paint(f)
			return p.buf.String()
		}
		slow, fast := painted(9600), painted(0)
		if len(slow) > len(fast)+12 {
			t.Errorf("%s: %d bytes instead of %d", s.name, len(slow), len(fast))
		}
		rest := strings.TrimLeft(ansi.Strip(slow), "\r\n")
		if want := strings.TrimSpace(ansi.Strip(f.lines[f.y])); !strings.HasPrefix(strings.ReplaceAll(rest, " ", ""), strings.ReplaceAll(want, " ", "")) {
			t.Errorf("%d, %s: first comes %.80q, want %q", i, s.name, rest, want)
		}
	}
}

func TestSlowLine(t *testing.T) {
	_, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	for speed, want := range map[uint32]int{unix.B9600: 9600, unix.B38400: 0, unix.B115200: 0} {
		tio, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
		if err != nil {
			t.Fatal(err)
		}
		tio.Cflag = tio.Cflag&^unix.CBAUD | speed
		if err := unix.IoctlSetTermios(int(tty.Fd()), unix.TCSETS, tio); err != nil {
			t.Fatal(err)
		}
		if got := slowLine(int(tty.Fd())); got != want {
			t.Errorf("%d instead of %d", got, want)
		}
	}
	if f, err := os.Open(os.DevNull); err == nil && slowLine(int(f.Fd())) != 0 {
		t.Error("/dev/null is a slow line")
	}
}

// TestThemeOfALine: only a window gets more than ASCII; a serial line does not, whatever TERM says.
func TestThemeOfALine(t *testing.T) {
	_, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	null, err := os.Open(os.DevNull) // no pseudo terminal, as a serial line is none
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, c := range []struct {
		line          *os.File
		term, noColor string
		want          Mode
	}{
		{tty, "xterm-256color", "", Rich},
		{tty, "tmux-256color", "", Rich},
		{tty, "screen", "", Rich},
		{tty, "xterm", "1", Basic},
		{tty, "linux", "", Basic},
		{tty, "vt220", "", Basic},
		{tty, "", "", Basic},
		{tty, "dumb", "", Line},
		{null, "xterm-256color", "", Basic},
		{null, "linux", "", Basic},
	} {
		t.Setenv("NO_COLOR", c.noColor)
		if got := detect(int(c.line.Fd()), c.term); got != c.want {
			t.Errorf("%s with TERM=%s, NO_COLOR=%q: %d, want %d", c.line.Name(), c.term, c.noColor, got, c.want)
		}
	}
}

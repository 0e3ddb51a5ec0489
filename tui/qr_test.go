package tui

import (
	"os"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"touchdown/steps/view"
)

// TestQRCode reads the code back from the cells of a painted page: it is, module for module, the one that github.com/skip2/go-qrcode
// (version 0.0.0-20200617195104) makes of the address in capitals, and that the reader github.com/makiuchi-d/gozxing reads with this
// quiet zone.
func TestQRCode(t *testing.T) {
	fact, err := os.ReadFile("testdata/qr.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields(string(fact))
	lines := newTheme(false).qrLines(webConsole + "store0042.example.com")
	side := len(want) + 2*quietZone
	if len(lines) != (side+1)/2 {
		t.Fatalf("%d lines for %d modules", len(lines), side)
	}
	for y := range side {
		for x := range side {
			dark := false
			if mx, my := x-quietZone, y-quietZone; mx >= 0 && my >= 0 && mx < len(want) && my < len(want) {
				dark = want[my][mx] == '#'
			}
			c := parse(lines[y/2], side, false)[x]
			if c.a.sgr(0) != "\x1b[30;107m" {
				t.Fatalf("the module at %d,%d is drawn as %q", x, y, c.a.sgr(0))
			}
			got := c.r == '\u2588' || y%2 == 0 && c.r == '\u2580' || y%2 == 1 && c.r == '\u2584'
			if got != dark {
				t.Fatalf("the module at %d,%d is %v, want %v", x, y, got, dark)
			}
		}
	}
}

// TestQRCodeNeedsRoom: the code stands where nothing else does, or nowhere.
func TestQRCodeNeedsRoom(t *testing.T) {
	hand := func(s *view.Snapshot) { finished(s); s.Met = nil }
	for _, c := range []struct {
		w, h  int
		edit  func(*view.Snapshot)
		shown bool
	}{
		{80, 24, hand, false},
		{100, 37, hand, true},
		{128, 48, hand, true},
		{128, 48, undone, false},
		{128, 48, working, false},
		{128, 48, func(s *view.Snapshot) { hand(s); s.Cluster = strings.Repeat("long.", 80) + "example.com" }, false},
	} {
		b := newBench(t, c.w, c.h, c.edit)
		if strings.Contains(b.screen(), "\u2580") {
			t.Errorf("%dx%d: the basic theme has a code:\n%s", c.w, c.h, b.screen())
		}
		b.app.switchMode()
		screen := b.screen()
		if got := strings.Contains(screen, "\u2580"); got != c.shown {
			t.Errorf("%dx%d: a code is shown: %v\n%s", c.w, c.h, got, screen)
		}
		b.app.theme.code = nil
		without := strings.Split(b.screen(), "\n")
		for y, line := range strings.Split(screen, "\n") {
			if !strings.HasPrefix(line, without[y]) {
				t.Errorf("%dx%d: the code stands over %q: %q", c.w, c.h, without[y], line)
			}
		}
		for _, line := range b.app.frame(b.app.top(), c.w, c.h).lines {
			if ansi.StringWidth(line) > c.w {
				t.Errorf("%dx%d: a line is too long: %q", c.w, c.h, line)
			}
		}
	}
}

// TestColoursOfALine: bright colours reach a terminal of the rich theme alone; another may know eight.
func TestColoursOfALine(t *testing.T) {
	for line, want := range map[string][2]string{
		"\x1b[92mx":            {"\x1b[0;92m", "\x1b[0;32m"},
		"\x1b[30;107mx":        {"\x1b[0;30;107m", "\x1b[0;30;47m"},
		"\x1b[92m\x1b[32mx":    {"\x1b[0;32m", "\x1b[0;32m"},
		"\x1b[32m\x1b[91mx":    {"\x1b[0;91m", "\x1b[0;31m"},
		"\x1b[92;102;39;49mx":  {"\x1b[m", "\x1b[m"},
		"\x1b[38;5;196mx":      {"\x1b[m", "\x1b[m"},
		"\x1b[1;97;44mx\x1b[m": {"\x1b[0;1;97;44m", "\x1b[0;1;37;44m"},
	} {
		for i, ascii := range []bool{false, true} {
			if got := parse(line, 1, ascii)[0].a.sgr(bold); got != want[i] {
				t.Errorf("%q, ascii %v: %q, want %q", line, ascii, got, want[i])
			}
		}
	}
}

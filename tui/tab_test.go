package tui

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"touchdown/steps/view"
)

// The most bytes that a key may cost in the basic theme: the focus that goes to another field; what is said of that field, which comes once
// no key has come for a while; the focus that goes to another button; a character; more fields than there is room for.
const (
	mostOfTab    = 32
	mostOfHelp   = 320
	mostOfButton = 96
	mostOfChar   = 4
	mostOfPage   = 950
)

// paintedOn is a console with a painter behind it, as in the program.
func paintedOn(b *bench) (p *painter, paint func() int) {
	p = newPainter(io.Discard, false, 9600)
	on := painted{b.app, p}
	return p, func() int {
		on.View()
		return p.flush()
	}
}

// rest paints what may wait.
func (p *painter) rest() int {
	if p.owed == nil {
		return 0
	}
	p.whole()
	return p.flush()
}

// withStickAndPorts is the site's list, whose fields have all that a field can have.
func withStickAndPorts(s *view.Snapshot) {
	realSite(s)
	fromSticks(s)
}

// TestTabIsCheap goes through each field and button of each page, there and back: the focus moves for a few bytes, no row moves, and what is
// said of the field comes afterwards, into rows that are kept free for it or not at all.
func TestTabIsCheap(t *testing.T) {
	b := newBench(t, 80, 24, withStickAndPorts)
	for _, stage := range b.app.snap.Stages {
		if len(fields(stage)) == 0 {
			continue
		}
		b.app.goTo(stage.ID)
		b.app.followJob()
		f, ok := b.app.page.(*form)
		if !ok {
			continue // a page of checks
		}
		f.focus(f.fields()[0].Path)
		p, paint := paintedOn(b)
		paint()
		n := len(f.fields()) + len(f.buttons())
		most, turns := map[string]int{}, 0
		for _, key := range slices.Concat(slices.Repeat([]string{"tab"}, n), slices.Repeat([]string{"shift+tab"}, n)) {
			before, scrolled, from := b.rows(), f.scroll.port.YOffset(), f.path
			b.press(key)
			focus, rest := paint(), p.rest()
			kind := "field"
			if from == "" || f.path == "" {
				kind = "button"
			}
			if f.scroll.port.YOffset() != scrolled {
				kind = "turned"
				turns++
			} else {
				sameRows(t, before, b.rows(), b.app.late)
			}
			most[kind], most["rest"] = max(most[kind], focus), max(most["rest"], rest)
		}
		t.Logf("%s: %v, %d turns", stage.ID, most, turns)
		if most["field"] > mostOfTab || most["button"] > mostOfButton || most["rest"] > mostOfHelp || most["turned"] > mostOfPage || turns > 2*(n/8) {
			t.Errorf("%s: %v bytes", stage.ID, most)
		}
	}
}

// rows are the rows of the screen without the marks of the focus.
func (b *bench) rows() []string {
	return strings.Split(strings.ReplaceAll(b.screen(), marker, " "), "\n")
}

// sameRows compares rows, but for those that may change.
func sameRows(t *testing.T, before, after []string, but []int) {
	t.Helper()
	for y := range before {
		if !slices.Contains(but, y) && y < 22 && strings.TrimRight(before[y], " ") != strings.TrimRight(after[y], " ") {
			t.Errorf("row %d was %q and is %q", y, before[y], after[y])
		}
	}
}

// TestTypingIsCheap types into each field that takes text.
func TestTypingIsCheap(t *testing.T) {
	b := newBench(t, 80, 24, realSite)
	for _, stage := range b.app.snap.Stages {
		for _, v := range fields(stage) {
			if !isText(v.Kind) {
				continue
			}
			b.app.goTo(stage.ID)
			b.app.followJob()
			b.in(v.Path)
			_, paint := paintedOn(b)
			b.press("ctrl+u", "'a")
			paint()
			for _, letter := range []string{"b", "c", "d"} {
				b.press(letter)
				if n := paint(); n > mostOfChar {
					t.Errorf("%s: %d bytes for a character", v.Path, n)
				}
			}
		}
	}
}

// TestTheClockIsCheap: on a form where nothing changes a second writes nothing, and a new minute the header's clock alone.
func TestTheClockIsCheap(t *testing.T) {
	b := newBench(t, 80, 24, realSite)
	b.press("c")
	_, paint := paintedOn(b)
	paint()
	for seconds := range 3 * 60 {
		b.now = b.now.Add(time.Second)
		b.run(b.app.onTick())
		n := paint()
		if minute := b.now.Second() == 0; !minute && n > 0 || n > mostOfMinute {
			t.Errorf("%d bytes after %d s", n, seconds+1)
		}
	}
}

// mostOfMinute is what a new minute of the header's clock costs, in bytes: two moves of the cursor and two digits.
const mostOfMinute = 18

// TestLateRows: late rows come once no newer picture has come, with what they have then; another page comes whole, and so does what is
// painted last.
func TestLateRows(t *testing.T) {
	var out bytes.Buffer
	p := newPainter(&out, true, 0)
	paint := func(wipe int, late []int, lines ...string) string {
		p.show(frame{page: page{lines: lines, late: late}, w: 10, h: 3, wipe: wipe, ascii: true})
		out.Reset()
		p.flush()
		return ansi.Strip(out.String())
	}
	if got := paint(1, []int{1}, "one", "two"); !strings.Contains(got, "two") {
		t.Errorf("a full repaint left out a row: %q", got)
	}
	if got := paint(1, []int{1}, "ONE", "TWO"); !strings.Contains(got, "ONE") || strings.Contains(got, "TWO") || p.owed == nil {
		t.Errorf("painted %q, owed %v", got, p.owed)
	}
	if got := paint(1, []int{1}, "ONE", "six"); strings.Contains(got, "s") || p.owed == nil {
		t.Errorf("painted %q, owed %v", got, p.owed)
	}
	out.Reset()
	if p.rest(); !strings.Contains(ansi.Strip(out.String()), "six") || p.owed != nil {
		t.Errorf("after a rest %q, owed %v", out.String(), p.owed)
	}
	if paint(1, []int{1}, "ONE", "TEN"); p.owed == nil {
		t.Fatal("nothing is owed")
	}
	if got := paint(1, nil, "ONE", "TEN"); !strings.Contains(got, "TEN") || p.owed != nil {
		t.Errorf("a page that comes whole: %q, owed %v", got, p.owed)
	}
	p.show(frame{page: page{lines: []string{"new", "its help"}}, w: 10, h: 3, wipe: 1, ascii: true}) // replaced before it is painted
	if got := paint(1, []int{1}, "new", "other"); !strings.Contains(got, "new") || !strings.Contains(got, "other") || p.owed != nil {
		t.Errorf("the second picture of a page that comes whole: %q, owed %v", got, p.owed)
	}
	if got := paint(1, []int{1}, "NEW", "third"); strings.Contains(got, "third") || p.owed == nil {
		t.Errorf("the picture after those: %q, owed %v", got, p.owed)
	}
}

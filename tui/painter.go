package tui

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// frame is one picture of a size, and a number that asks for a full repaint when it changes.
type frame struct {
	page
	w, h  int
	wipe  int
	ascii bool // only ASCII characters
}

// painter brings frames to the terminal with CUP, EL, ED, SGR, CR, LF, BS and text, nothing else. Bubble Tea's own
// renderer also uses DCH, IRM, IL, DL, RI, DECSTBM and HT on any terminal, which cannot be switched off and which the
// viewers of service processors get wrong; and it queues frames, while on a slow line only the newest one matters.
type painter struct {
	out   io.Writer
	ascii bool
	baud  int // of a slow serial line, 0 elsewhere

	mu   sync.Mutex
	next *frame
	wake chan struct{}

	screen [][]cell
	wiped  int
	x, y   int // where the terminal's cursor is; x < 0: not known
	pen    attr
	buf    bytes.Buffer
}

func newPainter(out io.Writer, ascii bool, baud int) *painter {
	return &painter{out: out, ascii: ascii, baud: baud, wake: make(chan struct{}, 1), x: -1, wiped: -1}
}

// show asks for f; a frame that was not painted yet is forgotten.
func (p *painter) show(f frame) {
	p.mu.Lock()
	p.next = &f
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// run paints until ctx ends, and then once more what is waiting.
func (p *painter) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			p.flush()
			return
		case <-p.wake:
		}
		n := p.flush()
		if p.baud == 0 || n < 64 {
			continue
		}
		// The kernel would queue seconds of stale pictures; wait until the line is free again.
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(n) * 10 * time.Second / time.Duration(p.baud)):
		}
	}
}

// flush paints the newest frame and returns how many bytes that took.
func (p *painter) flush() int {
	p.mu.Lock()
	f := p.next
	p.next = nil
	p.mu.Unlock()
	if f == nil {
		return 0
	}
	p.buf.Reset()
	p.paint(*f)
	n, _ := p.out.Write(p.buf.Bytes()) // a line that is gone is noticed by the reader
	return n
}

// paint writes what turns the screen into f.
func (p *painter) paint(f frame) {
	if f.wipe != p.wiped || len(p.screen) != f.h || f.h > 0 && len(p.screen[0]) != f.w {
		p.clear(f.w, f.h)
		p.wiped = f.wipe
	}
	for y := range f.h {
		var line []cell
		if y < len(f.lines) {
			line = parse(f.lines[y], f.w, p.ascii || f.ascii)
		}
		for len(line) < f.w {
			line = append(line, blank())
		}
		if y == f.h-1 && f.w > 0 {
			line[f.w-1] = blank() // a character in the last cell scrolls some terminals
		}
		p.row(y, line)
	}
	p.set(0)
	p.move(min(max(f.x, 0), f.w-1), min(max(f.y, 0), f.h-1))
}

// clear empties the terminal, whatever was on it.
func (p *painter) clear(w, h int) {
	p.screen = make([][]cell, h)
	for y := range p.screen {
		p.screen[y] = make([]cell, w)
		for x := range p.screen[y] {
			p.screen[y][x] = blank()
		}
	}
	p.buf.WriteString("\x1b[m\x1b[H\x1b[2J\x1b[?25h")
	p.x, p.y, p.pen = 0, 0, 0
}

// row writes the cells of line that differ from the screen.
func (p *painter) row(y int, line []cell) {
	old := p.screen[y]
	end := len(line) // where the blank tail begins
	for end > 0 && line[end-1] == blank() {
		end--
	}
	for x := 0; x < end; x++ {
		if old[x] == line[x] {
			continue
		}
		p.reach(x, y, line)
		p.put(line[x])
	}
	last := len(old)
	for last > end && old[last-1] == blank() {
		last--
	}
	if last > end {
		p.reach(end, y, line)
		p.set(0)
		if last-end < 4 && last < len(old) {
			for range last - end {
				p.put(blank())
			}
		} else {
			p.buf.WriteString("\x1b[K")
		}
	}
	copy(old, line)
}

// reach brings the cursor to x, y: over cells that are right already when writing them again is cheaper.
func (p *painter) reach(x, y int, line []cell) {
	if p.y != y || p.x < 0 || p.x > x || x-p.x > 5 {
		p.move(x, y)
		return
	}
	for i := p.x; i < x; i++ {
		if line[i].a != p.pen {
			p.move(x, y)
			return
		}
	}
	for p.x < x {
		p.put(line[p.x])
	}
}

// move brings the cursor to x, y the cheapest way.
func (p *painter) move(x, y int) {
	switch {
	case p.x == x && p.y == y:
		return
	case p.x == x+1 && p.y == y:
		p.buf.WriteByte('\b')
	case p.x >= 0 && p.y == y && x == 0:
		p.buf.WriteByte('\r')
	case p.x >= 0 && p.y+1 == y && x == 0:
		p.buf.WriteString("\r\n")
	case x == 0:
		fmt.Fprintf(&p.buf, "\x1b[%dH", y+1)
	default:
		fmt.Fprintf(&p.buf, "\x1b[%d;%dH", y+1, x+1)
	}
	p.x, p.y = x, y
}

func (p *painter) set(a attr) {
	if a != p.pen {
		p.buf.WriteString(a.sgr())
		p.pen = a
	}
}

func (p *painter) put(c cell) {
	p.set(c.a)
	p.buf.WriteRune(c.r)
	p.x++
	if p.x >= len(p.screen[0]) {
		p.x = -1 // terminals differ in where the cursor is after the last column
	}
}

// erase empties the screen row by row: terminals keep what is erased at once for scrolling back.
func (p *painter) erase(h int) {
	var rows strings.Builder
	for y := range max(h, 1) {
		fmt.Fprintf(&rows, "\x1b[%dH\x1b[2K", y+1)
	}
	fmt.Fprint(p.out, rows.String())
}

// leave puts the cursor below everything and gives the terminal back plain.
func (p *painter) leave(h int) {
	fmt.Fprintf(p.out, "\x1b[m\x1b[%dH\r\n\x1b[?25h", max(h, 1))
}

package tui

import (
	"context"
	"fmt"
	"io"
	"slices"
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

// painter brings frames to the terminal with CUP, CUF, EL, ED, SGR, CR, LF, BS and text, nothing else. Bubble Tea's own
// renderer also uses DCH, IRM, IL, DL, RI, DECSTBM and HT on any terminal, which cannot be switched off and which the
// viewers of service processors get wrong; and it queues frames, while on a slow line only the newest one matters.
type painter struct {
	out   io.Writer
	ascii bool
	baud  int // of a slow serial line, 0 elsewhere

	mu   sync.Mutex
	next *frame
	wake chan struct{}
	owed *frame // whose late rows were not painted

	screen [][]cell
	wiped  int
	cursor
}

func newPainter(out io.Writer, ascii bool, baud int) *painter {
	return &painter{out: out, ascii: ascii, baud: baud, wake: make(chan struct{}, 1), cursor: cursor{spot: spot{x: -1}}, wiped: -1}
}

// show asks for f; a frame that was not painted yet is forgotten, but not that it had to come whole: its rows are not on the screen.
func (p *painter) show(f frame) {
	p.mu.Lock()
	if p.next != nil && p.next.late == nil {
		f.late = nil
	}
	p.next = &f
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// rested is how long no newer picture comes before late rows are painted: who goes through the fields, or types at once, does not wait
// for the help of each field.
const rested = 250 * time.Millisecond

// run paints until ctx ends, and then once more what is waiting.
func (p *painter) run(ctx context.Context) {
	for {
		var rest <-chan time.Time
		if p.owed != nil {
			rest = time.After(rested)
		}
		select {
		case <-ctx.Done():
			p.whole()
			p.flush()
			return
		case <-rest:
			p.whole()
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

// whole asks for the late rows, of the newest frame when there is one.
func (p *painter) whole() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next == nil {
		p.next = p.owed
	}
	if p.next != nil {
		p.next.late = nil
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
		p.wiped, f.late = f.wipe, nil
	}
	p.owed = nil
	for _, y := range p.order(f) {
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
		if slices.Contains(f.late, y) && !slices.Equal(p.screen[y], line) {
			p.owed = &f
			continue
		}
		p.row(y, line)
	}
	p.set(0)
	p.move(min(max(f.x, 0), f.w-1), min(max(f.y, 0), f.h-1))
}

// order is in which the rows are painted: on a slow line the one that the cursor is in comes first, for that is what the person reads or
// answers next; then from above.
func (p *painter) order(f frame) []int {
	rows := make([]int, 0, f.h)
	slow := p.baud > 0 && f.y >= 0 && f.y < f.h
	if slow {
		rows = append(rows, f.y)
	}
	for y := range f.h {
		if !slow || y != f.y {
			rows = append(rows, y)
		}
	}
	return rows
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
	p.spot, p.w = spot{}, w
}

// row brings a row of the screen to line: cell by cell, or with what is right of the first difference erased before, whichever takes
// fewer bytes.
func (p *painter) row(y int, line []cell) {
	old, begun := p.screen[y], p.spot
	n := p.buf.Len()
	p.differences(y, old, line)
	cells, moved := slices.Clone(p.buf.Bytes()[n:]), p.spot

	first := 0
	for first < len(old) && old[first] == line[first] {
		first++
	}
	p.buf.Truncate(n)
	p.spot = begun
	if first < len(line) {
		p.reach(first, y, line)
		p.set(0)
		p.buf.WriteString("\x1b[K")
		emptied := slices.Clone(old)
		for x := first; x < len(emptied); x++ {
			emptied[x] = blank()
		}
		p.differences(y, emptied, line)
	}
	if p.buf.Len()-n >= len(cells) {
		p.buf.Truncate(n)
		p.buf.Write(cells)
		p.spot = moved
	}
	copy(old, line)
}

// differences writes the cells of line that differ from those of old.
func (p *painter) differences(y int, old, line []cell) {
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
	if last <= end {
		return
	}
	p.reach(end, y, line)
	p.set(0)
	if last-end < 4 && last < len(old) {
		for range last - end {
			p.put(blank())
		}
		return
	}
	p.buf.WriteString("\x1b[K")
}

// erase empties the screen row by row: terminals keep what is erased at once for scrolling back.
func (p *painter) erase(h int) {
	var rows strings.Builder
	for y := range max(h, 1) {
		fmt.Fprintf(&rows, "\x1b[%dH\x1b[2K", y+1)
	}
	fmt.Fprint(p.out, rows.String())
}

// leave puts the cursor below everything and gives the terminal back plain, with some last lines.
func (p *painter) leave(h int, last ...string) {
	fmt.Fprintf(p.out, "\x1b[m\x1b[%dH\r\n\x1b[?25h", max(h, 1))
	for _, line := range last {
		fmt.Fprint(p.out, line, "\r\n")
	}
}

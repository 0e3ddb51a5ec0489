package tui

import (
	"bytes"
	"slices"
	"strconv"
)

// spot is where a terminal writes next, and how.
type spot struct {
	x, y  int // x < 0: not known
	style attr
}

// cursor collects what brings a terminal's cursor to cells, and writes them.
type cursor struct {
	spot
	w   int // columns of the terminal
	buf bytes.Buffer
}

// reach brings the cursor to x, y: over cells that are right already when writing them again is cheaper.
func (c *cursor) reach(x, y int, line []cell) {
	if c.x >= 0 && c.y+1 == y && x > 0 && c.again(line[:x], 3) {
		c.move(0, y)
	}
	if c.x >= 0 && c.y == y && c.x <= x && c.again(line[c.x:x], 4) {
		for c.x < x {
			c.put(line[c.x])
		}
		return
	}
	c.move(x, y)
}

// again tells whether cells are at most n and look as what is written now.
func (c *cursor) again(cells []cell, n int) bool {
	return len(cells) <= n && !slices.ContainsFunc(cells, func(of cell) bool { return of.a != c.style })
}

// move brings the cursor to x, y the cheapest way. Where a line loses a byte of it, what follows in the row stands wrong until the
// screen is drawn again, as it does where a line break is lost.
func (c *cursor) move(x, y int) {
	switch {
	case c.x == x && c.y == y:
		return
	case c.x == x+1 && c.y == y:
		c.buf.WriteByte('\b')
	case c.x >= 0 && c.y == y && x == 0:
		c.buf.WriteByte('\r')
	case c.x >= 0 && c.y+1 == y && x == 0:
		c.buf.WriteString("\r\n")
	case c.x >= 0 && c.y == y && x > c.x:
		c.buf.WriteString("\x1b[" + strconv.Itoa(x-c.x) + "C")
	case x == 0:
		c.buf.WriteString("\x1b[" + strconv.Itoa(y+1) + "H")
	default:
		c.buf.WriteString("\x1b[" + strconv.Itoa(y+1) + ";" + strconv.Itoa(x+1) + "H")
	}
	c.x, c.y = x, y
}

func (c *cursor) set(a attr) {
	if a != c.style {
		c.buf.WriteString(a.sgr(c.style))
		c.style = a
	}
}

func (c *cursor) put(of cell) {
	c.set(of.a)
	c.buf.WriteRune(of.r)
	c.x++
	if c.x >= c.w {
		c.x = -1 // terminals differ in where the cursor is after the last column
	}
}

package tui

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// attr is how a cell looks: bold, reverse, one of eight colours and one of eight behind it (0 is the terminal's own), each dark or
// bright.
type attr uint16

const (
	bold    attr = 1 << 0
	reverse attr = 1 << 1
	colour  attr = 0x0f << 2
	behind  attr = 0x0f << 6
	bright  attr = 1 << 10 // the colour
	light   attr = 1 << 11 // what is behind it
)

// cell is one place on the screen.
type cell struct {
	r rune
	a attr
}

// blank is what erasing leaves.
func blank() cell { return cell{r: ' '} }

// sgr returns the sequence that selects a after another attribute.
func (a attr) sgr(before attr) string {
	if a == 0 {
		return "\x1b[m"
	}
	s := ""
	if before != 0 {
		s = ";0"
	}
	if a&bold != 0 {
		s += ";1"
	}
	if a&reverse != 0 {
		s += ";7"
	}
	if c := int(a&colour) >> 2; c != 0 {
		s += ";" + strconv.Itoa(c-1+first8(a&bright != 0, 30, 90))
	}
	if c := int(a&behind) >> 6; c != 0 {
		s += ";" + strconv.Itoa(c-1+first8(a&light != 0, 40, 100))
	}
	return "\x1b[" + s[1:] + "m"
}

// first8 is the parameter of the first of eight colours.
func first8(shines bool, dark, shining int) int {
	if shines {
		return shining
	}
	return dark
}

// with returns a after one parameter of an SGR sequence. Parameters that a plain terminal may not know are ignored.
func (a attr) with(p int) attr {
	switch {
	case p == 0:
		return 0
	case p == 1:
		return a | bold
	case p == 22:
		return a &^ bold
	case p == 7:
		return a | reverse
	case p == 27:
		return a &^ reverse
	case p >= 30 && p <= 37:
		return a&^(colour|bright) | attr(p-29)<<2
	case p >= 90 && p <= 97:
		return a&^colour | bright | attr(p-89)<<2
	case p == 39:
		return a &^ (colour | bright)
	case p >= 40 && p <= 47:
		return a&^(behind|light) | attr(p-39)<<6
	case p >= 100 && p <= 107:
		return a&^behind | light | attr(p-99)<<6
	case p == 49:
		return a &^ (behind | light)
	}
	return a
}

// parse turns one styled line into cells. This is the allow-list of the console: of all sequences only SGR means
// something, everything else that a log line or a host name may carry is dropped.
func parse(line string, width int, ascii bool) []cell {
	cells := make([]cell, 0, width)
	var a attr
	for len(line) > 0 && len(cells) < width {
		if line[0] == 0x1b {
			var params string
			params, line = escape(line)
			for p := range strings.SplitSeq(params, ";") {
				if n, err := strconv.Atoi(p); err == nil || p == "" && params != "-" {
					a = a.with(n)
				}
			}
			if ascii { // a terminal of which only that is known may have eight colours
				a &^= bright | light
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(line)
		line = line[n:]
		if r = printable(r, ascii); r != 0 {
			cells = append(cells, cell{r, a})
		}
	}
	return cells
}

// escape cuts an escape sequence off the front of s. It returns the parameters of SGR, "-" for anything else.
func escape(s string) (params, rest string) {
	if len(s) < 2 || s[1] != '[' {
		return "-", s[min(2, len(s)):]
	}
	for i := 2; i < len(s); i++ {
		if s[i] < 0x40 || s[i] > 0x7e {
			continue
		}
		if s[i] == 'm' {
			return s[2:i], s[i+1:]
		}
		return "-", s[i+1:]
	}
	return "-", ""
}

// printable returns the rune to draw for r, one column wide, or 0 for none.
func printable(r rune, ascii bool) rune {
	switch {
	case r == '\t':
		return ' '
	case r >= ' ' && r < 0x7f:
		return r
	case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0:
		return 0
	case ascii || obeyed(r) || r == utf8.RuneError || ansi.StringWidth(string(r)) != 1:
		return '?'
	}
	return r
}

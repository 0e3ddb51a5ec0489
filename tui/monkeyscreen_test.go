package tui

import (
	"fmt"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// slate is a terminal that knows only what the console may send: CUP, CUF, ED, EL, SGR, cursor on, CR, LF, BS and text.
type slate struct {
	of     *seat
	cells  [maxHeight][maxWidth]rune
	x, y   int
	paints int
}

// Write takes what the painter sends.
func (s *slate) Write(data []byte) (int, error) {
	for rest := data; len(rest) > 0; {
		n := s.take(rest)
		if n == 0 {
			s.of.m.fail("%s gets %q", s.of.name, rest[:min(len(rest), 40)])
			break
		}
		rest = rest[n:]
	}
	s.of.m.counts["bytes out"] += len(data)
	return len(data), nil
}

// take does what one character or sequence means, and returns how long it is: 0 for what must not come.
func (s *slate) take(data []byte) int {
	switch b := data[0]; {
	case b == '\r':
		s.x = 0
	case b == '\n':
		s.y++
	case b == '\b':
		s.x--
	case b == 0x1b:
		return s.sequence(data)
	case b >= ' ' && b < 0x7f:
		return s.put(rune(b), 1)
	default:
		r, n := utf8.DecodeRune(data)
		if r == utf8.RuneError || !unicode.IsPrint(r) || s.of.app.basic {
			return 0
		}
		return s.put(r, n)
	}
	return 1
}

// put shows a character of n bytes. None may be beyond the edge.
func (s *slate) put(r rune, n int) int {
	if s.x < 0 || s.y < 0 || s.y >= s.of.app.h || s.x >= s.of.app.w {
		return 0
	}
	s.cells[s.y][s.x] = r
	s.x++
	return n
}

func (s *slate) sequence(data []byte) int {
	if len(data) < 3 || data[1] != '[' {
		return 0
	}
	end := 2
	for end < len(data) && data[end] < 0x40 {
		end++
	}
	if end == len(data) {
		return 0
	}
	params := string(data[2:end])
	switch data[end] {
	case 'm':
	case 'h':
		if params != "?25" {
			return 0
		}
	case 'C':
		n, err := strconv.Atoi(params)
		if err != nil {
			return 0
		}
		s.x += n
	case 'H':
		s.x, s.y = 0, 0
		if params != "" {
			row, col := 0, 1
			if n, _ := fmt.Sscanf(params, "%d;%d", &row, &col); n == 0 {
				return 0
			}
			s.x, s.y = col-1, row-1
		}
	case 'J':
		s.cells = [maxHeight][maxWidth]rune{}
	case 'K':
		clear(s.cells[s.y][s.x:])
	default:
		return 0
	}
	return end + 1
}

// differs tells where the screen is not the picture.
func (s *slate) differs(f frame) string {
	for y := range min(f.h, len(f.lines)) {
		line := parse(f.lines[y], f.w, f.ascii)
		for x := range f.w {
			want, got := ' ', s.cells[y][x]
			if x < len(line) && (y != f.h-1 || x != f.w-1) {
				want = line[x].r
			}
			if got != want && (got != 0 || want != ' ') {
				return fmt.Sprintf("%q at %d,%d instead of %q", got, x, y, want)
			}
		}
	}
	return ""
}

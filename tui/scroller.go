package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"
)

// scroller shows a part of a text that is longer than the screen.
type scroller struct {
	at     int
	height int // of the last view
}

// press scrolls; it reports whether the key was one of scrolling.
func (s *scroller) press(msg tea.KeyPressMsg, keys keyMap) bool {
	step := max(s.height-1, 1)
	switch {
	case pressed(msg, keys.up):
		s.at--
	case pressed(msg, keys.down):
		s.at++
	case pressed(msg, keys.pageUp):
		s.at -= step
	case pressed(msg, keys.pageDown):
		s.at += step
	case pressed(msg, keys.first):
		s.at = 0
	case pressed(msg, keys.last):
		s.at = 1 << 30
	default:
		return false
	}
	s.at = max(s.at, 0)
	return true
}

// view returns h lines; the last of them tells how much more there is, when there is more.
func (s *scroller) view(lines []string, h int) []string {
	if len(lines) <= h {
		s.at, s.height = 0, h
		return page{lines: append([]string{}, lines...)}.fit(h).lines
	}
	s.height = max(h-1, 1)
	s.at = min(max(s.at, 0), len(lines)-s.height)
	out := append([]string{}, lines[s.at:s.at+s.height]...)
	return append(out, fmt.Sprintf("%s %s", rule(3), t("scroll.where", s.at+1, s.at+s.height, len(lines))))
}

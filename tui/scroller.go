package tui

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"
)

// scroller shows a part of a text that is longer than the screen.
type scroller struct {
	port viewport.Model
	room int
}

// fill takes the text, whose lines fit w columns, and the number of lines that there is room for. The last of them tells
// how much more there is, when there is more.
func (s *scroller) fill(lines []string, w, room int) {
	s.room = room
	if len(lines) > room {
		room--
	}
	s.port.SetWidth(max(w, 1))
	s.port.SetHeight(max(room, 1))
	s.port.SetContentLines(slices.Clone(lines))
}

// press scrolls; it reports whether the key was one of scrolling.
func (s *scroller) press(msg tea.KeyPressMsg, keys keyMap) bool {
	switch {
	case pressed(msg, keys.up):
		s.port.ScrollUp(1)
	case pressed(msg, keys.down):
		s.port.ScrollDown(1)
	case pressed(msg, keys.pageUp):
		s.page(-1)
	case pressed(msg, keys.pageDown):
		s.page(1)
	case pressed(msg, keys.first):
		s.port.GotoTop()
	case pressed(msg, keys.last):
		s.port.GotoBottom()
	default:
		return false
	}
	return true
}

// page scrolls n screens, less a line that is on both. The model's ScrollDown does nothing at the end, whatever the sign.
func (s *scroller) page(n int) { s.port.SetYOffset(s.port.YOffset() + n*max(s.port.Height()-1, 1)) }

// view is the part that is shown now.
func (s *scroller) view(th theme) []string {
	lines := page{lines: strings.Split(s.port.View(), "\n")}.fit(s.port.Height()).lines
	if total, from := s.port.TotalLineCount(), s.port.YOffset(); total > s.room {
		lines = append(lines, th.rule(3)+" "+t("scroll.where", from+1, from+s.port.Height(), total))
	}
	return page{lines: lines}.fit(s.room).lines
}

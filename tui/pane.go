package tui

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	tea "charm.land/bubbletea/v2"

	"touchdown/steps/records"
)

// The sizes from which on the end of the log stands beside the page, or below it.
const (
	paneWidth  = 120
	paneHeight = 40
)

// paneLines are as many lines of the log as the largest pane shows.
const paneLines = maxHeight

// paneBytes are as much as is shown of one line: it is folded for each picture, and a log may have lines of megabytes.
const paneBytes = 2000

// pane is the end of the log, for whoever has a large terminal: what a page says in one sentence stands there in many.
type pane struct {
	slow  bool // the line
	lines []string
	asked bool // for the lines, since the pane came up
	busy  bool // the engine has not answered the last time yet
}

// shows tells whether a page of w columns and h lines has the log beside or below it: while a job works, and when it has failed.
func (p *pane) shows(s screen, w, h int) bool {
	large := w >= paneWidth || h >= paneHeight-above-below
	fits := w >= minWidth && h >= minHeight-above-below
	return large && fits && !p.slow && slices.Contains([]string{"work", "question", "problem"}, s.name())
}

// follow asks for the end of the log when the pane comes up, and with each tick from then on, but never twice at once: an engine that is
// slow would get ever more to do. What cannot be read now stands as it was.
func (p *pane) follow(l *link, shown bool, msg tea.Msg) tea.Cmd {
	got, ok := msg.(paneMsg)
	p.busy = p.busy && !ok
	if ok && got.failed == nil {
		p.lines = nil
		for _, line := range got.lines { // a sequence would colour what stands beside it
			p.lines = append(p.lines, ansi.Strip(strings.ToValidUTF8(line[:min(len(line), paneBytes)], "")))
		}
	}
	_, tick := msg.(tickMsg)
	if p.asked = p.asked && shown; !shown || p.busy || p.asked && !tick {
		return nil
	}
	p.asked, p.busy = true, true
	return func() tea.Msg { return paneMsg{l.readLog(records.Ask{Lines: paneLines})} }
}

// end are the last lines that fit w columns and h lines.
func (p *pane) end(w, h int) []string {
	lines := fold(p.lines[max(0, len(p.lines)-h):], w)
	return lines[max(0, len(lines)-h):]
}

// body is what stands between header and footer: the page, and on a large terminal the end of the log.
func (p *pane) body(th theme, s screen, w, h int) page {
	switch {
	case !p.shows(s, w, h):
		return s.view(w, h).fit(h)
	case w < paneWidth:
		rows := h / 3
		upper := s.view(w, h-rows).fit(h - rows)
		upper.lines = append(append(upper.lines, th.titled(t("pane.title"), w)), p.end(w, rows-1)...)
		return upper.fit(h)
	}
	left := max(w*3/5, minWidth+1)
	beside := s.view(left-1, h).fit(h) // a column stays free before the line between both
	log := append([]string{th.strong.Render(cut(t("pane.title"), w-left-3))}, p.end(w-left-3, h-1)...)
	joined := lipgloss.JoinHorizontal(lipgloss.Top, th.left(beside.lines, left, h), strings.Join(page{lines: log}.fit(h).lines, "\n"))
	return page{lines: strings.Split(joined, "\n"), x: beside.x, y: beside.y}.fit(h)
}

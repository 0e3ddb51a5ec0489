package tui

import (
	"image/color"
	"strings"

	"charm.land/bubbles/v2/progress"
	"github.com/charmbracelet/x/ansi"

	"charm.land/lipgloss/v2"

	"touchdown/backend/check"
	"touchdown/steps/view"
)

// theme is how things look. Only this file names a colour, a border or a glyph. There are two: basic is ASCII and monochrome, rich
// has colours, box drawing and filled bars above and below. Both have one layout, character for character, and a word or a mark
// goes with every colour, so that a monochrome line tells the same.
type theme struct {
	head, strong, focus, good, warn, bad lipgloss.Style

	band     *lipgloss.Style // of header and footer; nil where they are not filled
	dash     string          // of rules
	column   string          // between columns
	barFull  rune
	barRest  rune
	barStyle color.Color
	quiet    lipgloss.Style // of rules

	halves []rune          // a character's two modules of a QR code: none, the upper, the lower, both; nil where there is no code
	code   *lipgloss.Style // of a QR code: dark on white, as cameras expect it
}

func newTheme(basic bool) theme {
	plain := lipgloss.NewStyle()
	t := theme{
		head: plain.Bold(true), strong: plain.Bold(true), focus: plain.Reverse(true),
		good: plain, warn: plain.Bold(true), bad: plain.Bold(true),
		dash: "-", column: "|", barFull: '#', barRest: '.', barStyle: lipgloss.NoColor{}, quiet: plain,
	}
	if !basic {
		band := plain.Background(lipgloss.Blue).Foreground(lipgloss.BrightWhite).Bold(true)
		t.band, t.barStyle = &band, lipgloss.BrightGreen
		t.dash, t.column, t.barFull, t.barRest = "\u2500", "\u2502", '\u2588', '\u2591' // which fonts of Linux consoles have
		t.head = plain.Bold(true).Foreground(lipgloss.BrightCyan)
		t.good = plain.Foreground(lipgloss.BrightGreen)
		t.warn = plain.Foreground(lipgloss.BrightYellow)
		t.bad = plain.Bold(true).Foreground(lipgloss.BrightRed)
		t.quiet = plain.Foreground(lipgloss.BrightBlack)
		code := plain.Foreground(lipgloss.Black).Background(lipgloss.BrightWhite)
		t.halves, t.code = []rune(" \u2580\u2584\u2588"), &code // in the kernel's own font too, which is that of code page 437
	}
	return t
}

// left is a column of text, w columns wide without its border, beside another one. Each line stays one row, whatever the engine put into it,
// and colours nothing beside or below it.
func (t theme) left(lines []string, w, h int) string {
	rows := make([]string, len(lines))
	for i, line := range lines {
		rows[i] = ansi.Truncate(oneRow.Replace(line), w, "") + ansi.ResetStyle
	}
	return lipgloss.NewStyle().Border(lipgloss.Border{Right: t.column}, false, true, false, false).
		Width(w + 1).Height(h).MarginRight(1).Render(strings.Join(rows, "\n"))
}

// oneRow takes out what starts another row, or grows wider when it is drawn beside something.
var oneRow = strings.NewReplacer("\n", " ", "\t", " ", "\r", "")

// The glyphs.
const (
	marker = ">"
	hidden = "*"
	alert  = "! "
	bullet = "- "
	arrow  = " -> "
	beats  = `|/-\`

	undecided = "...." // in the place of a verdict
)

// rule is a line of w columns.
func (t theme) rule(w int) string {
	if w <= 0 {
		return ""
	}
	return t.quiet.Render(strings.Repeat(t.dash, w))
}

// titled is a rule with a title.
func (t theme) titled(title string, w int) string {
	title = t.rule(2) + " " + cut(title, w-4) + " "
	return title + t.rule(w-lipgloss.Width(title))
}

// fill makes one of the lines above and below the page a bar of w columns, where the theme has bars.
func (t theme) fill(line string, w int) string {
	if t.band == nil {
		return line
	}
	return t.band.Render(pad(cut(ansi.Strip(line), w), w))
}

// verdict is the word and style of a check.
func (t theme) verdict(s check.Check) string {
	switch s.Status {
	case "pass":
		return t.good.Render("PASS")
	case "warn":
		return t.warn.Render("WARN")
	case "fail":
		return t.bad.Render("FAIL")
	case "waived":
		return t.warn.Render("WAIV")
	}
	return "SKIP"
}

// status is the mark of a step or stage in the sidebar.
func (t theme) status(s view.StepStatus) string {
	switch s {
	case view.Running:
		return t.strong.Render("[>]")
	case view.StepDone:
		return t.good.Render("[x]")
	case view.StepFailed:
		return t.bad.Render("[!]")
	case view.StepSkip:
		return "[-]"
	case view.StepUndone:
		return "[<]"
	}
	return "[ ]"
}

// bar is a progress bar of w columns; without a total it says nothing about how far the work is. It is full only at the end.
func (t theme) bar(done, total int64, w int) string {
	if total <= 0 || w < 4 {
		return ""
	}
	full := min(max(done, 0), total) * int64(w) / total
	b := progress.New(progress.WithoutPercentage(), progress.WithFillCharacters(t.barFull, t.barRest), progress.WithWidth(w))
	b.FullColor, b.EmptyColor = t.barStyle, lipgloss.NoColor{}
	return b.ViewAs(float64(full) / float64(w))
}

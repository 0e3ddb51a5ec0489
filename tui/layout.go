package tui

import (
	"fmt"
	"strings"
	"time"

	"charm.land/bubbles/v2/help"
	"charm.land/bubbles/v2/key"
	"charm.land/lipgloss/v2"

	"github.com/charmbracelet/x/ansi"
)

// Lines around a page: two of header, one of notices above; one sentence and the keys below.
const (
	above = 3
	below = 2
)

// page is what a screen draws between header and footer, and where the cursor stands in it. Its late rows tell about the field in focus:
// in the basic theme they are painted once no key has come for a while.
type page struct {
	lines []string
	x, y  int
	late  []int
}

// fit cuts or fills to h lines.
func (p page) fit(h int) page {
	for len(p.lines) < h {
		p.lines = append(p.lines, "")
	}
	p.lines = p.lines[:max(h, 0)]
	p.y = min(p.y, max(h-1, 0))
	return p
}

// wrap breaks text into lines of w columns, each after the indent.
func wrap(text string, w int, indent string) []string {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	lines := Lines(text, max(w-len(indent), 8))
	for i := range lines {
		lines[i] = indent + lines[i]
	}
	return lines
}

// unbroken stands for a hyphen while lines are broken.
const unbroken = "\u2011"

// Lines is text in lines of w columns. It is broken at blanks: lipgloss breaks at hyphens too, and half a date, half a host name or
// half a command is read as something else.
func Lines(text string, w int) []string {
	if columns(text) <= w && !strings.Contains(text, "\n") {
		return []string{text}
	}
	lines := lipgloss.Wrap(strings.ReplaceAll(text, "-", unbroken), w, "")
	return strings.Split(strings.ReplaceAll(lines, unbroken, "-"), "\n")
}

// columns is how wide s is. Nearly all texts are ASCII without looks, which need no search for letters of more than one rune.
func columns(s string) int {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return lipgloss.Width(s)
		}
	}
	return len(s)
}

// cut shortens s to w columns and says so.
func cut(s string, w int) string {
	if columns(s) <= w {
		return s
	}
	if w < 4 {
		return ansi.Truncate(s, max(w, 0), "")
	}
	return ansi.Truncate(s, w, "..")
}

// pad fills s to w columns.
func pad(s string, w int) string {
	if strings.Contains(s, "\n") {
		return lipgloss.PlaceHorizontal(w, lipgloss.Left, s)
	}
	return s + strings.Repeat(" ", max(w-columns(s), 0))
}

// ends puts left and right at the two ends of w columns.
func ends(left, right string, w int) string {
	left = cut(left, max(w-columns(right)-1, 0))
	return pad(left, w-columns(right)) + right
}

// hang wraps text with the lines after the first set in by more columns.
func hang(text string, w int, indent string, more int) []string {
	lines := wrap(text, w, indent)
	if len(lines) < 2 {
		return lines
	}
	rest := strings.TrimSpace(strings.TrimPrefix(text, strings.TrimPrefix(lines[0], indent)))
	return append(lines[:1], wrap(rest, w, indent+strings.Repeat(" ", more))...)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// span says a duration as people do.
func span(d time.Duration) string {
	d = max(d, 0).Round(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
}

// limit says a duration that does not run, such as a limit or a guess: "5 min", not "5 min 00 s".
func limit(d time.Duration) string {
	return strings.TrimSuffix(strings.TrimSuffix(span(d), " 00 s"), " 00 min")
}

// footer names keys that work now, as many as fit.
func footer(width int, keys ...key.Binding) string {
	names := help.Model{ShortSeparator: "   "}
	for names.SetWidth(width); len(keys) > 0; keys = keys[:len(keys)-1] {
		if line := names.ShortHelpView(keys); lipgloss.Width(line) <= width {
			return line
		}
	}
	return ""
}

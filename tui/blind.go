package tui

import "strings"

// hide tells whether what is drawn now must be left out, because the page is drawn for the record. It is asked of all that the record must
// not have, and of nothing else: a page that did not ask is recorded as it was drawn.
func (d *desk) hide() bool {
	d.hides = true
	return d.blind
}

// typed is how an editor is drawn. What is typed there is not drawn for the record: it may be a secret in the wrong place.
func (d *desk) typed(ed *editor, w int, mask bool) (string, int) {
	text, x := ed.view(w, mask)
	if text != "" && d.hide() {
		return untold, 0
	}
	return text, x
}

// untold stands in the record for what a person types, untoldProblem for what is said about it, which may quote it.
const (
	untold        = "..."
	untoldProblem = "a problem is shown here"
)

// unlessBlind is lines, and for the record what stands for them: as many lines, so that the page does not move.
func (d *desk) unlessBlind(lines []string, instead string) []string {
	if len(lines) == 0 || !d.hide() {
		return lines
	}
	return append([]string{instead}, make([]string, len(lines)-1)...)
}

// without is text as the record has it: not with the answer that stands in it.
func without(text, answer string) string {
	if answer == "" {
		return text
	}
	return strings.Replace(text, answer, "["+untold+"]", 1)
}

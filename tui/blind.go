package tui

import (
	"strings"

	"touchdown/steps/chosen"
	"touchdown/steps/engine"
)

// typed is how an editor is drawn. What is typed there is not drawn for the record: it may be a secret in the wrong place.
func (d *desk) typed(ed *editor, w int, mask bool) (string, int) {
	text, x := ed.view(w, mask)
	if d.blind && text != "" {
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
	if !d.blind || len(lines) == 0 {
		return lines
	}
	return append([]string{instead}, make([]string, len(lines)-1)...)
}

// mayBeSecret tells whether a value may be a secret in the wrong place: a person gave it as text, or something is wrong with it.
func (a *answers) mayBeSecret(v engine.FieldView) bool {
	_, draft := a.drafts[v.Path]
	return draft || a.problem(v, true) != "" || isText(v.Kind) && chosen.ByPerson(v.Source)
}

// without is text as the record has it: not with the answer that stands in it.
func without(text, answer string) string {
	if answer == "" {
		return text
	}
	return strings.Replace(text, answer, "["+untold+"]", 1)
}

// answered is the answer of a field as it stands beside its question; "" for none. A line takes any text at any question.
func answered(v engine.FieldView) string {
	if inBrackets(v) == "" {
		return ""
	}
	return "[" + inBrackets(v) + "]"
}

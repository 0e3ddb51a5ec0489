package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"touchdown/steps"
	"touchdown/steps/engine"
)

// pressChoice handles the fields that are chosen, not typed.
func (f *form) pressChoice(msg tea.KeyPressMsg, v engine.FieldView) (screen, tea.Cmd) {
	k := f.desk.keys
	choices := choicesOf(v)
	at := slices.IndexFunc(choices, func(c steps.Choice) bool { return c.Value == f.value(v) })
	_, i := f.field()
	switch {
	case v.Kind == steps.YesNo && pressed(msg, k.yes):
		return f, f.pick(v, "true")
	case v.Kind == steps.YesNo && pressed(msg, k.no):
		return f, f.pick(v, "false")
	case len(choices) > 0 && pressed(msg, k.left):
		return f, f.pick(v, choices[max(at-1, 0)].Value)
	case len(choices) > 0 && pressed(msg, k.right):
		return f, f.pick(v, choices[min(at+1, len(choices)-1)].Value)
	case len(choices) > 0 && pressed(msg, k.toggle):
		return f, f.pick(v, choices[(at+1)%len(choices)].Value)
	case v.Kind == steps.Pick && len(choices) > 0 && pressed(msg, k.enter):
		return newPick(f, v, max(at, 0)), nil
	case pressed(msg, k.enter):
		return f, f.step(i, 1, false)
	}
	if n := digit(msg); n >= 1 && n <= len(choices) {
		return f, f.pick(v, choices[n-1].Value)
	}
	if hit := letter(msg, f.buttons()); hit != nil {
		return hit.do()
	}
	return f, nil
}

// pick takes a value that was chosen.
func (f *form) pick(v engine.FieldView, value string) tea.Cmd {
	if value == f.value(v) {
		return nil
	}
	f.drafts[v.Path] = value
	return f.set(v.Path, value)
}

func (f *form) begins()     { f.entry.begins() }
func (f *form) takes() bool { return f.typing() }

func (f *form) taken(items []item) (n int, cmd tea.Cmd, refused string) {
	v, _ := f.field()
	return f.entry.taken(items, v)
}

func choicesOf(v engine.FieldView) []steps.Choice {
	if v.Kind == steps.YesNo {
		return []steps.Choice{{Value: "true", Label: t("yes")}, {Value: "false", Label: t("no")}}
	}
	return v.Choices
}

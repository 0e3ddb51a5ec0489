package tui

import (
	"strings"

	"touchdown/steps"
	"touchdown/steps/chosen"
	"touchdown/steps/unattended"
	"touchdown/steps/view"
)

// sourceMax is how many columns of a form the source of a value may take.
const sourceMax = 20

// values draws the values of a form's fields, and where they come from.
type values struct{ *form }

// draw is a field's value in at most w columns and the cursor's column in it.
func (f values) draw(v view.Field, focused bool, w int) (string, int) {
	inner := w - 2
	box := func(s string) string { return "[" + pad(cut(s, inner), inner) + "]" }
	switch v.Kind {
	case steps.YesNo:
		if f.value(v) == "true" {
			return t("yesno.yes"), 1
		}
		return t("yesno.no"), 10
	case steps.Pick:
		return f.drawPick(v, inner), 0
	case steps.PEM, steps.Lines:
		return f.drawPasted(v, focused, box)
	case steps.Secret:
		if focused && f.held && f.entry.ed.value() != "" {
			s, x := f.typed(&f.entry.ed, inner, true)
			return box(s), x + 1
		}
		if v.SecretSet || f.unsent[v.Path] != "" {
			return box(t("form.set")), 1
		}
		return box(""), 1
	}
	if focused && f.held && (f.entry.ed.value() != "" || !v.SecretSet) {
		s, x := f.typed(&f.entry.ed, inner, false)
		return box(s), x + 1
	}
	if v.SecretSet && f.value(v) == "" { // a proxy's URL with a password
		return box(t("form.set")), 1
	}
	return box(f.shownValue(v)), 1
}

// shownValue is a field's value, unless the record must not have it.
func (f values) shownValue(v view.Field) string {
	if f.value(v) != "" && f.mayBeSecret(v) && f.hide() {
		return untold
	}
	return f.value(v)
}

func (f values) drawPick(v view.Field, w int) string {
	if len(v.Choices) == 0 {
		if v.Loading {
			return t("pick.loading")
		}
		return t("pick.none")
	}
	label := t("pick.open")
	for _, c := range v.Choices {
		if c.Value == f.value(v) {
			label = show(c.Label)
		}
	}
	return "< " + cut(label, w-2) + " >"
}

func (f values) drawPasted(v view.Field, focused bool, box func(string) string) (string, int) {
	typed := f.entry.ed.value()
	pasting := focused && (len(f.entry.paste.lines) > 0 && f.entry.paste.fresh || typed != "")
	switch value := strings.TrimSpace(f.shownValue(v)); {
	case pasting && v.Kind == steps.Lines, focused && len(f.entry.paste.lines) == 0 && isPath(v, typed):
		s, x := f.typed(&f.entry.ed, len(box(""))-2, false)
		return box(s), x + 1
	case !pasting && v.Kind == steps.Lines && value != "":
		if n := strings.Count(value, "\n"); n > 0 {
			value = t("form.lines", n+1)
		}
		return box(value), 1
	case pasting:
		return box(t("form.pasting", len(f.entry.paste.lines)+1)), 1
	case isPath(v, f.unsent[v.Path]):
		return box(f.shownValue(v)), 1
	case v.SecretSet, v.Value != "", f.unsent[v.Path] != "":
		return box(t("form.set")), 1
	}
	return box(""), 1
}

// source tells where a value comes from and whether it was changed.
func (f values) source(v view.Field) string {
	if text, ok := f.unsent[v.Path]; ok && text != v.Value && v.Path != f.path {
		return t("form.unsent")
	}
	if v.Value == "" && !v.SecretSet {
		if v.Optional {
			return t("form.optional")
		}
		return t("form.required")
	}
	brought, byNode := unattended.Bare(v.Source)
	source := worded("source", brought)
	if byNode {
		source = t("source.tried", source)
	}
	if name, ok := strings.CutPrefix(v.Source, "file "); ok {
		source = t("source.file", name)
	}
	if name, ok := strings.CutPrefix(brought, "stick "); ok {
		source = t("source.stick", name)
	}
	if volume, name, ok := chosen.Of(v.Source); ok && f.hide() {
		return untold
	} else if ok { // it tells that a person gave the value
		if len([]rune(t("source.chosen", name, ""))) > sourceMax-len("..") { // half of the word stick tells less than the whole name
			return name
		}
		return t("source.chosen", name, volume)
	}
	if v.Changed && v.Source != "typed" && v.Source != "" {
		return source + ", " + t("form.changed")
	}
	if v.Changed {
		return t("form.changed")
	}
	return source
}

// isHidden reports whether a value never comes back from the engine or is too long to show.
func isHidden(v view.Field) bool {
	return v.SecretSet || v.Kind == steps.Secret || isPasted(v.Kind)
}

package tui

import (
	"slices"
	"strings"

	"touchdown/steps"
	"touchdown/steps/chosen"
	"touchdown/steps/unattended"
	"touchdown/steps/view"
)

// Columns of a form: what the longest label and the source of a value may take.
const (
	labelMax  = 28
	sourceMax = 20
)

func (f *form) view(w, h int) page {
	buttons, bx, by := f.row.view(f.theme, f.buttons(), f.path == "", w)
	room := h - len(buttons) - 1
	var body, notes []string
	var at, x int
	s := sheet{f, w, airy}
	for body, at, x = s.body(); s.spacing != bare && len(body) > room; body, at, x = s.body() {
		s.spacing++
	}
	if s.spacing == bare {
		notes = s.notes(room / 2)
	}
	p := page{x: x, late: []int{}}
	room -= len(notes)
	for i := range notes {
		p.late = append(p.late, room+i)
	}
	f.scroll.fill(body, w, room)
	if f.path != "" { // page by page: moved by a row for each field, all rows would be painted each time
		f.scroll.port.SetYOffset(at - at%f.scroll.port.Height())
	}
	p.y = at - f.scroll.port.YOffset()
	if f.path == "" {
		p.x, p.y = bx, room+len(notes)+1+by
	}
	p.lines = slices.Concat(f.scroll.view(f.theme), notes, []string{""}, buttons)
	return p
}

// spacing is how much room a form takes. With every help in view, going to another field only moves the marker. Where there is no room
// for them, the help of the field in focus has rows below the fields, so that no row moves under a person's eyes.
type spacing int

const (
	airy  spacing = iota // each field with its help, and a line between
	dense                // each field with its help
	tight                // each help begins below the label: longer lines, and fewer
	bare                 // the help of the field in focus, below all fields
)

// helpIndent is that of helps which begin further left than the values.
const helpIndent = 4

// sheet draws a form's fields in w columns.
type sheet struct {
	*form
	w       int
	spacing spacing
}

// body is all fields. It returns the line of the one in focus and the cursor's column in it.
func (f sheet) body() (lines []string, at, x int) {
	w, list := f.w, f.fields()
	wide := 0
	for _, v := range list {
		wide = max(wide, min(len([]rune(show(v.Label))), labelMax))
	}
	for i, v := range list {
		focused := v.Path == f.path
		mark := " "
		if focused {
			mark, at = marker, len(lines)
		}
		room := w - wide - sourceMax - 6
		value, cx := f.draw(v, focused, room)
		head := mark + " " + pad(cut(show(v.Label), wide), wide) + "  "
		source := cut(f.source(v), sourceMax)
		if f.spacing == bare && f.problem(v, f.entry.tried) != "" {
			source = f.theme.bad.Render(cut(alert+t("form.wrong"), sourceMax))
		}
		lines = append(lines, head+pad(value, room)+"  "+source)
		if focused {
			x = len([]rune(head)) + cx
		}
		switch f.spacing {
		case bare:
		case tight:
			lines = append(lines, f.below(v, helpIndent)...)
		default:
			lines = append(lines, f.below(v, wide+4)...)
		}
		if f.spacing == airy && i < len(list)-1 {
			lines = append(lines, "")
		}
	}
	return lines, at, x
}

// notes are rows below all fields, at most so many, that stay where they are whichever field has the focus: first a rule, or what is wrong
// with another field, then what is said of the field in focus.
func (f sheet) notes(most int) []string {
	first, rows, said := f.theme.rule(f.w), 0, page{}
	for _, v := range slices.Backward(f.fields()) {
		lines := f.below(v, 2)
		rows = max(rows, len(lines))
		if v.Path == f.path || f.path == "" && v.Path == f.aside.path {
			said.lines = lines
		} else if why := f.problem(v, f.entry.tried); why != "" {
			first = f.theme.bad.Render(f.unlessBlind([]string{cut(alert+show(v.Label)+": "+why, f.w)}, alert+untoldProblem)[0])
		}
	}
	return append([]string{first}, said.fit(min(rows, most)).lines...)
}

// below is what is said of a field: why it is refused, or else what it is for. It takes at least as many rows as the help, so that what stands
// below stays there.
func (f sheet) below(v view.Field, indent int) []string {
	w, space := f.w, strings.Repeat(" ", indent)
	help := f.help(v, space)
	if why := f.problem(v, f.entry.tried); why != "" {
		lines := f.unlessBlind(wrap(alert+why, w, space), space+alert+untoldProblem)
		for i := range lines {
			lines[i] = f.theme.bad.Render(lines[i])
		}
		return page{lines: lines}.fit(max(len(lines), len(help))).lines
	}
	if f.aside.path == v.Path && f.aside.text != "" {
		lines := wrap(f.aside.text, w, space)
		return page{lines: lines}.fit(max(len(lines), len(help))).lines
	}
	return help
}

// help is what a field is for, and how it is filled.
func (f sheet) help(v view.Field, space string) []string {
	text := show(v.Help)
	switch {
	case v.Kind == steps.Lines && v.Path == f.path && len(f.entry.paste.lines) > 0:
		text = t("form.pasting", len(f.entry.paste.lines)+1)
	case isPasted(v.Kind):
		text += " " + t("form.pem")
	case v.Example != "":
		text += " " + t("form.example", v.Example)
	}
	return wrap(text, f.w, space)
}

// draw is a field's value in at most w columns and the cursor's column in it.
func (f sheet) draw(v view.Field, focused bool, w int) (string, int) {
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
		if v.SecretSet || f.drafts[v.Path] != "" {
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
func (f sheet) shownValue(v view.Field) string {
	if f.value(v) != "" && f.mayBeSecret(v) && f.hide() {
		return untold
	}
	return f.value(v)
}

func (f sheet) drawPick(v view.Field, w int) string {
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

func (f sheet) drawPasted(v view.Field, focused bool, box func(string) string) (string, int) {
	typed := f.entry.ed.value()
	pasting := focused && (len(f.entry.paste.lines) > 0 && f.entry.paste.fresh || typed != "")
	switch value := strings.TrimSpace(f.shownValue(v)); {
	case pasting && v.Kind == steps.Lines, focused && len(f.entry.paste.lines) == 0 && strings.HasPrefix(typed, "/"):
		s, x := f.typed(&f.entry.ed, len(box(""))-2, false)
		return box(s), x + 1
	case !pasting && v.Kind == steps.Lines && value != "":
		if n := strings.Count(value, "\n"); n > 0 {
			value = t("form.lines", n+1)
		}
		return box(value), 1
	case pasting:
		return box(t("form.pasting", len(f.entry.paste.lines)+1)), 1
	case v.SecretSet, v.Value != "", f.drafts[v.Path] != "":
		return box(t("form.set")), 1
	}
	return box(""), 1
}

// source tells where a value comes from and whether it was changed.
func (f sheet) source(v view.Field) string {
	if draft, ok := f.drafts[v.Path]; ok && draft != v.Value && v.Path != f.path {
		return t("form.draft")
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

package tui

import (
	"slices"
	"strings"

	"touchdown/steps/view"
)

// labelMax is how many columns of a form the longest label may take.
const labelMax = 28

func (f *form) view(w, h int) page {
	buttons, bx, by := f.row.view(f.theme, f.buttons(), f.path == "", w)
	room := max(h-len(buttons)-1, 0)
	if f.path != "" {
		room = max(room, 1) // rather than the last buttons
	}
	var notes []string
	s := sheet{values{f}, w, airy}
	for s.spacing != bare && s.usual() > room {
		s.spacing++
	}
	if s.spacing == bare && room >= 3 { // one for a field, one for the rule, one for its help
		notes = s.notes(min(room/2, room-2))
	}
	p := page{late: []int{}}
	room -= len(notes)
	for i := range notes {
		p.late = append(p.late, room+i)
	}
	body, starts, x := s.body()
	f.scroll.fill(body, w, room)
	if _, i := f.field(); i >= 0 {
		f.scroll.port.SetYOffset(turned(starts, i, f.scroll.port.Height()))
		p.x, p.y = x, starts[i]-f.scroll.port.YOffset()
	} else {
		p.x, p.y = bx, room+len(notes)+1+by
	}
	p.lines = slices.Concat(f.scroll.view(f.theme), notes, []string{""}, buttons)
	return p
}

// turned is where the page with field i begins: moved by a row for each field, all rows would be painted each time. A page begins with the first
// field that does not fit below the ones before, with all that is said of it. After the starts of the fields comes the end of the last.
func turned(starts []int, i, height int) (from int) {
	for n, at := range starts[:i+1] {
		if starts[n+1] > from+height {
			from = at
		}
	}
	return from
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
	values
	w       int
	spacing spacing
}

// wide is the column of the labels.
func (f sheet) wide() (wide int) {
	for _, v := range f.fields() {
		wide = max(wide, min(len([]rune(show(v.Label))), labelMax))
	}
	return wide
}

// indent is that of what is said of a field.
func (f sheet) indent() int {
	if f.spacing == tight {
		return helpIndent
	}
	return f.wide() + 4
}

// usual is how many lines the fields take with their helps. The spacing depends on that alone: a reason that is longer than a help moves what
// stands below it, not the whole page.
func (f sheet) usual() int {
	list, space := f.fields(), strings.Repeat(" ", f.indent())
	lines := len(list)
	if f.spacing == airy {
		lines += len(list) - 1
	}
	for _, v := range list {
		lines += len(f.help(v, space))
	}
	return lines
}

// body is all fields. It returns where each one starts, where the last one ends, and the cursor's column in the one in focus.
func (f sheet) body() (lines []string, starts []int, x int) {
	w, list, wide := f.w, f.fields(), f.wide()
	for i, v := range list {
		starts = append(starts, len(lines))
		focused, mark := v.Path == f.path, " "
		if focused {
			mark = marker
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
		if f.spacing != bare {
			lines = append(lines, f.below(v, f.indent())...)
		}
		if f.spacing == airy && i < len(list)-1 {
			lines = append(lines, "")
		}
	}
	return lines, append(starts, len(lines)), x
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
	say := func(lines []string) []string { return page{lines: lines}.fit(max(len(lines), len(help))).lines }
	if why := f.problem(v, f.entry.tried); why != "" {
		lines := f.unlessBlind(wrap(alert+why, w, space), space+alert+untoldProblem)
		for i := range lines {
			lines[i] = f.theme.bad.Render(lines[i])
		}
		return say(lines)
	}
	if f.aside.path == v.Path && f.aside.text != "" {
		return say(wrap(f.aside.text, w, space))
	}
	if isPasted(v.Kind) && v.Path == f.path && len(f.entry.paste.lines) > 0 {
		return say(wrap(t("form.goesOn", len(f.entry.paste.lines)+1), w, space))
	}
	return help
}

// help is what a field is for, and how it is filled.
func (f sheet) help(v view.Field, space string) []string {
	text := show(v.Help)
	switch {
	case isPasted(v.Kind):
		text += " " + t("form.pem")
	case isText(v.Kind) && v.Example != "": // of a choice nobody types one
		text += " " + t("form.example", v.Example)
	}
	return wrap(text, f.w, space)
}

package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/chosen"
	"touchdown/steps/view"
)

// form asks the questions of one stage. What is typed stays on this console until the field is left.
type form struct {
	base
	stage   string
	path    string // of the field in focus; "" on the buttons
	filed   string // of the field that was in focus last among those that take a file
	acted   string // of the field that was in focus last among those that the machine can do something for
	row     row
	entry   entry
	leaving func() tea.Cmd // the way that was chosen, to be gone when everything on its way to the engine was taken; nil: none
	scroll  scroller
}

func newForm(d *desk) *form {
	f := &form{base: base{d}, stage: d.opened, entry: entry{answers: d.answers, keys: d.keys}}
	f.entry.tried, d.fixing = d.fixing, false
	f.focus(f.opening())
	return f
}

// opening is the field where a page begins: the first, or "", which is "Continue", once someone filled the page and it is complete.
// Who only goes through it changes nothing with a letter. Who comes to fix an answer begins at the first that is wrong.
func (f *form) opening() string {
	list, filled := f.fields(), false
	for _, v := range list {
		switch {
		case f.problem(v, true) == "":
			filled = filled || chosen.ByPerson(v.Source)
		case f.entry.tried:
			return v.Path
		default:
			return list[0].Path
		}
	}
	if filled && !f.entry.tried || len(list) == 0 {
		return ""
	}
	return list[0].Path
}

func (f *form) name() string { return "form" }

// fields are those of the page. What has to be typed again is asked for at once, while the first is still on its way to the engine:
// the next keys are for it.
func (f *form) fields() []view.Field {
	stage, _ := f.desk.stage(f.stage)
	steps := slices.Clone(stage.Steps)
	for i, step := range steps {
		steps[i].Fields = slices.Clone(step.Fields)
		for j, v := range step.Fields {
			steps[i].Fields[j].Visible = v.Visible || v.Repeats != "" && f.unsent[v.Repeats] != ""
		}
	}
	return fields(view.Stage{Steps: steps})
}

// field returns the one in focus and its index, or -1 on the buttons.
func (f *form) field() (view.Field, int) {
	for i, v := range f.fields() {
		if v.Path == f.path {
			return v, i
		}
	}
	return view.Field{}, -1
}

func (f *form) typing() bool {
	v, i := f.field()
	return i >= 0 && f.held && isText(v.Kind)
}

// focus goes to a field, or to the buttons for "".
func (f *form) focus(path string) {
	f.path = path
	if path != "" && path != f.aside.path {
		f.aside = aside{}
	}
	v, i := f.field()
	if i < 0 {
		f.path, f.row.at = "", 0
		return
	}
	if v.Files {
		f.filed = path
	}
	if v.Act != nil {
		f.acted = path
	}
	ed := editorOf(v)
	if text, ok := f.unsent[path]; ok && (!isPasted(v.Kind) || isPath(v, text)) {
		ed = newEditor(text)
	}
	f.entry.start(ed, v.Kind == steps.Lines)
}

// editorOf is an editor with the value that the engine has of a field, where it shows one.
func editorOf(v view.Field) editor {
	switch {
	case v.Kind == steps.Secret || isPasted(v.Kind):
		return newEditor("")
	case chosen.ByPerson(v.Source):
		return newEditor(v.Value)
	}
	return offering(v.Value)
}

// refill shows a value that was found while its field was in focus and nobody had typed into it: it is not to be taken
// for one that someone emptied. The path of a file that was taken goes.
func (f *form) refill() {
	v, i := f.field()
	_, waits := f.unsent[v.Path]
	switch {
	case i < 0 || f.entry.typed || waits:
	case v.Kind == steps.Text && f.refused[v.Path] == "" && f.entry.ed.value() != v.Value:
		f.entry.ed = editorOf(v)
	case isPath(v, f.entry.ed.value()):
		f.entry.ed.clear()
	}
}

// commit sends what was typed in the field in focus.
func (f *form) commit() tea.Cmd {
	v, i := f.field()
	if i < 0 || !f.held || !isText(v.Kind) {
		return nil
	}
	if isPasted(v.Kind) {
		return f.entry.endPaste(v)
	}
	text := f.entry.line()
	_, refused := f.refused[v.Path]
	if v.Kind == steps.Secret && text == "" || v.Kind == steps.Text && text == v.Value && !refused {
		delete(f.unsent, v.Path)
		return nil
	}
	f.unsent[v.Path] = text
	return f.set(v.Path, text)
}

// pick takes a value that was chosen.
func (f *form) pick(v view.Field, value string) tea.Cmd {
	if value == f.value(v) {
		return nil
	}
	f.unsent[v.Path] = value
	return f.set(v.Path, value)
}

func (f *form) begins()     { f.entry.begins() }
func (f *form) takes() bool { return f.typing() }

func (f *form) taken(items []item) (n int, cmd tea.Cmd, refused string) {
	v, _ := f.field()
	return f.entry.taken(items, v)
}

func choicesOf(v view.Field) []steps.Choice {
	if v.Kind == steps.YesNo {
		return []steps.Choice{{Value: "true", Label: message.Data(t("yes"))}, {Value: "false", Label: message.Data(t("no"))}}
	}
	return v.Choices
}

// mayBeSecret tells whether a value may be a secret in the wrong place: a person gave it as text, or something is wrong with it.
func (f *form) mayBeSecret(v view.Field) bool {
	_, waits := f.unsent[v.Path]
	return waits || f.problem(v, true) != "" || isText(v.Kind) && chosen.ByPerson(v.Source)
}

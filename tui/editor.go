package tui

import (
	"strings"
	"unicode/utf8"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
)

// longest is how many characters one field takes. A pull secret has some thousand.
const longest = 64 << 10

// editor is one line of text with a cursor. The terminal's own cursor shows it, so that nothing has to blink.
type editor struct {
	in     textinput.Model
	offset int  // first character shown
	shown  int  // columns that it was shown in last
	found  bool // nobody typed here: the first character replaces the text, and other keys edit it
}

func newEditor(s string) editor {
	in := textinput.New()
	in.SetVirtualCursor(false)
	in.CharLimit = longest
	in.Focus()
	in.SetValue(intoModel.Replace(s))
	in.CursorEnd()
	return editor{in: in}
}

// offering is an editor with a text that nobody typed.
func offering(s string) editor {
	e := newEditor(s)
	e.found = s != ""
	return e
}

// lineBreak stands for a line break, as a pull secret on several lines has: the model would make a blank of one, which is another
// text between quotes. No line brings this character, because it cannot be printed.
const lineBreak = "\u2028"

// tab stands for a tab likewise.
const tab = "\u2029"

var intoModel, fromModel = strings.NewReplacer("\n", lineBreak, "\t", tab), strings.NewReplacer(lineBreak, "\n", tab, "\t")

func (e *editor) value() string { return fromModel.Replace(e.in.Value()) }

// clone is a copy that later changes of e leave alone: the model edits its text in place.
func (e *editor) clone() editor {
	other := newEditor(e.value())
	other.in.SetCursor(e.in.Position())
	other.offset, other.shown, other.found = e.offset, e.shown, e.found
	return other
}

// clear empties the field. A new editor would do it too, and takes long where a line is pasted half a million times.
func (e *editor) clear() {
	e.in.Reset()
	e.offset, e.found = 0, false
}

// press edits; it reports whether the text changed.
func (e *editor) press(msg tea.KeyPressMsg, keys keyMap) bool {
	before := e.value()
	if pressed(msg, keys.erase) { // all of it; the model would leave what is behind the cursor
		e.clear()
	} else {
		if e.found && msg.Key().Text != "" {
			e.clear()
		}
		e.found = false
		e.in.KeyMap = keys.editing()
		e.in, _ = e.in.Update(msg)
	}
	return e.value() != before
}

// insert takes text whole or, when that would be too long, not at all.
func (e *editor) insert(s string) bool {
	if e.found {
		e.clear()
	}
	before := utf8.RuneCountInString(e.value())
	if before+utf8.RuneCountInString(s) > longest {
		return false
	}
	e.in, _ = e.in.Update(tea.PasteMsg{Content: intoModel.Replace(s)})
	return utf8.RuneCountInString(e.value()) > before
}

// taken puts text that came in a batch into the editor, for screens with fields of a few words.
func (e *editor) taken(items []item, label string) (int, tea.Cmd, string) {
	const most = 400
	switch text := items[0].text; {
	case text == "":
		return 0, nil, ""
	case !e.found && len(e.value())+len(text) > most, len(text) > most:
		e.clear()
		return 1, nil, t("paste.long", label, most)
	default:
		e.insert(text)
		return 1, nil, ""
	}
}

// view returns the part of the text that w columns show and the cursor's column in it. Text is moved by half a field
// when the cursor leaves it: the model's own view moves it by one, which repaints the whole field for every character typed.
func (e *editor) view(w int, mask bool) (string, int) {
	w = max(w, 2)
	if w != e.shown { // the screen has another size
		e.shown, e.offset = w, 0
	}
	text, at := []rune(e.value()), e.in.Position()
	if at < e.offset || at >= e.offset+w {
		e.offset = max(at-w/2, 0)
	}
	if len(text) < w {
		e.offset = 0
	}
	shown := text[e.offset:min(len(text), e.offset+w)]
	if mask {
		return strings.Repeat(hidden, len(shown)), at - e.offset
	}
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(string(shown)), at - e.offset
}

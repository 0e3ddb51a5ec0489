package tui

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
)

// longest is how many characters one field takes. A pull secret has some thousand.
const longest = 64 << 10

// editor is one line of text with a cursor. The terminal's own cursor shows it, so that nothing has to blink.
type editor struct {
	text   []rune
	pos    int
	offset int // first character shown
}

func newEditor(s string) editor {
	text := []rune(s)
	return editor{text: text, pos: len(text)}
}

func (e *editor) value() string { return string(e.text) }

// press edits; it reports whether the text changed.
func (e *editor) press(msg tea.KeyPressMsg, keys keyMap) bool {
	switch {
	case pressed(msg, keys.left):
		e.pos = max(e.pos-1, 0)
	case pressed(msg, keys.right):
		e.pos = min(e.pos+1, len(e.text))
	case pressed(msg, keys.first):
		e.pos = 0
	case pressed(msg, keys.last):
		e.pos = len(e.text)
	case pressed(msg, keys.delLeft):
		return e.remove(e.pos - 1)
	case pressed(msg, keys.delRight):
		return e.remove(e.pos)
	case pressed(msg, keys.erase):
		changed := len(e.text) > 0
		*e = editor{}
		return changed
	default:
		return e.insert(msg.Key().Text)
	}
	return false
}

func (e *editor) remove(i int) bool {
	if i < 0 || i >= len(e.text) {
		return false
	}
	e.text = append(e.text[:i:i], e.text[i+1:]...)
	e.pos = i
	return true
}

func (e *editor) insert(s string) bool {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return -1
		}
		return r
	}, s)
	add := []rune(s)
	if len(add) == 0 || len(e.text)+len(add) > longest {
		return false
	}
	e.text = append(e.text[:e.pos:e.pos], append(add, e.text[e.pos:]...)...)
	e.pos += len(add)
	return true
}

// taken puts text that came in a batch into the editor, for screens with fields of a few words.
func (e *editor) taken(items []item, label string) (int, tea.Cmd, string) {
	const most = 400
	switch text := items[0].text; {
	case text == "":
		return 0, nil, ""
	case len(e.text)+len(text) > most:
		*e = editor{}
		return 1, nil, t("paste.long", label, most)
	default:
		e.insert(text)
		return 1, nil, ""
	}
}

// view returns the part of the text that w columns show and the cursor's column in it. Text is moved by half a field
// when the cursor leaves it, because moving it by one repaints the whole field for every character typed.
func (e *editor) view(w int, mask bool) (string, int) {
	w = max(w, 2)
	if e.pos < e.offset || e.pos >= e.offset+w {
		e.offset = max(e.pos-w/2, 0)
	}
	if len(e.text) < w {
		e.offset = 0
	}
	shown := e.text[e.offset:min(len(e.text), e.offset+w)]
	if mask {
		return strings.Repeat(hidden, len(shown)), e.pos - e.offset
	}
	return strings.ReplaceAll(string(shown), "\n", " "), e.pos - e.offset
}

package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"touchdown/steps"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

// longestPEM is how many bytes a pasted chain of certificates may have. A bundle of all public CAs has 220 kB.
const longestPEM = 256 << 10

// paste collects lines until an empty one. Nothing of it is shown: it may be a key.
type paste struct {
	lines []string
	size  int
	fresh bool // has lines that were not sent yet
	block bool // a block was begun and has not ended
	cr    bool // the last key was a carriage return, which a line feed may follow

	indented bool // what stands before a line, and an empty one between two, belong to the value
}

// add takes a line; false when there are too many.
func (p *paste) add(line string) bool {
	if p.size += len(line) + 1; p.size > longestPEM {
		return false
	}
	p.lines, p.fresh = append(p.lines, line), true
	if mark := strings.TrimSpace(line); strings.HasPrefix(mark, "-----") {
		p.block = strings.HasPrefix(mark, "-----BEGIN")
	}
	return true
}

// text is the first n lines.
func (p *paste) text(n int) string { return strings.Join(p.lines[:n], "\n") + "\n" }

// entry is the field in focus while a person types into it.
type entry struct {
	*answers
	keys   keyMap
	ed     editor
	typed  bool // into ed, since the field is in focus
	tried  bool // "Continue" was chosen: the page says what is missing, and what does not fit together
	paste  paste
	before before
}

// before is what a field held when a batch of keys began, to go back to when it is too long.
type before struct {
	ed    editor
	typed bool
	paste paste
}

// start shows what a field that comes into focus holds.
func (e *entry) start(ed editor, indented bool) {
	e.ed, e.typed, e.paste = ed, false, paste{indented: indented}
	e.begins()
}

func (e *entry) begins() { e.before = before{e.ed.clone(), e.typed, e.paste} }

// back undoes what came since begins.
func (e *entry) back() { e.ed, e.typed, e.paste = e.before.ed.clone(), e.before.typed, e.before.paste }

// press takes a key in a field for text.
func (e *entry) press(msg tea.KeyPressMsg, v view.Field) tea.Cmd {
	if e.empties(msg, v) {
		return e.empty(v)
	}
	if !e.ed.press(msg, e.keys) {
		return nil
	}
	text := e.line()
	e.unsent[v.Path], e.typed = text, true
	if e.eager(v) {
		return e.set(v.Path, text)
	}
	return nil
}

// empties reports whether a key empties the field itself: what is typed is empty already. A value that was refused, such as a path to no
// file, goes as one that is set does: its message would hold the page.
func (e *entry) empties(msg tea.KeyPressMsg, v view.Field) bool {
	holds := v.SecretSet || e.refused[v.Path] != "" || v.Kind != steps.Text && (len(e.paste.lines) > 0 || v.Value != "") // a text is seen, and edited
	return holds && pressed(msg, e.keys.erase) && e.ed.value() == ""
}

// empty forgets what was pasted and takes the value away, a secret too.
func (e *entry) empty(v view.Field) tea.Cmd {
	e.paste, e.unsent[v.Path] = paste{indented: e.paste.indented}, ""
	return e.set(v.Path, "")
}

// eager reports whether each key is sent, so that the one that fixes a mistake takes the message away. The beginning of a secret
// may not look like one: a field that can hold a secret sends only whole values. What does not fit together can be fixed in any field.
func (e *entry) eager(v view.Field) bool {
	secret := v.Kind == steps.Secret || site.SecretValue(v.Path, "user:password@") // what a value there can be
	apart := e.tried && slices.ContainsFunc(e.allFields(), func(v view.Field) bool { return v.Visible && v.Value != "" && show(v.Together) != "" })
	return !secret && (apart || show(v.Problem) != "" || e.refused[v.Path] != "")
}

// taken puts the first of items into the field; see taker.
func (e *entry) taken(items []item, v view.Field) (n int, cmd tea.Cmd, refused string) {
	switch v.Kind {
	case steps.PEM, steps.Lines:
		return e.takenLines(items, v)
	case steps.Secret:
		var text string
		n, text = e.json(items)
		return e.add(v, n, text)
	}
	if items[0].text == "" {
		return 0, nil, ""
	}
	return e.add(v, 1, items[0].text)
}

// json is the text at the beginning of items: a line break belongs to it as long as a JSON object has not ended.
func (e *entry) json(items []item) (n int, text string) {
	var all strings.Builder
	all.WriteString(e.ed.value())
	had := all.Len()
	open := strings.Count(all.String(), "{") - strings.Count(all.String(), "}")
	for _, one := range items {
		switch {
		case one.text != "":
			open += strings.Count(one.text, "{") - strings.Count(one.text, "}")
			all.WriteString(one.text)
		case pressed(one.key, e.keys.enter) && open > 0 && strings.HasPrefix(strings.TrimSpace(all.String()[:min(all.Len(), 64)]), "{"):
			all.WriteByte('\n')
		default:
			return n, all.String()[had:]
		}
		n++
	}
	return n, all.String()[had:]
}

// add puts n items that make up text into the field in focus.
func (e *entry) add(v view.Field, n int, text string) (int, tea.Cmd, string) {
	if n == 0 {
		return 0, nil, ""
	}
	refused := ""
	if e.typed = true; !e.ed.insert(text) {
		e.ed, e.typed = e.before.ed.clone(), e.before.typed
		refused = t("paste.long", v.Label, longest)
	}
	value := strings.TrimSpace(e.ed.value())
	if e.unsent[v.Path] = value; !e.typed {
		delete(e.unsent, v.Path)
	}
	if e.eager(v) {
		return n, e.set(v.Path, value), refused
	}
	return n, nil, refused
}

// takenLines takes lines as pressLine does, and sends at most once.
func (e *entry) takenLines(items []item, v view.Field) (n int, cmd tea.Cmd, refused string) {
	k, ended := e.keys, -1
	for i, one := range items {
		ok := true
		switch {
		case one.text != "":
			if !e.typed && isPath(v, e.line()) { // what is pasted takes the place of a path that was refused
				e.ed.clear()
			}
			e.paste.cr, e.typed = false, true
			ok = e.ed.insert(one.text)
		case e.paste.indented && pressed(one.key, k.next) && i+1 < len(items): // a tab in the text: a person's is the last key
			e.paste.cr = false
			ok = e.ed.insert("\t")
		case !pressed(one.key, k.enter) || e.besides():
			return n, e.sendLines(v, ended), ""
		default:
			over, fits := e.endLine(one.key)
			if ok = fits; over {
				ended = len(e.paste.lines)
			}
		}
		if n++; !ok {
			e.back()
			return n, nil, t("paste.long", v.Label, longestPEM)
		}
	}
	return n, e.sendLines(v, ended), ""
}

// pressLine takes a key in a field for lines. done is that Enter was about no line of it: the field is left.
func (e *entry) pressLine(msg tea.KeyPressMsg, v view.Field) (cmd tea.Cmd, done bool) {
	k := e.keys
	if !pressed(msg, k.enter) {
		e.paste.cr = false
		if e.empties(msg, v) {
			return e.empty(v), false
		}
		e.typed = e.ed.press(msg, k) || e.typed
		if e.typed && e.ed.value() == "" && isPath(v, e.unsent[v.Path]) { // what the field held before stands
			delete(e.unsent, v.Path)
			delete(e.refused, v.Path)
		}
		return nil, false
	}
	switch path := isPath(v, e.line()); {
	case e.besides() && path:
		return e.endPaste(v), false
	case e.besides() && (msg.Key().Mod == 0 || !e.paste.cr):
		return nil, true
	}
	over, fits := e.endLine(msg)
	if !fits {
		e.paste, e.flash = paste{indented: e.paste.indented}, t("paste.long", v.Label, longestPEM)
	}
	if over {
		return e.endPaste(v), false
	}
	return nil, false
}

func (e *entry) line() string { return strings.TrimSpace(e.ed.value()) }

// besides reports whether Enter is about no line of a paste: there is none, or a path was typed.
func (e *entry) besides() bool {
	line := e.line()
	return len(e.paste.lines) == 0 && (line == "" || strings.HasPrefix(line, "/"))
}

// endLine takes the line that was typed, up to Enter. It tells whether the paste is over, and whether it still fits.
func (e *entry) endLine(enter tea.KeyPressMsg) (over, fits bool) {
	cr := e.paste.cr
	e.paste.cr = enter.Mod == 0
	if enter.Mod != 0 && cr {
		return false, true // the second half of CR LF
	}
	line := e.whole()
	e.ed.clear()
	if strings.TrimSpace(line) == "." || line == "" && !e.paste.block {
		return true, line != "" || e.gap()
	}
	return false, line == "" || e.paste.add(line)
}

// whole is the line that was typed, with what stands before it where that counts.
func (e *entry) whole() string {
	if e.paste.indented {
		return strings.TrimRight(e.ed.value(), " \t\r")
	}
	return e.line()
}

// gap keeps an empty line of an indented text, in case more lines follow. It tells whether it still fits.
func (e *entry) gap() bool { return !e.paste.indented || len(e.paste.lines) == 0 || e.paste.add("") }

// endPaste sends what was pasted, or what the named file holds. The lines stay until the field is left: a chain may
// have empty lines between its certificates, and then the rest follows.
func (e *entry) endPaste(v view.Field) tea.Cmd {
	path, line := e.line(), e.whole()
	if len(e.paste.lines) == 0 && isPath(v, path) {
		e.pending++
		e.unsent[v.Path], e.typed = path, false // it stays, to be corrected when the file is not taken
		return e.link.setFile(v.Path, path)
	}
	e.ed.clear()
	if path != "" && path != "." && !e.paste.add(line) {
		e.paste, e.flash = paste{indented: e.paste.indented}, t("paste.long", v.Label, longestPEM)
	}
	return e.sendLines(v, len(e.paste.lines))
}

// sendLines sends the first n lines; none when n is negative or they were sent.
func (e *entry) sendLines(v view.Field, n int) tea.Cmd {
	if n < 1 || !e.paste.fresh {
		return nil
	}
	e.paste.fresh = n < len(e.paste.lines)
	value := e.paste.text(n)
	e.unsent[v.Path] = value
	return e.set(v.Path, value)
}

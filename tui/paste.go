package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"touchdown/steps"
	"touchdown/steps/engine"
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
}

// add takes a line; false when there are too many.
func (p *paste) add(line string) bool {
	if p.size += len(line) + 1; p.size > longestPEM {
		return false
	}
	p.lines, p.fresh = append(p.lines, line), true
	if strings.HasPrefix(line, "-----") {
		p.block = strings.HasPrefix(line, "-----BEGIN")
	}
	return true
}

// text is the first n lines.
func (p *paste) text(n int) string { return strings.Join(p.lines[:n], "\n") + "\n" }

// before is what a field held when a batch of keys began, to go back to when it is too long.
type before struct {
	ed    editor
	typed bool
	paste paste
}

func (f *form) begins() { f.before = before{f.ed, f.typed, f.paste} }

func (f *form) takes() bool { return f.typing() }

func (f *form) taken(items []item) (n int, cmd tea.Cmd, refused string) {
	v, _ := f.field()
	switch v.Kind {
	case steps.PEM:
		return f.takenPEM(items, v)
	case steps.Secret:
		var text string
		n, text = f.json(items)
		return f.add(v, n, text)
	}
	if items[0].text == "" {
		return 0, nil, ""
	}
	return f.add(v, 1, items[0].text)
}

// json is the text at the beginning of items: a line break belongs to it as long as a JSON object has not ended.
func (f *form) json(items []item) (n int, text string) {
	var all strings.Builder
	all.WriteString(f.ed.value())
	had := all.Len()
	open := strings.Count(all.String(), "{") - strings.Count(all.String(), "}")
	for _, one := range items {
		switch {
		case one.text != "":
			open += strings.Count(one.text, "{") - strings.Count(one.text, "}")
			all.WriteString(one.text)
		case pressed(one.key, f.desk.keys.enter) && open > 0 && strings.HasPrefix(strings.TrimSpace(all.String()[:min(all.Len(), 64)]), "{"):
			all.WriteByte('\n')
		default:
			return n, all.String()[had:]
		}
		n++
	}
	return n, all.String()[had:]
}

// add puts n items that make up text into the field in focus.
func (f *form) add(v engine.FieldView, n int, text string) (int, tea.Cmd, string) {
	if n == 0 {
		return 0, nil, ""
	}
	refused := ""
	if f.typed = true; !f.ed.insert(text) {
		f.ed, f.typed = f.before.ed, f.before.typed
		refused = t("paste.long", v.Label, longest)
	}
	value := strings.TrimSpace(f.ed.value())
	if f.drafts[v.Path] = value; !f.typed {
		delete(f.drafts, v.Path)
	}
	if v.Problem != "" || f.refused[v.Path] != "" {
		return n, f.set(v.Path, value), refused
	}
	return n, nil, refused
}

// takenPEM takes lines as pressPEM does, and sends at most once.
func (f *form) takenPEM(items []item, v engine.FieldView) (n int, cmd tea.Cmd, refused string) {
	k, ended := f.desk.keys, -1
	for _, one := range items {
		ok := true
		switch {
		case one.text != "":
			f.paste.cr = false
			ok = f.ed.insert(one.text)
		case !pressed(one.key, k.enter) || f.besides():
			return n, f.sendPEM(v, ended), ""
		default:
			over, fits := f.endLine(one.key)
			if ok = fits; over {
				ended = len(f.paste.lines)
			}
		}
		if n++; !ok {
			f.ed, f.typed, f.paste = f.before.ed, f.before.typed, f.before.paste
			return n, nil, t("paste.long", v.Label, longestPEM)
		}
	}
	return n, f.sendPEM(v, ended), ""
}

// pressPEM takes a key in a field for certificates and keys.
func (f *form) pressPEM(msg tea.KeyPressMsg, v engine.FieldView) tea.Cmd {
	k := f.desk.keys
	if !pressed(msg, k.enter) {
		f.paste.cr = false
		f.ed.press(msg, k)
		return nil
	}
	_, i := f.field()
	switch path := strings.HasPrefix(f.line(), "/"); {
	case f.besides() && path:
		return f.endPaste(v)
	case f.besides() && (msg.Key().Mod == 0 || !f.paste.cr):
		return f.step(i, 1, false)
	}
	over, fits := f.endLine(msg)
	if !fits {
		f.paste, f.desk.flash = paste{}, t("paste.long", v.Label, longestPEM)
	}
	if over {
		return f.endPaste(v)
	}
	return nil
}

func (f *form) line() string { return strings.TrimSpace(f.ed.value()) }

// besides reports whether Enter is about no line of a paste: there is none, or a path was typed.
func (f *form) besides() bool {
	line := f.line()
	return len(f.paste.lines) == 0 && (line == "" || strings.HasPrefix(line, "/"))
}

// endLine takes the line that was typed, up to Enter. It tells whether the paste is over, and whether it still fits.
func (f *form) endLine(enter tea.KeyPressMsg) (over, fits bool) {
	cr := f.paste.cr
	f.paste.cr = enter.Mod == 0
	if enter.Mod != 0 && cr {
		return false, true // the second half of CR LF
	}
	line := f.line()
	f.ed = editor{}
	if line == "." || line == "" && !f.paste.block {
		return true, true
	}
	return false, line == "" || f.paste.add(line)
}

// endPaste sends what was pasted, or what the named file holds. The lines stay until the field is left: a chain may
// have empty lines between its certificates, and then the rest follows.
func (f *form) endPaste(v engine.FieldView) tea.Cmd {
	line := f.line()
	f.ed = editor{}
	if len(f.paste.lines) == 0 && strings.HasPrefix(line, "/") {
		f.pending++
		return f.link.setFile(v.Path, line)
	}
	if line != "" && line != "." && !f.paste.add(line) {
		f.paste, f.desk.flash = paste{}, t("paste.long", v.Label, longestPEM)
	}
	return f.sendPEM(v, len(f.paste.lines))
}

// sendPEM sends the first n lines; none when n is negative or they were sent.
func (f *form) sendPEM(v engine.FieldView, n int) tea.Cmd {
	if n < 1 || !f.paste.fresh {
		return nil
	}
	f.paste.fresh = n < len(f.paste.lines)
	value := f.paste.text(n)
	f.drafts[v.Path] = value
	return f.set(v.Path, value)
}

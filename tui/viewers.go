package tui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"touchdown/steps/engine"
)

// hello is what is shown until the engine has answered, and when there is nothing to ask.
type hello struct{ base }

func (h *hello) name() string { return "hello" }

func (h *hello) keys() []key.Binding {
	k := h.desk.keys
	return []key.Binding{k.enter, k.help, k.log, k.leave}
}

func (h *hello) buttons() []button {
	list := h.common(h)
	if h.snap != nil && h.held {
		d := h.desk
		review := button{d.keys.goOn, t("button.goOn"), func() (screen, tea.Cmd) { return h, d.review() }}
		return append([]button{review}, list...)
	}
	return list
}

func (h *hello) update(msg tea.Msg) (screen, tea.Cmd) {
	if press, ok := msg.(tea.KeyPressMsg); ok {
		list := h.buttons()
		hit := letter(press, list)
		if hit == nil {
			hit = new(row).press(press, h.desk.keys, list)
		}
		if hit != nil {
			return hit.do()
		}
	}
	return h, nil
}

func (h *hello) view(w, height int) page {
	text := t("hello.wait")
	if h.snap != nil {
		text = t("hello.nothing")
	}
	buttons, x, y := row{}.view(h.theme, h.buttons(), true, w)
	lines := page{lines: append([]string{""}, wrap(text, w, "")...)}.fit(height - len(buttons)).lines
	return page{lines: append(lines, buttons...), x: x, y: height - len(buttons) + y}
}

// reader shows a text that may be longer than the screen: help, the report.
type reader struct {
	base
	key    string
	lines  []string
	scroll scroller
}

// newHelp explains the screen below it.
func newHelp(d *desk, of screen) *reader {
	text := helps[of.name()]
	who := d.support
	if who == "" {
		who = t("help.support")
	}
	return &reader{base: base{d}, key: "help", lines: append(strings.Split(text, "\n"), "", t("help.call", who))}
}

// newReport fetches the report.
func newReport(d *desk) (screen, tea.Cmd) {
	r := &reader{base: base{d}, key: "report", lines: []string{t("report.loading")}}
	return r, d.link.export(engine.ReportText, nil)
}

func (r *reader) name() string  { return r.key }
func (r *reader) overlay() bool { return true }

func (r *reader) keys() []key.Binding {
	k := r.desk.keys
	return []key.Binding{k.enter, k.back, k.up, k.down, k.pageDown}
}

func (r *reader) update(msg tea.Msg) (screen, tea.Cmd) {
	switch msg := msg.(type) {
	case docMsg:
		if r.key == "report" && msg.what == engine.ReportText {
			r.lines = strings.Split(strings.TrimRight(string(msg.data), "\n"), "\n")
			if msg.failed != nil {
				r.lines = wrap(r.explain(msg.failed), minWidth-2, "")
			}
		}
	case tea.KeyPressMsg:
		k := r.desk.keys
		if pressed(msg, k.enter, k.back, k.help) {
			return nil, nil
		}
		r.scroll.press(msg, k)
	}
	return r, nil
}

func (r *reader) view(w, h int) page {
	lines := make([]string, len(r.lines))
	for i, line := range r.lines {
		lines[i] = cut(line, w)
	}
	lines = append(r.scroll.view(lines, h-1), marker+r.theme.focus.Render("[ "+t("button.close")+" ]"))
	return page{lines: lines, x: 3, y: h - 1}
}

// logLines is how much of the engine's log is looked at.
const logLines = 1000

// logView shows the engine's log, from any screen.
type logView struct {
	base
	lines     []string
	scroll    scroller
	row       row
	searching bool
	ed        editor
	follow    bool
}

func newLog(d *desk) (screen, tea.Cmd) {
	return &logView{base: base{d}, lines: []string{t("log.loading")}, follow: true}, d.link.log(logLines)
}

func (l *logView) name() string  { return "log" }
func (l *logView) overlay() bool { return true }
func (l *logView) typing() bool  { return l.searching }

func (l *logView) keys() []key.Binding {
	k := l.desk.keys
	if l.searching {
		return []key.Binding{k.enter, k.next}
	}
	return []key.Binding{k.back, k.find, k.follow, k.up, k.down, k.pageUp, k.pageDown}
}

func (l *logView) update(msg tea.Msg) (screen, tea.Cmd) {
	switch msg := msg.(type) {
	case logMsg:
		l.take(msg)
	case tickMsg, eventMsg:
		if l.follow {
			return l, l.link.log(logLines)
		}
	case tea.KeyPressMsg:
		return l.press(msg)
	}
	return l, nil
}

func (l *logView) take(msg logMsg) {
	switch {
	case msg.failed != nil:
		l.flash = l.explain(msg.failed)
		return
	case len(msg.lines) == 0:
		l.lines = []string{t("log.empty")}
	default:
		l.lines = msg.lines
	}
	if l.follow {
		l.scroll.at = len(l.lines)
	}
}

func (l *logView) press(msg tea.KeyPressMsg) (screen, tea.Cmd) {
	k, list := l.desk.keys, l.buttons()
	switch {
	case l.searching && pressed(msg, k.enter):
		l.searching, l.follow = false, false
		if word := strings.TrimSpace(l.ed.value()); word != "" && !l.scroll.find(l.lines, word) {
			l.flash = t("log.notFound", word)
		}
	case l.searching && pressed(msg, k.next):
		l.searching = false
	case l.searching:
		l.ed.press(msg, k)
	case pressed(msg, k.next):
		l.row.at = (l.row.at + 1) % len(list)
	case pressed(msg, k.prev):
		l.row.at = (l.row.at + len(list) - 1) % len(list)
	case l.scroll.press(msg, k):
		l.follow = false
	default:
		hit := letter(msg, list)
		if hit == nil {
			hit = l.row.press(msg, k, list)
		}
		if hit != nil {
			return hit.do()
		}
	}
	return l, nil
}

func (l *logView) buttons() []button {
	k := l.desk.keys
	name := t("button.follow")
	if l.follow {
		name = t("button.unfollow")
	}
	page := func(to key.Binding, text string) button {
		return button{to, text, func() (screen, tea.Cmd) { return l, nil }}
	}
	older, newer := page(k.pageUp, t("button.older")), page(k.pageDown, t("button.newer"))
	older.do = func() (screen, tea.Cmd) { l.follow = false; l.scroll.at -= l.scroll.height; return l, nil }
	newer.do = func() (screen, tea.Cmd) { l.follow = false; l.scroll.at += l.scroll.height; return l, nil }
	return []button{
		{k.back, t("button.close"), func() (screen, tea.Cmd) { return nil, nil }},
		{k.find, t("button.find"), func() (screen, tea.Cmd) { l.searching, l.ed = true, editor{}; return l, nil }},
		older, newer,
		{k.follow, name, func() (screen, tea.Cmd) {
			l.follow = !l.follow
			return l, l.link.log(logLines)
		}},
		{k.bundle, t("button.bundle"), func() (screen, tea.Cmd) { return l, l.desk.bundle() }},
	}
}

func (l *logView) view(w, h int) page {
	buttons, x, y := l.row.view(l.theme, l.buttons(), !l.searching, w)
	if l.searching {
		text, cx := l.ed.view(40, false)
		buttons = []string{marker + " " + t("log.find") + " [" + pad(text, 40) + "]"}
		x, y = len([]rune(t("log.find")))+4+cx, 0
	}
	lines := make([]string, len(l.lines))
	for i, line := range l.lines {
		lines[i] = cut(line, w)
	}
	lines = append(l.scroll.view(lines, h-len(buttons)), buttons...)
	return page{lines: lines, x: x, y: h - len(buttons) + y}
}

// takeOver asks for the pen: at once when nobody has it.
func (d *desk) takeOver() (screen, tea.Cmd) {
	if d.snap == nil || d.snap.Pen.Holder == "" || d.snap.Pen.Holder == d.name {
		return nil, d.link.take(false)
	}
	return newTakeover(d), nil
}

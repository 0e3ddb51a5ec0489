package tui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"touchdown/steps/records"
)

// logLines is how much of the engine's log is looked at.
const logLines = 1000

// logView shows the engine's log, from any screen.
type logView struct {
	base
	lines     []string
	shown     []string // lines as they fit the width
	width     int
	hit       int // line that was found last
	scroll    scroller
	row       row
	searching bool
	ed        editor
	follow    bool
	ask       records.Ask // what is shown
}

func newLog(d *desk) (screen, tea.Cmd) {
	l := &logView{base: base{d}, follow: true, ed: newEditor("")}
	return l, l.show(records.Ask{Lines: logLines})
}

// show fetches other records.
func (l *logView) show(ask records.Ask) tea.Cmd {
	l.ask, l.lines, l.width, l.hit = ask, []string{t("log.loading")}, 0, 0
	return l.link.log(ask)
}

func (l *logView) name() string  { return "log" }
func (l *logView) overlay() bool { return true }
func (l *logView) typing() bool  { return l.searching }

func (l *logView) takes() bool { return l.searching }
func (l *logView) begins()     {}

func (l *logView) taken(items []item) (int, tea.Cmd, string) {
	return l.ed.taken(items, t("log.find"))
}

func (l *logView) keys() []key.Binding {
	k := l.desk.keys
	if l.searching {
		return []key.Binding{means(k.enter, "key.find"), means(k.next, "key.cancel")}
	}
	return []key.Binding{k.back, k.find, k.follow, k.up, k.pageDown}
}

func (l *logView) update(msg tea.Msg) (screen, tea.Cmd) {
	switch msg := msg.(type) {
	case logMsg:
		l.take(msg)
	case tickMsg, eventMsg:
		if l.follow && !l.ask.Node { // the node's journal costs a program each time
			return l, l.link.log(l.ask)
		}
	case tea.KeyPressMsg:
		return l.press(msg)
	}
	return l, nil
}

func (l *logView) take(msg logMsg) {
	switch {
	case msg.ask != l.ask: // meanwhile something else is wanted
		return
	case msg.failed != nil:
		l.flash = l.explain(msg.failed)
		return
	case len(msg.lines) == 0:
		l.lines = []string{t("log.empty")}
	default:
		l.lines = msg.lines
	}
	l.width = 0
}

// refold breaks the lines again when the width or the log changed.
func (l *logView) refold(w int) {
	if l.width != w {
		l.shown, l.width = fold(l.lines, w), w
	}
}

// fold breaks lines that are longer than w.
func fold(lines []string, w int) []string {
	var out []string
	for _, line := range lines {
		out = append(out, Lines(line, max(w, 8))...)
	}
	return out
}

func (l *logView) press(msg tea.KeyPressMsg) (screen, tea.Cmd) {
	k, list := l.desk.keys, l.buttons()
	switch {
	case l.searching && pressed(msg, k.enter):
		l.searching, l.follow = false, false
		l.find(strings.TrimSpace(l.ed.value()))
	case l.searching && pressed(msg, k.next):
		l.searching = false
	case l.searching:
		l.ed.press(msg, k)
	case l.scroll.press(msg, k):
		l.follow = false
	default:
		if hit := l.row.press(msg, k, list); hit != nil {
			return hit.do()
		}
	}
	return l, nil
}

// find goes to the next line that contains word, round and round.
func (l *logView) find(word string) {
	for i := range l.shown {
		n := (l.hit + 1 + i) % len(l.shown)
		if word != "" && strings.Contains(strings.ToLower(l.shown[n]), strings.ToLower(word)) {
			l.hit = n
			l.scroll.port.SetYOffset(n)
			l.whisper(t("log.found", word, n+1))
			return
		}
	}
	if word != "" {
		l.whisper(t("log.notFound", word))
	}
}

func (l *logView) buttons() []button {
	k := l.desk.keys
	name := t("button.follow")
	if l.follow {
		name = t("button.unfollow")
	}
	page := func(to key.Binding, text string, step int) button {
		return button{key: to, label: text, do: func() (screen, tea.Cmd) {
			l.follow = false
			l.scroll.page(step)
			return l, nil
		}}
	}
	return []button{
		{key: k.back, label: t("button.close"), do: func() (screen, tea.Cmd) { return nil, nil }},
		{key: k.find, label: t("button.find"), do: func() (screen, tea.Cmd) { l.searching = true; return l, nil }},
		page(k.pageUp, t("button.older"), -1),
		page(k.pageDown, t("button.newer"), 1),
		{key: k.follow, label: name, do: func() (screen, tea.Cmd) {
			l.follow = !l.follow
			return l, l.link.log(l.ask)
		}},
		{key: k.grave, label: t(l.other(l.ask.Grave, "button.grave", "button.allLines")), do: func() (screen, tea.Cmd) {
			return l, l.show(records.Ask{Lines: logLines, Node: l.ask.Node, Grave: !l.ask.Grave})
		}},
		{key: k.journal, label: t(l.other(l.ask.Node, "button.journal", "button.log")), do: func() (screen, tea.Cmd) {
			return l, l.show(records.Ask{Lines: logLines, Node: !l.ask.Node, Grave: !l.ask.Node}) // of a journal the warnings first: it is long
		}},
		{key: k.bundle, label: t("button.bundle"), careful: true, do: func() (screen, tea.Cmd) { return l, l.bundle() }},
		{key: k.offer, label: t("button.offer"), careful: true, do: func() (screen, tea.Cmd) { return newOffer(l.desk) }},
	}
}

// other is the text of a button that turns something on, or off.
func (l *logView) other(on bool, turnsOn, turnsOff string) string {
	if on {
		return turnsOff
	}
	return turnsOn
}

func (l *logView) view(w, h int) page {
	buttons, x, y := l.row.view(l.theme, l.buttons(), !l.searching, w)
	if l.searching {
		text, cx := l.typed(&l.ed, 40, false)
		buttons = []string{marker + " " + t("log.find") + " [" + pad(text, 40) + "]"}
		x, y = len([]rune(t("log.find")))+4+cx, 0
	}
	l.refold(w)
	l.scroll.fill(l.shown, w, h-len(buttons))
	if l.follow {
		l.scroll.port.GotoBottom()
	}
	return page{lines: append(l.scroll.view(l.theme), buttons...), x: x, y: h - len(buttons) + y}
}

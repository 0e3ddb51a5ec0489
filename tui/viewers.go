package tui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"touchdown/steps/inventory"
	"touchdown/steps/session"
)

// hello is what is shown until the engine has answered, and when there is nothing to ask.
type hello struct{ base }

func (h *hello) name() string { return "hello" }

func (h *hello) keys() []key.Binding {
	k := h.desk.keys
	return []key.Binding{k.enter, k.help, k.log, k.plain, k.leave}
}

func (h *hello) buttons() []button {
	list := common(h.desk, h)
	if h.snap != nil && h.held {
		d := h.desk
		review := button{key: d.keys.goOn, label: t("button.goOn"), do: func() (screen, tea.Cmd) { return h, d.review() }}
		return append([]button{review}, list...)
	}
	return list
}

func (h *hello) update(msg tea.Msg) (screen, tea.Cmd) {
	if press, ok := msg.(tea.KeyPressMsg); ok {
		list := h.buttons()
		if hit := new(row).press(press, h.desk.keys, list); hit != nil {
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

// reader shows a text that may be longer than the screen: help, the report, the inventory.
type reader struct {
	base
	key    string
	what   session.Document // that the text is; "" for help
	of     screen           // that the help is about
	row    row
	lines  []string
	shown  []string // lines as they fit the width
	scroll scroller
}

// newHelp explains the screen below it.
func newHelp(d *desk, of screen) *reader {
	text := helpOf(of.name())
	who := d.support
	if who == "" {
		who = t("help.support")
	}
	return &reader{base: base{d}, key: "help", of: of, lines: append(strings.Split(text, "\n"), "", t("help.screen"), t("help.call", who))}
}

// newReport fetches the report.
func newReport(d *desk) (screen, tea.Cmd) { return newReader(d, "report", session.ReportText) }

// newInventory has the engine look at the machine and tell what it is made of.
func newInventory(d *desk) (screen, tea.Cmd) { return newReader(d, "inventory", session.InventoryPage) }

// evidenceOf is what a reader shows that has all of a check.
const evidenceOf session.Document = "evidence"

// newEvidence shows all that is known of a check, with nothing cut.
func newEvidence(d *desk, f finding) *reader {
	lines := []string{d.theme.verdict(f.Check) + "  " + show(f.Title), "", show(f.Observed)}
	if show(f.Expected) != "" {
		lines = append(lines, "", t("checks.expected", f.Expected))
	}
	if show(f.Source) != "" {
		lines = append(lines, t("checks.from", f.Source))
	}
	if f.Waiver != nil {
		lines = append(lines, "", t("checks.waived", f.Waiver.By, f.Waiver.Reason))
	}
	if show(f.Fix) != "" {
		lines = append(lines, "", t("checks.fix", f.Fix))
	}
	if len(f.Evidence) > 0 {
		lines = append(append(lines, "", t("checks.seen")), showAll(f.Evidence)...)
	}
	return &reader{base: base{d}, key: "evidence", what: evidenceOf, lines: lines}
}

// newBundled shows where a support bundle is, and all of its SHA-256.
func newBundled(d *desk, msg docMsg) *reader {
	lines := bundledLines(msg)
	if msg.failed != nil {
		lines = []string{t("bundle.failed", d.explain(msg.failed)), "", t("bundle.ways")}
	}
	return &reader{base: base{d}, key: "bundle", what: bundledText, lines: lines}
}

// bundledText is what a reader shows that tells of a bundle.
const bundledText session.Document = "bundled"

func newReader(d *desk, key string, what session.Document) (screen, tea.Cmd) {
	r := &reader{base: base{d}, key: key, what: what, lines: []string{t(key + ".loading")}}
	return r, d.link.export(what, nil)
}

func (r *reader) name() string  { return r.key }
func (r *reader) overlay() bool { return true }

func (r *reader) keys() []key.Binding {
	k := r.desk.keys
	switch r.what {
	case session.InventoryPage:
		return []key.Binding{k.enter, k.back, k.up, k.pageDown, k.part}
	case "":
		return []key.Binding{k.enter, k.back, k.up, k.language}
	}
	return []key.Binding{k.enter, k.back, k.up, k.pageDown}
}

// buttons are what can be done with a text. The next language stands there under its own name: who cannot read the help finds it.
func (r *reader) buttons() []button {
	k := r.desk.keys
	list := []button{{key: k.back, label: t("button.close"), do: func() (screen, tea.Cmd) { return nil, nil }}}
	if r.what == "" {
		list = append(list, button{key: k.language, label: ownName(following()), do: func() (screen, tea.Cmd) {
			r.chooseLanguage(following())
			return newHelp(r.desk, r.of), nil
		}})
	}
	if r.what == bundledText {
		list = append(list, button{key: k.offer, label: t("button.offer"), do: func() (screen, tea.Cmd) {
			if r.hasty() { // the page may have come while a person typed
				return r, nil
			}
			return newOffer(r.desk)
		}})
	}
	if r.what == "" && len(r.board.layouts) > 0 {
		list = append(list, button{key: k.keyboard, label: t("button.keyboard"), do: func() (screen, tea.Cmd) {
			if other := r.keyboardOf(); other != "" {
				r.flash = t("keyboard.theirs", other)
				return r, nil
			}
			return newLayoutList(r.desk), nil
		}})
	}
	return list
}

func (r *reader) update(msg tea.Msg) (screen, tea.Cmd) {
	switch msg := msg.(type) {
	case docMsg:
		if r.what != "" && msg.what == r.what {
			r.lines = strings.Split(strings.TrimRight(documentText(msg), "\n"), "\n")
			if msg.failed != nil {
				r.lines = []string{r.explain(msg.failed)}
			}
			r.shown = r.lines
		}
	case tea.KeyPressMsg:
		k := r.desk.keys
		switch {
		case pressed(msg, k.help):
			return nil, nil
		case r.what != "" && pressed(msg, k.left):
			r.turn(-1)
		case r.what != "" && pressed(msg, k.right):
			r.turn(1)
		case r.scroll.press(msg, k):
		default:
			if hit := r.row.press(msg, k, r.buttons()); hit != nil {
				return hit.do()
			}
		}
	}
	return r, nil
}

// documentText is a document in the language of this console, where it has one.
func documentText(msg docMsg) string {
	if msg.what == session.InventoryPage && msg.failed == nil {
		if text, err := inventory.Text(msg.data, show); err == nil {
			return text
		}
	}
	return string(msg.data)
}

// turn goes to the part of the text before or after the one on top. A part begins behind an empty line.
func (r *reader) turn(step int) {
	for at := r.scroll.port.YOffset() + step; at >= 0 && at < len(r.shown); at += step {
		if at == 0 || r.shown[at-1] == "" {
			r.scroll.port.SetYOffset(at)
			return
		}
	}
}

func (r *reader) view(w, h int) page {
	r.shown = fold(r.lines, w)
	r.scroll.fill(r.shown, w, h-1)
	buttons, x, y := r.row.view(r.theme, r.buttons(), true, w)
	return page{lines: append(r.scroll.view(r.theme), buttons...), x: x, y: h - 1 + y}
}

// common are the things that can be done on every page.
func common(d *desk, of screen) []button {
	var list []button
	if d.snap != nil && !d.held {
		list = append(list, button{key: d.keys.control, label: t("button.control"), do: func() (screen, tea.Cmd) { return takeOver(d) }})
	}
	return append(list,
		button{key: d.keys.log, label: t("button.log"), do: func() (screen, tea.Cmd) { return newLog(d) }},
		button{key: d.keys.help, label: t("button.help"), do: func() (screen, tea.Cmd) { return newHelp(d, of), nil }},
		button{key: d.keys.leave, label: t("button.leave"), do: func() (screen, tea.Cmd) { return newLeave(d), nil }},
	)
}

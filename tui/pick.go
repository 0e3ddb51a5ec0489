package tui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"touchdown/steps/view"
)

// pickList is the list of a field's choices on its own page.
type pickList struct {
	base
	form *form
	of   view.Field
	row  row
}

func newPick(f *form, v view.Field, at int) *pickList {
	return &pickList{base: f.base, form: f, of: v, row: row{at}}
}

// chosen is the choice in focus.
func (p *pickList) chosen() string { return p.of.Choices[p.row.at].Value }

func (p *pickList) name() string  { return "pick" }
func (p *pickList) overlay() bool { return true }

func (p *pickList) keys() []key.Binding {
	k := p.desk.keys
	if p.canAct(p.of, p.chosen()) {
		return []key.Binding{k.up, k.enter, p.actKey(p.of), k.back}
	}
	return []key.Binding{k.up, k.enter, k.back}
}

func (p *pickList) update(msg tea.Msg) (screen, tea.Cmd) {
	press, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return p, nil
	}
	n := len(p.of.Choices)
	if d := digit(press); d >= 1 && d <= n {
		return nil, p.form.pick(p.of, p.of.Choices[d-1].Value)
	}
	k := p.desk.keys
	switch {
	case pressed(press, k.back):
		return nil, nil
	case pressed(press, k.act) && p.canAct(p.of, p.chosen()):
		return p, p.act(p.of, p.chosen())
	case pressed(press, k.up, k.prev):
		p.row.at = (p.row.at + n - 1) % n
	case pressed(press, k.down, k.next):
		p.row.at = (p.row.at + 1) % n
	case pressed(press, k.enter):
		return nil, p.form.pick(p.of, p.of.Choices[p.row.at].Value)
	}
	return p, nil
}

func (p *pickList) view(w, h int) page {
	lines := []string{p.theme.head.Render(show(p.of.Label)), ""}
	below := []string{""}
	if p.aside.path == p.of.Path {
		below = append(below, wrap(p.aside.text, w, "")...)
	}
	how := t("pick.how")
	if p.canAct(p.of, p.chosen()) {
		how += " " + t("act.how", p.desk.keys.act.Help().Key, p.of.Act.Label)
	}
	below = append(below, cut(how, w))
	room := h - len(lines) - len(below)
	from := max(0, min(p.row.at-room/2, len(p.of.Choices)-room))
	y := 0
	for i := from; i < len(p.of.Choices) && i < from+room; i++ {
		line := pad("", 2) + t("pick.choice", i+1, p.of.Choices[i].Label)
		if i == p.row.at {
			line = marker + " " + p.theme.focus.Render(strings.TrimSpace(line))
			y = len(lines)
		}
		lines = append(lines, cut(line, w))
	}
	return page{lines: append(lines, below...), x: 0, y: y}
}

package tui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"touchdown/steps/engine"
)

// dashboard stays on the screen after the work: where the cluster is, how it is, and what can be done now.
type dashboard struct {
	base
	row    row
	scroll scroller
}

func newDashboard(d *desk) *dashboard { return &dashboard{base: base{d}} }

func (b *dashboard) name() string { return "dashboard" }

func (b *dashboard) keys() []key.Binding {
	k := b.desk.keys
	return []key.Binding{k.next, k.enter, k.up, k.log, k.help, k.leave}
}

func (b *dashboard) update(msg tea.Msg) (screen, tea.Cmd) {
	press, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return b, nil
	}
	k, list := b.desk.keys, b.buttons()
	if hit := b.row.press(press, k, list); hit != nil {
		return hit.do()
	}
	b.scroll.press(press, k)
	return b, nil
}

func (b *dashboard) buttons() []button {
	k, d := b.desk.keys, b.desk
	ask := func(key string, a engine.Action, words []string) func() (screen, tea.Cmd) {
		return func() (screen, tea.Cmd) {
			return newConfirm(d, confirm{title: t(key + ".title"), text: t(key + ".text"), word: words, verb: a}), nil
		}
	}
	way := func(k key.Binding, name string, do func() (screen, tea.Cmd)) button {
		return button{k, t("button." + name), do}
	}
	done := d.state() == engine.IsDone
	again := "move"
	if d.snap.List == engine.ListFactory {
		again = "recheck"
	}
	var list []button
	if done {
		list = append(list, way(k.report, "report", func() (screen, tea.Cmd) { return newReport(d) }))
	}
	switch {
	case !d.held:
	case d.snap.Locked:
		list = append(list, way(k.unlock, "unlock", func() (screen, tea.Cmd) { return d.confirmUnlock(), nil }))
	case done:
		if d.snap.List != engine.ListFactory { // a node on the bench line is sealed, not handed over
			list = append(list, way(k.handover, "handover", ask("handover", engine.Action{Verb: engine.HandOver}, d.words())))
		}
		list = append(list,
			way(k.undo, "undo", func() (screen, tea.Cmd) { return d.confirmUndo(), nil }),
			way(k.edit, again, ask("move", engine.Action{Verb: engine.Edit}, nil)))
	default:
		list = append(list, way(k.edit, again, ask("move", engine.Action{Verb: engine.Edit}, nil)))
	}
	list = append(list, way(k.bundle, "bundle", func() (screen, tea.Cmd) { return b, d.bundle() }))
	if d.held {
		list = append(list,
			way(k.reboot, "reboot", ask("reboot", engine.Action{Verb: engine.Reboot}, nil)),
			way(k.powerOff, "powerOff", ask("powerOff", engine.Action{Verb: engine.PowerOff}, nil)))
	}
	return append(list, d.common(b)...)
}

func (b *dashboard) view(w, h int) page {
	buttons, x, y := b.row.view(b.theme, b.buttons(), true, w)
	lines := b.scroll.view(b.text(w), h-len(buttons)-1)
	lines = append(append(lines, rule(w)), buttons...)
	return page{lines: lines, x: x, y: h - len(buttons) + y}
}

func (b *dashboard) text(w int) []string {
	s := b.snap
	title := t("dashboard.undone")
	switch s.State {
	case engine.IsDone:
		title = b.desk.say("dashboard.done", span(seconds(s.Worked)))
	case engine.Inspecting, engine.Collecting, engine.Reviewed:
		title = t("dashboard.moving")
	}
	lines := []string{b.theme.strong.Render(title)}
	if s.Locked {
		lines = append(lines, wrap(t("dashboard.locked"), w, "")...)
	}
	if s.State == engine.IsDone && s.Cluster != "" {
		lines = append(lines, "",
			t("dashboard.cluster", s.Cluster),
			t("dashboard.api", s.Cluster),
			t("dashboard.console", s.Cluster))
	}
	lines = append(lines, "")
	var found []finding
	for _, stage := range s.Stages {
		found = append(found, findings(stage)...)
	}
	if len(found) > 0 {
		lines = append(lines, t("dashboard.checks", tally(found)))
	}
	c := checks{base: b.base}
	for _, f := range found {
		if f.Status != "pass" {
			lines = append(lines, "  "+c.line(f, w-2))
		}
	}
	for _, f := range found {
		if f.Status == "pass" && strings.HasPrefix(f.step, "health") {
			lines = append(lines, "  "+c.line(f, w-2))
		}
	}
	if len(s.Met) > 0 {
		lines = append(lines, "", t("dashboard.met"))
		for _, m := range s.Met {
			lines = append(lines, hang(bullet+m, w, "  ", 2)...)
		}
	}
	return lines
}

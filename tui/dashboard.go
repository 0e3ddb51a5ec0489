package tui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"touchdown/backend/check"
	"touchdown/steps/session"
	"touchdown/steps/view"
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

// buttons are what can be done now. Whatever users of the node would notice wants its name typed, and on a locked node it has
// no letter either.
func (b *dashboard) buttons() []button {
	k, d := b.desk.keys, b.desk
	var list []button
	way := func(k key.Binding, name string, do func() (screen, tea.Cmd)) {
		if d.snap.Locked {
			k = key.NewBinding()
		}
		list = append(list, button{k, t("button." + name), do, true})
	}
	ask := func(k key.Binding, name string, a session.Action) {
		way(k, name, func() (screen, tea.Cmd) { return b.ask(name, a), nil })
	}
	done, again := d.state() == view.IsDone, "move"
	if d.snap.List == view.ListFactory {
		again = "recheck"
	}
	if done {
		list = append(list, button{key: k.report, label: t("button.report"), do: func() (screen, tea.Cmd) { return newReport(d) }})
	}
	if done && d.held && !d.snap.Locked && d.snap.List != view.ListFactory {
		list = append(list, button{key: k.logIn, label: t("button.logIn"), do: func() (screen, tea.Cmd) { return newLogIn(d) }})
	}
	switch {
	case !d.held:
	case d.snap.Locked:
		way(k.unlock, "unlock", func() (screen, tea.Cmd) { return newUnlock(d), nil })
	case done:
		if d.snap.List != view.ListFactory { // a node on the bench line is sealed, not handed over
			ask(k.handover, "handover", session.Action{Verb: session.HandOver})
		}
		way(k.undo, "undo", func() (screen, tea.Cmd) { return newUndo(d), nil })
		ask(k.edit, again, session.Action{Verb: session.Edit})
	default:
		ask(k.edit, again, session.Action{Verb: session.Edit})
	}
	way(k.bundle, "bundle", func() (screen, tea.Cmd) { return b, d.bundle() })
	if d.held {
		ask(k.reboot, "reboot", session.Action{Verb: session.Reboot})
		ask(k.powerOff, "powerOff", session.Action{Verb: session.PowerOff})
	}
	list = append(list, button{key: k.inventory, label: t("button.inventory"), do: func() (screen, tea.Cmd) { return newInventory(d) }})
	return append(list, common(d, b)...)
}

// ask wants to be sure: by the node's name, but on the bench line, where a node has no users.
func (b *dashboard) ask(name string, a session.Action) screen {
	if name == "recheck" {
		name = "move" // the same question
	}
	c := confirm{title: t(name + ".title"), text: t(name + ".text"), verb: a}
	if b.snap.List != view.ListFactory {
		c.word = b.words()
	}
	return newConfirm(b.desk, c)
}

func (b *dashboard) view(w, h int) page {
	buttons, x, y := b.row.view(b.theme, b.buttons(), true, w)
	b.scroll.fill(b.text(w), w, h-len(buttons)-1)
	text := b.scroll.view(b.theme)
	if b.snap.State == view.IsDone && b.snap.Cluster != "" {
		if code := b.theme.qrLines(webConsole + b.snap.Cluster); len(code) > 0 {
			text = corner(text, append(code, ends(t("dashboard.code"), "", lipgloss.Width(code[0]))), w)
		}
	}
	lines := append(append(text, b.theme.rule(w)), buttons...)
	return page{lines: lines, x: x, y: h - len(buttons) + y}
}

// address is where the site reaches the node, as the hand-over saw it.
func (b *dashboard) address() string {
	for _, stage := range b.snap.Stages {
		for _, f := range findings(stage) {
			if f.ID == check.SiteAddress {
				return show(f.Observed)
			}
		}
	}
	return ""
}

func (b *dashboard) text(w int) []string {
	s := b.snap
	title := t("dashboard.undone")
	switch s.State {
	case view.IsDone:
		title = b.desk.say("dashboard.done", span(seconds(s.Worked)))
	case view.Inspecting, view.Collecting, view.Reviewed:
		title = t("dashboard.moving")
	}
	left := len(s.Permanent) > 0 && s.State == view.IsUndone
	if left {
		title = t("dashboard.undonePart")
	}
	var lines []string
	for _, line := range wrap(title, w, "") {
		lines = append(lines, b.theme.strong.Render(line))
	}
	for _, text := range showAll(s.Permanent) {
		if left {
			lines = append(lines, hang(bullet+text, w, "  ", 2)...)
		}
	}
	if s.Locked {
		lines = append(lines, wrap(t("dashboard.locked"), w, "")...)
	}
	lines = append(lines, (&live{b.base}).lines(w)...)
	lines = append(lines, b.reached(w)...)
	if s.Monitor.String() != "" {
		lines = append(append(lines, ""), wrap(show(s.Monitor), w, "")...)
	}
	return append(append(lines, ""), b.landing(w)...)
}

// reached tells where the cluster is reached.
func (b *dashboard) reached(w int) (lines []string) {
	s := b.snap
	if s.State == view.IsDone && s.Cluster != "" {
		reached := []string{t("dashboard.cluster", s.Cluster), t("dashboard.api", s.Cluster), t("dashboard.console", s.Cluster)}
		if is := b.address(); is != "" {
			reached = append([]string{t("dashboard.address", is)}, reached...)
		}
		lines = append(lines, "")
		for _, line := range reached {
			lines = append(lines, hang(line, w, "", 10)...)
		}
	}
	return lines
}

// landing tells how the landing went. Where the cluster is looked at, how it is now counts more, and the report keeps the rest.
func (b *dashboard) landing(w int) (lines []string) {
	s := b.snap
	var found []finding
	for _, stage := range s.Stages {
		found = append(found, findings(stage)...)
	}
	if s.Live != nil {
		return hang(t("dashboard.landing", tally(found)), w, "", 2)
	}
	if len(found) > 0 {
		lines = append(lines, t("dashboard.checks", tally(found)))
	}
	c := checks{base: b.base}
	for _, f := range found {
		if f.Status != "pass" {
			lines = append(lines, "  "+c.line(f, w-2, widest(found)))
		}
	}
	for _, f := range found {
		if f.Status == "pass" && strings.HasPrefix(f.step, "health") {
			lines = append(lines, "  "+c.line(f, w-2, widest(found)))
		}
	}
	if len(s.Met) > 0 {
		lines = append(lines, "", t("dashboard.met"))
		for _, m := range s.Met {
			lines = append(lines, hang(bullet+show(m), w, "  ", 2)...)
		}
	}
	return lines
}

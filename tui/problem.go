package tui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"touchdown/backend/message"
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// trouble shows what failed and the ways on. There are always several.
type trouble struct {
	base
	row row
}

func newProblem(d *desk) *trouble { return &trouble{base: base{d}} }

func (p *trouble) name() string { return "problem" }

func (p *trouble) keys() []key.Binding {
	k := p.desk.keys
	return []key.Binding{k.up, k.enter, k.log, k.help, k.leave}
}

func (p *trouble) update(msg tea.Msg) (screen, tea.Cmd) {
	press, ok := msg.(tea.KeyPressMsg)
	if !ok || pressed(press, p.desk.keys.enter) && p.hasty() && !p.touched {
		return p, nil
	}
	if hit := p.row.choose(press, p.desk.keys, p.buttons()); hit != nil {
		return hit.do()
	}
	return p, nil
}

func (p *trouble) act(a session.Action) func() (screen, tea.Cmd) {
	return func() (screen, tea.Cmd) { return p, p.link.act(a) }
}

// buttons are the ways on, without what each does.
func (p *trouble) buttons() []button {
	list, _ := p.ways()
	return list
}

// ways are the ways on, and in a sentence what each does.
func (p *trouble) ways() (list []button, says []string) {
	k, d := p.desk.keys, p.desk
	step, _ := d.current()
	way := func(k key.Binding, name string, do func() (screen, tea.Cmd)) {
		looks := name == "log" || name == "help" || name == "control" || name == "stop"
		list, says = append(list, button{k, t("button." + name), do, !looks}), append(says, t("does."+name))
	}
	lost := lostRecords(d.snap)
	switch {
	case d.held && d.snap.Locked:
		way(k.unlock, "unlock", func() (screen, tea.Cmd) { return newUnlock(d), nil })
	case d.held:
		if lost {
			way(k.retry, "continue", func() (screen, tea.Cmd) {
				return newConfirm(d, confirm{title: t("lost.title"), text: t("lost.text"), verb: session.Action{Verb: session.Retry}}), nil
			})
		} else {
			way(k.retry, "retry", p.act(session.Action{Verb: session.Retry}))
		}
		way(k.edit, "edit", func() (screen, tea.Cmd) { return p, d.fix(step.Asks, true) })
		if !lost {
			way(k.skip, "skip", func() (screen, tea.Cmd) {
				return newConfirm(d, confirm{
					title: t("skip.title", step.Title), text: t("skip.text"), word: d.words(),
					verb: session.Action{Verb: session.Skip, Step: step.ID},
				}), nil
			})
		}
		if f, ok := toWaive(step); ok {
			way(k.waive, "waive", func() (screen, tea.Cmd) { return newWaive(d, f), nil })
		}
		way(k.undo, "undo", func() (screen, tea.Cmd) { return newUndo(d), nil })
	default:
		way(k.control, "control", func() (screen, tea.Cmd) { return takeOver(d) })
	}
	way(k.log, "log", func() (screen, tea.Cmd) { return newLog(d) })
	way(k.bundle, "bundle", func() (screen, tea.Cmd) { return p, d.bundle() })
	way(k.stop, "stop", func() (screen, tea.Cmd) { return newLeave(d), nil })
	way(k.help, "help", func() (screen, tea.Cmd) { return newHelp(d, p), nil })
	return list, says
}

// toWaive is the first check of a step that is to be waived.
func toWaive(step view.Step) (finding, bool) {
	for _, c := range step.Checks {
		if f := (finding{Check: c, step: step.ID}); bad(f) {
			return f, true
		}
	}
	return finding{}, false
}

// failure is what became of the work, also where the engine has no word for it.
func failure(s *view.Snapshot) *event.Trouble {
	if s.Problem != nil {
		return s.Problem
	}
	return &event.Trouble{Code: t("problem.unknown"), Summary: message.Data(t("problem.stopped")), Fix: message.Data(t("problem.tryAgain"))}
}

// became is the title above what became of the work: what a person stopped has not failed.
func became(d *desk) string {
	step, _ := d.current()
	switch {
	case lostRecords(d.snap):
		return t("lost.title")
	case failure(d.snap).Code == view.Halted:
		return t("problem.halted", step.Title)
	}
	return t("problem.title", step.Title)
}

func (p *trouble) view(w, h int) page {
	v := failure(p.snap)
	title, safe := became(p.desk), t("problem.safe")
	if lostRecords(p.desk.snap) {
		safe = t("lost.safe")
	}
	lines := []string{p.theme.bad.Render(cut(title, w))}
	for _, line := range wrap(show(v.Summary), w, "") {
		lines = append(lines, p.theme.strong.Render(line))
	}
	lines = append(lines, wrap(t("problem.fix", v.Fix), w, "")...)
	lines = append(append(lines, wrap(t("problem.code", v.Code), w, "")...), wrap(safe, w, "")...)
	ways, says := p.ways()
	list, y := p.row.list(p.theme, ways, func(i int) string { return says[i] }, w)
	room := h - len(lines) - len(list) - 2
	var output []string
	for _, line := range append(wrap(show(v.Detail), w, ""), v.Output...) {
		output = append(output, cut(line, w))
	}
	output = output[max(0, len(output)-max(room, 0)):]
	if len(output) > 0 {
		lines = append(append(lines, ""), output...)
	}
	lines = append(lines, "")
	result := page{x: 0, y: len(lines) + y}
	result.lines = append(lines, list...)
	return result
}

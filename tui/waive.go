package tui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"touchdown/steps/session"
)

// waive takes responsibility for a check that did not pass: with a name and a reason. Enter behind both leads to "Waive", so that who
// presses it once more does not lose what was typed; without them it leads to "Go back", as on every page that takes something upon itself.
type waive struct {
	base
	of    finding
	eds   [2]editor
	focus int // 0 who, 1 why, 2 "Go back", 3 "Waive"
}

func newWaive(d *desk, of finding) *waive {
	v := &waive{base: base{d}, of: of, eds: [2]editor{offering(d.by), newEditor("")}}
	if d.by != "" {
		v.focus = 1
	}
	return v
}

// newWithdraw asks before a waiver is taken back.
func newWithdraw(d *desk, f finding) *confirm {
	return newConfirm(d, confirm{
		title: t("withdraw.title", f.Title), text: t("withdraw.text", f.Waiver.By, f.Waiver.Reason),
		verb: session.Action{Verb: session.Withdraw, Step: f.step, Check: f.ID},
	})
}

func (v *waive) who() string { return strings.TrimSpace(v.eds[0].value()) }
func (v *waive) why() string { return strings.TrimSpace(v.eds[1].value()) }

func (v *waive) name() string  { return "waive" }
func (v *waive) overlay() bool { return true }
func (v *waive) typing() bool  { return v.focus < 2 }

func (v *waive) takes() bool { return v.typing() }
func (v *waive) begins()     {}

func (v *waive) taken(items []item) (int, tea.Cmd, string) {
	return v.eds[v.focus].taken(items, t("waive.title", v.of.Title))
}

func (v *waive) keys() []key.Binding {
	k := v.desk.keys
	return []key.Binding{k.next, k.prev, k.enter}
}

func (v *waive) update(msg tea.Msg) (screen, tea.Cmd) {
	press, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return v, nil
	}
	k := v.desk.keys
	switch {
	case v.focus == 1 && pressed(press, k.enter) && v.who() != "" && v.why() != "":
		v.focus = 3
	case pressed(press, k.next, k.down), v.typing() && pressed(press, k.enter):
		v.focus = (v.focus + 1) % 4
	case pressed(press, k.prev, k.up):
		v.focus = (v.focus + 3) % 4
	case v.typing() && pressed(press, k.back) && press.Key().Text == "": // Esc: what was typed stays until it is pressed again
		v.focus = 2
	case v.typing():
		v.eds[v.focus].press(press, k)
	case pressed(press, k.left, k.right):
		v.focus = 5 - v.focus
	case pressed(press, k.back), pressed(press, k.enter) && v.focus == 2:
		return nil, nil
	case pressed(press, k.enter):
		by, why := v.who(), v.why()
		if by == "" || why == "" {
			v.flash, v.focus = t("waive.needed"), 0
			if by != "" {
				v.focus = 1
			}
			return v, nil
		}
		v.desk.by = by
		return nil, v.link.act(session.Action{Verb: session.Waive, Step: v.of.step, Check: v.of.ID, By: by, Reason: why})
	}
	return v, nil
}

func (v *waive) view(w, _ int) page {
	var lines []string
	for _, line := range wrap(t("waive.title", v.of.Title), w, "") {
		lines = append(lines, v.theme.strong.Render(line))
	}
	lines = append(append(lines, wrap(show(v.of.Observed), w, "")...), "")
	lines = append(append(lines, wrap(t("waive.text"), w, "")...), "")
	p := page{}
	for i, label := range [...]string{t("waive.by"), t("waive.reason")} {
		mark := "  "
		text, x := v.typed(&v.eds[i], 48, false)
		if v.focus == i {
			mark, p.x, p.y = marker+" ", 2+11+x, len(lines)
		}
		lines = append(lines, mark+pad(label, 10)+"["+pad(text, 48)+"]")
	}
	lines = append(lines, "")
	list := []button{{label: t("button.goBack")}, {label: t("button.waive")}}
	buttons, x, _ := row{max(v.focus-2, 0)}.view(v.theme, list, v.focus >= 2, w)
	if v.focus >= 2 {
		p.x, p.y = x, len(lines)
	}
	p.lines = append(lines, buttons...)
	return p
}

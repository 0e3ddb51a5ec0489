package tui

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"touchdown/steps/engine"
)

// confirm asks before something that a stray key must not do. With words, one of them must be typed. Without, no text can
// answer it, however it is typed: only an arrow and Enter, or Ctrl-Y, say Yes; any other key says No.
type confirm struct {
	base
	title, text string
	word        []string
	verb        engine.Action
	cmd         tea.Cmd // done instead of verb, when set
	row         row
	onWord      bool
	ed          editor
	state       engine.State // and life and list: those that it was asked in
	life        string
	list        string
}

func newConfirm(d *desk, c confirm) *confirm {
	c.base, c.state = base{d}, d.state()
	if d.snap != nil {
		c.life, c.list = d.snap.Life, d.snap.List
	}
	return &c
}

// newLeave asks before this console is closed.
func newLeave(d *desk) *confirm {
	return newConfirm(d, confirm{title: t("leave.title"), text: t("leave.text"), cmd: tea.Quit})
}

// newTakeover asks before control is taken from another console.
func newTakeover(d *desk) *confirm {
	return newConfirm(d, confirm{
		title: t("pen.title"), text: t("pen.text", d.snap.Pen.Holder), cmd: d.link.take(true),
	})
}

func (c *confirm) name() string  { return "confirm" }
func (c *confirm) overlay() bool { return true }
func (c *confirm) typing() bool  { return c.onWord }

// over reports whether what was asked about is over, or for another console to do.
func (c *confirm) over() bool {
	if c.cmd != nil || !c.held { // before the engine has answered, nobody has control
		return c.cmd == nil
	}
	another := c.snap.Life != c.life || c.snap.List != c.list // which may want a word
	return c.desk.state() != c.state || len(c.word) == 0 && another
}

func (c *confirm) keys() []key.Binding {
	k := c.desk.keys
	switch {
	case c.onWord:
		return []key.Binding{k.next, k.enter}
	case len(c.word) > 0:
		return []key.Binding{k.next, k.enter, k.back}
	}
	return []key.Binding{k.left, k.enter, k.sure}
}

func (c *confirm) update(msg tea.Msg) (screen, tea.Cmd) {
	press, ok := msg.(tea.KeyPressMsg)
	switch {
	case c.over():
		return nil, nil
	case !ok:
		return c, nil
	case len(c.word) == 0:
		return c.answer(press)
	}
	k, at := c.desk.keys, c.place()
	switch {
	case pressed(press, k.next, k.down):
		c.put((at + 1) % 3)
	case pressed(press, k.prev, k.up):
		c.put((at + 2) % 3)
	case !c.onWord && pressed(press, k.left, k.right):
		c.put(2 - at)
	case pressed(press, k.enter) && at > 0:
		return c.yes()
	case pressed(press, k.enter), pressed(press, k.back) && (!c.onWord || press.Key().Text == ""):
		return nil, nil
	case c.onWord:
		c.ed.press(press, k)
	}
	return c, nil
}

// answer is how a question without a word is answered.
func (c *confirm) answer(press tea.KeyPressMsg) (screen, tea.Cmd) {
	k := c.desk.keys
	switch {
	case pressed(press, k.left, k.right, k.up, k.down):
		c.row.at = 1 - c.row.at
		return c, nil
	case pressed(press, k.sure), pressed(press, k.enter) && c.row.at == 1:
		return c.yes()
	}
	return nil, nil
}

// place is what the focus is on: 0 "No", 1 the word, 2 "Yes".
func (c *confirm) place() int {
	if c.onWord {
		return 1
	}
	return 2 * c.row.at
}

func (c *confirm) put(place int) { c.onWord, c.row.at = place == 1, place/2 }

func (c *confirm) yes() (screen, tea.Cmd) {
	typed := strings.TrimSpace(c.ed.value())
	if len(c.word) > 0 && !slices.ContainsFunc(c.word, func(w string) bool { return strings.EqualFold(w, typed) }) {
		c.flash = t("confirm.word", strings.Join(c.word, t("word.or")))
		c.onWord, c.row.at = true, 0
		return c, nil
	}
	if c.cmd != nil {
		return nil, c.cmd
	}
	return nil, c.link.act(c.verb)
}

func (c *confirm) view(w, _ int) page {
	lines := []string{"", c.theme.strong.Render(cut(c.title, w)), ""}
	lines = append(append(lines, wrap(c.text, w, "")...), "")
	p := page{}
	if len(c.word) > 0 {
		ask := t("confirm.type", strings.Join(c.word, t("word.or")))
		mark := "  "
		text, x := c.ed.view(24, false)
		if c.onWord {
			mark, p.x, p.y = marker+" ", 2+len([]rune(ask))+2+x, len(lines)
		}
		lines = append(lines, mark+ask+" ["+pad(text, 24)+"]", "")
	}
	if len(c.word) == 0 {
		lines = append(append(lines, wrap(t("confirm.how"), w, "")...), "")
	}
	list := []button{{label: t("button.no")}, {label: t("button.yes")}}
	buttons, x, _ := c.row.view(c.theme, list, !c.onWord, w)
	if !c.onWord {
		p.x, p.y = x, len(lines)
	}
	p.lines = append(lines, buttons...)
	return p
}

// waive takes responsibility for a check that did not pass: with a name and a reason.
type waive struct {
	base
	of    finding
	eds   [2]editor
	focus int // 0 who, 1 why, 2 and 3 the buttons
}

func newWaive(d *desk, of finding) *waive { return &waive{base: base{d}, of: of} }

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
	case pressed(press, k.next, k.down), v.typing() && pressed(press, k.enter):
		v.focus = (v.focus + 1) % 4
	case pressed(press, k.prev, k.up):
		v.focus = (v.focus + 3) % 4
	case v.typing():
		v.eds[v.focus].press(press, k)
	case pressed(press, k.left, k.right):
		v.focus = 5 - v.focus
	case pressed(press, k.back), pressed(press, k.enter) && v.focus == 2:
		return nil, nil
	case pressed(press, k.enter):
		by, why := strings.TrimSpace(v.eds[0].value()), strings.TrimSpace(v.eds[1].value())
		if by == "" || why == "" {
			v.flash = t("waive.needed")
			return v, nil
		}
		return nil, v.link.act(engine.Action{Verb: engine.Waive, Step: v.of.step, Check: v.of.ID, By: by, Reason: why})
	}
	return v, nil
}

func (v *waive) view(w, _ int) page {
	lines := []string{v.theme.strong.Render(cut(t("waive.title", v.of.Title), w)), cut(v.of.Observed, w), ""}
	lines = append(append(lines, wrap(t("waive.text"), w, "")...), "")
	p := page{}
	for i, label := range [...]string{t("waive.by"), t("waive.reason")} {
		mark := "  "
		text, x := v.eds[i].view(48, false)
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

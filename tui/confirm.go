package tui

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"touchdown/steps/session"
	"touchdown/steps/view"
)

// confirm asks before something that a stray key must not do. With words, one of them must be typed. Without, no text can
// answer it, however it is typed: only an arrow and Enter, or Ctrl-Y, say Yes; any other key says No.
type confirm struct {
	base
	title, text string
	word        []string
	verb        session.Action
	cmd         tea.Cmd // done instead of verb, when set
	takes       bool    // and it takes control
	holder      string  // from whom, with takes
	row         row
	onWord      bool
	ed          editor
	state       view.State // and life and list: those that it was asked in
	life        string
	list        string
}

func newConfirm(d *desk, c confirm) *confirm {
	c.base, c.state, c.ed = base{d}, d.state(), newEditor("")
	if d.snap != nil {
		c.life, c.list = d.snap.Life, d.snap.List
	}
	return &c
}

// newLeave asks before this console is closed.
func newLeave(d *desk) *confirm {
	return newConfirm(d, confirm{title: t("leave.title"), text: ofLeaving(d.snap), cmd: tea.Quit})
}

// ofLeaving is what a person should know who leaves a console. A question does not wait for anyone's return.
func ofLeaving(s *view.Snapshot) string {
	if s == nil || s.Question == nil || s.Question.Until.IsZero() {
		return t("leave.text")
	}
	q := s.Question
	for _, choice := range q.Choices {
		if choice.Value == q.Default {
			return t("leave.asked", choice.Label) + " " + t("leave.text")
		}
	}
	return t("leave.text")
}

// newTakeover asks before control is taken from another console.
func newTakeover(d *desk) *confirm {
	return newConfirm(d, confirm{
		title: t("control.title"), text: t("control.text", d.snap.Control.Holder), cmd: d.link.take(true), takes: true, holder: d.snap.Control.Holder,
	})
}

// takeOver asks for control: at once when no other console has it, as far as is known; an engine that does not answer says so itself.
func takeOver(d *desk) (screen, tea.Cmd) {
	if d.snap == nil || d.snap.Control.Holder == "" || d.snap.Control.Holder == d.name {
		d.board.asks = true
		return nil, d.link.take(false)
	}
	return newTakeover(d), nil
}

// newUnlock asks for the host name before a landed node may be changed again.
func newUnlock(d *desk) *confirm {
	return newConfirm(d, confirm{
		title: t("unlock.title"), text: t("unlock.text"), word: []string{d.hostWord()},
		verb: session.Action{Verb: session.Unlock, Value: d.snap.Hostname},
	})
}

// newUndo asks before everything is put back.
func newUndo(d *desk) *confirm {
	return newConfirm(d, confirm{
		title: t("undo.title"), text: ofUndo(d), word: d.words(), verb: session.Action{Verb: session.Undo},
	})
}

// ofUndo is what an undo does, and what it leaves.
func ofUndo(d *desk) string {
	if len(d.snap.Permanent) == 0 {
		return t("undo.text")
	}
	return strings.Join(append([]string{t("undo.text"), t("undo.leaves")}, showAll(d.snap.Permanent)...), " ")
}

func (c *confirm) name() string  { return "confirm" }
func (c *confirm) overlay() bool { return true }
func (c *confirm) typing() bool  { return c.onWord }

// over reports whether what was asked about is over, or for another console to do.
func (c *confirm) over() bool {
	if c.takes && c.snap != nil && c.snap.Control.Holder != c.holder { // that console has gone, or another one has control
		return true
	}
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
	case c.onWord && press.Key().Text != "", c.wordGoesOn(press):
		c.put(1)
		c.ed.press(press, k)
	case pressed(press, k.enter, k.back):
		return nil, nil
	case c.onWord:
		c.ed.press(press, k)
	}
	return c, nil
}

// wantsWord is a page that asks for a word. Who types the word need not go to its field first: a letter that begins it, or goes on with
// what is there, is of the word even where it is a key otherwise.
type wantsWord interface {
	wordGoesOn(press tea.KeyPressMsg) bool
}

func (c *confirm) wordGoesOn(press tea.KeyPressMsg) bool { return begins(c.word, &c.ed, press) }

// begins reports whether what is typed, with a letter behind it, begins one of words.
func begins(words []string, typed *editor, press tea.KeyPressMsg) bool {
	letter := press.Key().Text
	text := strings.ToLower(typed.value() + letter)
	return letter != "" && slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(strings.ToLower(w), text) })
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
		c.board.asks = c.takes
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
		text, x := c.typed(&c.ed, 24, false)
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

package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"
)

// taker is a screen with a text field that takes what is pasted, or typed ahead.
type taker interface {
	takes() bool
	begins() // a batch of keys
	// taken puts the first of items into the field in focus and returns how many it was. none means that the next is a key that
	// the screen handles. Text that the field cannot hold is refused, and the field is as it was.
	taken(items []item) (n int, cmd tea.Cmd, refused string)
}

// mostKeys is how many keys of a batch beside its text are handled: nobody presses more ahead, and a megabyte of them would
// keep the console busy.
const mostKeys = 100

// batch handles keys that came together. They may be a paste into the wrong place, so they reach only text fields, and
// beyond those they can do no more than move the focus: no button, no dialog, no control of the node.
func (a *app) batch(msg batchMsg) tea.Cmd {
	if msg.first {
		a.refused, a.handled = false, 0
		if top, ok := a.top().(taker); ok && top.takes() {
			top.begins()
		}
	}
	if !slices.ContainsFunc(msg.items, func(one item) bool { return one != (item{}) }) {
		return nil // noise, or what a terminal sends without a key: no person is there
	}
	if a.locked() {
		a.lock.batch(msg.items)
		if starts(a.snap) {
			return a.lock.here()
		}
		return nil
	}
	cmds := []tea.Cmd{a.lock.here()}
	for items := msg.items; len(items) > 0 && !a.refused; {
		n, cmd, refused := a.part(items)
		if a.followJob(); refused != "" {
			a.refused, a.flash = true, refused
		}
		cmds, items = append(cmds, cmd), items[max(n, 1):]
	}
	return tea.Batch(cmds...)
}

// part handles the first of items, and as many more as a text field takes with them.
func (a *app) part(items []item) (n int, cmd tea.Cmd, refused string) {
	one, k := items[0], a.keys
	top, ok := a.top().(taker)
	takes := ok && top.takes()
	if one == (item{}) { // the mark of a bracketed paste
		return 1, nil, ""
	}
	if takes {
		if n, cmd, refused = top.taken(items); n > 0 || refused != "" {
			return n, cmd, refused
		}
	}
	_, asksWord := a.top().(wantsWord)
	switch {
	case one.text != "" && a.top().typing() && asksWord:
		return 1, nil, t("paste.word")
	case one.text != "", pressed(one.key, k.leave, k.control, k.sure), one.key.Mod == tea.ModAlt:
		return 1, nil, t("paste.refused")
	case takes, pressed(one.key, k.up, k.down, k.left, k.right, k.next, k.prev, k.pageUp, k.pageDown, k.first, k.last, k.delLeft, k.delRight, k.repaint):
		if dialog, ok := a.top().(*confirm); ok && len(dialog.word) == 0 {
			return 1, nil, t("paste.refused")
		}
		if a.handled++; a.handled > mostKeys {
			return 1, nil, t("paste.refused")
		}
		return 1, a.press(one.key), ""
	}
	return 1, nil, t("paste.refused")
}

package tui

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// gotKeyboard takes over what came of it, and returns the sentence for the person.
func (d *desk) gotKeyboard(msg keyboardMsg) string {
	d.board.layouts = msg.layouts
	switch {
	case msg.failed != nil:
		return d.explain(msg.failed)
	case msg.chosen == "":
		return ""
	}
	d.chooseKeyboard(msg.chosen)
	return t("keyboard.done", msg.chosen)
}

// chooseKeyboard remembers a layout, or that the keyboard stays unchanged.
func (d *desk) chooseKeyboard(layout string) {
	d.board.chosen = layout
	d.memory.keep(allScreens, ofKeyboard, layout)
}

// offersKeyboard reports whether a person has yet to be asked for the layout. One at another screen may have answered since this console
// started.
func (d *desk) offersKeyboard() bool {
	return len(d.board.layouts) > 0 && d.board.chosen == "" && d.memory.layout(d.name) == ""
}

// keyboardOf names the console whose person types at the same keyboard and has control; "" when nobody else does. The layout is not
// changed under their hands. A person elsewhere, on a serial line or over SSH, has another keyboard and is not disturbed.
func (d *desk) keyboardOf() string {
	if d.snap == nil || d.held {
		return ""
	}
	if holder := d.snap.Control.Holder; holder != d.name && holder != "" && d.board.of.Types(holder) {
		return holder
	}
	return ""
}

// layoutList is the page on which the layout is chosen. The first choice leaves it unchanged.
type layoutList struct {
	base
	ed editor // first letters of a name
	at int

	offered bool // automatically, when a person took control
}

// beforeWork are the pages on which text is typed before the work.
var beforeWork = []string{"checks", "form", "review"}

func newLayoutList(d *desk) *layoutList { return &layoutList{base: base{d}, ed: newEditor("")} }

func (l *layoutList) name() string  { return "keyboard" }
func (l *layoutList) overlay() bool { return true }
func (l *layoutList) typing() bool  { return true }

// over reports whether there is something else to see: the list came automatically, and the work has begun, or another console has control.
func (l *layoutList) over() bool {
	return l.offered && (!l.held || !slices.Contains(beforeWork, l.desk.wanted()))
}

func (l *layoutList) keys() []key.Binding {
	k := l.desk.keys
	return []key.Binding{k.up, k.enter, means(k.next, "key.cancel")}
}

// shown are the choices that begin with what was typed.
func (l *layoutList) shown() []string {
	typed := strings.ToLower(l.ed.value())
	if typed == "" {
		return append([]string{asItIs}, l.board.layouts...)
	}
	return slices.DeleteFunc(slices.Clone(l.board.layouts), func(name string) bool { return !strings.HasPrefix(strings.ToLower(name), typed) })
}

func (l *layoutList) update(msg tea.Msg) (screen, tea.Cmd) {
	press, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return l, nil
	}
	k, list := l.desk.keys, l.shown()
	switch {
	case pressed(press, k.next, k.prev):
		return nil, nil
	case pressed(press, k.up) && len(list) > 0:
		l.at = (l.at + len(list) - 1) % len(list)
	case pressed(press, k.down) && len(list) > 0:
		l.at = (l.at + 1) % len(list)
	case pressed(press, k.enter) && l.hasty(): // it was typed for another page
	case pressed(press, k.enter) && len(list) > 0:
		return nil, l.choose(list[l.at])
	case l.ed.press(press, k):
		l.at = 0
	}
	return l, nil
}

func (l *layoutList) choose(layout string) tea.Cmd {
	if other := l.keyboardOf(); other != "" { // who took control while the list was open
		l.flash = t("keyboard.theirs", other)
		return nil
	}
	if layout == asItIs {
		l.chooseKeyboard(layout)
		return nil
	}
	board, ctx := l.board, l.link.ctx
	return func() tea.Msg { return board.use(ctx, layout) }
}

func (l *layoutList) view(w, h int) page {
	lines := append([]string{l.theme.head.Render(t("keyboard.title")), ""}, wrap(t("keyboard.text"), w, "")...)
	typed, _ := l.typed(&l.ed, min(w, 40), false)
	lines = append(lines, "", t("keyboard.typed", typed), "")
	list, room, y := l.shown(), max(h-len(lines), 1), len(lines)
	if len(list) == 0 {
		return page{lines: append(lines, t("keyboard.none")), x: 0, y: y}
	}
	from := max(0, min(l.at-room/2, len(list)-room))
	for i := from; i < len(list) && i < from+room; i++ {
		name := list[i]
		if name == asItIs {
			name = t("keyboard.asItIs")
		}
		line := "  " + name
		if i == l.at {
			y, line = len(lines), marker+" "+l.theme.focus.Render(name)
		}
		lines = append(lines, cut(line, w))
	}
	return page{lines: lines, x: 0, y: y}
}

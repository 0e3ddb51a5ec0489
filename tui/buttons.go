package tui

import (
	"slices"

	"charm.land/lipgloss/v2"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// button is one thing that can be done: by Tab and Enter, or by its letter where no text is typed. The letter of a careful
// one only moves the focus to it, so that no word that is typed in the wrong place does it.
type button struct {
	key     key.Binding
	label   string
	do      func() (screen, tea.Cmd)
	careful bool
}

// mark is the letter in front of a label that is not English: the letters are the same in every language, so that help on the
// telephone and a hand that knows them need no other, and only English labels remind of them.
func (b button) mark() string {
	if keys := b.key.Keys(); here.Load() != nil && len(keys) > 0 && len([]rune(keys[0])) == 1 {
		return keys[0] + " "
	}
	return ""
}

// row is the focus among buttons.
type row struct{ at int }

// press moves the focus or returns the button that was chosen, by Enter or by its letter.
func (r *row) press(msg tea.KeyPressMsg, keys keyMap, list []button) *button {
	r.at = min(max(r.at, 0), len(list)-1)
	switch {
	case pressed(msg, keys.prev, keys.left):
		r.turn(-1, len(list))
	case pressed(msg, keys.next, keys.right):
		r.turn(1, len(list))
	case pressed(msg, keys.enter):
		return &list[r.at]
	}
	i := slices.IndexFunc(list, func(b button) bool { return pressed(msg, b.key) })
	if i >= 0 && list[i].careful {
		r.at = i
	}
	return letter(msg, list)
}

// turn moves the focus by step, round and round through n buttons.
func (r *row) turn(step, n int) { r.at = (r.at + step + n) % n }

// letter returns the button whose letter was typed, unless it is a careful one.
func letter(msg tea.KeyPressMsg, list []button) *button {
	for i := range list {
		if pressed(msg, list[i].key) && !list[i].careful {
			return &list[i]
		}
	}
	return nil
}

// view draws the buttons on as many lines as they need; x and y are where the one in focus begins.
func (r row) view(th theme, list []button, focused bool, w int) (lines []string, x, y int) {
	line := ""
	r.at = min(r.at, len(list)-1)
	for i, b := range list {
		part := "[ " + b.mark() + b.label + " ]"
		if lipgloss.Width(line)+lipgloss.Width(part)+2 > w {
			lines = append(lines, line)
			line = ""
		}
		if focused && i == r.at {
			x, y = lipgloss.Width(line)+3, len(lines)
			line += marker + th.focus.Render(part) + " "
			continue
		}
		line += " " + part + " "
	}
	return append(lines, line), x, y
}

// list draws the buttons below each other, each with a sentence, for a decision that needs one.
func (r row) list(th theme, list []button, says func(int) string, w int) (lines []string, y int) {
	widest := 0
	for _, b := range list {
		widest = max(widest, lipgloss.Width(b.label))
	}
	for i, b := range list {
		name := pad(b.label, widest)
		mark := " "
		if i == r.at {
			mark, y = marker, i
			name = th.focus.Render(name)
		}
		lines = append(lines, cut(mark+" "+b.key.Help().Key+"  "+name+"  "+says(i), w))
	}
	return lines, y
}

// choose moves the focus up and down, or returns the button that was chosen.
func (r *row) choose(msg tea.KeyPressMsg, keys keyMap, list []button) *button {
	switch {
	case pressed(msg, keys.up):
		r.turn(-1, len(list))
	case pressed(msg, keys.down):
		r.turn(1, len(list))
	default:
		return r.press(msg, keys, list)
	}
	return nil
}

package tui

import (
	"strconv"
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
)

// keyMap holds every key that does something. Letters act only where no text is typed. Ctrl chords that a browser, a
// terminal program or flow control swallows (W T N Q S A Z) are not used.
type keyMap struct {
	next, prev, up, down, left, right, enter, toggle key.Binding
	pageUp, pageDown, first, last                    key.Binding
	back, help, control, log, repaint, leave, mode   key.Binding
	restore, restorePage, erase, delLeft, delRight   key.Binding
	yes, no, sure, find, follow                      key.Binding
	again, goOn, waive, retry, edit, skip, undo, act key.Binding
	withdraw                                         key.Binding
	bundle, offer, stop, report, handover, unlock    key.Binding
	reboot, powerOff, checks, inventory, part, logIn key.Binding
	language, keyboard, plain, advanced, files       key.Binding
	fitness, profile, diskTest, grave, journal       key.Binding
}

func bind(text string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(label(keys[0]), t(text)))
}

// named gives a key another name in the footer, such as that of a pair.
func named(b key.Binding, name string) key.Binding {
	b.SetHelp(name, b.Help().Desc)
	return b
}

// means gives a key another meaning in the footer.
func means(b key.Binding, text string) key.Binding {
	b.SetHelp(b.Help().Key, t(text))
	return b
}

func newKeys() keyMap {
	return keyMap{
		next: bind("key.next", "tab"), prev: bind("key.prev", "shift+tab"),
		up: named(bind("key.up", "up"), t("cap.updown")), down: bind("key.down", "down"),
		left: named(bind("key.left", "left"), t("cap.leftright")), right: bind("key.right", "right"),
		enter: bind("key.enter", "enter", "ctrl+j"), toggle: bind("key.toggle", "space"),
		pageUp: bind("key.pageUp", "pgup", "-"), pageDown: bind("key.pageDown", "pgdown", "space"),
		first: bind("key.first", "home"), last: bind("key.last", "end"),
		back: bind("key.back", "b", "esc"), help: bind("key.help", "?", "f1", "alt+1"),
		control: bind("key.control", "ctrl+g"), log: bind("key.log", "l"),
		repaint: bind("key.repaint", "ctrl+l"), leave: bind("key.leave", "ctrl+c"),
		mode:    bind("key.mode", "m"),
		restore: bind("key.restore", "ctrl+r"), erase: bind("key.erase", "ctrl+u"),
		restorePage: bind("key.restorePage", "o"),
		delLeft:     bind("key.delLeft", "backspace", "ctrl+h"), delRight: bind("key.delRight", "delete"),
		yes: bind("key.yes", "y"), no: bind("key.no", "n"), sure: bind("key.yes", "ctrl+y"),
		find: bind("key.find", "/"), follow: bind("key.follow", "f"),
		again: bind("key.again", "i"), goOn: bind("key.goOn", "c"), waive: bind("key.waive", "w"), withdraw: bind("key.withdraw", "h"),
		retry: bind("key.retry", "r"), edit: bind("key.edit", "e"), skip: bind("key.skip", "s"),
		undo: bind("key.undo", "u"), bundle: bind("key.bundle", "p"), offer: bind("key.offer", "o"), stop: bind("key.stop", "x"),
		report: bind("key.report", "r"), handover: bind("key.handover", "h"), unlock: bind("key.unlock", "k"),
		reboot: bind("key.reboot", "R"), powerOff: bind("key.powerOff", "P"),
		checks: bind("key.checks", "v"), act: bind("key.act", "a"),
		inventory: bind("key.inventory", "t"), part: named(bind("key.part", "right"), t("cap.leftright")),
		logIn: bind("key.logIn", "g"), language: bind("key.language", "d"), keyboard: bind("key.keyboard", "k"), plain: bind("key.plain", "1"),
		grave: bind("key.grave", "w"), journal: bind("key.journal", "j"),
		fitness: bind("key.fitness", "f"), profile: bind("key.profile", "p"), diskTest: bind("key.diskTest", "x"),
		advanced: bind("key.advanced", "d"), files: bind("key.files", "f", "ctrl+o"),
	}
}

// editing are the keys of a text field. All others of the model, such as those that cut words or start a program for a
// clipboard, are off.
func (k keyMap) editing() textinput.KeyMap {
	return textinput.KeyMap{
		CharacterBackward: k.left, CharacterForward: k.right, LineStart: k.first, LineEnd: k.last,
		DeleteCharacterBackward: k.delLeft, DeleteCharacterForward: k.delRight,
	}
}

// numbered is the key of the choice with index i, from 1 to 9.
func numbered(i int) key.Binding {
	n := strconv.Itoa(i + 1)
	return key.NewBinding(key.WithKeys(n), key.WithHelp(n, ""))
}

// label is how a key is called in the footer.
func label(name string) string {
	if rest, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return t("cap.ctrl", strings.ToUpper(rest))
	}
	return worded("cap", name)
}

// pressed reports whether msg is one of the keys of b.
func pressed(msg tea.KeyPressMsg, b ...key.Binding) bool { return key.Matches(msg, b...) }

// digit returns the digit typed, or -1.
func digit(msg tea.KeyPressMsg) int {
	if s := msg.Key().Text; len(s) == 1 && s[0] >= '0' && s[0] <= '9' {
		return int(s[0] - '0')
	}
	return -1
}

package tui

import (
	"strings"
	"unicode"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// remember records the page that is drawn, when it is not the one that was drawn before.
func remember(a *app, drawn string) {
	if drawn == a.drawn {
		return
	}
	a.drawn = drawn
	top := a.top()
	page := top.name()
	if a.locked() {
		page += ", locked"
	}
	if top.private() {
		a.seen.shows(a.now(), a.clock(), a.lastAct, page, []string{"what is on this page is not recorded"})
		return
	}
	a.blind = true
	lines := plainText(a.frame(top, a.w, a.h).lines)
	a.blind = false
	if len(lines) > above+below { // the first line has the clock, the last one the keys
		page += ", " + strings.Join(strings.Fields(lines[1]), " ")
		lines = lines[2 : len(lines)-1]
	}
	a.seen.shows(a.now(), a.clock(), a.lastAct, page, lines)
}

// pressedKey is what is recorded of a key: its name where it is no character, what it does where it is one that does something. Whoever
// types a secret in the wrong place must not find it in the record.
func pressedKey(a *app, msg tea.KeyPressMsg) string {
	k, top := a.keys, a.top()
	switch pressed := msg.Key(); {
	case pressed.Text == "" && (pressed.Mod == tea.ModCtrl || !unicode.IsPrint(pressed.Code)):
		return "key " + msg.String()
	case a.locked(), top.typing():
		return someTyping
	case pressed.Text == "": // Alt and a letter, as it comes of Esc and a letter
		return "another key"
	}
	for _, b := range []key.Binding{k.help, k.plain, k.mode, k.pen} {
		if pressed(msg, b) {
			return "key " + msg.String() + ": " + b.Help().Desc
		}
	}
	if of, ok := top.(interface{ buttons() []button }); ok {
		for _, b := range of.buttons() {
			if pressed(msg, b.key) {
				return "key " + msg.String() + ": " + b.label
			}
		}
	}
	return "another key"
}

// acts records what a person does.
func acts(a *app, what string) {
	a.lastAct = a.clock()
	a.seen.note(a.now(), what)
}

package tui

import (
	"strings"
	"unicode"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// remember records the page that is drawn, when it is not the one that was drawn before. It is drawn again only when it has what the
// record must not have, and the record takes it now.
func remember(a *app, p page, drawn string) {
	if drawn == a.drawn {
		return
	}
	a.drawn = drawn
	top := a.top()
	name, framed := top.name(), !top.private() && len(p.lines) > above+below
	if a.locked() {
		name += ", locked"
	}
	if framed { // the second line tells where one is
		name += ", " + strings.Join(strings.Fields(ansi.Strip(p.lines[1])), " ")
	}
	if !a.seen.takes(a.clock(), a.lastAct, name) {
		return
	}
	if top.private() {
		a.seen.shows(a.now(), a.clock(), a.lastAct, name, []string{"what is on this page is not recorded"})
		return
	}
	if a.hides {
		a.blind = true
		p = a.frame(top, a.w, a.h)
		a.blind = false
	}
	if framed { // the first line has the clock, the last one the keys
		p.lines = p.lines[2 : len(p.lines)-1]
	}
	a.seen.shows(a.now(), a.clock(), a.lastAct, name, plainText(p.lines))
}

// pressedKey is what is recorded of a key: its name where it is not a character, what it does where it is one that does something. Whoever
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
	for _, b := range []key.Binding{k.help, k.plain, k.mode, k.control} {
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

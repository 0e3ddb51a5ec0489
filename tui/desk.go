package tui

import (
	"errors"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"touchdown/steps/view"
)

// desk is what all screens share. Only update functions change it.
type desk struct {
	*client
	*answers
	*course

	theme   theme
	keys    keyMap
	basic   bool
	memory  memory
	board   keyboard
	support string // whom to call
	save    func([]byte) (string, error)
	shown   time.Time // since when the page on top is there
	touched bool      // a key other than Enter was pressed there
	seen    *record   // what this console showed, for support
	blind   bool      // a page is drawn for the record
	hides   bool      // something was drawn that the record must not have
}

func newDesk(l *link, o Options) *desk {
	basic := o.Mode == Basic
	c := &client{link: l, clock: o.Clock, name: o.Name}
	if o.token != nil {
		l.given, c.held, *o.token = *o.token, *o.token != "", ""
	}
	d := &desk{
		client: c, answers: &answers{client: c, unsent: map[string]string{}, refused: map[string]string{}}, course: &course{client: c},
		theme: newTheme(basic), basic: basic, memory: memory{o.Memory}, support: o.Support, save: o.Save, seen: newRecord(l.session.Shown),
	}
	d.board = keyboard{of: o.Keyboard, chosen: d.memory.layout(d.name)}
	d.speak(o.Language)
	return d
}

// speak sets the language of this console, in letters that its theme can show.
func (d *desk) speak(code string) {
	if err := speak(code, d.basic); err != nil {
		d.flash = err.Error()
	}
	d.keys = newKeys()
}

// chooseLanguage is speak for a language that a person chose: the line remembers it.
func (d *desk) chooseLanguage(code string) {
	d.speak(code)
	d.memory.keep(d.name, ofLanguage, code)
}

// ends gives control back, unless the console goes on in its other mode.
func (d *desk) ends(o Options, why error) {
	if errors.Is(why, errOther) && o.token != nil && d.held {
		*o.token = d.link.token()
		return
	}
	d.link.release()
}

// enterDelay is how long a page that decides ignores Enter after it came up: the key may have been meant for the page before.
const enterDelay = time.Second

// hasty reports whether the page on top came up just now.
func (d *desk) hasty() bool { return d.clock().Sub(d.shown) < enterDelay }

// actKey is the key for what a field offers, under its own name.
func (d *desk) actKey(v view.Field) key.Binding {
	b := d.keys.act
	b.SetHelp(b.Help().Key, show(v.Act.Label))
	return b
}

// bundle has a support bundle made, and written to a stick or saved.
func (d *desk) bundle() tea.Cmd {
	d.flash = t("bundle.making")
	return d.link.bundle(d.save)
}

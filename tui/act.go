package tui

import (
	"errors"
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"touchdown/steps"
	"touchdown/steps/engine"
)

// aside is what stands below a field in place of its help: what the machine does for one of its values, or why it cannot.
type aside struct{ path, value, text string }

// canAct reports whether the machine can do something for the value of a field.
func (d *desk) canAct(v engine.FieldView, value string) bool {
	return v.Act != nil && d.held && slices.ContainsFunc(v.Choices, func(c steps.Choice) bool { return c.Value == value })
}

// actKey is the key for what a field offers, under its own name.
func (d *desk) actKey(v engine.FieldView) key.Binding {
	b := d.keys.act
	b.SetHelp(b.Help().Key, v.Act.Label)
	return b
}

// act has the machine do what a field offers, unless it does already. Nothing waits for its end: writes go on meanwhile.
func (d *desk) act(v engine.FieldView, value string) tea.Cmd {
	doing := aside{v.Path, value, t("act.doing", value, v.Act.Doing)}
	if d.aside == doing {
		return nil
	}
	d.aside = doing
	return d.link.actAside(engine.Action{Verb: engine.Act, Path: v.Path, Value: value})
}

// try is act for a line terminal: it waits for the end.
func (p *prompts) try(v engine.FieldView, value string) {
	cmd := p.desk.act(v, value)
	p.write(p.aside.text)
	if msg, ok := cmd().(actMsg); ok {
		p.flash = ""
		p.absorb(msg.snapshot)
		p.actedAside(msg)
		p.write(p.aside.text, p.flash)
	}
	p.aside = aside{}
}

// actedAside takes the sentence away when it is over, or says why it could not be. An answer for another value than the one
// tried last is out of date.
func (d *desk) actedAside(msg actMsg) {
	if d.aside.path != msg.action.Path || d.aside.value != msg.action.Value {
		return
	}
	d.aside.text = ""
	if p, ok := errors.AsType[*steps.Problem](msg.failed); ok {
		d.aside.text = alert + p.Summary + " " + p.Fix
	} else if msg.failed != nil {
		d.flash = d.explain(msg.failed)
	}
}

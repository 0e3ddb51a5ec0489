package tui

import (
	"slices"
	"strings"

	"touchdown/steps/session"
)

// oneOf asks for one of the words that a prompt takes. What is none of them is told, and asked for again; an empty line is an answer.
func (p *talk) oneOf(prompt string, takes func(string) bool) (string, error) {
	for {
		text, err := p.decide(prompt)
		if err != nil || text == "" || takes(text) {
			return text, err
		}
		p.strange(text)
	}
}

// strange tells that a line is not understood; nothing, of an empty line.
func (p *talk) strange(text string) {
	if text != "" {
		p.printed("that a word is not understood", []string{t("plain.strange", cut(text, minWidth/2))})
	}
}

// wayOn is one of the numbered ways on.
type wayOn struct {
	name string // the button of the same way on a screen
	do   func() error
}

// choose has a person choose one.
func (p *talk) choose(ways []wayOn) error {
	var names []string
	for _, w := range ways {
		names = append(names, t("button."+w.name))
	}
	n, err := p.options(names...)
	if n < 0 || err != nil {
		return err
	}
	return ways[n].do()
}

// shows is a way on that only shows something.
func shows(name string, show func()) wayOn {
	return wayOn{name, func() error { show(); return nil }}
}

// sure is a way on that a wrong number must not start: it says what it does, and asks for the word.
func (p *prompts) sure(name, title, text string, a session.Action) wayOn {
	return wayOn{name, func() error {
		p.write(title)
		p.write(wrap(text, minWidth, "")...)
		typed, err := p.decide(t("confirm.type", p.word()))
		if slices.ContainsFunc(p.words(), func(w string) bool { return strings.EqualFold(w, typed) }) {
			p.act(a)
		} else {
			p.strange(typed)
		}
		return err
	}}
}

// unlock asks for the host name. An empty line leaves the node locked.
func (p *prompts) unlock() error {
	p.write(t("unlock.title"), t("unlock.text"))
	name, err := p.ask(t("confirm.type", p.hostWord()))
	switch {
	case err != nil || name == "":
	case strings.EqualFold(name, p.hostWord()):
		p.act(session.Action{Verb: session.Unlock, Value: p.snap.Hostname})
	default: // the engine says what to type
		p.act(session.Action{Verb: session.Unlock, Value: name})
	}
	return err
}

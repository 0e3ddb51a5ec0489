package tui

import (
	"sync/atomic"

	tea "charm.land/bubbletea/v2"

	"touchdown/steps/session"
	"touchdown/steps/view"
)

// prompts is the console as numbered questions, line by line, for terminals that cannot place the cursor.
type prompts struct {
	*desk
	*talk
	told told

	stands string // what was told of the job before control or the PIN was asked for

	busy atomic.Bool // the prompt asks about a release on a stick, or takes the rest of an answer: it hears nothing of a release
}

// asksNow reports whether the job's state asks a person for something.
func (p *prompts) asksNow() bool { return !p.moving() || p.state() == view.InQuestion }

// asked are the stages that are gone through: all listed ones, or the advanced one that a person opened.
func (p *prompts) asked() []view.Stage {
	if stage, i := p.stage(p.opened); i >= 0 && stage.Advanced {
		return []view.Stage{stage}
	}
	return p.listed()
}

// do carries out a command at once and returns what there is to say about it.
func (p *prompts) do(cmd tea.Cmd) string {
	p.flash = ""
	switch msg := cmd().(type) {
	case setMsg:
		p.absorb(msg.snapshot)
		p.fieldSet(msg)
	case actMsg:
		p.absorb(msg.snapshot)
		if msg.failed != nil {
			return p.explain(msg.failed)
		}
	case controlMsg:
		p.absorb(msg.snapshot)
		if p.held = msg.failed == nil; !p.held {
			return p.explain(msg.failed)
		}
	case docMsg:
		if msg.failed != nil {
			return p.explain(msg.failed)
		}
		return documentText(msg)
	}
	return p.flash
}

func (p *prompts) act(a session.Action) { p.write(p.do(p.link.act(a))) }

package tui

import (
	"context"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"touchdown/steps/engine"
)

// prompts is the console as numbered questions, line by line, for terminals that cannot place the cursor.
type prompts struct {
	*desk
	*talk
	told told
}

// Plain is Run for a terminal that cannot place the cursor, under the console's name. The end of the input ends it with
// ErrHungUp wherever it is; nothing is ever taken as agreed by that.
func Plain(ctx context.Context, session engine.Session, name string, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o := Options{Name: name, Mode: Basic, Clock: time.Now, Save: saveBundle}
	p := &prompts{desk: newDesk(newLink(ctx, session, name, time.Second), o), talk: &talk{ctx, in, Safe(out, true), make(chan string)}}
	go p.listen()
	defer p.link.release()
	go p.link.follow() // keeps the pen
	for {
		if err := p.turnOnce(); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
}

// turnOnce does what the job's state asks for. Its error ends the console.
func (p *prompts) turnOnce() error {
	p.absorb(p.link.look())
	switch {
	case p.gone != nil || p.snap == nil:
		p.write(t("engine.gone"))
		return p.pause(retryPause)
	case p.free() && p.asksNow():
		answer, err := p.decide(t("plain.take", t("plain.control")))
		if err == nil && answer == t("plain.control") {
			p.write(p.do(p.link.take(false)))
		}
		return err
	case !p.held && p.asksNow():
		p.write(p.penState())
		answer, err := p.decide(t("plain.pen", t("plain.control")))
		if err == nil && answer == t("plain.control") {
			p.write(p.do(p.link.take(true)))
		}
		return err
	}
	switch p.wanted() {
	case "form", "checks", "hello":
		return p.questions()
	case "review":
		return p.review()
	case "question":
		return p.decision()
	case "problem":
		return p.trouble()
	case "dashboard":
		return p.finish()
	}
	return p.watch()
}

// asksNow reports whether the job's state asks a person for something.
func (p *prompts) asksNow() bool { return !p.moving() || p.state() == engine.InQuestion }

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
	case penMsg:
		p.absorb(msg.snapshot)
		if p.held = msg.failed == nil; !p.held {
			return p.explain(msg.failed)
		}
	case docMsg:
		if msg.failed != nil {
			return p.explain(msg.failed)
		}
		return string(msg.data)
	}
	return p.flash
}

func (p *prompts) act(a engine.Action) { p.write(p.do(p.link.act(a))) }

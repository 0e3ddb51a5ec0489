package tui

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"touchdown/steps/engine"
	"touchdown/steps/idle"
)

// Plain is Run for a terminal that cannot place the cursor, under the console's name. The end of the input ends it with
// ErrHungUp wherever it is; nothing is ever taken as agreed by that.
func Plain(ctx context.Context, session engine.Session, name string, in io.Reader, out io.Writer) error {
	return plainText(ctx, session, Options{Name: name, Clock: time.Now, Save: saveBundle}, in, out)
}

// plainText is Plain with all options of a console. All that it prints is ASCII.
func plainText(ctx context.Context, session engine.Session, o Options, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o.Mode = Basic
	p := &prompts{
		desk: newDesk(newLink(ctx, session, o.Name, time.Second), o),
		talk: &talk{ctx: ctx, in: in, out: Safe(out, true), lines: make(chan string)},
	}
	p.talk.heard = p.heard
	go p.listen()
	defer p.link.release()
	go p.link.follow() // keeps the pen
	for {
		if err := p.turnOnce(); err != nil && !errors.Is(err, idle.ErrLocked) {
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
	case p.locked() && p.asksNow():
		return p.plainLock()
	case p.free() && p.asksNow():
		p.write(t("plain.language", ownName(following()), following()))
		answer, err := p.decide(t("plain.take", t("plain.control")))
		switch {
		case err != nil:
		case slices.Contains(Languages(), answer):
			p.speak(answer)
		case answer == t("plain.control"):
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

package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"touchdown/steps/idle"
	"touchdown/steps/session"
)

// onPaper is Run in plain text. It says so where the screens failed.
func onPaper(ctx context.Context, engine session.Session, o Options, failed bool) error {
	input, err := newInput(o.In, 0)
	if err != nil {
		return fmt.Errorf("preparing the terminal: %w", err)
	}
	defer input.close()
	defer wholeLines(o.In)()
	line := talk{in: lineReader{input}, tty: o.In, out: o.Out, screens: o.Mode != Line}
	return prompting(ctx, engine, o, line, func() (said []string) {
		if failed {
			said = append(said, t("plain.crashed"))
		}
		if line.screens {
			said = append(said, t("plain.back", t("plain.screens")))
		}
		return said
	})
}

// prompting is the console in plain text, all of it ASCII, for a terminal that cannot place the cursor. The end of the input ends it
// with ErrHungUp wherever it is; nothing is ever taken as agreed by that. What it says first may be nil.
func prompting(ctx context.Context, engine session.Session, o Options, line talk, first func() []string) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o.Mode = Basic
	line.ctx, line.out, line.lines, line.news = ctx, Safe(line.out, true), make(chan string), make(chan string)
	p := &prompts{desk: newDesk(newLink(ctx, engine, o.Name, time.Second), o), talk: &line}
	p.talk.heard, p.talk.leaves = p.heard, func() string { return ofLeaving(p.snap) }
	p.talk.record = func(line string) { p.seen.note(p.now(), line) }
	defer p.seen.begin(p.link.ctx)()
	if first != nil {
		p.write(first()...)
	}
	go p.listen()
	defer func() { p.ends(o, err) }()
	go p.link.follow() // keeps control
	go announce(p)
	if p.board.of != nil {
		p.write(p.gotKeyboard(p.board.start(p.link.ctx)))
	}
	for {
		err = p.turnOnce()
		switch {
		case err == nil, errors.Is(err, idle.ErrLocked):
		case errors.Is(err, errLeft):
			p.write(wrap(t("leave.left"), minWidth, "")...)
			return nil
		case ctx.Err() != nil:
			return nil
		default:
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
		_, err := p.pause(retryPause, "")
		return err
	case p.snap.Update.Runs():
		return plainUpdate(p)
	case p.locked() && p.asksNow():
		tellStanding(p)
		return p.plainLock()
	case p.free() && p.asksNow():
		tellStanding(p)
		p.write(t("plain.language", ownName(following()), following()))
		if len(p.board.layouts) > 0 {
			p.write(t("plain.keyboard", t("plain.use")))
		}
		answer, err := p.oneOf(t("plain.take", t("plain.control")), func(text string) bool {
			return isControl(text) || slices.Contains(Languages(), text) || ofLayout(p, text)
		})
		switch {
		case err != nil:
		case slices.Contains(Languages(), answer):
			p.chooseLanguage(answer)
		case isControl(answer):
			p.write(p.do(p.link.take(false)))
		case answer != "":
			p.useLayout(answer)
		}
		return err
	case !p.held && p.asksNow():
		tellStanding(p)
		p.write(p.controlState())
		answer, err := p.oneOf(t("plain.takeControl", t("plain.control")), isControl)
		if err == nil && isControl(answer) {
			p.write(p.do(p.link.take(true)))
		}
		return err
	}
	p.stands = ""
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
	case "update":
		return plainUpdate(p)
	}
	return p.watch()
}

// isControl tells whether a line asks for control.
func isControl(text string) bool { return strings.EqualFold(text, t("plain.control")) }

// ofLayout tells whether a line asks for a layout of the keyboard. The word's letters are where they are on most keyboards.
func ofLayout(p *prompts, text string) bool {
	words := strings.Fields(text)
	return len(p.board.layouts) > 0 && len(words) > 0 && words[0] == t("plain.use")
}

// useLayout changes the layout of the keyboard to the one that a line names.
func (p *prompts) useLayout(answer string) {
	layout := strings.Join(strings.Fields(answer)[1:], " ")
	if slices.Contains(p.board.layouts, layout) {
		p.absorb(p.link.look()) // who has control may be another one since the prompt
		if other := p.keyboardOf(); other != "" {
			p.write(t("keyboard.theirs", other))
			return
		}
		p.write(p.gotKeyboard(p.board.use(p.link.ctx, layout)))
		return
	}
	alike := slices.DeleteFunc(slices.Clone(p.board.layouts), func(name string) bool { return layout != "" && name[0] != layout[0] })
	p.write(wrap(t("plain.layouts", strings.Join(alike, ", ")), minWidth, "")...)
}

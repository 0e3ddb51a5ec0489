package tui

import (
	"errors"
	"strings"
	"time"

	"touchdown/steps/idle"
	"touchdown/steps/updates"
	"touchdown/steps/view"
)

// plainLock asks for the PIN on a line terminal, which shows none of it.
func (p *prompts) plainLock() error {
	p.write(t("lock.after", limit(seconds(p.snap.Idle.After))))
	if err := p.drop(); err != nil { // what came before the prompt is not a PIN
		return err
	}
	p.echo(false)
	typed, err := p.prompted(t("lock.pin"))
	p.echo(true)
	p.write(" ")
	if err == nil && typed == "" {
		_ = p.heard() // the console stays locked, and the line is a key all the same
	}
	if err == nil && strings.HasSuffix(typed, interrupt) {
		return p.askToLeave() // to the login, which wants a password; the console comes back locked
	}
	if typed = strings.TrimSpace(typed); err != nil || typed == "" {
		return err
	}
	if msg, ok := p.link.present(typed)().(presentMsg); ok {
		p.absorb(msg.snapshot)
		p.write(p.ofPIN(msg.failed))
	}
	return nil
}

// announcePause is how often a console that waits for a line looks whether there is something to announce.
const announcePause = 2 * time.Second

// announce tells a person at a prompt that the node is about to start without one, or that a release on a stick has a question.
func announce(p *prompts) {
	for said := ""; ; {
		select {
		case <-p.ctx.Done():
			return
		case <-time.After(announcePause):
		}
		line := unasked(p, p.link.look().snap)
		if line == "" {
			said = ""
			continue
		}
		if line != said {
			select {
			case p.news <- line:
				said = line
			default: // nobody waits for a line
			}
		}
	}
}

// unasked is what a person at a prompt has to know at once; "" for nothing. The countdown goes before other notices.
func unasked(p *prompts, s *view.Snapshot) string {
	switch {
	case starts(s) && len(s.Notices) > 0:
		return show(s.Notices[0])
	case s != nil && s.Update.Shown() && !p.busy.Load():
		return ofUpdate(p, s)
	}
	return ""
}

// ofUpdate is what a person at a prompt hears of a release on a stick, and that a line leads to more of it only where it does: not at the
// PIN, not without control, and not while the job is at work or asks for something else.
func ofUpdate(p *prompts, s *view.Snapshot) string {
	title, leads := t("plain.update"), "plain.updateAsks"
	switch o := s.Update; {
	case o.Runs():
		return t("update.runs", o.Version)
	case o.State != updates.Asks:
		title, leads = unusedTitle(o), "plain.updateWhy"
	}
	locked := s.Idle != nil && s.Idle.Left <= 0
	if locked || s.Control.Holder != p.name || !showsUpdate(s) {
		return t("plain.updateOnly", title)
	}
	return t(leads, title)
}

// heard tells the engine that a person typed a line. Its error means that the console is locked and the line is nothing. What the console
// saw last may be old: the engine is told where no PIN is set, too, as a line keeps it from starting without a person.
func (p *prompts) heard() error {
	if p.snap == nil {
		return nil
	}
	msg, ok := p.link.present("")().(presentMsg)
	if !ok {
		return nil
	}
	p.absorb(msg.snapshot)
	if errors.Is(msg.failed, idle.ErrLocked) {
		return msg.failed
	}
	return nil
}

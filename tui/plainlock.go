package tui

import (
	"errors"
	"strings"

	"touchdown/steps/idle"
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

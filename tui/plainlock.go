package tui

import (
	"errors"

	"touchdown/steps/idle"
)

// plainLock asks for the PIN on a line terminal, which shows none of it.
func (p *prompts) plainLock() error {
	p.write(t("lock.after", span(seconds(p.snap.Idle.After))))
	p.echo(false)
	typed, err := p.read(t("lock.pin"))
	p.echo(true)
	p.write(" ")
	if err != nil || typed == "" {
		return err
	}
	if msg, ok := p.link.present(typed)().(presentMsg); ok {
		p.absorb(msg.snapshot)
		p.write(p.ofPIN(msg.failed))
	}
	return nil
}

// heard tells the engine that a person typed a line. Its error means that the console is locked and the line is nothing.
func (p *prompts) heard() error {
	if p.snap == nil || p.snap.Idle == nil {
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

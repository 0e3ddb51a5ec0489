package tui

import (
	"time"

	"touchdown/steps/session"
)

// watch tells what the work says when it changes, and that it goes on when nothing does.
func (p *prompts) watch() error {
	word := t("plain.stopWord")
	if p.told == (told{}) && p.held {
		p.write(t("plain.stop", word))
	}
	if line := p.told.news(work{base: base{p.desk}}, p.now()); line != "" {
		p.write(line)
	}
	if typed, err := p.pause(2*time.Second, word); !typed {
		return err
	}
	return stopWork(p)
}

// stopWork asks whether the work is to stop.
func stopWork(p *prompts) error {
	if err := p.heard(); err != nil || !p.moving() {
		return err
	}
	if !p.held {
		p.write(t("control.readonly"))
		return nil
	}
	return p.sure("cancel", t("cancel.title"), t("cancel.text"), session.Action{Verb: session.Cancel}).do()
}

package tui

import (
	"slices"
	"strings"
	"time"

	"touchdown/steps/session"
	"touchdown/steps/updates"
)

// plainUpdate asks about the release on a stick, or tells of it. No number alone starts an update: the host name is typed.
func plainUpdate(p *prompts) error {
	u := newUpdate(p.desk)
	title, text := u.lines(minWidth)
	lines := slices.Concat(title, text)
	if u.of.Runs() {
		if said := strings.Join(lines, "\n"); said != p.told.line {
			p.told.line = said
			p.write(lines...)
		}
		_, err := p.pause(2*time.Second, "")
		return err
	}
	p.told = told{}
	p.busy.Store(true)
	defer p.busy.Store(false)
	p.write(lines...)
	names := []string{t("button.close")}
	if u.of.State == updates.Asks {
		names = []string{t("button.updateNot"), t("button.update")}
	}
	n, err := p.options(names...)
	switch n {
	case 0:
		p.act(session.Update.Close(&u.of))
	case 1:
		p.write(t("update.sure", u.of.Version))
		if wantsHostName(p.snap) {
			p.write(wrap(t("update.landed"), minWidth, "")...)
		}
		typed, err := p.decide(t("confirm.type", p.hostWord()))
		if strings.EqualFold(typed, p.hostWord()) {
			p.act(session.Action{Verb: session.Update, Fingerprint: u.of.Program, Value: p.snap.Hostname})
		} else {
			p.strange(typed)
		}
		return err
	}
	return err
}

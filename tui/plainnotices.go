package tui

import (
	"time"

	"touchdown/steps/updates"
	"touchdown/steps/view"
)

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

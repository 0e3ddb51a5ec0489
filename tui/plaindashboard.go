package tui

import (
	"strings"

	"touchdown/steps/session"
	"touchdown/steps/view"
)

// finish tells how the job ended, and lists what can be done then.
func (p *prompts) finish() error {
	d := dashboard{base: base{p.desk}}
	p.write(d.text(minWidth)...)
	p.changes = liveNews(p)
	defer func() { p.changes = nil }()
	document := func(name string, what session.Document) wayOn {
		return shows(name, func() { p.printed(string(what), strings.Split(p.do(p.link.export(what, nil)), "\n")) })
	}
	undo := p.sure("undo", t("undo.title"), ofUndo(p.desk), session.Action{Verb: session.Undo})
	sure := func(name string, verb session.Verb) wayOn {
		return p.sure(name, t(name+".title"), t(name+".text"), session.Action{Verb: verb})
	}
	var ways []wayOn
	done, line := p.state() == view.IsDone, p.snap.List == view.ListFactory
	if done {
		ways = append(ways, document("report", session.ReportText))
	}
	switch {
	case p.snap.Locked:
		ways = append(ways, wayOn{"unlock", p.unlock})
	case done && line: // a node on the bench line is sealed, not handed over
		ways = append(ways, undo)
	case done:
		ways = append(ways, undo, sure("handover", session.HandOver), wayOn{"logIn", func() error { return plainLogIn(p) }})
	}
	ways = append(ways, shows("bundle", func() { p.write(p.bundled()...) }), shows("log", func() { plainRecords(p, false) }),
		sure("reboot", session.Reboot), sure("powerOff", session.PowerOff), document("inventory", session.InventoryPage))
	if again := sure("move", session.Edit); !p.snap.Locked {
		if line {
			again.name = "recheck"
		}
		ways = append(ways, again)
	}
	return p.choose(append(ways, forSupport(p)...))
}

// liveNews is what line mode tells of the cluster while it waits: the verdict and the newest change, once for each.
func liveNews(p *prompts) func() []string {
	l, said := live{base{p.desk}}, ""
	if p.snap.Live != nil {
		said = strings.Join(l.newest(minWidth), "\n")
	}
	return func() []string {
		p.absorb(p.link.look())
		if p.snap == nil || p.snap.Live == nil {
			return nil
		}
		lines := l.newest(minWidth)
		if text := strings.Join(lines, "\n"); text != said {
			said = text
			return lines
		}
		return nil
	}
}

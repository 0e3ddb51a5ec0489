package tui

import (
	"touchdown/steps/session"
)

// whatFailed is what became of the work, in lines.
func whatFailed(d *desk) []string {
	v := failure(d.snap)
	return append([]string{became(d), show(v.Summary), t("problem.fix", v.Fix), t("problem.code", v.Code), show(v.Detail)}, v.Output...)
}

// trouble tells of a failure, and lists the ways on.
func (p *prompts) trouble() error {
	step, _ := p.current()
	lost := lostRecords(p.snap)
	p.write(whatFailed(p.desk)...)
	if p.snap.Locked {
		return p.unlock()
	}
	does := func(name string, verb session.Verb) wayOn {
		return shows(name, func() { p.act(session.Action{Verb: verb}) })
	}
	edit := shows("edit", func() { p.write(p.do(p.fix(step.Asks, true))) })
	undo := p.sure("undo", t("undo.title"), ofUndo(p.desk), session.Action{Verb: session.Undo})
	rest := []wayOn{undo, shows("bundle", func() { p.write(p.bundled()...) }), shows("log", func() { plainRecords(p, false) })}
	ways := []wayOn{p.sure("continue", t("lost.title"), t("lost.text"), session.Action{Verb: session.Retry}), edit}
	if !lost {
		skip := p.sure("skip", t("skip.title", step.Title), t("skip.text"), session.Action{Verb: session.Skip, Step: step.ID})
		ways = []wayOn{does("retry", session.Retry), edit, skip}
	}
	if ways = append(ways, rest...); len(p.allFindings(bad)) > 0 {
		ways = append(ways, wayOn{"waive", func() error { return plainWaive(p) }})
	}
	return p.choose(append(ways, forSupport(p)...))
}

package tui

import (
	"cmp"

	"touchdown/steps/session"
)

// tellFound tells what was found out, and what to do about what did not pass.
func tellFound(p *prompts) {
	for _, stage := range p.snap.Stages {
		tell(p, findings(stage))
	}
}

func tell(p *prompts, found []finding) {
	c := checks{base: base{p.desk}}
	for _, f := range found {
		if p.write(c.line(f, minWidth)); bad(f) && show(f.Fix) != "" {
			p.write(hang(t("checks.fix", f.Fix), minWidth, "        ", 8)...)
		}
	}
}

// waivable are the checks that did not pass.
func (p *prompts) waivable() []finding {
	var all []finding
	for _, stage := range p.snap.Stages {
		for _, f := range findings(stage) {
			if bad(f) {
				all = append(all, f)
			}
		}
	}
	return all
}

// waive asks which check, who and why. An empty answer leaves everything as it was.
func (p *prompts) waive() error {
	all := p.waivable()
	var names []string
	for _, f := range all {
		names = append(names, show(f.Title)+": "+show(f.Observed))
	}
	n, err := p.options(names...)
	if n < 0 || err != nil {
		return err
	}
	p.write(t("waive.title", all[n].Title), t("waive.text"))
	ask := t("waive.by") + ":"
	if p.by != "" {
		ask = t("waive.by") + " [" + p.by + "]:"
	}
	by, err := p.decide(ask)
	if err != nil {
		return err
	}
	by = cmp.Or(by, p.by)
	why, err := p.decide(t("waive.reason") + ":")
	if err != nil {
		return err
	}
	if by == "" || why == "" {
		p.write(t("waive.needed"))
		return nil
	}
	p.by = by
	p.act(session.Action{Verb: session.Waive, Step: all[n].step, Check: all[n].ID, By: by, Reason: why})
	return nil
}

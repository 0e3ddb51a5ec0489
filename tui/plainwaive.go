package tui

import (
	"cmp"

	"touchdown/steps/session"
)

// allFindings are the checks of all pages that are so.
func (c *course) allFindings(are func(finding) bool) []finding {
	var all []finding
	for _, stage := range c.snap.Stages {
		for _, f := range findings(stage) {
			if are(f) {
				all = append(all, f)
			}
		}
	}
	return all
}

// chooseCheck asks which check is meant, by its number.
func chooseCheck(p *prompts, all []finding) (int, error) {
	var names []string
	for _, f := range all {
		names = append(names, show(f.Title)+": "+show(f.Observed))
	}
	return p.options(names...)
}

// plainWaive asks which check, who and why. An empty answer leaves everything as it was.
func plainWaive(p *prompts) error {
	all := p.allFindings(bad)
	n, err := chooseCheck(p, all)
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

// plainWithdraw asks which waiver is taken back. It can be given again, so its number is enough.
func plainWithdraw(p *prompts) error {
	all := p.allFindings(p.withdrawable)
	n, err := chooseCheck(p, all)
	if n < 0 || err != nil {
		return err
	}
	p.write(cmp.Or(p.do(p.link.act(session.Action{Verb: session.Withdraw, Step: all[n].step, Check: all[n].ID})), t("withdraw.done")))
	return nil
}

package tui

import (
	"slices"

	"touchdown/steps/session"
	"touchdown/steps/view"
)

// onTheWay tells, between the last question and the next, what the pages that end there have against being left. It returns the question
// to go back to, or "" to go on.
func onTheWay(p *prompts, asked []string, list []view.Field, next int) (to string, err error) {
	last, following := "", ""
	if len(asked) > 0 {
		last = asked[len(asked)-1]
	}
	if next >= 0 {
		following = list[next].Path
	}
	for _, page := range ending(p.asked(), last, following) {
		if to, err = leave(p, page.ID, asked); to != "" || err != nil {
			return to, err
		}
	}
	return "", nil
}

// ending are the stages from that of the last question to before that of the next one; without one, all before or all that remain.
func ending(stages []view.Stage, last, next string) []view.Stage {
	with := func(path string) int {
		return slices.IndexFunc(stages, func(s view.Stage) bool {
			return slices.ContainsFunc(fields(s), func(v view.Field) bool { return v.Path == path })
		})
	}
	from, to := max(with(last), 0), with(next)
	if to < 0 {
		to = len(stages)
	}
	return stages[from:max(from, to)]
}

// leave tells of a page what does not fit together and what failed, once, as "Continue" on the screens does, and asks whether to correct
// it. It returns the question to go back to, or "" to go on.
func leave(p *prompts, id string, asked []string) (to string, err error) {
	p.absorb(p.link.look()) // a check may have ended since the last answer
	if !p.held {
		return "", nil
	}
	page, _ := p.stage(id)
	apart := slices.DeleteFunc(fields(page), func(v view.Field) bool { return !p.holds(v) })
	failed := p.untold(page)
	for len(apart)+len(failed) > 0 {
		tellBefore(p, apart, failed)
		text, err := p.oneOf(t("plain.correct", t("plain.backWord")), func(text string) bool {
			return isBack(text) || text == t("plain.lookWord") && len(failed) > 0
		})
		switch {
		case err != nil || text == "":
			return "", err
		case isBack(text):
			return whereTo(p, append(apart, fields(page)...), asked), nil
		default:
			p.write(t("checks.again"))
			p.act(session.Action{Verb: session.Inspect})
			page, _ = p.stage(id)
			apart = slices.DeleteFunc(fields(page), func(v view.Field) bool { return show(v.Together) == "" })
			failed = failing(page)
		}
	}
	return "", nil
}

// tellBefore prints the answers that do not fit and the checks that failed.
func tellBefore(p *prompts, apart []view.Field, failed []finding) {
	for _, v := range apart {
		asked := show(v.Label) + " [" + inBrackets(v) + "]"
		p.as([]string{without(asked, answered(v)), alert + untoldProblem}, append([]string{asked}, wrap(alert+labelled(p.client, v.Together), minWidth, "")...))
	}
	tell(p, failed)
	if len(failed) > 0 {
		p.write(t("plain.look", t("plain.lookWord")))
	}
}

// whereTo is the first of a page's questions that was asked; where it has none, the last one before it.
func whereTo(p *prompts, of []view.Field, asked []string) string {
	for _, v := range of {
		if slices.Contains(asked, v.Path) {
			return v.Path
		}
	}
	if len(asked) == 0 {
		p.write(t("form.firstPage"))
		return ""
	}
	return asked[len(asked)-1]
}

package tui

import (
	"slices"

	"touchdown/steps/session"
	"touchdown/steps/view"
)

// questions goes through all fields; "back" leads to the one before.
func (p *prompts) questions() error {
	tellFound(p)
	p.write(wrap(t("plain.how", t("plain.backWord"), t("plain.emptyWord")), minWidth, "")...)
	to := ""                    // the question that "back" leads to
	for asked := passed(p); ; { // an answer, or a medium that comes or goes, can change what is asked
		if showsUpdate(p.snap) {
			return nil
		}
		var list []view.Field
		for _, stage := range p.asked() {
			list = append(list, fields(stage)...)
		}
		next := slices.IndexFunc(list, func(v view.Field) bool {
			return v.Path == to || to == "" && !slices.Contains(asked, v.Path)
		})
		if next < 0 && to != "" { // it is not asked any more
			to = ""
			continue
		}
		if to == "" {
			var err error
			if to, err = onTheWay(p, asked, list, next); err != nil {
				return err
			}
			if to != "" { // what follows it is asked again
				asked = asked[:slices.Index(asked, to)]
				continue
			}
		}
		if next < 0 {
			break
		}
		back, again, err := p.field(list[next])
		if err != nil {
			return err
		}
		switch {
		case again:
		case back:
			asked, to = backFrom(asked, list)
		default:
			asked, to = append(asked, list[next].Path), ""
		}
	}
	p.goTo("")
	p.write(t("review.asking"))
	p.act(session.Action{Verb: session.Review})
	return nil
}

// passed are the questions before the one that is to be fixed, if one is: before the first of its page where none is known to be wrong.
func passed(p *prompts) (asked []string) {
	if !p.fixing {
		return nil
	}
	p.fixing = false
	first := -1 // of the page
	for _, stage := range p.asked() {
		for _, v := range fields(stage) {
			if stage.ID == p.opened && first < 0 {
				first = len(asked)
			}
			if first >= 0 && stage.ID == p.opened && p.problem(v, true) != "" {
				return asked
			}
			asked = append(asked, v.Path)
		}
	}
	return asked[:max(first, 0)]
}

// backFrom is what was asked before the last question that is still in the list, and that question; "" when there is none.
func backFrom(asked []string, list []view.Field) (before []string, last string) {
	for n := len(asked) - 1; n >= 0; n-- {
		if slices.ContainsFunc(list, func(v view.Field) bool { return v.Path == asked[n] }) {
			return asked[:n], asked[n]
		}
	}
	return nil, ""
}

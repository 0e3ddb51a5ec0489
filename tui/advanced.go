package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"touchdown/steps/session"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

// A stage of advanced settings is closed: the way through the pages goes past it until a person opens it. What is in it without
// being seen, from a file or a stick, is counted on the button that opens it.

// listed are the stages that everybody goes through.
func (c *client) listed() []view.Stage {
	return slices.DeleteFunc(slices.Clone(c.snap.Stages), func(s view.Stage) bool { return s.Advanced })
}

// closed are the stages that a person has to open.
func (c *client) closed() []view.Stage {
	return slices.DeleteFunc(slices.Clone(c.snap.Stages), func(s view.Stage) bool { return !s.Advanced })
}

// behind is the advanced stage that the page of a stage leads to; ok is false where there is none.
func (c *client) behind(id string) (next view.Stage, ok bool) {
	if _, i := c.stage(id); i >= 0 && i+1 < len(c.snap.Stages) && !c.snap.Stages[i].Advanced {
		next = c.snap.Stages[i+1]
	}
	return next, next.Advanced
}

// given tells how many answers of a stage were given, and how many of them have to be fixed.
func given(a *answers, stage view.Stage) string {
	n, wrong := 0, 0
	for _, v := range fields(stage) {
		if (v.Value != "" || v.SecretSet) && v.Source != site.Default {
			n++
		}
		if a.problem(v, true) != "" {
			wrong++
		}
	}
	switch {
	case wrong > 0:
		return t("advanced.wrong", wrong)
	case n == 0:
		return t("advanced.none")
	}
	return t("advanced.set", n)
}

// goTo puts a page on the screen while the answers are collected.
func (c *course) goTo(id string) { c.opened = id }

// edit goes back from the review to the answers: to the page of the first problem, if it has one.
func (c *course) edit() tea.Cmd {
	page := ""
	if v := c.snap.Review; v != nil {
		page = v.Page
	}
	return c.fix(page, page != "")
}

// fix goes back to the answers: to a page, if it is there, and on it to what has to be fixed, if anything has.
func (c *course) fix(page string, wrong bool) tea.Cmd {
	if _, i := c.stage(page); i >= 0 {
		c.goTo(page)
	}
	c.fixing = wrong
	return c.link.act(session.Action{Verb: session.Edit})
}

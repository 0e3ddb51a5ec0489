package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"touchdown/backend/check"
	"touchdown/steps/chosen"
	"touchdown/steps/session"
	"touchdown/steps/updates"
	"touchdown/steps/view"
)

// course is where this console is: which page the job's state asks for, and while it collects, which stage's.
type course struct {
	*client
	opened string          // ID of the stage on the screen while collecting
	fixing bool            // the next page of answers comes up because one of them has to be fixed
	asking bool            // the review is on its way
	ended  bool            // this console saw work that came to its end
	warned map[string]bool // what was told once before a page was left
	read   *updates.Offer  // that is not used: a person read why, at a console without control
}

// wanted names the page that is due: that of a release on a stick, or the one for the job's state.
func (c *course) wanted() string {
	if c.snap == nil || !sameRelease(c.read, c.snap.Update) {
		c.read = nil // the same stick that is put in once more is told once more
	}
	if showsUpdate(c.snap) && c.read == nil {
		return "update"
	}
	return c.ofJob()
}

// sameRelease tells whether the same is to be said of two releases on sticks: who read one problem has not read another.
func sameRelease(a, b *updates.Offer) bool {
	return a != nil && b != nil && a.State == b.State && a.Program == b.Program && a.Volume == b.Volume && a.Code() == b.Code() && a.Order.Code() == b.Order.Code()
}

// atRest are the states in which another program may be started.
var atRest = []view.State{view.Inspecting, view.Collecting, view.Reviewed, view.IsDone, view.IsUndone}

// showsUpdate tells whether a release on a stick has the page: a person is asked, or has to know.
func showsUpdate(s *view.Snapshot) bool {
	return s != nil && s.Update.Shown() && (s.Update.Runs() || slices.Contains(atRest, s.State))
}

// wantsHostName tells whether an update takes the host name, typed: the node has users, or has to be unlocked.
func wantsHostName(s *view.Snapshot) bool { return s.Locked || s.State == view.IsDone }

// ofJob names the page for the job's state.
func (c *course) ofJob() string {
	switch c.state() {
	case view.Inspecting, view.Collecting:
		if c.snap.Locked { // it was unlocked, and locked itself again when the engine restarted
			return "dashboard"
		}
		return c.collecting()
	case view.Reviewed:
		return "review"
	case view.Working, view.UndoingAll:
		return "work"
	case view.InQuestion:
		if c.snap.Question == nil {
			return "work"
		}
		return "question"
	case view.HasFailed:
		return "problem"
	case view.IsDone, view.IsUndone:
		c.opened, c.ended = "", true
		return "dashboard"
	}
	return "hello"
}

// collecting decides which stage is on the screen and how it is shown.
func (c *course) collecting() string {
	pages := c.pages()
	if len(pages) == 0 {
		return "hello"
	}
	stage, i := c.stage(c.opened)
	if i < 0 || !isPage(stage) {
		c.opened = c.opening(pages)
		stage, _ = c.stage(c.opened)
	}
	if len(fields(stage)) > 0 {
		return "form"
	}
	return "checks"
}

// opening is the page that a console begins with: where someone typed last, because its line may have dropped, or the
// console may be the second one; else, and after work that came to its end, the first.
func (c *course) opening(pages []string) string {
	page := pages[0]
	for _, id := range pages {
		stage, _ := c.stage(id)
		typed := func(v view.Field) bool { return v.Changed && chosen.ByPerson(v.Source) }
		if !c.ended && slices.ContainsFunc(fields(stage), typed) {
			page = id
		}
	}
	return page
}

// pages are the IDs of the stages shown while collecting. An advanced one is among them while it is open.
func (c *course) pages() []string {
	var ids []string
	for _, stage := range c.snap.Stages {
		if isPage(stage) && (!stage.Advanced || stage.ID == c.opened) {
			ids = append(ids, stage.ID)
		}
	}
	return ids
}

// turn goes n pages on. Past the last one the review is asked for.
func (c *course) turn(n int) tea.Cmd {
	pages := c.pages()
	for i, id := range pages {
		if id != c.opened {
			continue
		}
		if i+n >= len(pages) {
			return c.review()
		}
		c.opened = pages[max(i+n, 0)]
		return nil
	}
	return nil
}

// warns tells whether something is to be said before the page is left: it is said once, so that nobody is kept on a page.
func (c *course) warns(of string) bool {
	if c.warned[of] {
		return false
	}
	if c.warned == nil {
		c.warned = map[string]bool{}
	}
	c.warned[of] = true
	return true
}

// holds tells whether an answer that does not fit the others keeps its page: once, since what has to change may stand on another.
func (c *course) holds(v view.Field) bool {
	why := show(v.Together)
	return why != "" && c.warns(v.Path+" "+why)
}

// untold are the checks of a page that failed, of which nobody was told before the page is left.
func (c *course) untold(stage view.Stage) []finding {
	return slices.DeleteFunc(failing(stage), func(f finding) bool { return !c.warns(f.step + " " + f.ID + " " + show(f.Observed)) })
}

// onward leaves for the next page. A check that failed is told before.
func (c *course) onward() tea.Cmd {
	if stage, _ := c.stage(c.opened); c.held {
		var failed []string
		for _, f := range c.untold(stage) {
			failed = append(failed, show(f.Title))
		}
		if len(failed) > 0 {
			c.flash = t("form.failed", strings.Join(failed, ", "))
			return nil
		}
	}
	return c.turn(1)
}

// backPage goes one page back, never further than the first.
func (c *course) backPage() tea.Cmd {
	if pages := c.pages(); len(pages) == 0 || pages[0] == c.opened {
		c.flash = t("form.firstPage")
		return nil
	}
	return c.turn(-1)
}

// review asks for the review. It can take a minute, and who presses the key again meanwhile must not wait for two: what is
// typed on the review would come after them.
func (c *course) review() tea.Cmd {
	c.flash = t("review.asking")
	if c.asking {
		return nil
	}
	c.asking = true
	return c.link.act(session.Action{Verb: session.Review})
}

// lookAgain inspects the machine once more.
func (c *course) lookAgain() tea.Cmd {
	c.flash = t("checks.again")
	return c.link.act(session.Action{Verb: session.Inspect})
}

// fields are the questions of a stage that are asked now.
func fields(stage view.Stage) []view.Field {
	var out []view.Field
	for _, step := range stage.Steps {
		for _, f := range step.Fields {
			if f.Visible {
				out = append(out, f)
			}
		}
	}
	return out
}

// finding is a check and the step that made it.
type finding struct {
	check.Check
	step  string
	stale bool // it is about earlier answers, and is made again
}

func findings(stage view.Stage) []finding {
	var out []finding
	for _, step := range stage.Steps {
		for _, c := range step.Checks {
			out = append(out, finding{c, step.ID, slices.Contains(step.Stale, c.ID)})
		}
	}
	return out
}

// failing are the checks of a stage that failed, for the current answers.
func failing(stage view.Stage) []finding {
	return slices.DeleteFunc(findings(stage), func(f finding) bool { return f.stale || f.Status != "fail" })
}

// withdrawable reports whether the waiver of a check can be taken back: the work does not rest on it yet.
func (c *course) withdrawable(f finding) bool {
	return f.Waiver != nil && !f.stale && slices.Contains([]view.State{view.Inspecting, view.Collecting, view.Reviewed}, c.state())
}

// isPage reports whether a stage is shown while collecting: it asks, or it found something out.
func isPage(stage view.Stage) bool {
	for _, step := range stage.Steps {
		if step.Inspecting || len(step.Checks) > 0 {
			return true
		}
	}
	return len(fields(stage)) > 0
}

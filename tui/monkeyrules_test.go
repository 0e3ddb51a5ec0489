package tui

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"touchdown/steps/session"
	"touchdown/steps/view"
)

// evidence is what a person saw last and did there: the page or dialog on top, since when, and the keys pressed one by one.
type evidence struct {
	on    screen
	title string
	words []string // that named the machine when it came up
	since time.Time
	typed []rune
	keys  int       // pressed on it
	arrow bool      // one of them was an arrow
	below *evidence // of the page that an overlay covers
}

// cause is why a console asks the engine for something: the one key that was pressed, on what page.
type cause struct {
	key   tea.KeyPressMsg
	alone bool // a single key press: not part of a batch, not caused by a tick
	page  evidence
	snap  *view.Snapshot
	typed []rune
	now   time.Time
}

// titleOf names what is on top.
func titleOf(s screen) string {
	switch s := s.(type) {
	case *confirm:
		return s.title
	case *question:
		return "question " + s.id
	case *review:
		if s.snap.Review != nil {
			return "review " + s.snap.Review.Fingerprint
		}
	}
	return s.name()
}

// turn starts again when another page comes on top. What was typed on a page that an overlay covered is still there.
func (e *evidence) turn(s *seat) {
	top := s.app.top()
	title := titleOf(top)
	if title == e.title && top == e.on {
		return
	}
	old := *e
	*e = evidence{on: top, title: title, since: s.m.now, words: namesOf(s.app.snap), below: old.below}
	switch below := old.below; {
	case top.overlay() && !old.covers():
		e.below = &old
	case !top.overlay() && below != nil && below.on == top && below.title == title:
		e.typed, e.words = below.typed, append(e.words, below.words...)
		fallthrough
	case !top.overlay():
		e.below = nil
	}
}

// covers tells whether it is of an overlay.
func (e *evidence) covers() bool { return e.on != nil && e.on.overlay() }

// pressed notes a key.
func (e *evidence) pressed(key tea.KeyPressMsg) {
	e.keys++
	e.typed = append(e.typed, []rune(strings.ToLower(key.Text))...)
	if len(e.typed) > 1000 {
		e.typed = e.typed[500:]
	}
	switch key.Code {
	case tea.KeyUp, tea.KeyDown, tea.KeyLeft, tea.KeyRight:
		e.arrow = true
	}
}

// namesOf are the words that name the machine.
func namesOf(s *view.Snapshot) []string {
	if s == nil {
		return nil
	}
	names := []string{s.Hostname, strings.SplitN(s.Hostname, ".", 2)[0], t("word.none")}
	for _, stage := range s.Stages {
		for _, step := range stage.Steps {
			for _, f := range step.Fields {
				if strings.HasSuffix(f.Path, ".clusterName") {
					names = append(names, f.Value)
				}
			}
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" || name == "localhost" })
}

// enter is a key that chooses what has the focus.
func (c cause) enter() bool {
	return c.alone && (c.key.Code == tea.KeyEnter || c.key.Code == 'j' && c.key.Mod == tea.ModCtrl)
}

// word: Enter on the page with that title, where one of the machine's names was typed key by key.
func (c cause) word(title string) bool {
	if !c.enter() || c.page.title != title {
		return false
	}
	return slices.ContainsFunc(append(c.page.words, namesOf(c.snap)...), func(name string) bool { return within(name, c.typed) })
}

// within tells whether a word's letters are among those typed, in this order.
func within(word string, typed []rune) bool {
	for _, r := range strings.ToLower(word) {
		at := slices.Index(typed, r)
		if at < 0 {
			return false
		}
		typed = typed[at+1:]
	}
	return true
}

// yes: Ctrl-Y, or Enter after an arrow, in the dialog with that title.
func (c cause) yes(title string) bool {
	sure := c.alone && c.key.Code == 'y' && c.key.Mod == tea.ModCtrl
	return c.page.title == title && (sure || c.enter() && c.page.arrow)
}

// meant: Enter on that page, which was there for long enough to be read, or where another key was pressed before.
func (c cause) meant(page string, keys bool) bool {
	return c.enter() && c.page.title == page && (c.now.Sub(c.page.since) >= enterDelay || keys && c.page.keys > 0)
}

// judge fails when something was asked for that nobody has asked for as it must be.
func (m *monkey) judge(c cause, what string, a session.Action) {
	if !c.may(what, a) {
		m.fail("%s %+v was asked for by %s after %q on %+v", what, a, c.key, string(c.typed), c.page)
	}
	if c.alone {
		m.counts["asked: "+what]++
	}
}

// may tells whether what is asked for was asked for as it must be.
func (c cause) may(what string, a session.Action) bool {
	factory := c.snap != nil && c.snap.List == view.ListFactory
	named := func(title string) bool { return c.word(title) || factory && c.yes(title) }
	switch what {
	case "plain": // a key alone; it leads back as easily
		return c.alone && c.key.Text == "1"
	case "leave":
		return c.yes(t("leave.title"))
	case "take control":
		return c.yes(t("control.title"))
	case "bundle":
		return c.enter()
	}
	switch a.Verb {
	case session.Hold: // it gives time and decides nothing
		return c.page.title == "question "+a.Question
	case session.Inspect, session.Review, session.Act, session.Restore:
		return true
	case session.Reboot:
		return named(t("reboot.title"))
	case session.PowerOff:
		return named(t("powerOff.title"))
	case session.HandOver:
		return c.word(t("handover.title"))
	case session.Undo:
		return c.word(t("undo.title"))
	case session.Unlock:
		return c.word(t("unlock.title")) || c.snap.Hostname == "localhost" && c.page.title == t("unlock.title") && within("localhost", c.typed)
	case session.Skip:
		return strings.HasSuffix(c.page.title, "?") && c.word(c.page.title)
	case session.Start:
		return c.word("review " + a.Fingerprint)
	case session.Cancel:
		return c.word(t("cancel.title")) || c.snap.Life != view.LifeMoving && c.yes(t("cancel.title"))
	case session.Waive:
		return c.enter() && c.page.title == "waive"
	case session.Withdraw:
		return strings.HasPrefix(c.page.title, t("withdraw.title", "")) && c.yes(c.page.title)
	case session.Reply:
		return c.meant("question "+a.Question, false)
	case session.Retry:
		return c.yes(t("lost.title")) || c.meant("problem", true)
	case session.Edit:
		return c.alone && strings.HasPrefix(c.page.title, "review") || c.meant("problem", true) || named(t("move.title"))
	}
	return false
}

// TestMonkeyRules: the rules see what must not be.
func TestMonkeyRules(t0 *testing.T) {
	snap := collectingSnapshot()
	enter := tea.KeyPressMsg{Code: tea.KeyEnter}
	dialog := evidence{title: t("reboot.title"), since: epoch}
	named := []rune("sno-042")
	for name, c := range map[string]struct {
		cause
		verb session.Verb
		want bool
	}{
		"a word":              {cause{key: enter, alone: true, page: dialog, snap: &snap, typed: named}, session.Reboot, true},
		"no word":             {cause{key: enter, alone: true, page: dialog, snap: &snap}, session.Reboot, false},
		"half of it":          {cause{key: enter, alone: true, page: dialog, snap: &snap, typed: named[:4]}, session.Reboot, false},
		"in a batch":          {cause{key: enter, page: dialog, snap: &snap, typed: named}, session.Reboot, false},
		"another dialog":      {cause{key: enter, alone: true, page: dialog, snap: &snap, typed: named}, session.PowerOff, false},
		"no key":              {cause{}, session.Undo, false},
		"too early":           {cause{key: enter, alone: true, page: evidence{title: "question ", since: epoch}, now: epoch}, session.Reply, false},
		"read":                {cause{key: enter, alone: true, page: evidence{title: "question ", since: epoch}, now: epoch.Add(enterDelay)}, session.Reply, true},
		"a stray Enter":       {cause{key: enter, alone: true, page: evidence{title: "problem", since: epoch}, now: epoch}, session.Retry, false},
		"nothing of the kind": {cause{key: enter, alone: true, page: dialog, snap: &snap, typed: named}, "explode", false},
	} {
		if got := c.may(string(c.verb), session.Action{Verb: c.verb}); got != c.want {
			t0.Errorf("%s: %t", name, got)
		}
	}
}

package tui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
)

// away is how long nobody types before the next key repaints everything: a console that was away, or a message of
// the kernel, may have left anything on the screen.
const away = 30 * time.Second

// app is the root: size, ticks, leaving, and which screen gets the keys.
type app struct {
	*desk
	lock       *lock
	pane       pane
	w, h       int
	page       screen   // asked for by the job's state
	over       screen   // on top of it, or nil
	beneath    []screen // what closing over leads back to, the last first; none: the page
	last       screen   // that was on top after the last message
	viewed     screen   // that was drawn last
	late       []int    // rows of the picture that was drawn last which may wait
	wipe       int      // rises for each full repaint
	lastKey    time.Time
	drawn      string    // that was looked at last for the record
	lastAct    time.Time // when a key, or several at once, came last
	generation int       // of ticks
	fast       bool
	wantsPlain bool // the person goes on in line mode
	refused    bool // the rest of a batch of keys
	handled    int  // keys of the batch that were not text
	every      time.Duration
	after      func(time.Duration, func(time.Time) tea.Msg) tea.Cmd
}

// top is the screen that gets the keys.
func (a *app) top() screen {
	if a.over != nil {
		return a.over
	}
	return a.page
}

// followJob brings the page in line with the job's state.
func (a *app) followJob() {
	a.page = a.choose(a.page)
	// A confirmation of something that is over, or what this console may no longer do or show, must not stay; reading matter may.
	for c, ok := a.over.(interface{ over() bool }); ok && c.over(); c, ok = a.over.(interface{ over() bool }) {
		a.cover(nil)
	}
	if top := a.top(); top != a.last {
		if _, secret := a.last.(*logIn); secret {
			a.wipe++
		}
		a.last, a.shown, a.touched = top, a.clock(), false
	}
}

// choose returns the page for the job's state: old when it is still right.
func (a *app) choose(old screen) screen {
	d, want := a.desk, a.wanted()
	if want == "update" && old != nil && (old.typing() || wordTyped(old)) && !a.snap.Update.Runs() { // whoever types is not interrupted
		want = a.ofJob()
	}
	if old != nil && old.name() == want && a.about(old) {
		return old
	}
	switch want {
	case "checks":
		a.fixing = false
		return newChecks(d, a.opened)
	case "form":
		return newForm(d)
	case "review":
		return newReview(d)
	case "work":
		return &work{base: base{d}}
	case "question":
		return newQuestion(d)
	case "problem":
		return newProblem(d)
	case "dashboard":
		return newDashboard(d)
	case "update":
		return newUpdate(d)
	}
	return &hello{base{d}}
}

// wordTyped tells whether the word of a review is there, though the focus went on to the button.
func wordTyped(page screen) bool {
	r, ok := page.(*review)
	return ok && r.ed.value() != ""
}

// about tells whether a page is still about what it was made for.
func (a *app) about(old screen) bool {
	switch old := old.(type) {
	case *form:
		return old.stage == a.opened
	case *checks:
		return old.stage == a.opened
	case *review:
		return old.of == a.fingerprint()
	case *question:
		return old.id == a.snap.Question.ID
	case *updatePage:
		return old.about(a.snap.Update)
	}
	return true
}

// press handles the keys that work everywhere, and passes on the others.
func (a *app) press(msg tea.KeyPressMsg) tea.Cmd {
	now := a.clock()
	if now.Sub(a.lastKey) > away {
		a.wipe++
	}
	a.lastKey = now
	switch {
	case a.locked() && pressed(msg, a.keys.repaint) && !starts(a.snap):
		a.wipe++
		return nil
	case a.locked() && starts(a.snap):
		return tea.Batch(a.lock.here(), a.lock.press(msg, a.keys))
	case a.locked():
		return a.lock.press(msg, a.keys)
	}
	return tea.Batch(a.lock.here(), a.keyed(msg))
}

// keyed handles a key of a console that is open.
func (a *app) keyed(msg tea.KeyPressMsg) tea.Cmd {
	a.flash, a.board.asks = "", false
	top := a.top()
	dialog, ok := top.(*confirm)
	yesNo := ok && len(dialog.word) == 0
	asks, ok := top.(wantsWord)
	ofWord := ok && asks.wordGoesOn(msg)
	switch k := a.keys; {
	case pressed(msg, k.repaint):
		a.wipe++
		return nil
	case pressed(msg, k.leave):
		a.cover(newLeave(a.desk))
		return nil
	case yesNo: // any key that does not answer it closes it
	case top.typing() && msg.Key().Text != "", ofWord:
	case pressed(msg, k.help) && top.name() != "help":
		a.cover(newHelp(a.desk, top))
		return nil
	case pressed(msg, k.plain) && !top.typing() && !slices.Contains([]string{"form", "pick", "question", "update"}, top.name()): // which have digits of their own
		a.wantsPlain = true
		return tea.Quit
	case pressed(msg, k.mode) && !top.typing():
		a.switchMode()
		return nil
	case pressed(msg, k.control) && a.snap != nil && !a.held:
		next, cmd := takeOver(a.desk)
		if next == nil {
			a.over, a.beneath = nil, nil
		} else {
			a.cover(next)
		}
		return cmd
	}
	return a.pass(msg)
}

// switchMode turns colours on or off: what a line is, is guessed, and a person sees at once when the guess was wrong.
func (a *app) switchMode() {
	a.basic = !a.basic
	a.theme = newTheme(a.basic)
	a.speak(spoken())
	a.wipe++
	a.memory.setTheme(a.name, a.basic)
}

// pass gives a message to the screen on top and takes what it returns: another page on top, or nil for none.
func (a *app) pass(msg tea.Msg) tea.Cmd {
	next, cmd := a.top().update(msg)
	switch {
	case next == nil, next.overlay():
		a.cover(next)
	default:
		a.over, a.beneath, a.page = nil, nil, next
	}
	return cmd
}

// cover lays a page on top, or with nil takes the one there away. The list of checks and the log stay beneath what they open, and every page
// beneath what a key opens anywhere: who closes that is there again, with what was typed.
func (a *app) cover(next screen) {
	if next == nil {
		a.over = nil
		if n := len(a.beneath) - 1; n >= 0 {
			a.over, a.beneath = a.beneath[n], a.beneath[:n]
		}
		return
	}
	stays := fromAnywhere(next) && !fromAnywhere(a.over)
	switch a.over.(type) {
	case nil, *fileList: // what is read meanwhile ends the list of files
		stays = false
	case *checks, *logView:
		stays = next != a.over
	}
	if stays {
		a.beneath = append(a.beneath, a.over)
	}
	a.over = next
}

// fromAnywhere tells whether a page is one that a key opens on all pages: help, and the questions whether to leave or to take control.
func fromAnywhere(s screen) bool {
	if c, ok := s.(*confirm); ok {
		return c.cmd != nil
	}
	return s != nil && s.name() == "help"
}

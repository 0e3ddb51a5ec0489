package tui

import (
	"cmp"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"touchdown/steps/session"
)

func newApp(d *desk, w, h int, every time.Duration) *app {
	a := &app{desk: d, lock: newLock(d.client), w: w, h: h, lastKey: d.clock(), every: every, after: tea.Tick, pane: pane{slow: every > refresh}}
	a.page = a.choose(nil)
	return a
}

// Init implements tea.Model.
func (a *app) Init() tea.Cmd {
	if a.board.of == nil {
		return tea.Batch(a.link.wait, a.tick())
	}
	board := a.board // the command runs outside of the loop
	return tea.Batch(a.link.wait, a.tick(), func() tea.Msg { return board.start(a.link.ctx) })
}

// Update implements tea.Model.
func (a *app) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmds []tea.Cmd
	switch msg := msg.(type) {
	case resizedMsg: // Bubble Tea's own message of the first size is not used: it may come after a newer one
		if msg.w > 0 && msg.h > 0 {
			a.w, a.h = bounded(msg.w, msg.h)
			a.wipe++
		}
	case tea.KeyPressMsg:
		a.touched = a.touched || !pressed(msg, a.keys.enter)
		acts(a, pressedKey(a, msg))
		cmd := a.press(msg)
		a.followJob()
		return a, cmd
	case batchMsg:
		acts(a, "several keys at once: typed ahead, or pasted")
		return a, a.batch(msg)
	case tickMsg:
		if msg.generation == a.generation {
			cmds = append(cmds, a.onTick(), a.pass(msg))
		}
	case snapshotMsg:
		cmds = append(cmds, a.absorb(msg.snapshot))
	case eventMsg:
		cmds = append(cmds, a.absorb(msg.snapshot), a.link.wait, a.pass(msg))
	case setMsg:
		cmds = append(cmds, a.absorb(msg.snapshot))
		a.fieldSet(msg)
		cmds = append(cmds, a.pass(msg))
	case restoredMsg:
		cmds = append(cmds, a.absorb(msg.snapshot))
		a.restored(msg)
		cmds = append(cmds, a.pass(msg))
	case actMsg:
		cmds = append(cmds, a.absorb(msg.snapshot))
		a.acted(msg)
		cmds = append(cmds, a.pass(msg))
	case controlMsg:
		cmds = append(cmds, a.absorb(msg.snapshot))
		a.tookControl(msg)
	case presentMsg:
		cmds = append(cmds, a.absorb(msg.snapshot))
		a.lock.answered(msg)
	case docMsg:
		a.gotDocument(msg)
		cmds = append(cmds, a.pass(msg))
	case keyboardMsg:
		a.flash = cmp.Or(a.gotKeyboard(msg), a.flash)
		a.offerKeyboard()
	case logMsg, offerMsg:
		cmds = append(cmds, a.pass(msg))
	case logInMsg: // whether the page must go is asked after each message: the last one is for that
		cmds = append(cmds, a.pass(msg), a.after(logInTime, func(time.Time) tea.Msg { return logInOverMsg{} }))
	}
	a.followJob()
	return a, tea.Batch(append(cmds, a.pace(), a.pane.follow(a.link, a.pane.shows(a.top(), a.w, a.h-above-below), msg))...)
}

// pace ticks at another rate, when the page has begun or ceased to change automatically.
func (a *app) pace() tea.Cmd {
	fast := a.moving()
	if fast == a.fast {
		return nil
	}
	a.fast = fast
	a.generation++
	return a.tick()
}

// acted tells how an action went.
func (a *app) acted(msg actMsg) {
	a.asking = a.asking && msg.action.Verb != session.Review
	a.fixing = a.fixing && msg.failed == nil
	switch {
	case msg.action.Verb == session.Act:
		a.actedAside(msg)
		_, open := a.over.(*fileList)
		a.actedFile(msg, open)
	case msg.action.Verb == session.Hold: // the page tells whether the countdown stopped; an answer may have been faster
	case msg.failed != nil:
		a.flash = a.explain(msg.failed)
	case !slices.Contains([]string{"", t("checks.again"), t("review.asking")}, a.flash):
		// What was said since is about a newer key, or tells who took control. That an action went well must not hide it.
	case msg.action.Verb == session.Inspect:
		a.flash = t("checks.done")
	case msg.action.Verb == session.Waive:
		a.flash = t("waive.done")
	case msg.action.Verb == session.Withdraw:
		a.flash = t("withdraw.done")
	case msg.action.Verb == session.HandOver:
		a.flash = t("handover.done")
	default:
		a.flash = ""
	}
}

func (a *app) tookControl(msg controlMsg) {
	if msg.failed != nil {
		a.flash = a.explain(msg.failed)
		return
	}
	a.held = true
	a.offerKeyboard()
	if msg.force {
		a.wipe++ // whoever takes over may see what was drawn for someone else
	}
}

// offerKeyboard shows the layouts to a person who has just taken control, before the first text is typed. Whoever has pressed a key since
// is not disturbed.
func (a *app) offerKeyboard() {
	if a.board.asks && a.held && a.over == nil && a.offersKeyboard() && slices.Contains(beforeWork, a.page.name()) {
		list := newLayoutList(a.desk)
		list.offered = true
		a.over, a.board.asks = list, false
	}
}

func (a *app) gotDocument(msg docMsg) {
	if msg.what != session.Bundle {
		return
	}
	a.flash = t("bundle.saved", msg.saved)
	if msg.failed != nil {
		a.flash = a.explain(msg.failed)
	}
	if _, log := a.over.(*logView); (a.over == nil || log) && (msg.sum != "" || msg.failed != nil) {
		a.cover(newBundled(a.desk, msg))
	}
}

// tick waits until the screen may have to change automatically: soon while something works, else at the next minute of
// the header's clock, so that a form costs the line nothing.
func (a *app) tick() tea.Cmd {
	wait, generation := a.every, a.generation
	if !a.fast {
		now := a.now()
		wait = now.Truncate(time.Minute).Add(time.Minute).Sub(now)
		if a.snap != nil && a.snap.Idle != nil && !a.locked() {
			wait = min(wait, a.open())
		}
	}
	return a.after(wait, func(time.Time) tea.Msg { return tickMsg{generation} })
}

func (a *app) onTick() tea.Cmd {
	if a.fast {
		return tea.Batch(a.tick(), a.link.refresh)
	}
	return a.tick()
}

// View implements tea.Model: the picture, and where the cursor stands in it.
func (a *app) View() tea.View {
	a.hides = false
	p := a.frame(a.top(), a.w, a.h)
	for i, line := range p.lines { // a break inside a line, as an error's text may have, would move all below it
		p.lines[i] = strings.ReplaceAll(line, "\n", " ")
	}
	v := tea.NewView(strings.Join(p.lines, "\n"))
	remember(a, p, v.Content)
	v.Cursor = tea.NewCursor(p.x, p.y)
	if a.late = p.late; a.viewed != a.top() { // another page comes whole
		a.late, a.viewed = nil, a.top()
	}
	return v
}

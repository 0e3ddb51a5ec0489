package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"touchdown/steps/engine"
)

// idle is how long nobody types before the next key repaints everything: a console that was away, or a message of
// the kernel, may have left anything on the screen.
const idle = 30 * time.Second

// app is the root: size, ticks, leaving, and which screen gets the keys.
type app struct {
	*desk
	painter    *painter
	w, h       int
	page       screen // asked for by the job's state
	over       screen // on top of it, or nil
	last       screen // that was on top after the last message
	wipe       int    // rises for each full repaint
	lastKey    time.Time
	generation int // of ticks
	fast       bool
	refused    bool // the rest of a batch of keys
	handled    int  // keys of the batch that were no text
	every      time.Duration
	after      func(time.Duration, func(time.Time) tea.Msg) tea.Cmd
}

func newApp(d *desk, p *painter, w, h int, every time.Duration) *app {
	return &app{desk: d, painter: p, w: w, h: h, page: d.choose(nil), lastKey: d.clock(), every: every, after: tea.Tick}
}

// Init implements tea.Model.
func (a *app) Init() tea.Cmd {
	return tea.Batch(a.link.wait, a.tick())
}

// top is the screen that gets the keys.
func (a *app) top() screen {
	if a.over != nil {
		return a.over
	}
	return a.page
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
		cmd := a.press(msg)
		a.followJob()
		return a, cmd
	case batchMsg:
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
	case penMsg:
		cmds = append(cmds, a.absorb(msg.snapshot))
		a.tookPen(msg)
	case docMsg:
		a.gotDocument(msg)
		cmds = append(cmds, a.pass(msg))
	case logMsg, logInMsg:
		cmds = append(cmds, a.pass(msg))
	}
	a.followJob()
	if fast := a.moving(); fast != a.fast {
		a.fast = fast
		a.generation++
		cmds = append(cmds, a.tick())
	}
	return a, tea.Batch(cmds...)
}

// followJob brings the page in line with the job's state.
func (a *app) followJob() {
	a.page = a.choose(a.page)
	// A confirmation of something that is over, or what this console may no longer do or show, must not stay; reading matter may.
	if c, ok := a.over.(interface{ over() bool }); ok && c.over() {
		a.over = nil
	}
	if top := a.top(); top != a.last {
		if _, secret := a.last.(*logIn); secret {
			a.wipe++
		}
		a.last, a.shown, a.touched = top, a.clock(), false
	}
}

// press handles the keys that work everywhere, and passes on the others.
func (a *app) press(msg tea.KeyPressMsg) tea.Cmd {
	now := a.clock()
	if now.Sub(a.lastKey) > idle {
		a.wipe++
	}
	a.lastKey = now
	a.flash = ""
	top := a.top()
	dialog, ok := top.(*confirm)
	yesNo := ok && len(dialog.word) == 0
	switch k := a.keys; {
	case pressed(msg, k.repaint):
		a.wipe++
		return nil
	case pressed(msg, k.leave):
		a.over = newLeave(a.desk)
		return nil
	case yesNo: // any key that does not answer it closes it
	case top.typing() && msg.Key().Text != "":
	case pressed(msg, k.help) && top.name() != "help":
		a.over = newHelp(a.desk, top)
		return nil
	case pressed(msg, k.mode) && !top.typing():
		a.switchMode()
		return nil
	case pressed(msg, k.pen) && a.snap != nil && !a.held:
		next, cmd := a.takeOver()
		a.over = next
		return cmd
	}
	return a.pass(msg)
}

// switchMode turns colours on or off: what a line is, is guessed, and a person sees at once when the guess was wrong.
func (a *app) switchMode() {
	a.basic = !a.basic
	a.theme = newTheme(a.basic)
	a.wipe++
}

// pass gives a message to the screen on top and takes what it returns: another page on top, or nil for none.
func (a *app) pass(msg tea.Msg) tea.Cmd {
	next, cmd := a.top().update(msg)
	switch {
	case next == nil:
		a.over = nil
	case next.overlay():
		a.over = next
	default:
		a.over, a.page = nil, next
	}
	return cmd
}

// acted tells how an action went.
func (a *app) acted(msg actMsg) {
	a.desk.asking = a.desk.asking && msg.action.Verb != engine.Review
	switch {
	case msg.action.Verb == engine.Act:
		a.actedAside(msg)
	case msg.failed != nil:
		a.flash = a.explain(msg.failed)
	case msg.action.Verb == engine.Inspect:
		a.flash = t("checks.done")
	case msg.action.Verb == engine.Waive:
		a.flash = t("waive.done")
	case msg.action.Verb == engine.HandOver:
		a.flash = t("handover.done")
	default:
		a.flash = ""
	}
}

func (a *app) tookPen(msg penMsg) {
	if msg.failed != nil {
		a.flash = a.explain(msg.failed)
		return
	}
	a.held = true
	if msg.force {
		a.wipe++ // whoever takes over may see what was drawn for someone else
	}
}

func (a *app) gotDocument(msg docMsg) {
	if msg.what != engine.Bundle {
		return
	}
	a.flash = t("bundle.saved", msg.saved)
	if msg.failed != nil {
		a.flash = a.explain(msg.failed)
	}
}

// tick waits until the screen may have to change automatically: soon while something works, else at the next minute of
// the header's clock, so that a form costs the line nothing.
func (a *app) tick() tea.Cmd {
	wait, generation := a.every, a.generation
	if !a.fast {
		now := a.now()
		wait = now.Truncate(time.Minute).Add(time.Minute).Sub(now)
	}
	return a.after(wait, func(time.Time) tea.Msg { return tickMsg{generation} })
}

func (a *app) onTick() tea.Cmd {
	if a.fast {
		return tea.Batch(a.tick(), a.link.refresh)
	}
	return a.tick()
}

// View implements tea.Model. The painter gets the picture; Bubble Tea's own renderer is off.
func (a *app) View() tea.View {
	f := a.frame(a.top(), a.w, a.h)
	f.wipe, f.ascii = a.wipe, a.basic
	if a.painter != nil {
		a.painter.show(f)
	}
	return tea.NewView("")
}

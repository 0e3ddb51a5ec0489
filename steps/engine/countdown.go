package engine

import (
	"time"

	"touchdown/backend/media"
	"touchdown/backend/message"
	"touchdown/steps"
)

const (
	// countdownTime is how long the start of the document in the node is announced. Chosen: a disk behind a slow USB hub takes 20 s to
	// appear, and a person needs time to see the screen and press a key.
	countdownTime = time.Minute
	// countdownStep is how often the screens are told: a slow line has better things to do.
	countdownStep = 10 * time.Second

	countdownNotice = "a countdown" // before others: a console has one line for all of them
	haltNotice      = "halt"
)

// countdown is that of the document in the node: it runs, or the document's answers are tried. The zero value is none.
type countdown struct {
	id    string
	until time.Time // keeps what the kernel counts beside the clock (time.Time), which may be set meanwhile
}

// over tells whether the countdown of a document has ended.
func (d *countdown) over(id string, now time.Time) bool { return d.id == id && !now.Before(d.until) }

// countDown begins the countdown of a document or goes on with it, and tells every screen.
func countDown(c *core, id string, now time.Time) {
	if c.counting.id != id {
		c.counting = countdown{id, now.Add(countdownTime)}
	}
	left := (max(c.counting.until.Sub(now), 0) + countdownStep - 1) / countdownStep * countdownStep
	text := message.F("The landing starts in %d s with the site config in the node. Any key stops it.", int(left.Seconds()))
	if c.notices[countdownNotice] != text {
		c.notices[countdownNotice] = text
		c.recorder.changed()
	}
}

// endCountDown ends it, if one runs.
func endCountDown(c *core) {
	if c.counting == (countdown{}) {
		return
	}
	c.counting = countdown{}
	delete(c.notices, countdownNotice)
	c.recorder.changed()
}

// someoneIsHere stops a start without a person.
func someoneIsHere(e *Engine) {
	e.mu.Lock()
	defer e.mu.Unlock()
	halt(e.core)
}

// halt stops the countdown, or the start that follows it, because a person is here: for good, over restarts too.
func halt(c *core) {
	if c.counting == (countdown{}) {
		return
	}
	c.haltedID = c.counting.id
	if err := media.StartOf(c.o.Node.Host, c.haltedID).Halt(); err != nil {
		c.o.Node.Log.Error("noting that the start was stopped", "error", err)
		c.notices[haltNotice] = message.T("That the start was stopped could not be noted: after a restart the countdown begins again.")
	}
	endCountDown(c)
	text := message.T("A key stopped the landing that was to start with the site config in the node.")
	c.recorder.warn(mediumStep, c.recorder.emit(steps.Event{Kind: steps.Said, Step: mediumStep, Text: text}))
}

// halted tells whether a person stopped the start of a document.
func halted(c *core, id string) bool {
	return c.haltedID == id || media.StartOf(c.o.Node.Host, id).Halted()
}

// starting is how many seconds are left until the node starts without a person, one at least while a key can stop it; else 0.
func starting(c *core) float64 {
	if c.counting == (countdown{}) {
		return 0
	}
	return max(c.counting.until.Sub(c.o.Node.Now()).Seconds(), 1)
}

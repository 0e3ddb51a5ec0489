package engine

import (
	"time"

	"touchdown/backend/media"
	"touchdown/backend/message"
	"touchdown/steps/event"
)

const (
	// countdownTime is how long the start of the document in the node is announced. Chosen: a disk behind a slow USB hub takes 20 s to
	// appear, and a person needs time to see the screen and press a key.
	countdownTime = time.Minute
	// countdownStep is how often the screens are told: a slow line has better things to do.
	countdownStep = 10 * time.Second
	// tryAgainTime is how long a document whose start failed waits for the next try. Chosen: a router has booted, and the log stays short.
	tryAgainTime = 5 * time.Minute

	countdownNotice = "a countdown" // before others: a console has one line for all of them
	haltNotice      = "halt"
)

// countdown is that of the document in the node: it runs, or the document's answers are tried. The wait of any document for its next try
// is one, too. The zero value is none.
type countdown struct {
	id     string
	until  time.Time // keeps what the kernel counts beside the clock (time.Time), which may be set meanwhile
	again  bool      // a start failed
	medium bool      // the document is on a medium
}

// over tells whether the countdown of a document has ended.
func (d *countdown) over(id string, now time.Time) bool { return d.id == id && !now.Before(d.until) }

// countDown begins the countdown of a document or goes on with it, and tells every screen.
func countDown(c *core, id string, now time.Time) {
	if c.counting.id != id {
		c.counting = countdown{id: id, until: now.Add(countdownTime)}
	}
	left := (max(c.counting.until.Sub(now), 0) + countdownStep - 1) / countdownStep * countdownStep
	text := message.F("The landing starts in %d s with the site config in the node. Any key stops it.", int(left.Seconds()))
	tellCountDown(c, text)
}

// waitToTry begins the wait of a document for its next try or goes on with it, and tells every screen. The sentence stays the same: it may
// be there for days.
func waitToTry(c *core, id string, baked bool, now time.Time) {
	if c.counting.id != id {
		c.counting = countdown{id: id, until: now.Add(tryAgainTime), again: true, medium: !baked}
	}
	tellCountDown(c, message.F("The landing is tried again within %d min. Any key stops that.", int(tryAgainTime.Minutes())))
}

func tellCountDown(c *core, text message.Text) {
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
	e.core.heard++
	halt(e.core)
}

// halt stops the countdown, or the start that follows it, because a person is here: for good, over restarts too. That of a medium ends
// until it is put in again.
func halt(c *core) {
	if c.counting == (countdown{}) {
		return
	}
	if c.counting.medium {
		endCountDown(c)
		text := message.T("A key stopped the landing that was to be tried again.")
		c.recorder.warn(mediumStep, c.recorder.emit(event.Event{Kind: event.Said, Step: mediumStep, Text: text}))
		return
	}
	c.haltedID = c.counting.id
	if err := media.StartOf(c.o.Node.Host, c.haltedID).Halt(); err != nil {
		c.o.Node.Log.Error("it cannot be noted that the start was stopped", "error", err)
		c.notices[haltNotice] = message.T("That the start was stopped could not be noted: after a restart the countdown begins again.")
	}
	endCountDown(c)
	text := message.T("A key stopped the landing that was to start with the site config in the node.")
	c.recorder.warn(mediumStep, c.recorder.emit(event.Event{Kind: event.Said, Step: mediumStep, Text: text}))
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

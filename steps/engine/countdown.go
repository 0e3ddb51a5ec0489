package engine

import (
	"maps"
	"time"

	"touchdown/backend/media"
	"touchdown/backend/message"
	"touchdown/backend/update"
	"touchdown/steps/event"
)

const (
	// countdownTime is how long the start of the document in the node, and an update that was ordered, is announced. Chosen: a disk behind a slow USB hub takes 20 s to
	// appear, and a person needs time to see the screen and press a key.
	countdownTime = time.Minute
	// countdownStep is how often the screens are told: a slow line has better things to do.
	countdownStep = 10 * time.Second
	// tryAgainTime is how long a document whose start failed waits for the next try. Chosen: a router has booted, and the log stays short.
	tryAgainTime = 5 * time.Minute

	countdownNotice = "a countdown" // before others: a console has one line for all of them
	haltNotice      = "halt"
)

// aim is what begins at the end of a countdown.
type aim int

const (
	landBaked  aim = iota + 1 // the landing with the document in the node
	landMedium                // the landing with a document on a medium
	takeUpdate                // the update of Touchdown that an order asks for
)

// countdown is that of the document in the node: it runs, or the document's answers are tried. The wait of any document for its next try
// is one, too, and so is the countdown of an update. There is one at a time. The zero value is none.
type countdown struct {
	id    string // of the document, or of the order
	aim   aim
	until time.Time // keeps what the kernel counts beside the clock (time.Time), which may be set meanwhile
	again bool      // a start failed
}

// over tells whether the countdown of a document has ended.
func (d *countdown) over(id string, now time.Time) bool { return d.id == id && !now.Before(d.until) }

// countDown begins the countdown of a document or an order, or goes on with it, and tells every screen.
func countDown(c *core, id string, is aim, now time.Time) {
	if c.counting.id != id {
		c.counting = countdown{id: id, aim: is, until: now.Add(countdownTime)}
	}
	left := int(((max(c.counting.until.Sub(now), 0) + countdownStep - 1) / countdownStep * countdownStep).Seconds())
	if is == takeUpdate {
		tellCountDown(c, message.F("Touchdown is updated in %d s by the order on the stick. Any key stops it.", left))
		return
	}
	tellCountDown(c, message.F("The landing starts in %d s with the site config in the node. Any key stops it.", left))
}

// waitToTry begins the wait of a document for its next try or goes on with it, and tells every screen. The sentence stays the same: it may
// be there for days.
func waitToTry(c *core, id string, is aim, now time.Time) {
	if c.counting.id != id {
		c.counting = countdown{id: id, aim: is, until: now.Add(tryAgainTime), again: true}
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
	switch c.counting.aim {
	case landMedium:
		endCountDown(c)
		sayStopped(c, message.T("A key stopped the landing that was to be tried again."))
	case takeUpdate:
		id := c.counting.id
		haltFor(c, id, stopsOrder(c, id))
		stopOrder(c)
		sayStopped(c, message.T("A key stopped the update of Touchdown that the order on the stick asks for."))
	default:
		id := c.counting.id
		haltFor(c, id, media.StartOf(c.o.Node.Host, id).Halt)
		sayStopped(c, message.T("A key stopped the landing that was to start with the site config in the node."))
	}
}

// stopsOrder notes that a person stopped an order.
func stopsOrder(c *core, id string) func() error {
	return func() error { return update.SpentOn(c.o.Node.Host).Stop(id) }
}

// haltFor ends a countdown for good. What tells that on the disk may not be written: noteHalts tries it again.
func haltFor(c *core, id string, note func() error) {
	c.halted[id] = true
	if err := note(); err != nil {
		c.o.Node.Log.Error("it cannot be noted that the start was stopped", "error", err)
		c.notices[haltNotice] = message.T("That the start was stopped could not be noted: after a restart the countdown begins again.")
		c.unnoted[id] = note
	}
	endCountDown(c)
}

// noteHalts notes what haltFor could not, and takes its sentence from the screens once all is noted. It writes without the lock: a disk that
// took no note before may take long now, and every console waits for the lock. There is one caller, the goroutine that watches the media.
func noteHalts(e *Engine) {
	e.mu.Lock()
	pending := maps.Clone(e.core.unnoted)
	e.mu.Unlock()
	maps.DeleteFunc(pending, func(_ string, note func() error) bool { return note() != nil })
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.core
	for id := range pending { // a note of an ID is the same each time
		delete(c.unnoted, id)
	}
	if _, said := c.notices[haltNotice]; said && len(c.unnoted) == 0 {
		delete(c.notices, haltNotice)
		c.recorder.changed()
	}
}

func sayStopped(c *core, text message.Text) {
	c.recorder.warn(mediumStep, c.recorder.emit(event.Event{Kind: event.Said, Step: mediumStep, Text: text}))
}

// halted tells whether a person stopped the start of a document.
func halted(c *core, id string) bool {
	return c.halted[id] || media.StartOf(c.o.Node.Host, id).Halted()
}

// starting is how many seconds are left until the node starts without a person, one at least while a key can stop it; else 0.
func starting(c *core) float64 {
	if c.counting == (countdown{}) {
		return 0
	}
	return max(c.counting.until.Sub(c.o.Node.Now()).Seconds(), 1)
}

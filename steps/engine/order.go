package engine

import (
	"cmp"

	"touchdown/backend/message"
	"touchdown/backend/update"
	"touchdown/steps/event"
	"touchdown/steps/unattended"
	"touchdown/steps/updates"
	"touchdown/steps/view"
)

// orderNotice is the line about an order beside the release on a stick.
const orderNotice = "update order"

// byOrder in an event's By marks what the node did on the word of an order, with nobody there.
const byOrder = "order"

// followOrder does what the rules say (steps/unattended) with the order beside the release on a stick: it counts down, and at the end it has
// the release installed as a console does. It returns whether an update is to come, so that nothing else may start.
func followOrder(e *lander) (coming bool) {
	if !e.o.Updates {
		return false
	}
	e.mu.Lock()
	c, now := e.core, e.o.Node.Now()
	is := ordered(c, len(e.oneGift) > 0)
	if is.Act == unattended.CountDown {
		countDown(c, is.Document, takeUpdate, now)
	} else if c.counting.aim == takeUpdate {
		endCountDown(c)
	}
	tellOrder(c, is.Why)
	if is.Act != unattended.Start {
		defer e.mu.Unlock()
		return is.Act == unattended.CountDown
	}
	offer, stick := *c.release.offer, c.release.at
	c.release.wants() // a key is too late from here on
	e.mu.Unlock()
	if err := carryOut(e, &offer, stick); err != nil {
		e.o.Node.Log.Error("the update that an order asks for did not begin", "order", is.Document, "error", err)
		e.mu.Lock()
		defer e.mu.Unlock()
		refuseOrder(c, err)
	}
	return true
}

// carryOut notes that the order is followed, before anything begins: from here on it never is again, whatever happens. A disk that does not
// take the event before that note keeps the order for the next boot. Then it has the release installed.
func carryOut(e *lander, offer *updates.Offer, stick string) error {
	text := message.F("The order %s on the stick %s begins the update of Touchdown from %s to %s.", offer.Order.ID, offer.Volume, offer.Has, offer.Version)
	err := e.emit(event.Event{Kind: event.Said, By: byOrder, Text: text})
	if err == nil {
		err = update.SpentOn(e.o.Node.Host).Begin(offer.Order.ID)
	}
	if err != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.core.release.asked = false
		return err
	}
	return beginUpdate(e.closing, e.Engine, offer, stick)
}

// ordered applies the rules to what is known now.
func ordered(c *core, busy bool) unattended.Decision {
	o := c.release.offer
	if o == nil || o.State != updates.Asks || o.Order == nil || o.Order.Problem != nil {
		return unattended.Decision{}
	}
	failed := c.job.state == view.HasFailed
	f := unattended.OrderFacts{
		ID: o.Order.ID, Busy: busy || !failed && !mayUpdate(c) || updating(c), Lost: len(c.job.lost) > 0 || c.job.doubtful, Halted: c.halted[o.Order.ID],
		Counted: c.counting.over(o.Order.ID, c.o.Node.Now()),
	}
	if !c.control.free() {
		f.Control = c.control.holder
	}
	if failed {
		f.Failed, f.Code = cmp.Or(c.job.current, "landing"), "ERR-UNKN"
		if c.job.problem != nil {
			f.Code = c.job.problem.Code
		}
	}
	return unattended.DecideOrder(f)
}

// refuseOrder has the node not follow the order beside the release, and tells why.
func refuseOrder(c *core, why error) {
	r := &c.release
	if r.offer == nil || r.offer.Order == nil {
		return
	}
	now := *r.offer // a snapshot may still have the other one
	now.Order = now.Order.Refused(why)
	r.offer = &now
	tellOrder(c, message.Text{})
	c.recorder.changed()
}

// stopOrder is refuseOrder for one that a person stopped.
func stopOrder(c *core) { refuseOrder(c, update.Stopped()) }

// tellOrder puts a line about the order on every screen where the node does not follow it, or waits for something. The page that asks about
// the release says more.
func tellOrder(c *core, waits message.Text) {
	was, o := c.notices[orderNotice], c.release.offer
	delete(c.notices, orderNotice)
	switch {
	case o == nil || o.State != updates.Asks || o.Order == nil:
	case o.Order.Problem != nil:
		c.notices[orderNotice] = message.F("The update order is not followed: %s.", o.Order.Code())
	case waits != (message.Text{}):
		c.notices[orderNotice] = message.F("The update order waits: %s.", waits)
	}
	now := c.notices[orderNotice]
	if now == was {
		return
	}
	c.recorder.changed()
	// What only a person ends is in the events, too: nobody may look at a screen.
	switch {
	case o == nil || o.Order == nil || now == (message.Text{}):
	case o.Order.Problem != nil:
		c.recorder.warn("", c.recorder.emit(event.Event{Kind: event.Said, Text: now, Problem: o.Order.Problem}))
	case c.job.state == view.HasFailed:
		c.recorder.warn("", c.recorder.emit(event.Event{Kind: event.Said, By: byOrder, Text: now}))
	}
}

// tellEnd journals how the update ended that an order began, once.
func tellEnd(c *core, last *updates.Record) {
	if last == nil || last.Order == nil || last.Runs() || last.Told || last.Order.ID == c.release.told {
		return
	}
	e := event.Event{Kind: event.Said, By: byOrder, Problem: last.Problem}
	e.Text = message.F("The order %s has updated Touchdown from %s to %s.", last.Order.ID, last.Has, last.Version)
	if last.State == updates.Failed {
		e.Text = message.F("The update of Touchdown to %s, which the order %s began, failed: %s.", last.Version, last.Order.ID, last.Code())
	}
	err := c.recorder.emit(e)
	if err == nil {
		c.release.told = last.Order.ID
		err = updates.Tell(c.o.Node.Host, last)
	}
	c.recorder.warn("", err)
}

// givesWay tells whether an update that failed is no longer told because another stick is there: where an order began it, nobody may be
// there to close the page.
func givesWay(last *updates.Record, r *release) bool {
	return last.Order != nil && last.State == updates.Failed && r.at != "" && r.at != last.Stick
}

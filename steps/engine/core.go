package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"touchdown/backend/health"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/handout"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// core is what Engine.mu guards: the parts of the engine, and what is done with them. Whoever calls a method of core, or of
// one of its parts, holds Engine.mu.
type core struct {
	o        *Options
	folder   *stateFolder
	hostname string
	serial   string

	recorder  *recorder
	job       *job // the recorder's
	draft     *draft
	inspector *inspector
	control   *control
	question  *question
	stock     *stock
	notices   notices

	work     func(undo bool)         // starts the work, or the undoing, in its own goroutine
	stopWork context.CancelCauseFunc // ends the step at work
	stopAct  context.CancelFunc      // ends what was begun by the last Act
	unlocked bool
	given    *handout.LogIn // what people were given last, in memory alone; nil: nothing, or the hand-over was accepted
	resumed  time.Time
	counting countdown               // of the document in the node, or of an update
	heard    int                     // how often a person used a console or took control
	unnoted  map[string]func() error // notes a start that was stopped, by the id of its document or order, where the disk did not take that
	halted   map[string]bool         // by the ids of the documents and orders whose start a person stopped, should the disk not take the note
	release  release                 // on a stick, and its update
	live     *health.Live            // how the cluster is; nil: nobody looks, or not known yet
}

// newCore makes the parts of an engine that has done nothing yet.
func newCore(e *Engine, journal *journal) *core {
	stock, job, notices := &stock{}, newJob(), notices{}
	recorder := &recorder{
		journal: journal, folder: e.folder, stock: stock, job: job, hub: e.hub, mask: e.mask, notices: notices,
		log: e.o.Node.Log, now: e.now, after: e.o.AfterEvent,
	}
	draft := &draft{
		folder: e.folder, mask: e.mask, idle: e.idle, list: e.o.Stages, offers: map[string][]steps.Choice{}, beside: map[string]string{},
	}
	c := &core{
		o: e.o, folder: e.folder, serial: e.o.Node.Host.Serial(),
		recorder: recorder, job: job, draft: draft, inspector: newInspector(draft, job, recorder), control: &control{now: e.now, lost: draft.forgetBeside},
		question: &question{}, stock: stock, notices: notices, work: e.work, stopAct: func() {}, halted: map[string]bool{}, unnoted: map[string]func() error{},
	}
	c.hostname, _ = e.o.Node.Host.Hostname() // shown only; a node without one shows ""
	return c
}

// takeUp brings job and draft to where an earlier engine left them.
func (c *core) takeUp(events []event.Event, damage string) {
	for _, e := range events {
		c.job.apply(e)
		c.recorder.seq = e.Seq
	}
	if !c.o.DryRun && landedForGood(c, c.recorder.journal.read, damage) { // a power cut may have come between the event and the wiping
		if err := wipeLanded(c); err != nil {
			c.o.Node.Log.Error("the saved originals cannot be wiped after the hand-over", "error", err)
			c.notices["wipe"] = message.F("Saved originals and secrets could not be wiped after the hand-over; look into %s.", c.folder.dir)
		}
	}
	c.draft.takeUp(c.o.Node.Log)
	if c.o.Found != nil {
		c.o.Found(c.draft.site)
	}
	if c.job.state == view.Collecting && c.draft.typed() {
		c.resumed = c.recorder.now()
	}
	c.takeStock(c.recorder.journal.read, damage)
	// Where nothing is lost, a power cut came between the PIN of a start and its event, or an undo could not take the PIN back. Where records are
	// lost, a later start may have been among them: a lock stays rather than opens.
	whole := damage == "" && len(c.stock.lost) == 0 && !c.job.doubtful
	if !c.o.DryRun && whole && (c.job.state == view.Collecting && !c.job.touched() || c.job.state == view.IsUndone) {
		takePINBack(c)
	}
	if !c.o.DryRun {
		if err := endStart(c); err != nil { // noteUsed tries again
			c.o.Node.Log.Error("the note of a start with a site config stays", "error", err)
		}
	}
	if c.recorder.seq > 0 {
		c.recorder.seq += restartGap
		c.recorder.hub.continues(c.recorder.seq)
	}
	c.recorder.journal.read = reading{}
}

// state is the job's state as people see it.
func (c *core) state() view.State {
	switch {
	case c.job.state != view.Collecting:
		return c.job.state
	case c.draft.review != nil:
		return view.Reviewed
	case !c.inspector.done:
		return view.Inspecting
	}
	return view.Collecting
}

// may tells whether the holder of control may do verb now.
func (c *core) may(token string, verb session.Verb, states []view.State) error {
	if err := c.control.check(token); err != nil {
		return err
	}
	if state := c.state(); !slices.Contains(states, state) || verb == session.Undo && c.job.state == view.Collecting && !c.job.touched() {
		return notNow(c, verb, state)
	}
	if updating(c) {
		return fmt.Errorf("%w: Touchdown is being updated, which takes about a minute", session.ErrState)
	}
	if c.locked() && !slices.Contains([]session.Verb{session.Unlock, session.Reboot, session.PowerOff, session.Update}, verb) {
		return fmt.Errorf("%w: unlock the node first by its host name", session.ErrLocked)
	}
	return nil
}

// locked tells whether the node has landed for good, or may have: nobody changes it without unlocking.
func (c *core) locked() bool { return (c.job.handedOver || c.job.doubtful) && !c.unlocked }

// accepted tells whether the answers are those that a person accepted.
func (c *core) accepted() error {
	if c.draft.inputs() == c.job.inputs {
		return nil
	}
	return fmt.Errorf("%w: the answers are not those that were accepted; edit them, look them through and start again", session.ErrState)
}

// answered looks at the machine with new answers, and tells the consoles. An error may have changed something, too: a wrong repeat drops
// the review.
func (c *core) answered(err error) error {
	c.inspector.outdate()
	c.recorder.changed()
	return err
}

// noticeDisk shows a notice while nothing can be saved.
func (c *core) noticeDisk() {
	const notice = "save"
	was := c.notices[notice]
	delete(c.notices, notice)
	if err := c.folder.writable(); err != nil {
		c.notices[notice] = message.F("Answers and progress cannot be saved: %s. Look at the disk that holds %s.", err, c.folder.dir)
	}
	if c.notices[notice] != was {
		c.recorder.changed()
	}
}

// resume goes on with the job after the engine was stopped or the power cut.
func (c *core) resume() {
	c.resumed = c.recorder.now()
	if c.job.state != view.UndoingAll && c.accepted() != nil {
		e := event.Event{Kind: event.Failed, Step: c.job.current, Problem: event.TroubleOf(&problem.Problem{
			Code: "CFG-DFF", Summary: message.T("The answers on the disk are not those that were accepted before the restart."),
			Fix: message.T("Go back to the answers, look them through, and start again."),
		})}
		if c.recorder.emit(e) != nil { // told all the same; the next engine finds the same
			c.recorder.fold(e)
		}
		return
	}
	c.work(c.job.state == view.UndoingAll)
}

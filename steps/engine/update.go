package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"touchdown/backend/layout"
	"touchdown/backend/media"
	"touchdown/backend/message"
	"touchdown/steps/session"
	"touchdown/steps/updates"
	"touchdown/steps/view"
)

// updateNotice is the line about a release on a stick.
const updateNotice = "update"

// toldFor is how long the screens say that an update succeeded.
const toldFor = time.Hour

// release is the one on a stick, and what became of its update.
type release struct {
	at     string         // the volumes with one; "" for none
	turn   int            // rises with each change of them: the same stick may come back while it is still being judged
	judged bool           // it was, or is being, judged
	closed string         // the volumes of which a person said no, or has read why not: until the stick is put in again
	asked  bool           // a person wants it, and systemd is being told
	starts int            // rises with each time: what was on record before that is old
	gone   bool           // the last look found no command at work for the update on record
	offer  *updates.Offer // nil: there is nothing to ask
	last   *updates.Record
	told   string // id of the order whose end is in the events, should the record not take that
}

// shownRelease is what consoles see of it. No page asks before a person has decided on what failed.
func shownRelease(c *core) *updates.Offer {
	o := c.release.offer
	if !o.Shown() || (o.State == updates.Asks || o.State == updates.Refused) && !mayUpdate(c) {
		return nil
	}
	shown := *o
	return &shown
}

// isClosed tells whether nothing is told of what is on the stick.
func (r *release) isClosed() bool { return r.at != "" && r.at == r.closed }

// wentBack tells whether a person went back to the answers from work that stands: as where it failed, its originals are this program's.
func wentBack(c *core) bool { return c.job.state == view.Collecting && c.job.touched() }

// mayUpdate tells whether another program may be started now: nothing works, waits for an answer or has failed in the middle.
func mayUpdate(c *core) bool {
	return c.o.Updates && slices.Contains(allowed(session.Update), c.state()) && !wentBack(c)
}

// mayJudge tells whether a release on a stick is looked for and judged. Where work has failed nothing is installed, and its order is told what
// it waits for.
func mayJudge(c *core) bool {
	return mayUpdate(c) || c.o.Updates && (c.job.state == view.HasFailed || wentBack(c))
}

// updating tells whether an update is under way.
func updating(c *core) bool { return c.release.asked || c.release.offer.Runs() }

// takeUpUpdate is for an engine that opens: one that was started by an update lets nothing begin from its first answer on. It also takes
// away the program of a release that was being judged at a power cut.
func takeUpUpdate(c *core) {
	if !c.o.Updates {
		return
	}
	if last := updates.Last(c.o.Node.Host); last != nil && last.Runs() {
		c.release.last, c.release.offer = last, &last.Offer
		return
	}
	if err := c.o.Node.Host.Remove(layout.CheckedProgram); err != nil {
		c.o.Node.Log.Warn("a program that was judged cannot be taken away", "error", err)
	}
}

// lookForUpdate tells of the release on a stick, and of an update that a console asked for. The engine that tells how it ended is another
// one than that which was asked. It returns whether an update is under way.
func lookForUpdate(e *lander) (underWay bool) {
	if !e.o.Updates {
		return false
	}
	e.mu.Lock()
	asked, starts := e.core.release.asked, e.core.release.starts
	e.mu.Unlock()
	if asked { // what is on record is not yet at work
		return true
	}
	last := updates.Last(e.o.Node.Host)
	gone := last != nil && last.Runs() && updates.Gone(e.closing, e.o.Node.Host)
	volumes, looked := e.o.Media.Releases(), media.Looked(e.o.Media).Releases
	e.mu.Lock()
	defer e.mu.Unlock()
	r, was := &e.core.release, e.core.release
	if r.starts != starts {
		return updating(e.core)
	}
	if at := placeOf(volumes); at != r.at {
		*r = release{at: at, turn: r.turn + 1, starts: starts, gone: r.gone, closed: r.closed, told: r.told}
	}
	if looked && !r.isClosed() { // while the node works nobody looks, and the stick may stay there
		r.closed = ""
	}
	if gone && r.gone { // at one look it may have come to its end since the record was read
		last = updates.Cut(e.o.Node.Host, last, e.o.Node.Now())
	}
	r.gone, r.last = gone, last
	tellEnd(e.core, last)
	switch {
	case last != nil && last.State != updates.Done && !givesWay(last, r):
		r.offer = &last.Offer
	case r.at != "" && !r.judged && !r.isClosed():
		r.judged, r.offer = true, nil
		turn := r.turn
		e.workers.Go(func() { judgeRelease(e, turn, volumes) })
	case r.offer.Runs() || r.offer != nil && r.offer.State == updates.Failed: // it is over, and the stick may be there still
		r.offer = nil
	}
	tellUpdate(e.core, e.o.Node.Now())
	if told(r.offer) != told(was.offer) {
		e.core.recorder.changed()
	}
	return updating(e.core)
}

// told is another text where consoles have something new to show.
func told(o *updates.Offer) string {
	if o == nil {
		return ""
	}
	return string(o.State) + o.Code() + o.Order.Code()
}

// placeOf is another text for other volumes.
func placeOf(volumes []media.Volume) string {
	var ids []string
	for _, v := range volumes {
		ids = append(ids, v.ID)
	}
	return strings.Join(ids, "\n")
}

// judgeRelease reads a release, which takes a minute on a slow stick, and has it asked about, unless another stick is there by then.
func judgeRelease(e *lander, turn int, volumes []media.Volume) {
	e.judging.Lock() // each writes its program to the same place, to have it tell its version
	defer e.judging.Unlock()
	e.mu.Lock()
	late := e.core.release.turn != turn
	if !late && !mayJudge(e.core) { // work began since the look: a later look judges it
		late, e.core.release.judged = true, false
	}
	e.mu.Unlock()
	if late {
		return
	}
	offer := updates.Judge(e.closing, e.o.Node.Host, e.o.Media, volumes, e.o.Version)
	if offer.Code() != "" {
		e.o.Node.Log.Warn("the release on a stick is not used", "volume", offer.Volume, "problem", offer.Code())
	}
	if e.o.AtRest != nil { // a program has 65 MiB
		e.o.AtRest()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if r := &e.core.release; r.turn == turn && !r.isClosed() && !r.asked && r.offer == nil && e.closing.Err() == nil {
		r.offer = offer
		tellUpdate(e.core, e.o.Node.Now())
		e.core.recorder.changed()
	}
}

// tellUpdate puts one line about it on every screen. A person who is typing is not taken to the page that asks.
func tellUpdate(c *core, now time.Time) {
	was, o, last := c.notices[updateNotice], c.release.offer, c.release.last
	delete(c.notices, updateNotice)
	switch {
	case o != nil && o.State == updates.Asks && !mayUpdate(c): // no page asks before a person has decided on what failed
	case o != nil && o.State == updates.Asks:
		c.notices[updateNotice] = message.F("Touchdown %s is on the stick %s. A page asks whether to install it.", o.Version, o.Volume)
	case o != nil && o.State == updates.Refused:
		c.notices[updateNotice] = message.F("The release of Touchdown on the stick is not used: %s.", o.Code())
	case o == nil && last != nil && last.State == updates.Done && last.Version == c.o.Version && isFresh(last.Ended, now):
		c.notices[updateNotice] = message.F("Touchdown is now %s. To go back to %s: touchdown update --back", last.Version, last.Has)
	}
	if c.notices[updateNotice] != was {
		c.recorder.changed()
	}
}

// isFresh tells whether something happened in the last hour. By a clock that was set back it is in the future.
func isFresh(at, now time.Time) bool { return !now.Before(at) && now.Sub(at) < toldFor }

// startUpdate has systemd run the command that installs the release that a person was shown. A landed node wants its host name. Without a
// release it closes what is told of the one on the stick.
func startUpdate(ctx context.Context, e *Engine, token string, a session.Action) error {
	e.mu.Lock()
	c := e.core
	if a.Fingerprint == "" {
		defer e.mu.Unlock()
		if err := c.may(token, a.Verb, allowed(a.Verb)); err != nil {
			return err
		}
		return closeUpdate(c, a)
	}
	offer, err := mayStartUpdate(c, token, a)
	if err == nil {
		c.release.wants()
	}
	stick := c.release.at
	e.mu.Unlock()
	if err != nil {
		return err
	}
	e.o.Node.Log.Info("a console asked for an update of Touchdown", "volume", offer.Volume, "version", offer.Version, "sha256", offer.Program)
	return beginUpdate(ctx, e, offer, stick)
}

// wants notes that an update was asked for: nothing else begins from here on. beginUpdate follows.
func (r *release) wants() {
	r.asked = true
	r.starts++
	r.gone = false
}

// beginUpdate has systemd run the command that installs a release on a stick.
func beginUpdate(ctx context.Context, e *Engine, offer *updates.Offer, stick string) error {
	err := updates.Start(context.WithoutCancel(ctx), e.o.Node.Host, *offer, stick)
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.core
	c.release.asked = false
	if err == nil {
		offer.State = updates.Reads
		c.release.offer = offer
		tellUpdate(c, e.o.Node.Now())
	}
	c.recorder.changed()
	return err
}

// mayStartUpdate is the offer that a person accepted.
func mayStartUpdate(c *core, token string, a session.Action) (*updates.Offer, error) {
	if err := c.may(token, a.Verb, allowed(a.Verb)); err != nil {
		return nil, err
	}
	if wentBack(c) {
		return nil, notNow(c, a.Verb, c.state())
	}
	o := c.release.offer
	if o == nil || o.State != updates.Asks || o.Program != a.Fingerprint {
		return nil, fmt.Errorf("%w: this is not the release that is on the stick now; look at it again", session.ErrState)
	}
	if (c.locked() || c.state() == view.IsDone) && !strings.EqualFold(strings.TrimSpace(a.Value), c.hostname) {
		return nil, fmt.Errorf("%w: type the host name %s to update Touchdown", session.ErrLocked, c.hostname)
	}
	accepted := *o
	accepted.Order = nil // a person began it
	return &accepted, nil
}

// closeUpdate takes what is told of a release from the screens: a person said no, or has read it.
func closeUpdate(c *core, a session.Action) error {
	r := &c.release
	shown := session.Action{Verb: a.Verb, Question: a.Question, Value: a.Value, Volume: a.Volume, Reason: a.Reason}
	if a.Reason == "" { // a console of the release before, which is still open, does not say which problem it showed
		shown.Reason = r.offer.Code()
	}
	if r.offer == nil || shown != session.Update.Close(r.offer) {
		return fmt.Errorf("%w: this is not what is told of a release now; look at it again", session.ErrState)
	}
	if o := r.offer.Order; r.offer.State == updates.Asks && o != nil && o.Problem == nil { // who says no to the release says no to its order
		haltFor(c, o.ID, stopsOrder(c, o.ID))
	}
	at := r.at
	if r.offer.State == updates.Failed {
		if err := updates.Forget(c.o.Node.Host); err != nil {
			return err
		}
		at = r.last.Stick // another one may be there by now, which is asked about
	}
	r.closed, r.judged, r.offer = at, false, nil
	tellUpdate(c, c.o.Node.Now())
	c.recorder.changed()
	return nil
}

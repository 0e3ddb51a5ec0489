package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"touchdown/backend/media"
	"touchdown/backend/message"
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/unattended"
	"touchdown/steps/view"
)

// reviews is how often the review is asked for again when an answer that was found on the machine changed while it was made.
const reviews = 5

// decide applies the rules to what is known now, for whoever has control; review is nil before one was made. Whoever calls it holds mu.
func (e *lander) decide(token string, review *unattended.Review) unattended.Decision {
	c := e.core
	if !beforeLanding(c) {
		return unattended.Decision{}
	}
	life := c.life()
	f := unattended.Facts{
		Sealed: life == view.LifeArmed, Begun: !c.job.started.IsZero(), Lost: len(c.job.lost) > 0 || c.job.doubtful,
		Typed: c.draft.begun(), Taken: isTaken(c.draft), Blind: e.o.Media.Blind(), Review: review,
	}
	if !c.control.free() && (token == "" || c.control.token != token) {
		f.Control = c.control.holder
	}
	for _, m := range e.o.Media.Found() {
		d := unattended.Document{ID: m.ID(), Verdict: verdict(m), Asks: m.Unattended(), Tried: e.tried[m.ID()].why}
		if m.Baked() {
			f.Baked, f.Shipped = &d, media.StartOf(c.o.Node.Host, d.ID).Shipped()
			f.Halted, f.Counted = halted(c, d.ID), c.counting.over(d.ID, e.o.Node.Now())
		} else {
			f.Media = append(f.Media, d)
		}
	}
	return unattended.Decide(f)
}

// verdict is what the node thinks of a medium.
func verdict(f *media.Medium) unattended.Verdict {
	switch {
	case f.Refused == nil:
		return unattended.Trusted
	case f.Refused.Code == "MED-USED":
		return unattended.Used
	case f.Unread():
		return unattended.Unread
	}
	return unattended.Refused
}

// landFrom does what a person does with the answers of a medium: it puts them in, has the machine looked at and the review made, and
// accepts that by its fingerprint. It does so as a console, so that everyone sees who has control, and can take it. What stands
// against the start is the error; answers and review stay for whoever comes.
func (e *lander) landFrom(ctx context.Context, f *media.Medium) (err error) {
	taken, err := e.o.Media.Take(f.ID(), "")
	if err != nil {
		return err
	}
	values, err := answersOf(taken)
	if err != nil {
		return err
	}
	token, err := e.takeControl(taken.Source, false)
	if err != nil {
		return err
	}
	e.attach(token, 1)
	defer func() {
		e.attach(token, -1)
		_ = e.ReleaseControl(ctx, token) // someone may have taken control
	}()
	if err := e.still(token, f); err != nil { // with control taken: from here on nobody else types
		return err
	}
	if err := e.Load(ctx, token, values, unattended.Source(taken.Source)); err != nil {
		return err
	}
	if err := e.Do(ctx, token, session.Action{Verb: session.Inspect}); err != nil {
		return err
	}
	if err := e.reviewFor(ctx, token); err != nil {
		return err
	}
	if err := e.o.Media.LookAgain(ctx); err != nil { // the review takes a while, and pulling the medium is how a person says no
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.startFrom(token, f, taken)
}

// still fails unless the rules say that the answers of a medium may be tried.
func (e *lander) still(token string, f *media.Medium) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return isFor(e.decide(token, nil), unattended.Try, f)
}

// isFor fails unless a decision is to do something with a medium.
func isFor(is unattended.Decision, act unattended.Act, f *media.Medium) error {
	switch {
	case is.Act == act && is.Document == f.ID():
		return nil
	case is.Why != (message.Text{}):
		return errors.New(is.Why.String())
	}
	return fmt.Errorf("%w: the medium was pulled out, or another one was put in", session.ErrState)
}

// reviewFor makes the review. What the looks find may change an answer while it is made.
func (e *lander) reviewFor(ctx context.Context, token string) (err error) {
	for range reviews {
		if err = e.Do(ctx, token, session.Action{Verb: session.Review}); !errors.Is(err, session.ErrState) {
			return err
		}
	}
	return err
}

// startFrom accepts the review in the name of a medium, which counts as used once the journal has the start, before the first change. The
// rules are applied once more, to all that came since the answers were taken. Whoever calls it holds mu.
func (e *lander) startFrom(token string, f *media.Medium, taken *media.Taken) error {
	c := e.core
	if err := c.may(token, session.Start, allowed(session.Start)); err != nil {
		return err
	}
	review := &unattended.Review{
		Problems: c.draft.review.Problems, Warnings: c.draft.review.Warnings, KeepGoing: c.draft.site.Spec.Policy.KeepGoingOnWarnings,
	}
	if err := isFor(e.decide(token, review), unattended.Start, f); err != nil {
		return err
	}
	a := session.Action{Verb: session.Start, Fingerprint: c.draft.review.Fingerprint, Unattended: true}
	if err := c.start(a, taken.Begin); err != nil {
		return err
	}
	endCountDown(c)
	c.notices[startedBy] = message.F("The landing was started by medium %s.", f.Name())
	text := message.F("The landing was started by medium %s, with nobody at a console: document %s, signed with key %s.", f.Name(), f.ID(), f.Signer)
	c.recorder.warn("", c.recorder.emit(event.Event{Kind: event.Said, Step: mediumStep, Text: text}))
	return nil
}

// isTaken tells whether a person took the answers of a document. Those that the node put in itself, for a start that failed, are none.
func isTaken(d *draft) bool {
	for _, source := range d.site.Sources {
		if byDocument(source) {
			return true
		}
	}
	return false
}

// byDocument tells whether a source is that of a document, as media.Taken has it.
func byDocument(source string) bool {
	return strings.HasPrefix(source, fromMedium) || source == media.BakedSource
}

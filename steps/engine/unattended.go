package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"touchdown/backend/media"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps"
)

// reviews is how often the review is asked for again when an answer that was found on the machine changed while it was made.
const reviews = 5

// mediumStep is the step in whose name it is told how the landing began: its page offers the answers of media.
const mediumStep = "network-settings"

// startedBy is the notice that a medium started the landing, shown until that has ended.
const startedBy = "medium"

// lander starts the landing of a sealed node from a medium that asks for it, with nobody there.
type lander struct {
	*Engine
	tried map[string]message.Text // by the document's id: what became of it; until it is pulled out
	there []string                // ids of the documents that the last look found

	leftIn string // what was in the sockets when it was told what was left
	leftAt string // what was to be left, and what was in the sockets, when leave tried last

	leftLast string            // what was left last, also where that could not be noted
	leftTold map[string]string // by the document's id: what was to be left, and what was told of it in an event
}

// watchMedia looks for media for as long as the engine lives. It tells what it found, and starts the landing when the one medium that
// is there says so.
func (e *lander) watchMedia() {
	<-e.recovered
	wanted := func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return beforeLanding(e.core)
	}
	e.o.Media.Watch(e.closing, wanted, func() {
		for id := range e.tried {
			if !slices.ContainsFunc(e.o.Media.Usable(), func(f *media.Medium) bool { return f.ID() == id }) {
				delete(e.tried, id)
			}
		}
		e.forgetPulled()
		e.judgeMedia()
		e.leave()
	})
}

// forgetPulled forgets what was typed for a medium that is no longer there.
func (e *lander) forgetPulled() {
	was := e.there
	e.there = nil
	for _, f := range e.o.Media.Usable() {
		e.there = append(e.there, f.ID())
	}
	if !slices.ContainsFunc(was, func(id string) bool { return !slices.Contains(e.there, id) }) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.core.draft.beside) > 0 {
		e.core.draft.forgetBeside()
		e.core.recorder.changed()
	}
}

// judgeMedia tells what the media are that the last look found, and lets one start. A sentence for every screen has one line of 80
// columns; the checks of the page Network say more.
func (e *lander) judgeMedia() {
	var say []message.Text
	for _, f := range e.o.Media.Found() {
		switch {
		case f.Refused == nil:
		case f.Refused.Code == "MED-USED":
			say = append(say, message.F("Medium %s was used on this node, and can be taken out.", f.Name()))
		default:
			say = append(say, message.F("Medium %s is not used: %s. Why: page Network, Checks.", f.Name(), f.Refused.Code))
		}
	}
	usable := e.o.Media.Usable()
	asks := slices.IndexFunc(usable, (*media.Medium).Unattended)
	if asks < 0 {
		e.sayOfMedia(say)
		return
	}
	f := usable[asks]
	why := message.T("another medium is there, too; leave the right one in")
	if len(usable) == 1 {
		why = e.mayStart(f)
	}
	if why == (message.Text{}) {
		e.sayOfMedia(append(say, message.F("Medium %s: the landing starts when its answers are checked.", f.Name())))
		if why = e.tryFrom(f); why == (message.Text{}) {
			e.sayOfMedia(say)
			return
		}
	}
	if e.o.Media.Tell(f, why) {
		e.lookAgain()
	}
	e.sayOfMedia(append(say, message.F("Medium %s starts nothing. Why: page Network, Checks.", f.Name())))
}

// tryFrom starts the landing from a medium, and returns what came of it where it did not start.
func (e *lander) tryFrom(f *media.Medium) message.Text {
	e.o.Media.Tell(f, message.Text{})
	err := e.landFrom(e.closing, f)
	if err == nil {
		return message.Text{}
	}
	e.o.Node.Log.Warn("medium", "device", f.Device, "error", e.mask.Mask(err.Error()))
	e.tried[f.ID()] = message.Data(e.mask.Mask(reason(err)))
	return e.tried[f.ID()]
}

// lookAgain has the steps look again: what they tell of media is another thing now.
func (e *lander) lookAgain() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.core.inspector.again()
}

// reason is an error for the people at the console.
func reason(err error) string {
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		return fmt.Sprintf("%s %s (%s)", p.Summary, p.Fix, p.Code)
	}
	text := err.Error()
	for _, kind := range []error{ErrState, ErrInvalid, ErrNoPen, ErrPenHeld} { // for programs
		text = strings.TrimPrefix(text, kind.Error()+": ")
	}
	return text
}

// sayOfMedia shows sentences on every screen, in place of the last ones.
func (e *lander) sayOfMedia(texts []message.Text) {
	const name = "media "
	e.mu.Lock()
	defer e.mu.Unlock()
	now := notices{}
	for i, text := range texts {
		now[fmt.Sprintf(name+"%03d", i)] = text
	}
	changed := false
	if _, said := e.core.notices[startedBy]; said && !underWay(e.core.job.state) && e.core.job.state != HasFailed {
		delete(e.core.notices, startedBy)
		changed = true
	}
	for key := range e.core.notices {
		if strings.HasPrefix(key, name) && e.core.notices[key] != now[key] {
			delete(e.core.notices, key)
			changed = true
		}
	}
	for key, text := range now {
		if _, said := e.core.notices[key]; !said {
			e.core.notices[key] = text
			changed = true
		}
	}
	if changed {
		e.core.inspector.again()
		e.core.recorder.changed()
	}
}

// mayStart tells what keeps an unattended medium from starting; nothing does when the node waits for its site and no person has begun.
func (e *lander) mayStart(f *media.Medium) message.Text {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch c, tried := e.core, e.tried[f.ID()]; {
	case tried != (message.Text{}):
		return tried
	case c.life() != LifeArmed:
		return message.T("the factory has not sealed this node, or its landing has begun before")
	case c.draft.begun():
		return message.T("answers were typed on this node")
	case !c.control.free():
		return message.F("%s has control; it starts when nobody has", c.control.holder)
	}
	return message.Text{}
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
	pen, err := e.TakePen(ctx, taken.Source, false)
	if err != nil {
		return err
	}
	e.attach(pen, 1)
	defer func() {
		e.attach(pen, -1)
		_ = e.ReleasePen(ctx, pen) // someone may have taken control
	}()
	if why := e.typedMeanwhile(); why != nil {
		return why
	}
	if err := e.Load(ctx, pen, values, taken.Source); err != nil {
		return err
	}
	if err := e.Do(ctx, pen, Action{Verb: Inspect}); err != nil {
		return err
	}
	if err := e.reviewFor(ctx, pen); err != nil {
		return err
	}
	if !e.o.Media.Alone(ctx, f) { // the review takes a while, and pulling the medium is how a person says no
		return fmt.Errorf("%w: the medium was pulled out, or another one was put in", ErrState)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return startFrom(e.core, pen, f, taken)
}

// typedMeanwhile looks once more, with control taken: from here on nobody else types.
func (e *lander) typedMeanwhile() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !beforeLanding(e.core) || e.core.life() != LifeArmed || e.core.draft.begun() {
		return fmt.Errorf("%w: a person began at a console", ErrState)
	}
	return nil
}

// reviewFor makes the review. What the looks find may change an answer while it is made.
func (e *lander) reviewFor(ctx context.Context, pen string) (err error) {
	for range reviews {
		if err = e.Do(ctx, pen, Action{Verb: Review}); !errors.Is(err, ErrState) {
			return err
		}
	}
	return err
}

// startFrom accepts the review in the name of a medium, which counts as used before the first change.
func startFrom(c *core, pen string, f *media.Medium, taken *media.Taken) error {
	if err := c.may(pen, Start, allowed(Start)); err != nil {
		return err
	}
	if !beforeLanding(c) || c.life() != LifeArmed {
		return fmt.Errorf("%w: the node's landing has begun", ErrState)
	}
	if found := c.draft.review.Problems; len(found) > 0 {
		return fmt.Errorf("the review found what has to be fixed first: %s", strings.Join(message.English(found), "; "))
	}
	a := Action{Verb: Start, Fingerprint: c.draft.review.Fingerprint, Unattended: true}
	if err := c.start(a, taken.Use); err != nil {
		return err
	}
	c.notices[startedBy] = message.F("The landing was started by medium %s.", f.Name())
	text := message.F("The landing was started by medium %s, with nobody at a console: document %s, signed with key %s.", f.Name(), f.ID(), f.Signer)
	c.recorder.warn("", c.recorder.emit(steps.Event{Kind: steps.Said, Step: mediumStep, Text: text}))
	return nil
}

package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"touchdown/backend/media"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps/session"
	"touchdown/steps/unattended"
	"touchdown/steps/view"
)

// mediumStep is the step in whose name it is told how the landing began: its page offers the answers of media.
const mediumStep = "network-settings"

// startedBy is the notice that a medium started the landing, shown until that has ended.
const startedBy = "medium"

// lander starts the landing of a sealed node from a medium that asks for it, with nobody there.
type lander struct {
	*Engine
	tried map[string]try // by the document's id, until it is pulled out
	there []string       // ids of the documents that the last look found

	judging sync.Mutex // held while a release is judged

	leftIn string // what was in the sockets when it was told what was left
	leftAt string // what was to be left, and what was in the sockets, when leave tried last

	leftLast string            // what was left last, also where that could not be noted
	leftTold map[string]string // by the notice and the document's id: what was to be left, and what was told of it in an event
}

// try is one that did not start the landing.
type try struct {
	why   message.Text
	heard int // core.heard when it began
}

// watchMedia looks for media for as long as the engine lives. It tells what it found, and starts the landing when the one medium that
// is there says so.
func (e *lander) watchMedia() {
	<-e.recovered
	wanted := func() media.Want {
		e.mu.Lock()
		defer e.mu.Unlock()
		return media.Want{Sites: beforeLanding(e.core), Releases: mayJudge(e.core)}
	}
	e.o.Media.Watch(e.closing, wanted, func() {
		for id := range e.tried {
			if !slices.ContainsFunc(e.o.Media.Usable(), func(f *media.Medium) bool { return f.ID() == id }) {
				delete(e.tried, id)
			}
		}
		e.forgetPulled()
		noteHalts(e.Engine)
		noteUsed(e.Engine)
		if updating, counting := lookForUpdate(e), followOrder(e); !updating && !counting { // else nothing starts
			e.judgeMedia()
		}
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

// judgeMedia tells what the media are that the last look found, and does what the rules say (steps/unattended). A sentence for every
// screen has one line of 80 columns; the checks of the page Network say more.
func (e *lander) judgeMedia() {
	var say []message.Text
	used := false
	for _, f := range e.o.Media.Found() {
		switch verdict(f) {
		case unattended.Used:
			used = true
			say = append(say, message.F("Medium %s was used on this node, and can be taken out.", f.Name()))
		case unattended.Refused, unattended.Unread:
			say = append(say, message.F("Medium %s is not used: %s. Why: page Network, Checks.", f.Name(), f.Refused.Code))
		}
	}
	is := e.decided()
	f := e.asking(is.Document)
	if f == nil {
		if usedForNothing(e.Engine, used) {
			say = append(say, message.T("The site config was used, but nothing started. Start here, or use a new one."))
		}
		e.sayOfMedia(say)
		return
	}
	why := is.Why
	if is.Act >= unattended.Try {
		e.sayOfMedia(append(say, message.F("Medium %s: the landing starts when its answers are checked.", f.Name())))
		if why = e.tryFrom(f); why == (message.Text{}) {
			e.sayOfMedia(say)
			return
		}
	}
	if e.o.Media.Tell(f, why) {
		e.lookAgain()
	}
	if why != (message.Text{}) {
		say = append(say, message.F("Medium %s starts nothing. Why: page Network, Checks.", f.Name()))
	}
	e.sayOfMedia(say)
}

// decided applies the rules to what is known now, and has the countdown run or end as they say.
func (e *lander) decided() unattended.Decision {
	e.mu.Lock()
	defer e.mu.Unlock()
	is, now := e.decide("", nil), e.o.Node.Now()
	if is.Act == unattended.Wait && e.core.counting.again && e.core.counting.over(is.Document, now) {
		delete(e.tried, is.Document)
		e.core.counting.again = false
		is = e.decide("", nil)
		if f := e.asking(is.Document); f == nil || !f.Baked() { // no key stops a stick that starts: pulling it out does
			endCountDown(e.core)
		}
	}
	landing := landMedium
	if f := e.asking(is.Document); f != nil && f.Baked() {
		landing = landBaked
	}
	switch {
	case is.Act == unattended.CountDown:
		countDown(e.core, is.Document, landing, now)
	case is.Act == unattended.Wait && e.tried[is.Document].heard == e.core.heard:
		waitToTry(e.core, is.Document, landing, now)
	case is.Document != e.core.counting.id || is.Act <= unattended.Wait:
		endCountDown(e.core)
	}
	return is
}

// asking is the medium with a document that asks to start; nil for none.
func (e *lander) asking(id string) *media.Medium {
	usable := e.o.Media.Usable()
	if i := slices.IndexFunc(usable, func(f *media.Medium) bool { return f.ID() == id }); i >= 0 {
		return usable[i]
	}
	return nil
}

// tryFrom starts the landing from a medium, and returns what came of it where it did not start.
func (e *lander) tryFrom(f *media.Medium) message.Text {
	e.o.Media.Tell(f, message.Text{})
	e.mu.Lock()
	heard := e.core.heard
	e.mu.Unlock()
	err := e.landFrom(e.closing, f)
	e.mu.Lock()
	endCountDown(e.core)
	e.mu.Unlock()
	if err == nil {
		return message.Text{}
	}
	e.o.Node.Log.Warn("nothing starts from the medium", "device", f.Device, "error", e.mask.Mask(err.Error()))
	e.tried[f.ID()] = try{reason(err).Map(e.mask.Mask), heard}
	return e.tried[f.ID()].why
}

// lookAgain has the steps look again: what they tell of media is another thing now.
func (e *lander) lookAgain() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.core.inspector.again()
}

// reason is an error for the people at the console.
func reason(err error) message.Text {
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		return message.F("%s %s (%s)", p.Summary, p.Fix, p.Code)
	}
	return message.Detail(err).Map(func(text string) string {
		for _, kind := range []error{session.ErrState, session.ErrInvalid, session.ErrNoControl, session.ErrControlHeld} { // for programs
			text = strings.TrimPrefix(text, kind.Error()+": ")
		}

		return text
	})
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
	if _, said := e.core.notices[startedBy]; said && !underWay(e.core.job.state) && e.core.job.state != view.HasFailed {
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

package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"touchdown/backend/media"
	"touchdown/backend/media/volume"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps"
)

// fromMedium begins the source of an answer that a medium brought, as media.Taken has it.
const fromMedium = "stick "

// leftNotice is the notice that something was left on a medium, or why it was not.
const leftNotice = "left"

// questionFile tells why a landing with nobody there waits for a person.
const questionFile = "question.txt"

// leaving is what is to be left on the medium that brought the site config.
type leaving struct {
	id    string // of its document
	what  string // another text for each time; it goes onto the disk
	files []volume.File
}

// leave writes the report onto the medium that brought the site config, once the node has landed, or the question at which a landing
// with nobody there stopped. A medium that is not there may be put in later.
func (e *lander) leave() {
	known := media.Of(e.o.Node.Host)
	sockets := known.Sockets()
	e.unsayLeft(sockets)
	l := e.toLeave(known)
	if l == nil {
		return
	}
	now := l.what + "\n" + sockets
	if now == e.leftAt { // nothing else can come of it
		return
	}
	e.leftAt = now
	left, err := e.o.Media.Leave(e.closing, l.id, l.files)
	if e.closing.Err() != nil || err == nil && left == nil {
		return
	}
	if err == nil {
		err = known.NoteLeft(l.what)
	}
	if err != nil {
		e.o.Node.Log.Warn("leaving on the medium", "error", e.mask.Mask(err.Error()))
		e.sayLeft(known, message.F("Nothing was written to the medium (%s). Why: the log.", problem.From(err).Code),
			message.F("Nothing was written to the medium: %s", e.mask.Mask(reason(err))))
		return
	}
	e.o.Node.Log.Info("left on the medium", "medium", left.Medium, "files", left.Files)
	e.sayLeft(known, message.F("Medium %s has %s, and can be taken out.", left.Medium, left.Files[0]),
		message.F("Medium %s has %s, and can be taken out.", left.Medium, strings.Join(left.Files, ", ")))
}

// sayLeft tells every screen in one line, until something else is in the sockets, and the journal whole.
func (e *lander) sayLeft(known media.Known, line, whole message.Text) {
	e.leftIn = known.Sockets()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.core.notices[leftNotice] = line
	e.core.recorder.warn(mediumStep, e.core.recorder.emit(steps.Event{Kind: steps.Said, Step: mediumStep, Text: whole}))
}

// unsayLeft takes the line off the screens when the medium is gone, or when the work goes on.
func (e *lander) unsayLeft(sockets string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	state := e.core.job.state
	if _, told := e.core.notices[leftNotice]; told && (sockets != e.leftIn || underWay(state) && state != InQuestion) {
		delete(e.core.notices, leftNotice)
		e.core.recorder.changed()
	}
}

// toLeave is what is to be left now; nil for nothing.
func (e *lander) toLeave(known media.Known) *leaving {
	l := e.unstarted()
	if l == nil {
		l = e.ended(known)
	}
	if l == nil || len(l.files) == 0 || known.HasLeft(l.what) {
		return nil
	}
	return l
}

// unstarted is why the medium that is there started nothing, once its landing was tried.
func (e *lander) unstarted() *leaving {
	e.mu.Lock()
	defer e.mu.Unlock()
	ids := slices.Sorted(maps.Keys(e.tried))
	if len(ids) == 0 || !beforeLanding(e.core) {
		return nil
	}
	text := e.mask.Mask(forReaders(e.core, "The landing has not started.", "", e.tried[ids[0]].String()))
	return &leaving{ids[0], fmt.Sprintf("%s %q", ids[0], text), []volume.File{{Name: questionFile, Data: []byte(text)}}}
}

// ended is the report of the landing, or the question at which it stopped.
func (e *lander) ended(known media.Known) *leaving {
	e.mu.Lock()
	brought, state, began, question := broughtByMedium(e.core), e.core.job.state, e.core.job.started, openQuestion(e.core)
	e.mu.Unlock()
	if !brought || state != IsDone && question == "" {
		return nil
	}
	id, err := known.Last()
	if err != nil || id == "" {
		return nil
	}
	l := &leaving{id: id, what: strings.Join([]string{id, began.UTC().Format(time.RFC3339), string(state)}, " ")}
	if state != IsDone {
		question = e.mask.Mask(question)
		l.what += fmt.Sprintf(" %q", question)
		l.files = []volume.File{{Name: questionFile, Data: []byte(question)}}
	} else {
		for _, document := range []Document{ReportText, ReportJSON, signed} {
			if data, err := readKept(e.store.path(string(document))); err == nil {
				l.files = append(l.files, volume.File{Name: string(document), Data: data})
			}
		}
	}
	return l
}

// broughtByMedium tells whether a medium brought answers of the job.
func broughtByMedium(c *core) bool {
	if c.o.List == ListFactory || c.job.started.IsZero() {
		return false
	}
	for _, source := range c.draft.site.Sources {
		if strings.HasPrefix(source, fromMedium) {
			return true
		}
	}
	return false
}

// openQuestion is where a landing with nobody there stopped, for people who read it on another computer; "" where it has not.
func openQuestion(c *core) string {
	var lines []string
	switch j := c.job; {
	case !j.unattended:
		return ""
	case j.state == InQuestion && j.question != nil:
		lines = append(lines, "The landing waits for an answer.", "", j.question.Text.String(), j.question.Detail.String())
		for _, choice := range j.question.Choices {
			lines = append(lines, "- "+choice.Label.String())
		}
	case j.state == HasFailed && j.problem != nil:
		lines = append(lines, "The landing has stopped at step "+j.current+".", "", j.problem.Code+": "+j.problem.Summary.String(), j.problem.Fix.String(), j.problem.Detail)
	case j.state == IsUndone && len(j.met) > 0:
		lines = append(append(lines, "The landing failed and was undone.", ""), message.English(j.met)...)
	default:
		return ""
	}
	return forReaders(c, lines...)
}

// forReaders is a text for people who do not know yet which machine it is about.
func forReaders(c *core, lines ...string) string {
	lines = append(lines, "", "Machine: "+c.serial, "Continue at a console of the machine, or with touchdown in an SSH session.", "")
	return strings.Join(lines, "\r\n")
}

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
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/unattended"
	"touchdown/steps/view"
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
	waits bool   // the landing has not ended, and goes on after an answer
	files []volume.File
	used  *volume.File // tells on the medium what became of its site config, which is overwritten; nil: it stays
}

// leave writes the report onto the medium that brought the site config, once the node has landed, or the question at which a landing
// with nobody there stopped. A medium that is not there may be put in later.
func (e *lander) leave() {
	known := media.Of(e.o.Node.Host)
	sockets := known.Sockets()
	e.unsayLeft(sockets)
	if e.o.Media.Waiting() { // a device does not answer yet
		return
	}
	l := e.toLeave(known)
	if l == nil {
		return
	}
	now := l.what + "\n" + sockets
	if now == e.leftAt { // nothing else can come of it
		return
	}
	e.leftAt = now
	left, err := e.o.Media.Leave(e.closing, media.Leaving{ID: l.id, Files: l.files, Used: l.used})
	switch {
	case e.closing.Err() != nil:
		return
	case err == nil && left == nil:
		e.tellAway(known, l)
		return
	case err != nil:
		e.notLeft(known, l, err)
	case len(left.Files) > 0:
		e.wasLeft(known, l, left)
	}
	if left != nil {
		e.tellOverwritten(known, l, left)
	}
}

// wasLeft tells what was left, and notes it, so that it is not left again.
func (e *lander) wasLeft(known media.Known, l *leaving, left *media.Left) {
	e.o.Node.Log.Info("left on the medium", "medium", left.Medium, "files", left.Files)
	e.leftLast = l.what
	line := message.F("Medium %s has %s, and can be taken out.", left.Medium, left.Files[0])
	whole := message.F("Medium %s has %s, and can be taken out.", left.Medium, strings.Join(left.Files, ", "))
	if l.waits {
		line = message.F("Medium %s has %s. Leave it in.", left.Medium, left.Files[0])
		whole = message.F("Medium %s has %s. Leave it in until the landing has ended: its report is written to it, too.", left.Medium, strings.Join(left.Files, ", "))
	}
	if err := known.NoteLeft(l.what); err != nil {
		e.o.Node.Log.Warn("it cannot be noted what was left on the medium", "error", e.mask.Mask(err.Error()))
		whole = message.F("Medium %s has %s. The node could not note that, and writes them again after a restart: %s", left.Medium, strings.Join(left.Files, ", "), reason(err).Map(e.mask.Mask))
	}
	e.sayLeft(known, l, line, whole)
}

// notLeft tells why nothing was left, or may not have been. A medium that has no room now, or takes no files at all, is not tried again.
func (e *lander) notLeft(known media.Known, l *leaving, failed error) {
	e.o.Node.Log.Warn("nothing can be left on the medium", "error", e.mask.Mask(failed.Error()))
	code, why := problem.From(failed).Code, reason(failed).Map(e.mask.Mask)
	line, whole := message.F("Nothing was written to the medium (%s). The log says why.", code), message.F("Nothing was written to the medium: %s", why)
	switch code {
	case "MED-WERR": // it failed while it wrote, or its answer was lost
		line = message.F("It is not certain what was written to the medium (%s). The log says why.", code)
		whole = message.F("It is not certain what was written to the medium: %s", why)
	case "MED-CD", "MED-EXFT", "MED-SPCE":
		e.leftLast = l.what
		if err := known.NoteLeft(l.what); err != nil {
			e.o.Node.Log.Warn("it cannot be noted what was not left on the medium", "error", e.mask.Mask(err.Error()))
		}
	}
	e.sayLeft(known, l, line, whole)
}

// sayLeft tells every screen in one line, until something else is in the sockets, and the list of events the whole: but not what that
// was told of the document last, as a medium may come and go at any time.
func (e *lander) sayLeft(known media.Known, l *leaving, line, whole message.Text) {
	e.sayOn(leftNotice, known, l, line, whole)
}

// sayOn does that in the place of a notice.
func (e *lander) sayOn(notice string, known media.Known, l *leaving, line, whole message.Text) {
	e.leftIn = known.Sockets()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.core.notices[notice] = line
	told, of := strings.Join([]string{l.what, line.String()}, "\n"), notice+" "+l.id
	if e.leftTold[of] == told {
		e.core.recorder.changed()
		return
	}
	if e.leftTold == nil {
		e.leftTold = map[string]string{}
	}
	e.leftTold[of] = told
	e.core.recorder.warn(mediumStep, e.core.recorder.emit(event.Event{Kind: event.Said, Step: mediumStep, Text: whole}))
}

// unsayLeft takes the line off the screens when the medium is gone, or when the work goes on.
func (e *lander) unsayLeft(sockets string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	state := e.core.job.state
	if sockets == e.leftIn && (!underWay(state) || state == view.InQuestion) {
		return
	}
	for _, notice := range []string{leftNotice, overNotice} {
		if _, told := e.core.notices[notice]; told {
			delete(e.core.notices, notice)
			e.core.recorder.changed()
		}
	}
}

// toLeave is what is to be left now; nil for nothing.
func (e *lander) toLeave(known media.Known) *leaving {
	l := e.unstarted()
	if l == nil {
		l = e.ended(known)
	}
	if l == nil || l.what == e.leftLast || known.HasLeft(l.what) {
		return nil
	}
	if l.files == nil {
		l.files = e.reports()
	}
	if len(l.files) == 0 && l.used == nil {
		return nil
	}
	return l
}

// reports are the files of the report, the one for people first: a medium may have no room for all of them.
func (e *lander) reports() (files []volume.File) {
	for _, document := range []session.Document{session.ReportText, session.ReportJSON, session.SignedReport} {
		if data, err := readKept(e.folder.path(string(document))); err == nil {
			files = append(files, volume.File{Name: string(document), Data: data})
		}
	}
	return files
}

// unstarted is why the medium that is there started nothing, once its landing was tried.
func (e *lander) unstarted() *leaving {
	e.mu.Lock()
	defer e.mu.Unlock()
	ids := slices.Sorted(maps.Keys(e.tried))
	ids = slices.DeleteFunc(ids, func(id string) bool { f := e.asking(id); return f == nil || f.Baked() }) // there is no medium to write to
	if len(ids) == 0 || !beforeLanding(e.core) {
		return nil
	}
	text := e.mask.Mask(forReaders(e.core, "The landing has not started.", "", e.tried[ids[0]].why.String()))
	return &leaving{id: ids[0], what: fmt.Sprintf("%s %q", ids[0], text), files: []volume.File{{Name: questionFile, Data: []byte(text)}}}
}

// ended is the report of the landing, whose files are not read yet, or the question at which it stopped. Nothing is left any more once
// the hand-over was accepted: the node would read every stick for ever.
func (e *lander) ended(known media.Known) *leaving {
	e.mu.Lock()
	c := e.core
	brought, state, began, question := broughtByMedium(c) && !c.job.handedOver, c.job.state, c.job.started, openQuestion(c)
	used := usedText(e, c)
	e.mu.Unlock()
	if !brought || state != view.IsDone && question == "" {
		return nil
	}
	id, err := known.Last()
	if err != nil || id == "" {
		return nil
	}
	l := &leaving{id: id, what: strings.Join([]string{id, began.UTC().Format(time.RFC3339), string(state)}, " "), waits: state == view.InQuestion}
	if state == view.IsDone {
		l.used = &used
	} else {
		question = e.mask.Mask(question)
		l.what += fmt.Sprintf(" %q", question)
		l.files = []volume.File{{Name: questionFile, Data: []byte(question)}}
	}
	return l
}

// broughtByMedium tells whether a medium brought answers of the job.
func broughtByMedium(c *core) bool {
	if c.o.List == view.ListFactory || c.job.started.IsZero() {
		return false
	}
	for _, source := range c.draft.site.Sources {
		if source, _ = unattended.Bare(source); strings.HasPrefix(source, fromMedium) {
			return true
		}
	}
	return false
}

// openQuestion is where a landing with nobody there stopped, for people who read it on another computer; "" where it has not. A question
// with a deadline is none: the landing goes on without a person, and ends with a report.
func openQuestion(c *core) string {
	var lines []string
	switch j := c.job; {
	case !j.unattended:
		return ""
	case j.state == view.InQuestion && j.question != nil:
		if j.question.Deadline > 0 {
			return ""
		}
		lines = append(lines, "The landing waits for an answer.", "", j.question.Text.String(), j.question.Detail.String())
		for _, choice := range j.question.Choices {
			label := choice.Label.String()
			if choice.Value == j.question.Default {
				label += " (default)"
			}
			lines = append(lines, "- "+label)
		}
	case j.state == view.HasFailed && j.problem != nil:
		stopped := "The landing has stopped"
		if j.undoing {
			stopped = "The undo of the landing has stopped"
		}
		if j.current != "" {
			stopped += " at step " + j.current
		}
		lines = append(lines, stopped+".", "", j.problem.Code+": "+j.problem.Summary.String(), j.problem.Fix.String(), j.problem.Detail.String())
	case j.state == view.IsUndone && len(j.met) > 0:
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

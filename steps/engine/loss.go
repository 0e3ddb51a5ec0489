package engine

import (
	"path/filepath"
	"slices"

	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps/event"
	"touchdown/steps/view"
)

// applyLost takes the job for what is known of it after a loss.
func (j *job) applyLost(e event.Event) {
	k := e.Job
	if k.HandedOver && !j.handedOver {
		j.dropWaivers()
	}
	j.stood = j.stood || j.handedOver && !k.HandedOver // the record of a later job's beginning is lost
	if view.State(k.State) == view.Collecting && j.state != view.Collecting {
		j.backToForm()
	}
	j.state, j.current, j.undoing, j.handedOver, j.doubtful = view.State(k.State), k.Step, k.Undoing, k.HandedOver, k.Locked
	j.landedBefore = j.landedBefore || k.Landed
	j.question, j.lost = nil, append(j.lost, e.Text)
	if k.Inputs != "" {
		j.inputs = k.Inputs
	}
	if j.state == view.IsDone && j.ended.IsZero() {
		j.ended = e.Time
	}
	for _, id := range k.Touched {
		j.step(id).touched = true
	}
	for id, s := range j.steps {
		// The skip may have been in an earlier job: who goes on from here is asked again.
		s.skippedBy = ""
		if s.status == view.Running { // whether it ended is not known
			s.status, s.progress, s.boots = map[bool]view.StepStatus{true: view.StepFailed, false: view.Pending}[id == k.Step], nil, nil
		}
	}
	if e.Problem != nil {
		j.problem = e.Problem
		j.meet(k.Step, e.Problem)
	}
}

// stock is what an engine finds of its records when it starts.
type stock struct {
	lost       []message.Text // what was lost of the records before this engine started
	known      *event.Job     // what they tell all the same, until that is recorded
	asks       bool           // a person decides how the job goes on
	incomplete bool           // records of the journal were lost, or may have been
	records    bool           // the loss belongs into the journal: there is a job that it concerns
}

// takeStock compares what the journal tells with what else is known, and notes what was lost. After a loss nothing goes on
// automatically: what happened since may have changed everything.
func (c *core) takeStock(read reading, damage string) {
	s, last, where := c.stock, read.last(), c.folder.sums.mark
	s.lost = read.losses(damage)
	if where != nil && where.Seq > last+maxGap {
		c.folder.lose(loss{file: "sums.jsonl", how: isChanged})
		c.folder.sums.mark, where = nil, nil
	}
	if where != nil && where.Seq > last {
		s.lost = append(s.lost, message.T("the newest records of the journal are missing"))
		c.recorder.seq = where.Seq
	}
	// A record that was cut off is of a job; so is what a step saved.
	if lostSums := slices.ContainsFunc(c.folder.losses, func(l loss) bool { return l.file == "sums.jsonl" }); lostSums && last == 0 && (read.torn || len(c.folder.touched()) > 0) {
		s.lost = append(s.lost, message.T("the journal tells of no job, though there may have been one"))
	}
	incomplete := len(s.lost) > 0
	s.incomplete = incomplete
	k, touched := c.job.known(), c.folder.touched()
	unsure := incomplete && (where == nil || where.Seq < last) && (!read.whole || !ended(c.job.state) || isHandedOver(k) && len(touched) > 0)
	switch {
	case incomplete && where != nil && where.Seq >= last:
		k = where.Job
		k.Landed = k.Landed || c.job.landedBefore
	case unsure && (len(touched) > 0 || where != nil && where.Seq > read.handedOver() && !where.Job.HandedOver):
		k.HandedOver = false // a job may have begun since
	}
	// Where nobody can know, an earlier hand-over is not ruled out.
	k.Locked = k.Locked || unsure && (k.Landed || len(read.events) == 0)
	for _, l := range c.folder.losses {
		if !l.wiped(k) {
			s.lost = append(s.lost, l.text())
		}
	}
	if len(s.lost) == 0 {
		c.folder.acceptLosses()
		return
	}
	if !isHandedOver(k) { // else what is still there is about to be wiped
		k.Touched = touched
	}
	s.asks = unsure || underWay(view.State(k.State)) || incomplete && view.State(k.State) == view.HasFailed
	if only := c.folder.losses; !incomplete && len(only) == 1 && only[0] == (loss{file: "site.yaml", how: isChanged}) && view.State(k.State) != view.UndoingAll && c.accepted() != nil {
		s.asks = false // someone edited the answers: resume refuses them and says so
	}
	s.known = &k
	s.records = s.asks || incomplete || len(read.events) > 0 && view.State(k.State) != view.Collecting
}

// isHandedOver tells whether a job has ended with its hand-over, and no other one has begun.
func isHandedOver(k event.Job) bool { return view.State(k.State) == view.IsDone && k.HandedOver }

// landedForGood tells whether what the landing needed can be wiped. Where records of the journal are lost, a later job may be among them, whose
// originals are kept: then only a mark that is as new as the journal tells that there is none.
func landedForGood(c *core, read reading, damage string) bool {
	last, where := read.last(), c.folder.sums.mark
	newer := where != nil && where.Seq > last
	if !newer && len(read.losses(damage)) == 0 {
		return isHandedOver(c.job.known())
	}
	return where != nil && where.Seq >= last && where.Seq <= last+maxGap && isHandedOver(where.Job)
}

// losses tells what of the journal cannot be read.
func (r *reading) losses(damage string) []message.Text {
	var text message.Text
	switch {
	case r.gone:
		text = message.T("the journal cannot be read")
	case r.bad == 0:
		return nil
	default:
		text = message.F("%d of the journal's records cannot be read", r.bad)
	}
	if damage != "" {
		text = message.F("%s; what was found is kept as %s", text, filepath.Base(damage))
	}
	return []message.Text{text}
}

// ended tells whether nothing goes on automatically in a state, whatever came before it.
func ended(s view.State) bool { return s == view.IsDone || s == view.IsUndone }

// underWay tells whether an engine that starts goes on with a job in that state.
func underWay(s view.State) bool {
	return s == view.Working || s == view.InQuestion || s == view.UndoingAll
}

// noticeLoss records what was lost and stops a job that was under way.
func (c *core) noticeLoss() {
	s := c.stock
	if s.known == nil {
		return
	}
	text := message.F("%s.", message.Join(s.lost, "; "))
	c.o.Node.Log.Error("records were lost", "what", text.String())
	e := event.Event{Kind: event.Lost, Text: text, Step: s.known.Step, Job: s.known}
	if s.asks {
		s.known.State = string(view.HasFailed)
		e.Problem = event.TroubleOf(&problem.Problem{
			Code: view.RecordsLost, Summary: message.T("Records of this job were damaged or lost, so it does not continue automatically."),
			Fix: message.T("Continue from what the machine shows, edit the answers to start over, or undo."), Err: message.Failed(text),
		})
	}
	if !s.records || c.recorder.emit(e) != nil { // when it cannot be recorded, the next engine finds and tells the same
		c.recorder.fold(e)
		c.recorder.changed()
		if s.records {
			return
		}
	}
	if s.records {
		c.folder.sums.mark = &mark{c.recorder.seq, c.job.known()}
	}
	s.known = nil
	c.folder.acceptLosses()
}

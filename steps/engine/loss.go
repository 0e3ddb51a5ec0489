package engine

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"touchdown/backend/problem"
	"touchdown/steps"
)

// RecordsLost is the code of the problem that an engine stops with when its own records were damaged while a job was under
// way: a person decides how to go on.
const RecordsLost = "LOST-REC"

// knownLocked is what the records tell of the job. The caller holds e.mu.
func (e *Engine) knownLocked() steps.JobState {
	j := e.job
	return steps.JobState{
		State: string(j.state), Step: j.current, Inputs: j.inputs, Undoing: j.undoing,
		Landed: j.landedBefore, HandedOver: j.handedOver, Locked: j.doubtful,
	}
}

// applyLost takes the job for what is known of it after a loss.
func (j *job) applyLost(e steps.Event) {
	k := e.Job
	j.state, j.current, j.undoing, j.handedOver, j.doubtful = State(k.State), k.Step, k.Undoing, k.HandedOver, k.Locked
	j.landedBefore = j.landedBefore || k.Landed
	j.question, j.lost = nil, append(j.lost, e.Text)
	if k.Inputs != "" {
		j.inputs = k.Inputs
	}
	if j.state == IsDone && j.ended.IsZero() {
		j.ended = e.Time
	}
	for _, id := range k.Touched {
		j.step(id).touched = true
	}
	for id, s := range j.steps {
		if s.status == Running { // whether it ended is not known
			s.status, s.progress, s.boots = map[bool]StepStatus{true: StepFailed, false: Pending}[id == k.Step], nil, nil
		}
	}
	if e.Problem != nil {
		j.problem = e.Problem
		j.met = append(j.met, strings.TrimSpace(k.Step+": "+e.Problem.Code+" "+e.Problem.Summary))
	}
}

// takeStock compares what the journal tells with what else is known, and notes what was lost. After a loss nothing goes on by
// itself: what happened since may have changed everything.
func (e *Engine) takeStock(j *journal, damage string) {
	last, where := j.read.last(), e.store.sums.mark
	e.lost = j.read.losses(damage)
	if where != nil && where.Seq > last {
		e.lost = append(e.lost, "the newest records of the journal are missing")
		e.seq = where.Seq
	}
	// A record that was cut off is of a job; so is what a step saved.
	if lostSums := slices.ContainsFunc(e.store.losses, func(l loss) bool { return l.file == "sums.jsonl" }); lostSums && last == 0 && (j.read.torn || len(e.store.touched()) > 0) {
		e.lost = append(e.lost, "the journal tells of no job, though there may have been one")
	}
	incomplete := len(e.lost) > 0
	unsure := incomplete && (where == nil || where.Seq < last) && (!j.read.whole || !ended(e.job.state))
	k := e.knownLocked()
	if incomplete && where != nil && where.Seq >= last {
		k = where.Job
		k.Landed = k.Landed || e.job.landedBefore
	}
	// Where nobody can know, an earlier hand-over is not ruled out.
	k.Locked = k.Locked || unsure && (k.Landed || len(j.read.events) == 0)
	for _, l := range e.store.losses {
		if !l.wiped(k) {
			e.lost = append(e.lost, l.String())
		}
	}
	if len(e.lost) == 0 {
		e.store.settle()
		return
	}
	k.Touched = e.store.touched()
	e.asks = unsure || underWay(State(k.State)) || incomplete && State(k.State) == HasFailed
	if only := e.store.losses; !incomplete && len(only) == 1 && only[0] == (loss{"site.yaml", isChanged}) && State(k.State) != UndoingAll && e.acceptedLocked() != nil {
		e.asks = false // someone edited the answers: resumeLocked refuses them and says so
	}
	e.known = &k
	e.records = e.asks || incomplete || len(j.read.events) > 0 && State(k.State) != Collecting
}

// losses tells what of the journal cannot be read.
func (r *reading) losses(damage string) []string {
	text := ""
	switch {
	case r.gone:
		text = "the journal cannot be read"
	case r.bad == 0:
		return nil
	default:
		text = fmt.Sprintf("%d of the journal's records cannot be read", r.bad)
	}
	if damage != "" {
		text += "; what was found is kept as " + filepath.Base(damage)
	}
	return []string{text}
}

// ended tells whether nothing goes on by itself in a state, whatever came before it.
func ended(s State) bool { return s == IsDone || s == IsUndone }

// underWay tells whether an engine that starts goes on with a job in that state.
func underWay(s State) bool { return s == Working || s == InQuestion || s == UndoingAll }

// tellLossLocked records what was lost and stops a job that was under way. The caller holds e.mu.
func (e *Engine) tellLossLocked() {
	if e.known == nil {
		return
	}
	text := strings.Join(e.lost, "; ") + "."
	e.o.Node.Log.Error("records were lost", "what", text)
	event := steps.Event{Kind: steps.Lost, Text: text, Step: e.known.Step, Job: e.known}
	if e.asks {
		e.known.State = string(HasFailed)
		event.Problem = trouble(&problem.Problem{
			Code: RecordsLost, Summary: "Records of this job were damaged or lost, so it does not continue automatically.",
			Fix: "Continue from what the machine shows, edit the answers to start over, or undo.", Err: errors.New(text),
		})
	}
	if !e.records || e.emitLocked(event) != nil { // when it cannot be recorded, the next engine finds and tells the same
		e.mask.event(&event)
		event.Time = e.now()
		e.job.apply(event)
		e.changedLocked()
		if e.records {
			return
		}
	}
	if e.records {
		e.store.sums.mark = &mark{e.seq, e.knownLocked()}
	}
	e.known = nil
	e.store.settle()
}

// acceptedLocked tells whether the answers are those that a person accepted. The caller holds e.mu.
func (e *Engine) acceptedLocked() error {
	if e.draft.inputs() == e.job.inputs {
		return nil
	}
	return fmt.Errorf("%w: the answers are not those that were accepted; edit them, look them through and start again", ErrState)
}

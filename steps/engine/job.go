package engine

import (
	"slices"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/steps/event"
	"touchdown/steps/view"
)

// keptSentences is how many sentences a step's view holds; the journal holds all.
const keptSentences = 20

// job is the state of the work. It changes only by apply, live and when the journal is read again, so the
// journal alone tells where the work was.
type job struct {
	state        view.State
	fingerprint  string // of the accepted review
	inputs       string // fingerprint of the whole config at the start
	unattended   bool
	started      time.Time
	ended        time.Time
	current      string
	steps        map[string]*stepState
	question     *view.Question
	problem      *event.Trouble
	undoing      bool               // the failure, if any, was in an undo
	handedOver   bool               // the node stands landed for good: undo has ended, and nobody changes it without unlocking
	accepted     string             // fingerprint of the answers that were handed over last; "" in records of older releases
	stood        bool               // it did so when this job began; undo goes back to that
	landedBefore bool               // an earlier job ended well and was not undone
	doubtful     bool               // the record of a hand-over may be among those that were lost
	lost         []message.Text     // records that were lost, until a person has begun again
	time         worktime           // of the job, or of its undo
	met          []message.Text     // failures on the way, for the report
	lasts        map[string]float64 // seconds that each step takes, by the plans that were accepted
	permanent    []event.Permanent  // what an undo leaves, by those of this job and of the earlier ones that are not undone
}

func newJob() *job {
	return &job{state: view.Collecting, steps: map[string]*stepState{}}
}

func (j *job) step(id string) *stepState {
	s, ok := j.steps[id]
	if !ok {
		s = &stepState{status: view.Pending, waivers: map[string]*check.Waiver{}}
		j.steps[id] = s
	}
	return s
}

// known is what the records tell of the job.
func (j *job) known() event.Job {
	return event.Job{
		State: string(j.state), Step: j.current, Inputs: j.inputs, Undoing: j.undoing,
		Landed: j.landedBefore, HandedOver: j.handedOver, Locked: j.doubtful,
	}
}

// touched tells whether there may be something to undo.
func (j *job) touched() bool {
	for _, s := range j.steps {
		if s.touched {
			return true
		}
	}
	return false
}

// interrupted tells whether a Run of the step began and did not end well.
func (j *job) interrupted(id string) bool {
	s := j.step(id)
	return s.touched && s.status != view.StepDone && s.status != view.StepUndone
}

// apply takes one event into the state.
func (j *job) apply(e event.Event) {
	at, before := j.current, j.time.whole
	defer func() {
		j.time.apply(e)
		if worked := j.time.whole - before; worked > 0 && at != "" && !j.undoing {
			j.step(at).seconds += worked.Seconds()
		}
	}()
	if e.Kind == event.Lost {
		j.applyLost(e)
		return
	}
	if e.Step == "" {
		j.applyJob(e)
		return
	}
	s := j.step(e.Step)
	switch e.Kind {
	case event.Progressed:
		if s.progress == nil || s.progress.Usual != e.Progress.Usual || s.progress.Waiting != e.Progress.Waiting {
			s.expects = e.Time
		}
		s.moves(e)
	case event.Checked:
		s.setCheck(*e.Check, e.By == "")
	case event.Cleared:
		s.clearCheck(e.Check.ID)
	case event.Said:
		s.said = append(s.said, e.Text)
		s.said = s.said[max(0, len(s.said)-keptSentences):]
	case event.Asked:
		j.state, j.question = view.InQuestion, &view.Question{Question: *e.Question, Step: e.Step}
		if e.Question.Deadline > 0 {
			j.question.Until = e.Time.Add(seconds(e.Question.Deadline))
		}
	case event.Answered:
		j.state, j.question = view.Working, nil
	default:
		j.applyOutcome(e, s)
	}
}

// applyOutcome takes a beginning or an ending of a step.
func (j *job) applyOutcome(e event.Event, s *stepState) {
	j.question = nil
	switch e.Kind {
	case event.Started:
		j.state, j.current, j.problem = view.Working, e.Step, nil
		s.begins(e)
		s.fingerprint, s.touched, s.skippedBy, s.skip = e.Fingerprint, true, "", message.Text{}
		s.forgetFailed()
	case event.Done:
		s.status, s.progress, s.reboots, s.boots = view.StepDone, nil, nil, nil
	case event.Skipped:
		s.status, s.skip, s.skippedBy = view.StepSkip, e.Text, e.By
		s.progress, s.boots = nil, nil
		s.reboots = s.reboots[max(0, len(s.reboots)-1):] // the last may not have happened yet: what is put right waits for it
	case event.Repairing:
		j.state, j.current, j.problem = view.Working, e.Step, nil
		s.begins(e)
	case event.Failed, event.Cancelled: // a step that could not be left out is not
		s.status, s.progress, s.boots, s.skippedBy = view.StepFailed, nil, nil, ""
		j.state, j.current, j.problem = view.HasFailed, e.Step, e.Problem
		if e.Problem != nil {
			j.meet(e.Step, e.Problem)
		}
	case event.Rebooting:
		if !slices.Contains(s.reboots, e.Boot) {
			s.reboots = append(s.reboots, e.Boot)
		}
	case event.Undoing:
		if last := j.step(j.current); last.status == view.Running && j.undoing { // it prepared the undo, and its work still stands
			last.status = view.StepDone
		}
		j.state, j.current, j.undoing, j.problem = view.UndoingAll, e.Step, true, nil
		s.begins(e)
	case event.Undone:
		s.status, s.seconds, s.touched, s.progress = view.StepUndone, e.Seconds, false, nil
		s.skip, s.skippedBy = message.Text{}, ""
	}
}

// applyJob takes an event about the whole job.
func (j *job) applyJob(e event.Event) {
	switch e.Kind {
	case event.Changed:
		if e.Job != nil { // a person had a failed job go on: it works before its next step begins
			j.state = view.State(e.Job.State)
		}
	case event.Started:
		j.begin(e)
	case event.Done:
		j.state, j.current, j.handedOver, j.landedBefore = view.IsDone, "", e.Job != nil && e.Job.HandedOver, true
		if !j.handedOver || j.ended.IsZero() { // accepting the hand-over is not work
			j.ended = e.Time
		}
		if j.handedOver {
			j.accepted = e.Job.Inputs
			j.endUndo()
		}
	case event.Undoing:
		if !j.undoing {
			j.turnBack()
		}
		j.state, j.undoing, j.problem = view.UndoingAll, true, nil
	case event.Undone:
		j.state, j.current, j.ended, j.undoing = view.IsUndone, "", e.Time, false
		j.handedOver, j.landedBefore = j.stood, j.stood
		for _, s := range j.steps {
			if s.status != view.StepUndone { // there was nothing to put back
				s.status, s.skip, s.seconds, s.touched, s.skippedBy = view.Pending, message.Text{}, 0, false, ""
			}
		}
	case event.Failed: // no step was at work, or none is known
		j.state, j.current, j.problem, j.question = view.HasFailed, "", e.Problem, nil
	case event.Cancelled: // back to the form, everything kept
		j.state, j.current, j.problem, j.question, j.undoing = view.Collecting, "", nil, nil, false
		j.doubtful, j.lost = false, nil
		j.backToForm()
	}
}

// handOverText is the Text of the event that a hand-over was accepted, for people. Earlier releases told it by nothing else.
const handOverText = "handed over"

// handOverEvent tells that the hand-over was accepted and undo has ended.
func handOverEvent(by, lasting string) event.Event {
	job := &event.Job{State: string(view.IsDone), Landed: true, HandedOver: true, Inputs: lasting}
	return event.Event{Kind: event.Done, Text: message.T(handOverText), By: by, Job: job}
}

// upgraded is an event of the journal as this release would have written it: earlier ones told with the text alone what the answers
// of a job were, and that it was handed over.
func upgraded(e event.Event) event.Event {
	switch {
	case e.Step != "":
	case e.Kind == event.Started:
		if e.Job == nil {
			e.Job = &event.Job{State: string(view.Working), Inputs: e.Text.String()}
		}
		e.Text = message.Text{} // see downgraded
	case e.Job != nil:
	case e.Kind == event.Done && e.Text.String() == handOverText:
		e.Job = handOverEvent(e.By, "").Job
	}
	return e
}

// downgraded is an event as the journal gets it: the release before this one, to which `touchdown update --back` goes, finds what the
// answers of a job were in the text alone. Until the release after this one: that goes back to one that reads Job.
func downgraded(e event.Event) event.Event {
	if e.Kind == event.Started && e.Step == "" && e.Job != nil {
		e.Text = message.Verbatim(e.Job.Inputs)
	}
	return e
}

// begin starts a job. What an earlier one touched stays known, so that undo still reaches it.
func (j *job) begin(e event.Event) {
	j.state, j.started, j.ended = view.Working, e.Time, time.Time{}
	j.fingerprint, j.inputs, j.unattended = e.Fingerprint, "", e.By == byNobody
	if e.Job != nil { // a foreground has no answers that a person accepted
		j.inputs = e.Job.Inputs
	}
	j.stood = j.stood || j.handedOver
	j.problem, j.undoing, j.handedOver, j.met, j.time = nil, false, false, nil, worktime{}
	j.doubtful, j.lost, j.lasts, j.permanent = false, nil, e.Lasts, joined(j.stays(), e.Permanent)
	for _, s := range j.steps {
		s.begin()
	}
}

// backToForm ends a job whose answers are edited. What its steps and the looks before it told is shown until it is told again, or the next
// job begins; what failed is not.
func (j *job) backToForm() {
	for _, s := range j.steps {
		s.forgetFailed()
		s.earlier = map[string]bool{}
		for _, c := range s.checks {
			s.earlier[c.ID] = true
		}
	}
}

// endUndo is for a hand-over that was accepted: what the steps changed is of no later job, and has no originals any more.
func (j *job) endUndo() {
	j.dropWaivers()
	for _, s := range j.steps {
		s.touched = false
	}
}

// dropWaivers ends all waivers: the hand-over was accepted, and who took responsibility at this site did not do so for the next.
func (j *job) dropWaivers() {
	for _, s := range j.steps {
		clear(s.waivers)
	}
}

// turnBack begins an undo: what the work noted and saw is of a state that is about to go. Who waived a check is remembered for
// the next job. What failed on the way is why the work is undone, unless it ended well.
func (j *job) turnBack() {
	j.time, j.permanent = worktime{}, j.stays()
	if j.state == view.IsDone {
		j.met = nil
	}
	for _, s := range j.steps {
		s.checks, s.said, s.progress = nil, nil, nil
		s.reboots, s.boots = nil, nil // those of the work leave the undo its own
	}
}

// seconds is a time that a record or a step tells; more than a century would not fit a Duration.
func seconds(s float64) time.Duration {
	const most = 100 * 365 * 24 * 3600
	return time.Duration(max(-most, min(s, most)) * float64(time.Second))
}

// meet notes a failure on the way.
func (j *job) meet(step string, t *event.Trouble) {
	met := message.F("%s %s", t.Code, t.Summary)
	if step != "" {
		met = message.F("%s: %s", step, met)
	}
	j.met = append(j.met, met)
}

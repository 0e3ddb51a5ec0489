// Package event has what an engine records and tells: the one type that feeds the screens, the headless JSON lines, the journal and
// the report. A step tells what it does through its Report and knows no events.
package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/progress"
	"touchdown/steps"
)

// Kind is one of a closed list.
type Kind string

// The kinds of event. An event without a Step is about the whole job.
const (
	Started    Kind = "started"   // a step or the job began; the job's carries the accepted review's fingerprint
	Progressed Kind = "progress"  //
	Checked    Kind = "check"     //
	Cleared    Kind = "cleared"   // Check (its ID and Title) no longer applies: a complete look did not report it again
	Said       Kind = "say"       //
	Asked      Kind = "question"  //
	Answered   Kind = "answered"  // Text is the answer, By who or what gave it
	Skipped    Kind = "skipped"   // Text is why
	Repairing  Kind = "repairing" // what a step that is left out has left half done is put right; then the step is skipped
	Done       Kind = "done"      //
	Failed     Kind = "failed"    // Problem says why
	Undoing    Kind = "undoing"   //
	Undone     Kind = "undone"    //
	Cancelled  Kind = "cancelled" // a person stopped the work; the step can be retried
	Rebooting  Kind = "reboot"    // Text is why; Boot the boot id before it
	Lost       Kind = "lost"      // records of the state folder were lost; Text says which, Job what is known, Problem what is asked
	Missed     Kind = "missed"    // events up to Seq are no longer kept for this watcher, who has to ask for the state; never journalled
	Changed    Kind = "changed"   // something a console shows changed outside the work: fields, control, state; never journalled
)

// Event is the one type that feeds the screen, the headless JSON lines, the journal and the report.
// Readers ignore kinds and fields that they do not know.
type Event struct {
	Seq         uint64             `json:"seq"`                   // rises, over restarts too; after one there is a gap
	Time        time.Time          `json:"time"`                  // UTC
	Kind        Kind               `json:"kind"`                  //
	Step        string             `json:"step,omitempty"`        // the step's ID
	Text        message.Text       `json:"text,omitzero"`         //
	By          string             `json:"by,omitempty"`          // console, "policy", "default", "deadline"
	Fingerprint string             `json:"fingerprint,omitempty"` // of the step's inputs, or of the review
	Boot        string             `json:"boot,omitempty"`        // boot id, with Started, Repairing, Undoing and Rebooting
	Seconds     float64            `json:"seconds,omitempty"`     // how long the step worked, without waiting for answers; with an ending and Rebooting
	Progress    *progress.Progress `json:"progress,omitempty"`
	Check       *check.Check       `json:"check,omitempty"`
	Question    *steps.Question    `json:"question,omitempty"`
	Problem     *Trouble           `json:"problem,omitempty"`
	Lasts       map[string]float64 `json:"lasts,omitempty"`     // with the Started of a job: about how long each step takes by its plan, in seconds
	Permanent   []Permanent        `json:"permanent,omitempty"` // with the Started of a job: what an undo leaves, by the plans that were accepted
	Job         *Job               `json:"job,omitempty"`       // with Lost, with the Started of a job, and with the Done of an accepted hand-over
}

// eventJSON is an Event as the journal and the wire have it: texts in English, and beside them which messages they are.
type eventJSON struct {
	*plainEvent
	Messages message.Messages `json:"messages,omitempty"`
}

type plainEvent Event

// MarshalJSON writes the event with its messages.
func (e Event) MarshalJSON() ([]byte, error) {
	return json.Marshal(eventJSON{(*plainEvent)(&e), message.Of(&e)})
}

// UnmarshalJSON reads an event. One of a release before messages has English texts alone.
func (e *Event) UnmarshalJSON(data []byte) error {
	in := eventJSON{plainEvent: (*plainEvent)(e)}
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("reading an event: %w", err)
	}
	message.Restore(e, in.Messages)
	if e.Problem != nil {
		e.Problem.Detail = message.OrVerbatim(e.Problem.Detail) // an earlier release kept the cause without its message
	}
	return nil
}

// Job is where a job is, told without its events: when it begins, when records of it were lost, or when its hand-over was accepted.
type Job struct {
	State      string   `json:"state"`
	Step       string   `json:"step,omitempty"`       // the one at work
	Inputs     string   `json:"inputs,omitempty"`     // fingerprint of the answers that were accepted; with a hand-over, of what stays of them
	Undoing    bool     `json:"undoing,omitempty"`    //
	Landed     bool     `json:"landed,omitempty"`     // an earlier job ended well
	HandedOver bool     `json:"handedOver,omitempty"` //
	Locked     bool     `json:"locked,omitempty"`     // it may have been handed over: nobody can know
	Touched    []string `json:"touched,omitempty"`    // steps that may have changed something
}

// Permanent is something that an undo does not put back.
type Permanent struct {
	Step string       `json:"step"` // whose plan says so
	Text message.Text `json:"text"`
}

// Lifecycle reports whether the event must reach the disk before the work goes on.
func (e Event) Lifecycle() bool {
	switch e.Kind {
	case Progressed, Changed, Missed:
		return false
	}
	return true
}

// Trouble is a Problem as it crosses the wire and lies in the journal.
type Trouble struct {
	Code    string       `json:"code"`
	Summary message.Text `json:"summary"`
	Fix     message.Text `json:"fix"`
	Detail  message.Text `json:"detail,omitzero"`  // the cause, secrets masked
	Output  []string     `json:"output,omitempty"` // the last lines of a command that failed
}

// TroubleOf is an error as a Trouble.
func TroubleOf(err error) *Trouble {
	p := problem.From(err)
	t := &Trouble{Code: p.Code, Summary: p.Summary, Fix: p.Fix, Detail: message.Detail(p.Err)}
	if run, ok := errors.AsType[*host.RunError](err); ok {
		t.Output = run.Output
	}
	return t
}

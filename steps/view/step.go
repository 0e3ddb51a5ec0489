package view

import (
	"time"

	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/backend/progress"
	"touchdown/steps"
)

// Stage is one entry of the progress sidebar.
type Stage struct {
	ID       string       `json:"id"`
	Title    message.Text `json:"title"`
	Steps    []Step       `json:"steps"`
	Advanced bool         `json:"advanced,omitempty"` // its page is shown only when a person opens it
}

// StepStatus is where a step is.
type StepStatus string

// The statuses of a step.
const (
	Pending    StepStatus = "pending"
	Running    StepStatus = "running"
	StepDone   StepStatus = "done"
	StepFailed StepStatus = "failed"
	StepSkip   StepStatus = "skipped"
	StepUndone StepStatus = "undone"
)

// Step is a step as a console sees it.
type Step struct {
	ID         string             `json:"id"`
	Title      message.Text       `json:"title"`
	Status     StepStatus         `json:"status"`
	Inspecting bool               `json:"inspecting,omitempty"`
	Skip       message.Text       `json:"skip,omitzero"` // why it is or will be skipped
	Fields     []Field            `json:"fields,omitempty"`
	Checks     []check.Check      `json:"checks,omitempty"`
	Stale      []string           `json:"stale,omitempty"` // IDs of the checks that are about earlier answers and are made again
	Said       []message.Text     `json:"said,omitempty"`  // the last sentences, oldest first
	Progress   *progress.Progress `json:"progress,omitempty"`
	Moved      time.Time          `json:"moved,omitzero"` // when the progress became another one, while it runs
	Rate       float64            `json:"rate,omitempty"` // units of the progress a second, since it counts them
	Started    time.Time          `json:"started,omitzero"`
	Seconds    float64            `json:"seconds,omitempty"`       // how long it worked: all its attempts and reboots in this job, without waiting for answers
	Waited     float64            `json:"waitedSeconds,omitempty"` // for answers since it was started, while it runs
	Undo       bool               `json:"undo,omitempty"`          // there is something to put back, or it was put back
	Asks       string             `json:"asks,omitempty"`          // the stage that asks for what the step works with, if not its own
}

// Field is a field as it crosses the wire: no pointers, no validators, no secrets.
type Field struct {
	Path      string         `json:"path"`
	Kind      steps.Kind     `json:"kind"`
	Label     message.Text   `json:"label"`
	Help      message.Text   `json:"help,omitzero"`
	Example   string         `json:"example,omitempty"`
	Optional  bool           `json:"optional,omitempty"`
	Value     string         `json:"value,omitempty"`  // "" for a secret
	Source    string         `json:"source,omitempty"` // where the value comes from: "typed", "default", "file site.yaml"
	Found     string         `json:"found,omitempty"`  // the value as it was found or loaded, to go back to; "" for a secret
	Choices   []steps.Choice `json:"choices,omitempty"`
	Loading   bool           `json:"loading,omitempty"` // the choices are still being looked for
	Visible   bool           `json:"visible"`
	Problem   message.Text   `json:"problem,omitzero"`    // why the value is refused, and how to fix it
	Together  message.Text   `json:"together,omitzero"`   // why the value does not fit other answers, and how to fix it
	SecretSet bool           `json:"secretSet,omitempty"` // a secret has been entered
	Act       *steps.Act     `json:"act,omitempty"`       // what can be done to find the right value
	Files     bool           `json:"files,omitempty"`     // its value can be taken from a file on a medium
	Changed   bool           `json:"changed,omitempty"`   // differs from what was found or loaded
	Repeats   string         `json:"repeats,omitempty"`   // the path of the value that is typed again here
}

package view

import (
	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/steps"
)

// Review is what is accepted before anything changes.
type Review struct {
	Fingerprint string         `json:"fingerprint"` // of every input and plan; Start must name it
	Steps       []StepPlan     `json:"steps"`
	Seconds     float64        `json:"seconds,omitempty"`  // about how long all of it takes
	Problems    []message.Text `json:"problems,omitempty"` // each keeps the work from starting
	Page        string         `json:"page,omitempty"`     // the stage that asks for, or found, the first of them that has one
	Warnings    []message.Text `json:"warnings,omitempty"`
	Checks      []Judged       `json:"checks,omitempty"` // what among the problems and warnings is a check that can be waived
	Files       []message.Text `json:"files,omitempty"`  // which values come from files on media, and from which
}

// Judged is a check that failed or warned, as the review tells it.
type Judged struct {
	ID     string       `json:"id"` // a waiver names it
	Title  message.Text `json:"title"`
	Status check.Status `json:"status"`
	Text   message.Text `json:"text"` // the same as in Problems or Warnings
}

// StepPlan is what one step would do.
type StepPlan struct {
	Step  string       `json:"step"`
	Title message.Text `json:"title"`
	Skip  message.Text `json:"skip,omitzero"`
	Plan  steps.Plan   `json:"plan"`
}

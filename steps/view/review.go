package view

import (
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
	Files       []message.Text `json:"files,omitempty"` // which values come from files on media, and from which
}

// StepPlan is what one step would do.
type StepPlan struct {
	Step  string       `json:"step"`
	Title message.Text `json:"title"`
	Skip  message.Text `json:"skip,omitzero"`
	Plan  steps.Plan   `json:"plan"`
}

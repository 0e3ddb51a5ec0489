// Package view is what an engine shows to a console or any other client, as it crosses the wire: no pointers into the answers, no
// secrets.
package view

import (
	"encoding/json"
	"fmt"
	"time"

	"touchdown/backend/health"
	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/chosen"
	"touchdown/steps/event"
	"touchdown/steps/idle"
	"touchdown/steps/offered"
	"touchdown/steps/updates"
)

// Snapshot is everything a console shows.
type Snapshot struct {
	Seq        uint64          `json:"seq"`      // the last event it includes
	Version    string          `json:"version"`  // of Touchdown
	Hostname   string          `json:"hostname"` //
	Serial     string          `json:"serial,omitempty"`
	Locked     bool            `json:"locked,omitempty"`     // landed: nothing changes without Unlock
	HandedOver bool            `json:"handedOver,omitempty"` // the hand-over was accepted, which ended undo
	Edited     bool            `json:"edited,omitempty"`     // the answers are not those that were handed over, certificates and secrets aside
	Life       string          `json:"life"`                 // where the node is in its life: see the Life constants
	List       string          `json:"list"`                 // ListSite or ListFactory
	State      State           `json:"state"`                //
	Cluster    string          `json:"cluster,omitempty"`    // the new domain, once it has been entered
	Now        time.Time       `json:"now"`                  // the engine's clock
	Started    time.Time       `json:"started,omitzero"`
	Ended      time.Time       `json:"ended,omitzero"`        // of the work; accepting the hand-over does not change it
	Worked     float64         `json:"workSeconds,omitempty"` // how long the job, or its undo, has worked; waiting for people is not work
	Left       float64         `json:"leftSeconds,omitempty"` // about how long the job will still work, if it works and its plans told times
	Late       message.Text    `json:"late,omitzero"`         // what the step at work waits for, when it takes longer than its plan said
	Current    string          `json:"current,omitempty"`     // ID of the step at work, or of the one that failed
	Resumed    time.Time       `json:"resumed,omitzero"`      // when the engine took this job up again after a stop
	Stages     []Stage         `json:"stages"`
	Review     *Review         `json:"review,omitempty"`
	Question   *Question       `json:"question,omitempty"`
	Problem    *event.Trouble  `json:"problem,omitempty"`
	Notices    []message.Text  `json:"notices,omitempty"`   // plain sentences for every screen: "disk full: …"
	Monitor    message.Text    `json:"monitor,omitzero"`    // what the site's monitor has got of this node; empty where there is none
	Met        []message.Text  `json:"met,omitempty"`       // failures on the way, "STEP: CODE summary"
	Touched    bool            `json:"touched,omitempty"`   // the work changed something that was not put back
	Permanent  []message.Text  `json:"permanent,omitempty"` // what an undo would leave of the work, or left
	Live       *health.Live    `json:"live,omitempty"`      // how the cluster of a landed node is now; nil: not known yet
	Control    Control         `json:"control"`
	Volumes    []chosen.Volume `json:"volumes,omitempty"`       // what lies on media, once that was asked for with Act, until a file was taken or control changes
	Starts     float64         `json:"startsSeconds,omitempty"` // when the node starts without a person; Present, as TakeControl, keeps it from that
	Offer      *offered.Bundle `json:"offer,omitempty"`         // the support bundle that is offered on the network, or was last; its address is for consoles alone
	Update     *updates.Offer  `json:"update,omitempty"`        // the release of Touchdown on a stick, and what became of its update
	Idle       *idle.View      `json:"idle,omitempty"`          // when the console that asked locks; nil: no PIN is set
}

type plainSnapshot Snapshot

// snapshotJSON is a Snapshot on the wire: texts in English, and beside them which messages they are.
type snapshotJSON struct {
	*plainSnapshot
	Messages message.Messages `json:"messages,omitempty"`
}

// MarshalJSON writes the snapshot with its messages.
func (s *Snapshot) MarshalJSON() ([]byte, error) {
	return json.Marshal(snapshotJSON{(*plainSnapshot)(s), message.Of(s)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Snapshot) UnmarshalJSON(data []byte) error {
	in := snapshotJSON{plainSnapshot: (*plainSnapshot)(s)}
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("reading a snapshot: %w", err)
	}
	message.Restore(s, in.Messages)
	return nil
}

// Question is a question that waits for an answer.
type Question struct {
	steps.Question
	Step  string    `json:"step"`
	Until time.Time `json:"until,omitzero"` // when the policy or the default answers
	Held  bool      `json:"held,omitempty"` // someone stopped the countdown; Until is half an hour later then
}

// Control says who may write.
type Control struct {
	Holder string    `json:"holder,omitempty"` // the console's name; "" when nobody holds control
	Since  time.Time `json:"since,omitzero"`
}

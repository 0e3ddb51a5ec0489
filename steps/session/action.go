package session

import "touchdown/steps/updates"

// Verb names what an Action does.
type Verb string

// The verbs. Each says in which states it is allowed.
const (
	// Act does what the field with Path offers for Value, and returns when it is over (before the work). A field with Files is offered
	// the files on media: without a Volume they are listed in Snapshot.Volumes, with one the field gets what is in its file Value.
	Act      Verb = "act"
	Restore  Verb = "restore"  // give the field with Path, or every field of Step, back what was found or loaded (before the work)
	Inspect  Verb = "inspect"  // look again, and return when every step has (before the review)
	Review   Verb = "review"   // compute plans and the fingerprint of what would be done (collecting)
	Start    Verb = "start"    // accept the review with Fingerprint and begin (reviewed)
	Edit     Verb = "edit"     // back to collecting with everything kept (reviewed, failed, done)
	Reply    Verb = "reply"    // answer Question with Value (question)
	Hold     Verb = "hold"     // stop the countdown of Question: someone is there and thinks (question)
	Retry    Verb = "retry"    // run the failed step again (failed)
	Skip     Verb = "skip"     // go on without Step (failed)
	Waive    Verb = "waive"    // take responsibility for a Check of Step that did not pass; needs By and Reason
	Withdraw Verb = "withdraw" // take the waiver of a Check of Step back: it counts as before (before the work)
	Undo     Verb = "undo"     // put everything back, last step first (failed, done)
	Cancel   Verb = "cancel"   // stop the work at the next safe point (working, question)
	HandOver Verb = "handover" // accept the hand-over: wipe originals and secrets, end of undo (done)
	Unlock   Verb = "unlock"   // let a landed node be changed again; Value is its host name (done)
	// Update has the release of Snapshot.Update installed, whose Program is Fingerprint (not while work is under way, or failed). A landed
	// node wants its host name as Value. Without a Fingerprint it takes Snapshot.Update from the screens, until the stick is put in again:
	// the one that was shown, whose State is Question, whose Program is Value, whose Volume is Volume, and whose problem's code is Reason.
	Update   Verb = "update"
	Reboot   Verb = "reboot"   // reboot the machine (not while working)
	PowerOff Verb = "poweroff" // switch the machine off (not while working)
)

// Action is one request. Only the fields that its Verb names are read.
type Action struct {
	Verb        Verb   `json:"verb"`
	Step        string `json:"step,omitempty"`
	Path        string `json:"path,omitempty"`
	Check       string `json:"check,omitempty"`
	Question    string `json:"question,omitempty"`
	Value       string `json:"value,omitempty"`
	Volume      string `json:"volume,omitempty"`
	By          string `json:"by,omitempty"`
	Reason      string `json:"reason,omitempty"`
	Fingerprint string `json:"fingerprint,omitempty"`
	Unattended  bool   `json:"unattended,omitempty"` // with start: the policy answers every question at once
}

// Close is the Update that takes what a person was shown of a release from the screens. Its Program is not the Fingerprint: an engine of
// the release before would install it.
func (v Verb) Close(o *updates.Offer) Action {
	return Action{Verb: v, Question: string(o.State), Value: o.Program, Volume: o.Volume, Reason: o.Code()}
}

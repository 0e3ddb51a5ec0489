// Package steps holds what the wizard does: the contract of a step, the steps, and the lists of them.
//
// A step makes one aspect of the machine match the site config. A stage is a titled group of steps, one
// entry of the progress sidebar. A list of stages is a wizard; wizard.go holds the site's.
package steps

import (
	"context"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/backend/progress"
	"touchdown/backend/report"
)

// Step makes one aspect of the machine match the site config.
//
// Run observes first and does nothing when the machine is already right; it saves each original before it
// changes it, waits, and verifies. It is called again from its beginning after a power cut, after a retry and
// after a reboot that it asked for, so each part of it must be safe to repeat.
type Step interface {
	ID() string          // key in the journal, kebab-case; frozen once released
	Title() message.Text // imperative: "Move the cluster's names"
	Run(ctx context.Context, node *backend.Node, report Report) error
}

// Inspector looks before anything is changed: checks, choices, suggested values. Inspect is read-only and
// may be called at any time before the work begins, again and again. Each time it tells everything that it knows: a
// check that it does not tell again is cleared.
type Inspector interface {
	Inspect(ctx context.Context, node *backend.Node, report Report) error
}

// Skipper tells why the step does not apply to this site config; "" means that it does.
type Skipper interface{ Skip() message.Text }

// Planner tells before the review what Run would change. It is read-only.
type Planner interface {
	Plan(ctx context.Context, node *backend.Node) (Plan, error)
}

// Undoer puts back what Run saved. Like Run it is safe to repeat.
type Undoer interface {
	Undo(ctx context.Context, node *backend.Node, report Report) error
}

// UndoPreparer makes the machine ready for the undo of all steps, where theirs needs what is not there: a cluster that starts. It
// is called before the first of them is undone, in the order of the list, and like Undo it is safe to repeat. It may return Reboot: after
// a different boot the undo begins again.
type UndoPreparer interface {
	PrepareUndo(ctx context.Context, node *backend.Node, report Report) error
}

// Recoverer puts right, when the engine starts, what an interrupted Run must not leave behind even when nobody goes
// on with the work: settings that were tried and not kept. It is called before anything else, again at each start,
// for a step whose Run began and did not end well. It may return a *Reboot, which comes whatever the site's policy is: that is for
// workloads, and a node on which this is needed runs none.
type Recoverer interface {
	Recover(ctx context.Context, node *backend.Node, report Report) error
}

// Abandoner makes whole what an unfinished Run left half done and what must not stay so: a pause that nobody would end, an object that
// was deleted to be made again. While there is something, the hand-over is refused.
type Abandoner interface {
	// Half tells what it is, by the step's own notes alone; "" for nothing.
	Half(report Report) (message.Text, error)
	// Abandon puts it right before the step is left out, because of the answers or by a person. It is safe to repeat, and may return Reboot.
	Abandon(ctx context.Context, node *backend.Node, report Report) error
}

// Actor does what one of its fields offers with Act, for a value that is among the field's choices. Nothing stays changed by
// it, so it is allowed before the review. It returns when it is over, and soon after ctx ends.
type Actor interface {
	Act(ctx context.Context, node *backend.Node, path, value string) error
}

// Reader names the paths of the site config that Run and Inspect read beside those of its own Fields, so that the
// step's fingerprint covers borrowed inputs too, and what Inspect found is looked at again when one of them changes.
type Reader interface{ Reads() []string }

// Stage is a titled group of steps.
type Stage struct {
	ID       string
	Title    message.Text
	Steps    []Step
	Advanced bool // it asks for what most sites leave alone: a console shows its page only when a person opens it
}

// Report is how a step tells and asks. All methods may be called from several goroutines.
type Report interface {
	// Progress tells how far the work is and what it waits for.
	Progress(progress.Progress)
	// Check tells a verdict; a later one with the same ID replaces it.
	Check(check.Check)
	// Say tells one plain sentence worth keeping in the journal.
	Say(text message.Text)
	// Ask waits for an answer: a person's, the site config's policy at the deadline, or the default.
	// It returns the Value of one of the question's choices, or ctx's error.
	Ask(ctx context.Context, q Question) (string, error)
	// Save keeps an original, on disk (0600, synced) before it returns. The first save of a key wins, so a
	// repeated Run never overwrites the true original with its own work.
	Save(key string, original []byte) error
	// Saved returns what Save kept, or fs.ErrNotExist.
	Saved(key string) ([]byte, error)
	// Note keeps where a step is with something that a crash must not leave in doubt, on disk before it returns. A
	// later note of the key replaces an earlier one; originals belong to Save. All steps of a job share the notes whose key
	// begins with "job-".
	Note(key string, value []byte) error
	// Noted returns what Note kept last, or fs.ErrNotExist.
	Noted(key string) ([]byte, error)
	// Job tells what the job has done so far, without the step's own ending.
	Job() report.Job
	// Suggest offers a value found on the machine for a field that nobody has filled in yet.
	Suggest(path, value, source string)
	// Offer sets the choices of a field whose choices are found on the machine.
	Offer(path string, choices []Choice)
}

// Question is asked while a step works.
type Question struct {
	ID       string       `json:"id"`       // also the key in spec.policy.answers
	Text     message.Text `json:"text"`     // one sentence ending in a question mark
	Detail   message.Text `json:"detail"`   // what the answer changes
	Choices  []Choice     `json:"choices"`  // at least two
	Default  string       `json:"default"`  // the Value taken when neither a person nor the policy answers
	Deadline float64      `json:"deadline"` // seconds; 0: wait for a person, or take the policy's answer when nobody attends
}

// Choice is one possible answer or value.
type Choice struct {
	Value string       `json:"value"`
	Label message.Text `json:"label"`
}

// Plan is what a step would do.
type Plan struct {
	Changes      []Change       `json:"changes,omitempty"`
	Disturbances []Disturbance  `json:"disturbances,omitempty"`
	Permanent    []message.Text `json:"permanent,omitempty"` // what cannot be undone
	Seconds      float64        `json:"seconds,omitempty"`   // about how long Run takes, without waiting for people; 0: a moment, or not known
}

// Change is one old -> new line of the review.
type Change struct {
	What message.Text `json:"what"`
	Old  message.Text `json:"old,omitzero"` // "" when there was none
	New  message.Text `json:"new"`
}

// Disturbance is something that users of the cluster notice while the step works.
type Disturbance struct {
	What    message.Text `json:"what"`    // "API outage", "reboot", "drain"
	Cause   message.Text `json:"cause"`   // why it happens
	Seconds float64      `json:"seconds"` // about how long
}

// Reboot is what Run returns when the machine must reboot before it can go on. It is not a failure: the engine calls the same Run
// again after a different boot.
type Reboot struct{ Reason message.Text }

// Error tells why.
func (e *Reboot) Error() string { return "reboot needed: " + e.Reason.String() }

package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"touchdown/backend/health"
	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/chosen"
	"touchdown/steps/handout"
	"touchdown/steps/idle"
	"touchdown/steps/offered"
	"touchdown/steps/records"
)

// Session is all that a client can do with an engine. The engine itself implements it, and so does the
// client of the socket; one test suite covers both.
//
// Every write carries the pen: the token that TakePen gave. Without it, or with one that someone has taken
// over since, a write fails with ErrNoPen.
type Session interface {
	// Snapshot returns everything a console shows, consistent at one moment.
	Snapshot(ctx context.Context) (*Snapshot, error)
	// Set gives a field a value. A value that its check refuses is kept and shown with its problem, so that
	// nothing typed is lost; only the review refuses it. What the field cannot hold at all, such as a megabyte or a
	// duration that is none, fails with ErrInvalid.
	Set(ctx context.Context, pen, path, value string) error
	// Load replaces the whole site config by values, by path, and notes their source. It is what `touchdown apply`
	// does with a file that it has read and checked.
	Load(ctx context.Context, pen string, values map[string]string, source string) error
	// Do carries out an action: "start", "retry", "undo" and so on.
	Do(ctx context.Context, pen string, action Action) error
	// TakePen gives the right to write to the named console. When another one holds it, TakePen fails with
	// ErrPenHeld unless force is set. A console that comes back under its own name needs no force.
	TakePen(ctx context.Context, console string, force bool) (pen string, err error)
	// ReleasePen gives it back.
	ReleasePen(ctx context.Context, pen string) error
	// Present tells that a person uses the console of ctx (idle.At). Once nobody has for as long as the site config says, every
	// write of that console fails with idle.ErrLocked until Present is given the PIN: after a wrong one it fails with
	// idle.ErrWrong, and with idle.ErrSoon until the wait is over. Who asks without a console is never locked. While Snapshot.Starts
	// counts down, Present ends that, also when it fails: for good, or for a medium until it is put in again.
	Present(ctx context.Context, pin string) error
	// Events calls each for every event after the one numbered from, as they come, until ctx ends or each
	// returns an error. A console that names its pen keeps it for as long as the call lasts.
	Events(ctx context.Context, pen string, from uint64, each func([]steps.Event) error) error
	// Log returns the last records of the engine's log, or of the node's journal, as lines for people, without secrets.
	Log(ctx context.Context, ask records.Ask) ([]string, error)
	// Shown keeps, for support, what a console showed and what was pressed there, as lines of text without secrets; the end of it, and only
	// where that costs nothing.
	Shown(ctx context.Context, text string) error
	// Export returns a document.
	Export(ctx context.Context, what Document) ([]byte, error)
	// Give returns what the people of the site get into their cluster with, to the console that has the pen and to nobody else: the
	// engine keeps it in memory alone, until the hand-over is accepted. It takes minutes where the API has to learn something.
	Give(ctx context.Context, pen string, ask handout.Ask) (*handout.LogIn, error)
}

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
	Undo     Verb = "undo"     // put everything back, last step first (failed, done)
	Cancel   Verb = "cancel"   // stop the work at the next safe point (working, question)
	HandOver Verb = "handover" // accept the hand-over: wipe originals and secrets, end of undo (done)
	Unlock   Verb = "unlock"   // let a landed node be changed again; Value is its host name (done)
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

// Document names what Export can return.
type Document string

// The documents.
const (
	ReportText Document = "report.txt"         // the hand-over report, for people
	ReportJSON Document = "report.json"        // the same, for machines
	signed     Document = "report.signed.json" // the same in a signed envelope, for people elsewhere
	hosts      Document = "hosts.txt"          // lines for the hosts files of the site's clients
	Answers    Document = "answers"            // the site config as YAML, secrets as <set>
	Bundle     Document = "bundle"             // support bundle: .tar.gz of journal, log, snapshot, report, inventory; no secrets
	// BundleOnStick has a bundle written to a stick, and tells where it is: a chosen.Saved in JSON. The name of a volume's device may
	// follow behind a slash.
	BundleOnStick Document = "bundle.stick"
	SummaryText   Document = "summary.txt" // a summary of the bundle as lines for a terminal that someone records
	Inventory     Document = "inventory"   // what the machine is made of, for people; the machine is looked at for it
	// InventoryPage is the same for consoles, which show it in their language: see package inventory.
	InventoryPage Document = "inventory.page"
)

// The errors that a client can tell apart; they keep their identity over the socket.
var (
	ErrNoPen    = errors.New("this console does not have control")
	ErrPenHeld  = errors.New("another console has control")
	ErrLocked   = errors.New("the node has landed and is locked")
	ErrState    = errors.New("not possible in this state")
	ErrNotFound = errors.New("not found")
	ErrInvalid  = errors.New("not valid")
)

// State is where the job is.
type State string

// The states: inspecting -> collecting -> reviewed -> working -> (question | failed) -> done | undone.
const (
	Inspecting State = "inspecting"
	Collecting State = "collecting"
	Reviewed   State = "reviewed"
	Working    State = "working"
	InQuestion State = "question"
	HasFailed  State = "failed"
	UndoingAll State = "undoing"
	IsDone     State = "done"
	IsUndone   State = "undone"
)

// Snapshot is everything a console shows.
type Snapshot struct {
	Seq        uint64          `json:"seq"`      // the last event it includes
	Version    string          `json:"version"`  // of Touchdown
	Hostname   string          `json:"hostname"` //
	Serial     string          `json:"serial,omitempty"`
	Locked     bool            `json:"locked,omitempty"`     // landed: nothing changes without Unlock
	HandedOver bool            `json:"handedOver,omitempty"` // the hand-over was accepted, which ended undo
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
	Stages     []StageView     `json:"stages"`
	Review     *ReviewView     `json:"review,omitempty"`
	Question   *QuestionView   `json:"question,omitempty"`
	Problem    *steps.Trouble  `json:"problem,omitempty"`
	Notices    []message.Text  `json:"notices,omitempty"` // plain sentences for every screen: "disk full: …"
	Monitor    message.Text    `json:"monitor,omitzero"`  // what the site's monitor has got of this node; empty where there is none
	Met        []message.Text  `json:"met,omitempty"`     // failures on the way, "STEP: CODE summary"
	Live       *health.Live    `json:"live,omitempty"`    // how the cluster of a landed node is now; nil: not known yet
	Pen        PenView         `json:"pen"`
	Volumes    []chosen.Volume `json:"volumes,omitempty"`       // what lies on media, once that was asked for with Act, until a file was taken or control changes
	Starts     float64         `json:"startsSeconds,omitempty"` // when the node starts without a person; Present, as TakePen, keeps it from that
	Offer      *offered.Bundle `json:"offer,omitempty"`         // the support bundle that is offered on the network, or was last; its address is for consoles alone
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

// StageView is one entry of the progress sidebar.
type StageView struct {
	ID       string       `json:"id"`
	Title    message.Text `json:"title"`
	Steps    []StepView   `json:"steps"`
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

// StepView is a step as a console sees it.
type StepView struct {
	ID         string          `json:"id"`
	Title      message.Text    `json:"title"`
	Status     StepStatus      `json:"status"`
	Inspecting bool            `json:"inspecting,omitempty"`
	Skip       message.Text    `json:"skip,omitzero"` // why it is or will be skipped
	Fields     []FieldView     `json:"fields,omitempty"`
	Checks     []steps.Check   `json:"checks,omitempty"`
	Stale      []string        `json:"stale,omitempty"` // IDs of the checks that are about earlier answers and are made again
	Said       []message.Text  `json:"said,omitempty"`  // the last sentences, oldest first
	Progress   *steps.Progress `json:"progress,omitempty"`
	Moved      time.Time       `json:"moved,omitzero"` // when the progress became another one, while it runs
	Rate       float64         `json:"rate,omitempty"` // units of the progress a second, since it counts them
	Started    time.Time       `json:"started,omitzero"`
	Seconds    float64         `json:"seconds,omitempty"`       // how long it worked: all its attempts and reboots in this job, without waiting for answers
	Waited     float64         `json:"waitedSeconds,omitempty"` // for answers since it was started, while it runs
	Undo       bool            `json:"undo,omitempty"`          // there is something to put back, or it was put back
	Asks       string          `json:"asks,omitempty"`          // the stage that asks for what the step works with, if not its own
}

// FieldView is a field as it crosses the wire: no pointers, no validators, no secrets.
type FieldView struct {
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

// ReviewView is what is accepted before anything changes.
type ReviewView struct {
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

// QuestionView is a question that waits for an answer.
type QuestionView struct {
	steps.Question
	Step  string    `json:"step"`
	Until time.Time `json:"until,omitzero"` // when the policy or the default answers
	Held  bool      `json:"held,omitempty"` // someone stopped the countdown; Until is half an hour later then
}

// PenView says who may write.
type PenView struct {
	Holder string    `json:"holder,omitempty"` // the console's name; "" when nobody holds the pen
	Since  time.Time `json:"since,omitzero"`
}

// Package check is the one form in which anything that can pass or fail is told: hardware,
// network probes and cluster health alike, so that one table, one report and one exit code serve them all.
package check

import "touchdown/backend/message"

// Status is the verdict of a Check.
type Status string

// The verdicts, from best to worst being Pass, Waived, Skip, Warn, Fail.
const (
	Pass   Status = "pass"
	Warn   Status = "warn"
	Fail   Status = "fail"
	Skip   Status = "skip"   // could not be checked; Observed says why
	Waived Status = "waived" // failed or warned, and a person took responsibility for it
)

// SiteAddress is the ID of the check that tells where the site reaches the node: a console shows it above all others.
const SiteAddress = "site-address"

// Check is one thing that was looked at.
type Check struct {
	ID       string         `json:"id"`                 // frozen once released: "hw-memory", "operators"
	Title    message.Text   `json:"title"`              // what was looked at, in plain words
	Status   Status         `json:"status"`             //
	Observed message.Text   `json:"observed,omitzero"`  // what is there
	Expected message.Text   `json:"expected,omitzero"`  // the limit
	Source   message.Text   `json:"source,omitzero"`    // where the limit comes from
	Fix      message.Text   `json:"fix,omitzero"`       // one thing to try
	Evidence []message.Text `json:"evidence,omitempty"` // lines for an engineer
	Waiver   *Waiver        `json:"waiver,omitempty"`   // set when Status is Waived
}

// Waiver says who took responsibility for a Check that did not pass, and why.
type Waiver struct {
	By     string `json:"by"`
	Reason string `json:"reason"`
	Was    Status `json:"was,omitempty"` // Fail or Warn: what counts again when the waiver is withdrawn; "" in records of an earlier release
}

// rank orders the verdicts by how much attention they need.
var rank = map[Status]int{Pass: 0, Waived: 1, Skip: 2, Warn: 3, Fail: 4}

// Worst returns the verdict that needs most attention, Pass for no checks at all.
func Worst(checks []Check) Status {
	worst := Pass
	for _, c := range checks {
		if rank[c.Status] > rank[worst] {
			worst = c.Status
		}
	}
	return worst
}

// Package records says which of a node's records a console asks for.
package records

// Ask asks for the last lines of what is recorded.
type Ask struct {
	Lines int  // how many; one at least
	Node  bool // of the node's own journal, since it booted; else of the engine's log
	Grave bool // only warnings, and what is worse
}

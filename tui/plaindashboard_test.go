package tui

import (
	"testing"

	"touchdown/steps/session"
	"touchdown/steps/view"
)

// TestPlainUndone: a node that was put back can be moved again, and is not undone or handed over once more.
func TestPlainUndone(t *testing.T) {
	f, p := holding(t, func(s *view.Snapshot) { s.State, s.Life = view.IsUndone, "returned" })
	p.printed(t, "Everything was put back")
	p.printed(t, "1  Support bundle")
	p.printed(t, "6  Move again")
	p.after(t, "Number:", "6")
	p.printed(t, "Nothing changes until a new review is accepted.")
	p.after(t, "Type sno-042", "sno-042")
	f.did(t, session.Edit)
	p.printed(t, "Cluster name [sno-042]:")
}

// TestPlainSaysWhatItDoes: before the word is typed, what it does is told; a wrong number is told, too.
func TestPlainSaysWhatItDoes(t *testing.T) {
	f, p := holding(t, finished)
	p.printed(t, "This node has landed")
	p.after(t, "Number:", "77")
	p.printed(t, "77 is not a choice. Type a number from 1 to 13.")
	p.after(t, "Number:", "3")
	p.printed(t, "Accept the hand-over?")
	p.printed(t, "nothing can be undone any more")
	p.after(t, "Type sno-042", "sno-042")
	f.did(t, session.HandOver)
}

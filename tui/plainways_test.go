package tui

import (
	"slices"
	"strings"
	"testing"

	"touchdown/backend/message"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// holding is a console in plain text that has control.
func holding(t *testing.T, edits ...func(*view.Snapshot)) (*fake, *typist) {
	t.Helper()
	f := newFake()
	for _, edit := range edits {
		edit(&f.snap)
	}
	p, _ := startPlain(t, f)
	p.after(t, "Type control to take control:", "control")
	return f, p
}

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

// TestPlainLost: lost records are told, and a step that was not reached is not skipped.
func TestPlainLost(t *testing.T) {
	f, p := holding(t, failed, func(s *view.Snapshot) {
		s.Problem.Code, s.Problem.Detail = view.RecordsLost, message.F("%d of the journal's records cannot be read", 2)
		for i := range s.Stages {
			for j := range s.Stages[i].Steps {
				s.Stages[i].Steps[j].Checks = nil
			}
		}
	})
	p.printed(t, "Records of this job were lost")
	p.printed(t, "2 of the journal's records cannot be read")
	p.printed(t, "1  Continue the job")
	p.printed(t, "3  Undo")
	p.printed(t, "5  Log\r\n6  Support summary on this line\r\n7  Node's journal\r\n8  Bundle on the network\r\nNumber:") // nothing can be waived
	p.after(t, "", "1")
	p.after(t, "Type sno-042", "sno-042")
	f.did(t, session.Retry)
}

// TestPlainEmpties: an answer can be taken away, a secret too, and a pull secret may have several lines.
func TestPlainEmpties(t *testing.T) {
	f, p := holding(t)
	p.printed(t, "Try: Connect the site's time server")
	p.printed(t, "empty removes the answer.")
	p.after(t, "Cluster name [sno-042]:", "store1")
	p.after(t, "Base domain []:", "example.com")
	p.after(t, "Pull secret []:", "{\n  \"auths\": {\n  }\n}")
	p.after(t, "API certificate []:", "back")
	p.after(t, "Pull secret [set, not shown]:", "empty")
	p.printed(t, "API certificate []:")
	f.mu.Lock()
	defer f.mu.Unlock()
	at := slices.Index(f.sets, "spec.pullSecret={\n\"auths\": {\n}\n}")
	if at < 0 || !slices.Contains(f.sets[at:], "spec.pullSecret=") {
		t.Errorf("set %q", f.sets)
	}
}

// TestPlainLooksAgain: who has fixed what a check is about has it looked at again from the review.
func TestPlainLooksAgain(t *testing.T) {
	f, p := holding(t, func(s *view.Snapshot) {
		s.State, s.Review = view.Reviewed, reviewView()
		s.Review.Problems = []message.Text{message.T("Clock: wrong.")}
	})
	p.printed(t, "To look at the machine again, type look.")
	p.after(t, "To start", "look")
	p.printed(t, "no time server answers")
	p.printed(t, "To start")
	if got := f.verbs(); !slices.Equal(got, []session.Verb{session.Edit, session.Inspect, session.Review}) {
		t.Errorf("did %v", got)
	}
}

// TestPlainStops: the work can be stopped; nothing but the word and the node's name does it.
func TestPlainStops(t *testing.T) {
	f, p := holding(t, func(s *view.Snapshot) { s.State, s.Review = view.Reviewed, reviewView() })
	p.after(t, "To start", "sno-042")
	p.after(t, "To stop the work, type stop.", "stopp")
	p.after(t, "Wait until", "stop")
	p.printed(t, "It stops at the next safe point.")
	p.after(t, "Type sno-042", "sno-042")
	f.did(t, session.Cancel)
	if got := f.verbs(); slices.Contains(got[:len(got)-1], session.Cancel) {
		t.Errorf("did %v", got)
	}
}

// TestPlainLogInIsTrue: a line cannot be cleared, so that it does not say that it will be.
func TestPlainLogInIsTrue(t *testing.T) {
	_, p := holding(t, finished)
	p.after(t, "Number:", "4")
	p.printed(t, "read it out.")
	p.printed(t, "Press Enter to move this off the screen.")
	p.mu.Lock()
	defer p.mu.Unlock()
	if strings.Contains(p.out.String(), "clears") {
		t.Error("it says that it is cleared")
	}
}

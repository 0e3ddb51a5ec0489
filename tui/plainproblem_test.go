package tui

import (
	"testing"

	"touchdown/backend/message"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

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

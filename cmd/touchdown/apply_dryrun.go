package main

import (
	"errors"
	"fmt"

	"touchdown/steps/view"
)

// wouldTake refuses a dry run that would take a job's answers away.
func wouldTake(s *view.Snapshot) error {
	switch {
	case s.State == view.InQuestion:
		return errors.New("a job on this node waits for an answer, and a dry run would replace the answers that it has; touchdown status shows it; answer it at a console first")
	case s.State == view.Working, s.State == view.UndoingAll:
		return fmt.Errorf("a job on this node is at work (%s), and a dry run would replace its answers; touchdown status shows it; wait for its end", s.State)
	case s.State == view.HasFailed:
		return errors.New("the job on this node has failed, and a dry run would replace the answers with which it goes on; touchdown status shows it; continue it at a console or without --dry-run")
	case s.State == view.IsDone && !s.Locked:
		return errors.New("the job on this node is done and not handed over, and a dry run would replace its answers: it could not be undone or handed over any more; touchdown status shows it; accept the hand-over or undo it before")
	}
	return nil
}

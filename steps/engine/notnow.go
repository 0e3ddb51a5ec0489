package engine

import (
	"fmt"

	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// notNow says that an action does not fit the state of the job: how things are, and what to do.
func notNow(c *core, verb session.Verb, state view.State) error {
	return &problem.Problem{
		Code: "ENG-STAT", Summary: stands(state, c.job.touched()), Fix: wayOn(verb, state),
		Err: fmt.Errorf("%w: %s while %s", session.ErrState, verb, state),
	}
}

// stands says where the job is. touched: it changed something that was not put back.
func stands(state view.State, touched bool) message.Text {
	switch state {
	case view.Working:
		return message.T("The work on this node is under way.")
	case view.InQuestion:
		return message.T("The work on this node is waiting for an answer.")
	case view.UndoingAll:
		return message.T("What the work changed on this node is being put back.")
	case view.HasFailed:
		return message.T("The work on this node has failed.")
	case view.IsDone:
		return message.T("The work on this node is done.")
	case view.IsUndone:
		return message.T("What the work changed on this node was put back.")
	}
	if touched {
		return message.T("The work on this node went back to the answers, and has not started again.")
	}
	return message.T("The work on this node has not started.")
}

// wayOn is what to do for an action that does not fit.
func wayOn(verb session.Verb, state view.State) message.Text {
	underWay := state == view.Working || state == view.InQuestion || state == view.UndoingAll
	switch verb {
	case handsOut:
		return message.T("Ask for the credentials after the landing, before the hand-over is accepted; `touchdown status` shows how far it is.")
	case session.HandOver:
		return message.T("Accept the hand-over when the work is done.")
	case session.Cancel:
		return message.T("There is no work to stop.")
	case session.Reply, session.Hold:
		return message.T("No question is open; nothing needs an answer.")
	case session.Undo:
		if !underWay {
			return message.T("There is nothing to undo. A job that failed or is done can be undone until its hand-over is accepted.")
		}
	}
	switch {
	case underWay:
		return message.T("Stop the work at a console or wait for its end, then try again.")
	case verb == session.Start:
		return message.T("Make the review, look it through, and start then.")
	case verb == session.Retry || verb == session.Skip:
		return message.T("Only a step that failed can be tried again or left out.")
	case verb == session.Update:
		return message.T("Continue the work or undo it first.")
	case verb == session.Edit:
		return message.T("The answers can be changed now.")
	}
	return message.T("Go back to the answers, then try again.")
}

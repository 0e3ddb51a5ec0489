package unattended

import "touchdown/backend/message"

// OrderFacts are all that counts for an update of Touchdown that a signed order on a stick asks for. What the order itself says was judged
// before (backend/update): who signed it, for which machines, whether it was followed or stopped, and that its program is newer.
//
// A landed node follows an order without being unlocked: its lock is against people at the console, and whoever signs releases is not one of
// them. The order names the machine by its serial number, as the person there would by its host name, and changes nothing of the cluster.
type OrderFacts struct {
	ID      string // of the order
	Busy    bool   // work is under way or waits for an answer; or another update is
	Failed  string // the step at which work failed, which a person retries, skips or undoes; "" for none
	Code    string // of its failure
	Lost    bool   // records of the node were lost
	Halted  bool   // a person pressed a key while its countdown ran
	Control string // who has control; "" for nobody
	Counted bool   // the countdown has ended
}

// DecideOrder applies the rules: a person comes first, and so does work that was begun. Unlike a landing, an update takes nothing from a
// person who typed answers: they are in the draft, which stays.
func DecideOrder(f OrderFacts) Decision {
	is := Decision{Document: f.ID}
	switch {
	case f.Halted:
		is.Why = message.T("a person stopped it")
	case f.Lost:
		is.Why = message.T("records were lost, a person has to look")
	case f.Busy:
		is.Why = message.T("work is under way")
	case f.Failed != "": // the version that did the work has to retry it or undo it
		is.Why = message.F("%s failed (%s), a person has to decide", f.Failed, f.Code)
	case f.Control != "":
		is.Why = message.F("%s has control", f.Control)
	case !f.Counted:
		is.Act = CountDown
	default:
		is.Act = Start
	}
	return is
}

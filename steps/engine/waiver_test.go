package engine

import (
	"errors"
	"testing"

	"touchdown/backend/check"
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// TestAWaiverIsWithdrawn: who waived by mistake takes it back, and the check counts as before: at once, at the next look and after a
// restart, until it is waived again.
func TestAWaiverIsWithdrawn(t *testing.T) {
	r := newRig(t, withCertificate())
	token := take(t, r)
	until(t, r, "the form", inState(view.Collecting))
	certify(t, r, token, "nonsense")
	waive := session.Action{Verb: session.Waive, Step: "certificate", Check: "apps-cert", By: "Kim", Reason: "it comes tomorrow"}
	withdraw := session.Action{Verb: session.Withdraw, Step: "certificate", Check: "apps-cert"}
	if err := r.Do(t.Context(), token, withdraw); !errors.Is(err, session.ErrInvalid) {
		t.Errorf("a waiver that nobody gave: %v", err)
	}
	must(t, r.Do(t.Context(), token, waive))
	if c := certChecks(t, r)["apps-cert"]; c.Waiver == nil || c.Waiver.Was != check.Fail {
		t.Fatalf("waived: %+v", c)
	}
	must(t, r.Do(t.Context(), token, withdraw))
	fails := func(when string) {
		t.Helper()
		if c := certChecks(t, r)["apps-cert"]; c.Status != check.Fail || c.Waiver != nil {
			t.Errorf("%s: %+v", when, c)
		}
	}
	fails("at once")
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Inspect}))
	fails("at the next look")
	if events := journalOf(t, r); len(events) == 0 || events[len(events)-1].Kind != event.Checked || events[len(events)-1].By == "" {
		t.Errorf("the journal does not say who withdrew it: %+v", events)
	}
	must(t, r.Close())
	r.open(t)
	token = take(t, r)
	until(t, r, "the form", inState(view.Collecting))
	certify(t, r, token, "nonsense")
	fails("after a restart")
	if problems := reviewed(t, r, token).Review.Problems; len(problems) == 0 {
		t.Error("nothing stands against the start")
	}
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Edit}))
	must(t, r.Do(t.Context(), token, waive))
	if c := certify(t, r, token, "nonsense")["apps-cert"]; c.Status != check.Waived {
		t.Errorf("waived again: %+v", c)
	}
}

// TestAWaiverOfAnEarlierRelease: its record does not say what the check was. Until the next look it counts as failed.
func TestAWaiverOfAnEarlierRelease(t *testing.T) {
	j := newJob()
	j.apply(event.Event{Kind: event.Checked, Step: "light", Check: &check.Check{ID: "lamp", Status: check.Waived, Waiver: &check.Waiver{By: "Kim", Reason: "spare"}}})
	seen, err := checkOf(&core{job: j}, session.Action{Step: "light", Check: "lamp"})
	must(t, err)
	if seen = withdrawn(seen); seen.Status != check.Fail || seen.Waiver != nil {
		t.Errorf("it is %+v", seen)
	}
	j.apply(event.Event{Kind: event.Checked, Step: "light", Check: &seen})
	if len(j.step("light").waivers) > 0 {
		t.Error("the waiver stands")
	}
	warned := waived(check.Check{ID: "lamp", Status: check.Warn}, check.Waiver{By: "Kim", Reason: "spare"})
	if seen := withdrawn(warned); seen.Status != check.Warn {
		t.Errorf("a warning becomes %+v", seen)
	}
}

// TestNoWithdrawAfterAFailure: a retry would drop the check that failed, so that the report had neither it nor its waiver.
func TestNoWithdrawAfterAFailure(t *testing.T) {
	r := newRig(t, newWorld())
	r.w.setFail("light", broken())
	token := take(t, r)
	r.start(t, r, token, false)
	until(t, r, "the failure", inState(view.HasFailed))
	if err := r.Do(t.Context(), token, session.Action{Verb: session.Withdraw, Step: "light", Check: "lamp"}); !errors.Is(err, session.ErrState) {
		t.Errorf("after a failure: %v", err)
	}
}

// TestTextsOfPeopleSteerNothing: what a person types beside the answers (who waives and why, why a step is left out, which console it is) is
// printed and signed, and cannot have a line read in another order than it is written.
func TestTextsOfPeopleSteerNothing(t *testing.T) {
	r := newRig(t, withCertificate())
	token := take(t, r)
	until(t, r, "the form", inState(view.Collecting))
	certify(t, r, token, "nonsense")
	for _, bad := range []string{"Kim\u202eRegal", "Kim\u2066", "Kim\x1b[2J", "Kim\u009b2J", "Kim\n", "Kim\u2028ok", "Kim\xff"} {
		if _, err := r.TakeControl(t.Context(), "tty1"+bad+"x", true); !errors.Is(err, session.ErrInvalid) {
			t.Errorf("a console called %+q: %v", bad, err)
		}
		for _, a := range []session.Action{{By: "a" + bad + "b", Reason: "late"}, {By: "Kim", Reason: "a" + bad + "b"}} {
			a.Verb, a.Step, a.Check = session.Waive, "certificate", "apps-cert"
			if err := r.Do(t.Context(), token, a); !errors.Is(err, session.ErrInvalid) {
				t.Errorf("waived by %+q for %+q: %v", a.By, a.Reason, err)
			}
		}
	}
	good := session.Action{Verb: session.Waive, Step: "certificate", Check: "apps-cert", By: "J\u00fcrgen \u05d0\u05d1", Reason: "\u5730\u5740 comes tomorrow"}
	must(t, r.Do(t.Context(), token, good))
}

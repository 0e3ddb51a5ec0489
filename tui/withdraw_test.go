package tui

import (
	"strings"
	"testing"

	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// byMistake is the clock's check, waived.
func byMistake(s *view.Snapshot) {
	c := &s.Stages[0].Steps[0].Checks[4]
	c.Status, c.Waiver = check.Waived, &check.Waiver{By: "Kim", Reason: "the wrong line", Was: check.Warn}
}

// TestWithdraw: on the page of the checks a waiver is shown without a key, and taken back by its own key and a Yes.
func TestWithdraw(t *testing.T) {
	b := newBench(t, 80, 24, byMistake)
	b.shows("Waived by Kim: the wrong line")
	b.shows("Withdraw waiver")
	b.press("h")
	b.shows("Withdraw the waiver: Clock")
	b.press("enter") // "No, go back"
	if len(b.fake.actions) > 0 {
		t.Fatalf("Enter did %+v", b.fake.actions)
	}
	b.press("h", "right", "enter")
	if n := len(b.fake.actions); n != 1 || b.fake.actions[0] != (session.Action{Verb: session.Withdraw, Step: "hardware", Check: "hw-clock"}) {
		t.Errorf("did %+v", b.fake.actions)
	}
	b.shows("The waiver is withdrawn.")
}

// TestNoWithdrawAfterAFailure: a retry would drop the check that failed, so that the report had neither it nor its waiver.
func TestNoWithdrawAfterAFailure(t *testing.T) {
	b := newBench(t, 80, 24, failed, func(s *view.Snapshot) {
		for i := range s.Stages {
			for j := range s.Stages[i].Steps {
				if step := &s.Stages[i].Steps[j]; step.ID == "rollouts" {
					step.Checks = append(step.Checks, check.Check{
						ID: "name-api", Title: message.T("API answers"), Status: check.Waived, Waiver: &check.Waiver{By: "Kim", Reason: "the wrong line"},
					})
				}
			}
		}
	})
	b.shows("take responsibility for a check")
	b.press("h", "enter", "right", "enter")
	for _, a := range b.fake.actions {
		if a.Verb == session.Withdraw {
			t.Errorf("did %+v", a)
		}
	}
}

// TestNoWithdrawAfterTheEnd: a landing that rests on a waiver keeps it, since its report has it.
func TestNoWithdrawAfterTheEnd(t *testing.T) {
	b := newBench(t, 80, 24, finished, byMistake)
	if c := newChecks(b.app.desk, b.fake.snap.Stages[0].ID); len(c.findings()) == 0 {
		t.Fatal("no checks")
	} else if c.withdrawable(c.findings()[c.explained(c.findings())]) {
		t.Error("a waiver of a landed node can be withdrawn")
	}
}

// TestPlainWithdraw: the review of line mode offers it by a word, and asks for the number of the check.
func TestPlainWithdraw(t *testing.T) {
	f := newFake()
	f.change(func(s *view.Snapshot) { s.State, s.Review = view.Reviewed, reviewView(); byMistake(s) })
	p, _ := startPlain(t, f)
	p.after(t, "Type control to take control:", "control")
	p.printed(t, "To withdraw a waiver, type withdraw.")
	p.after(t, "To start, type", "withdraw")
	p.printed(t, "1  Clock: no time server answers")
	p.after(t, "Number:", "1")
	f.did(t, session.Withdraw)
	p.printed(t, "The waiver is withdrawn.")
}

// TestStateBeforeControl: who comes to a node that failed reads what failed before anything is asked, and once.
func TestStateBeforeControl(t *testing.T) {
	f := newFake()
	f.change(failed)
	p, _ := startPlain(t, f)
	p.printed(t, "Code to read over the phone: RLT-DNS")
	p.after(t, "Type control to take control:", "")
	p.after(t, "Type control to take control:", "control")
	p.printed(t, "Retry")
}

// TestTitlesUseTheWidth: on a screen that has the room no title of a check is cut.
func TestTitlesUseTheWidth(t *testing.T) {
	const title = "Certificate of the site's registry mirror, as the node sees it"
	long := func(s *view.Snapshot) { s.Stages[0].Steps[0].Checks[1].Title = message.Data(title) }
	b := newBench(t, 160, 50, long)
	b.shows(title + "  64 GiB")
	b = newBench(t, 80, 24, long)
	b.shows("Certificate of the site's regist..  64 GiB")
}

// TestUpdatePageNamesItsKeys: the page that tells why a release is not used is closed by the key that its footer names; the page that asks
// names none, because Esc answers nothing.
func TestUpdatePageNamesItsKeys(t *testing.T) {
	b := pluggedIn(t)
	b.fake.change(func(s *view.Snapshot) { other := *s.Update; unsigned(&other); s.Update = &other })
	b.refresh()
	b.shows("b close")
}

// TestWordsAreTyped: what line mode wants typed is on every keyboard.
func TestWordsAreTyped(t *testing.T) {
	ascii := func(code string, texts map[string]string) {
		for key, text := range texts {
			if strings.HasSuffix(key, "Word") && strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
				t.Errorf("%s: %s is %q", code, key, text)
			}
		}
	}
	ascii("en", texts)
	for _, code := range Languages()[1:] {
		all, err := load(code)
		if err != nil {
			t.Fatal(err)
		}
		ascii(code, all.Console)
	}
}

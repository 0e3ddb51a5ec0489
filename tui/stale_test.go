package tui

import (
	"strings"
	"testing"

	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/steps/view"
)

// TestOldVerdictIsNotShown: a verdict on earlier answers is neither shown nor counted nor waived.
func TestOldVerdictIsNotShown(t *testing.T) {
	b := newBench(t, 80, 24, func(s *view.Snapshot) {
		step := &s.Stages[0].Steps[0]
		step.Checks[1].Status, step.Stale = "fail", []string{step.Checks[1].ID}
	})
	b.shows("....  Memory")
	b.shows("1 checking, ")
	b.press("down")
	b.shows("Memory: checking")
	for _, gone := range []string{"FAIL", "Waive"} {
		if strings.Contains(b.screen(), gone) {
			t.Errorf("%s is on the screen:\n%s", gone, b.screen())
		}
	}
	b.fake.change(func(s *view.Snapshot) { s.Stages[0].Steps[0].Stale = nil })
	b.refresh()
	b.shows("FAIL  Memory")
	b.shows("Waive")
}

// TestFormTellsOldVerdicts: the button that counts the verdicts says which of them are about earlier answers.
func TestFormTellsOldVerdicts(t *testing.T) {
	b := newBench(t, 80, 24, func(s *view.Snapshot) {
		step := &s.Stages[1].Steps[0]
		step.Checks = []check.Check{{ID: "net-gateway", Title: message.T("Gateway"), Status: "pass"}, {ID: "net-dns", Title: message.T("DNS"), Status: "pass"}}
		step.Stale = []string{"net-gateway"}
	})
	b.press("c")
	b.shows("[ Checks: 1 checking, 1 PASS ]")
}

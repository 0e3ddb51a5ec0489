package tui

import (
	"slices"
	"strings"
	"testing"

	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/steps/view"
)

// unfit is a machine that is judged as a vDU, lacks memory, and whose disk is being measured.
func unfit(s *view.Snapshot) {
	answer(s, profilePath, "vdu")
	answer(s, diskTestPath, "true")
	h := at(s, "hardware")
	h.Checks = append(slices.Clone(h.Checks), check.Check{
		ID: "hw-memory", Title: message.T("Memory"), Status: check.Fail, Observed: message.Data("16.0 GiB"), Expected: message.Data("32 GiB"),
	}, check.Check{ID: diskLatency, Title: message.T("Disk latency"), Status: check.Skip, Observed: message.F("measuring: %d %% of the writes", 40)})
}

// answer sets the value of a field wherever it is asked.
func answer(s *view.Snapshot, path, value string) {
	for i := range s.Stages {
		for j := range s.Stages[i].Steps {
			for k := range s.Stages[i].Steps[j].Fields {
				if f := &s.Stages[i].Steps[j].Fields[k]; f.Path == path {
					f.Value = value
				}
			}
		}
	}
}

// TestVerdictPage: what is missing in words, the way the test goes, and the keys that choose a profile, begin and stop the test.
func TestVerdictPage(t *testing.T) {
	b := newBench(t, 80, 24, realSite, unfit)
	b.press("f")
	screen := b.screen()
	for _, want := range []string{"Hardware verdict", "telecom site (vDU)", "NOT fit: ", "Memory: 16.0 GiB", "Expected: 32 GiB", "measuring: 40 %", "Stop the test"} {
		if !strings.Contains(screen, want) {
			t.Errorf("%q is not on the page:\n%s", want, screen)
		}
	}
	sent := func(path, value string) {
		t.Helper()
		if !slices.Contains(b.fake.sets, path+"="+value) {
			t.Errorf("%s=%s was not sent: %q", path, value, b.fake.sets)
		}
	}
	b.press("p", "x")
	sent(profilePath, "retail")
	sent(diskTestPath, "false")
	b = newBench(t, 80, 24, realSite, unfit, func(s *view.Snapshot) {
		h := at(s, "hardware")
		h.Checks[len(h.Checks)-1].Evidence = []message.Text{message.F("tested at %s", "2026-06-01T12:00:00Z")}
	})
	b.press("f")
	if screen := b.screen(); !strings.Contains(screen, "Forget the test") || !strings.Contains(screen, "Disk test: SKIP") {
		t.Errorf("a test that could not measure is over:\n%s", screen)
	}
	b = newBench(t, 80, 24, realSite)
	b.press("f", "x", "p")
	sent(profilePath, "sno")
	sent(diskTestPath, "true")
	if screen := b.screen(); !strings.Contains(screen, "Judged by: ") {
		t.Errorf("the page is gone:\n%s", screen)
	}
}

package tui

import (
	"strings"
	"testing"
	"time"

	"touchdown/backend/progress"
	"touchdown/steps/view"
)

// TestStall lets a step stand still: past twice its usual time the page says so, not before, and the log is one key away.
func TestStall(t *testing.T) {
	b := newBench(t, 80, 24, working)
	const notice = "This normally takes under 5 min"
	b.shows("normally under 5 min")
	b.now = b.now.Add(6*time.Minute + 29*time.Second) // of twice 5 minutes 3 minutes and 30 seconds were over before
	if strings.Contains(b.screen(), notice) {
		t.Errorf("too early:\n%s", b.screen())
	}
	b.shows("Running for 9 min 59 s")
	b.now = b.now.Add(2 * time.Second)
	b.shows("Waiting for operator authentication")
	b.shows(notice)
	b.press("l")
	b.shows("all quiet")
	b.press("b")
	b.fake.change(func(s *view.Snapshot) { at(s, "rollouts").Started = epoch.Add(6 * time.Minute); s.Now = b.now })
	b.refresh()
	if strings.Contains(b.screen(), notice) {
		t.Errorf("the next step is told to be late too:\n%s", b.screen())
	}
}

// TestFirstTextWaitsForNobody has a terminal that answers nothing and an engine that never does: the first page comes all the same,
// and what was written until then has no question to the terminal.
func TestFirstTextWaitsForNobody(t *testing.T) {
	t.Parallel()
	l := openLine(t, "silent", "xterm-256color", size(80, 24))
	l.shows("Touchdown")
	l.shows("Ctrl-C")
	l.clean()
}

// TestPausedEngine has an engine that takes requests and answers none, as one does that was stopped or waits for its disk.
func TestPausedEngine(t *testing.T) {
	t.Parallel()
	l := openLine(t, "paused", "vt220", size(80, 24))
	l.shows("Running for")
	l.shows("engine not answering, trying again; work goes on when it answers")
	l.shows("engine: not answering")
	l.clean()
}

// TestLastChange tells how long ago the progress changed, once that is long, and of bytes how fast they come.
func TestLastChange(t *testing.T) {
	b := newBench(t, 80, 24, working, func(s *view.Snapshot) {
		step := at(s, "rollouts")
		step.Moved = epoch.Add(-5 * time.Second)
	})
	hidden := func(text string) {
		t.Helper()
		if strings.Contains(b.screen(), text) {
			t.Errorf("the screen shows %q:\n%s", text, b.screen())
		}
	}
	hidden("Last change")
	hidden("/s")
	b.now = b.now.Add(50 * time.Second)
	b.shows("Last change 50 s ago")
	b.now = b.now.Add(4 * time.Second)
	b.shows("Last change 50 s ago") // not each second: a slow line pays for each
	for _, c := range []struct {
		rate float64
		want string
	}{{212.4, "3412 of 18000 MiB, 212 MiB/s"}, {0.5, "MiB, 512 KiB/s"}} {
		b.fake.change(func(s *view.Snapshot) {
			step := at(s, "rollouts")
			step.Progress = &progress.Progress{Done: 3412, Total: 18000, Unit: "MiB"}
			step.Rate, step.Moved, s.Now = c.rate, b.now, b.now
		})
		b.refresh()
		b.shows(c.want)
		hidden("Last change")
	}
}

// TestHeaderTellsWhetherTheEngineAnswers on every page, in its first line.
func TestHeaderTellsWhetherTheEngineAnswers(t *testing.T) {
	b := newBench(t, 80, 24)
	first := func() string { line, _, _ := strings.Cut(b.screen(), "\n"); return line }
	if !strings.Contains(first(), "engine ok") || !strings.Contains(first(), "SN 7XK2Q13") {
		t.Errorf("the header is %q", first())
	}
	b.fake.mu.Lock()
	b.fake.gone = true
	b.fake.mu.Unlock()
	b.refresh()
	if !strings.Contains(first(), "no engine") {
		t.Errorf("the header is %q", first())
	}
}

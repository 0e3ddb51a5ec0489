package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"touchdown/backend/message"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// TestPane: a large terminal shows the end of the log beside or below the work, newest lines last, and follows it.
func TestPane(t *testing.T) {
	for _, c := range []struct {
		w, h        int
		edit        func(*view.Snapshot)
		slow, shown bool
	}{
		{120, 24, working, false, true},
		{100, 40, working, false, true},
		{160, 50, failed, false, true},
		{160, 50, asking, false, true},
		{119, 39, working, false, false},
		{160, 50, working, true, false}, // a slow line
		{160, 50, finished, false, false},
		{160, 20, working, false, false},
	} {
		t.Run(fmt.Sprintf("%dx%d", c.w, c.h), func(t *testing.T) {
			b := newBench(t, c.w, c.h, c.edit)
			b.app.pane.slow = c.slow
			b.refresh()
			if got := strings.Contains(b.screen(), "all quiet"); got != c.shown {
				t.Fatalf("the log is shown: %v\n%s", got, b.screen())
			}
			if !c.shown {
				return
			}
			b.fake.mu.Lock()
			for i := range 200 {
				b.fake.log = append(b.fake.log, fmt.Sprintf("\x1b[41mline %d of the log\x1b[2J", i))
			}
			b.fake.log = append(b.fake.log, strings.Repeat("\u00fc", 1<<20), "the newest line")
			b.fake.mu.Unlock()
			b.tick()
			for _, line := range b.app.pane.lines {
				if len(line) > paneBytes || !utf8.ValidString(line) {
					t.Errorf("a line of %d bytes is kept", len(line))
				}
			}
			b.shows("the newest line")
			b.fake.mu.Lock()
			b.fake.log = b.fake.log[:len(b.fake.log)-2]
			b.fake.mu.Unlock()
			b.tick()
			screen := b.screen()
			if !strings.Contains(screen, "line 199 of the log") || strings.Contains(screen, "all quiet") {
				t.Errorf("the pane does not follow the log:\n%s", screen)
			}
			for _, line := range b.app.frame(b.app.top(), c.w, c.h).lines {
				if strings.Contains(line, "\x1b[41m") || strings.Contains(line, "\x1b[2J") {
					t.Errorf("a sequence of the log is drawn: %q", line)
				}
			}
			b.fake.mu.Lock()
			b.fake.gone = true
			b.fake.mu.Unlock()
			b.tick()
			b.shows("line 199 of the log")
		})
	}
}

// TestPaneMovesNoRow: whatever a page's texts hold, each of its rows stands where it would without the pane, and so do its buttons.
func TestPaneMovesNoRow(t *testing.T) {
	for name, edit := range map[string]func(*view.Snapshot){"working": working, "asking": asking, "failed": failed} {
		for _, hostile := range []string{planted, "a\tb\tc\td " + strings.Repeat("long ", 40), "one\r\ntwo\nthree", "\x1b[41m" + strings.Repeat("x", 300)} {
			b := newBench(t, 160, 45, edit, func(s *view.Snapshot) {
				for i := range s.Stages {
					s.Stages[i].Title = message.Data(show(s.Stages[i].Title) + hostile)
				}
				if s.Problem != nil {
					s.Problem.Output = append(s.Problem.Output, hostile, hostile+hostile)
				}
				if s.Question != nil {
					s.Question.Choices[0].Label = message.Data(hostile)
				}
			})
			b.fake.mu.Lock()
			b.fake.log = append(b.fake.log, hostile, hostile)
			b.fake.mu.Unlock()
			b.tick()
			h := 45 - above - below
			alone := b.app.top().view(95, h).fit(h)
			got := b.app.pane.body(b.app.theme, b.app.top(), 160, h)
			if len(got.lines) != h || got.x != alone.x || got.y != alone.y {
				t.Errorf("%s, %q: %d rows and the cursor at %d,%d; without the log %d,%d", name, hostile, len(got.lines), got.x, got.y, alone.x, alone.y)
			}
			for y, line := range alone.lines {
				want := parse(strings.ReplaceAll(line, "\n", " "), 40, true) // as View has it
				row := parse(got.lines[y], 40, true)
				if !slices.Equal(row[:len(want)], want) {
					t.Errorf("%s, %q: row %d is %q instead of %q", name, hostile, y, got.lines[y], line)
					break
				}
			}
		}
	}
}

// TestPaneAsksOnce: while the engine has not answered, no tick asks it for the log again; after the answer, also a failure, one does.
func TestPaneAsksOnce(t *testing.T) {
	p, l := pane{}, newLink(t.Context(), newFake(), "ttyS0", time.Second)
	for _, c := range []struct {
		shown bool
		msg   tea.Msg
		asks  bool
	}{
		{false, tickMsg{}, false},
		{true, snapshotMsg{}, true}, // it comes up
		{true, tickMsg{}, false},
		{true, tickMsg{}, false},
		{true, paneMsg{}, false},
		{true, snapshotMsg{}, false},
		{true, tickMsg{}, true},
		{false, tickMsg{}, false}, // it goes while an answer is on its way
		{true, tickMsg{}, false},
		{true, paneMsg{logMsg{failed: session.ErrNotFound}}, true},
	} {
		if got := p.follow(l, c.shown, c.msg) != nil; got != c.asks {
			t.Errorf("%#v: asks %v", c, got)
		}
	}
}

// tick has a second pass.
func (b *bench) tick() {
	b.t.Helper()
	_, cmd := b.app.Update(tickMsg{b.app.generation})
	b.run(cmd)
}

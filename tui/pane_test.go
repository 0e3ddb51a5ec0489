package tui

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"touchdown/steps/engine"
)

// TestPane: a large terminal shows the end of the log beside or below the work, newest lines last, and follows it.
func TestPane(t *testing.T) {
	for _, c := range []struct {
		w, h        int
		edit        func(*engine.Snapshot)
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

// tick has a second pass.
func (b *bench) tick() {
	b.t.Helper()
	_, cmd := b.app.Update(tickMsg{b.app.generation})
	b.run(cmd)
}

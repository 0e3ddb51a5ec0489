package tui

import (
	"fmt"
	"strings"
	"testing"
)

// TestAReaderScrollsBackFromItsEnd: the log opens at its end, and a page up shows what was before.
func TestAReaderScrollsBackFromItsEnd(t *testing.T) {
	b := newBench(t, 80, 24)
	for n := range 100 {
		b.fake.log = append(b.fake.log, fmt.Sprintf("line %d of the log", n))
	}
	b.press("l")
	b.shows("line 99 of the log")
	b.press("pgup")
	if s := b.screen(); strings.Contains(s, "line 99 of the log") {
		t.Errorf("still at the end:\n%s", s)
	}
	b.shows("line 75 of the log")
	b.press("pgdown")
	b.shows("line 99 of the log")
}

package tui

import (
	"strings"
	"testing"
)

// TestPlainLogIn: a line terminal has it too, and moves it off the screen when Enter is pressed.
func TestPlainLogIn(t *testing.T) {
	f := newFake()
	finished(&f.snap)
	p, done := startPlain(t, f)
	p.after(t, "Type control to take control:", "control")
	p.printed(t, "4  Credentials")
	p.after(t, "Number:", "4")
	p.printed(t, "Password     "+shownPassword)
	p.after(t, "Press Enter to move this off the screen.", "")
	p.printed(t, strings.Repeat(" \r\n", plainScreen))
	p.in.Close()
	<-done
}

// TestPlainLogInIsTrue: a line cannot be cleared, so that it does not say that it will be.
func TestPlainLogInIsTrue(t *testing.T) {
	_, p := holding(t, finished)
	p.after(t, "Number:", "4")
	p.printed(t, "read it out.")
	p.printed(t, "Press Enter to move this off the screen.")
	p.mu.Lock()
	defer p.mu.Unlock()
	if strings.Contains(p.out.String(), "clears") {
		t.Error("it says that it is cleared")
	}
}

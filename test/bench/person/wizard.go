package person

import (
	"strings"
	"time"

	"touchdown/test/wait"
)

// enterDelay is how long a question ignores what may have been typed ahead.
const enterDelay = 1100 * time.Millisecond

// at reports whether the marker stands before label: a field's, or a button's such as "[ Continue".
func at(screen, label string) bool {
	for line := range strings.SplitSeq(screen, "\n") {
		if strings.HasPrefix(line, "> "+label) || strings.Contains(line, ">"+label) {
			return true
		}
	}
	return false
}

// marker is where the marker stands, and before what: a page may scroll beneath it.
type marker struct {
	y, x  int
	label string
}

// labelled is how wide a form's labels are; what stands behind them changes without the marker.
const labelled = 24

// focus is where the one marker stands. On a screen that is half drawn there may be none, or two; ok is false then.
func focus(screen string) (at marker, ok bool) {
	found := 0
	for y, line := range strings.Split(screen, "\n") {
		button := strings.Index(line, ">[ ")
		if !strings.HasPrefix(line, "> ") && button < 0 {
			continue
		}
		at = marker{y, max(button, 0), line[:min(labelled, len(line))]}
		found++
	}
	return at, found == 1
}

// At presses Tab until the marker stands before label: a field's, or "[ Continue ]".
func (p *Person) At(label string) {
	p.t.Helper()
	p.seek(label, "\t", 40)
}

// seek presses a key that moves the marker until it stands before label.
func (p *Person) seek(label, key string, most int) {
	p.t.Helper()
	for range most {
		p.waitMarker()
		if at(p.Screen(), label) {
			return
		}
		p.moves(key)
	}
	p.t.Fatalf("%q never led to %q:\n%s", key, label, p.Screen())
}

// moves presses a key that moves the marker, once, and sees it moved: a second one would be answered too, later.
func (p *Person) moves(key string) {
	p.t.Helper()
	before := p.waitMarker()
	p.send(key)
	p.Until("the marker elsewhere", func(s string) bool {
		now, ok := focus(s)
		return ok && now != before
	})
	p.rest()
}

// waitMarker waits for a screen with one marker, and returns where it stands.
func (p *Person) waitMarker() (at marker) {
	p.t.Helper()
	p.Until("one marker", func(s string) (ok bool) {
		at, ok = focus(s)
		return ok
	})
	return at
}

// Fill puts a value into a field in place of what is there, goes on to the next, and sees the value on the screen.
func (p *Person) Fill(label, value string) {
	p.t.Helper()
	p.At(label)
	p.Replace(value)
	p.Types("\t")
	p.Until(label+" as "+value, func(s string) bool { return !at(s, label) && has(s, "  "+label, "["+value+" ") })
}

// has reports whether a line that begins so shows something.
func has(screen, begin, text string) bool {
	for line := range strings.SplitSeq(screen, "\n") {
		if strings.HasPrefix(line, begin) && strings.Contains(line, text) {
			return true
		}
	}
	return false
}

// Replace types a value over what is in the field at the marker, and stays there.
func (p *Person) Replace(value string) {
	p.t.Helper()
	p.send("\x15" + value)
	p.Until(value+" at the marker", func(s string) bool { return has(s, "> ", "["+value+" ") })
	p.rest()
}

// Pick chooses by the choice's words.
func (p *Person) Pick(label, choice string) {
	p.t.Helper()
	p.At(label)
	p.Types("\r")
	p.Shows("Up and Down move, Enter chooses")
	for range 12 {
		for line := range strings.SplitSeq(p.Screen(), "\n") {
			if strings.HasPrefix(line, ">") && strings.Contains(line, "  "+choice) {
				p.Types("\r")
				p.Until(label+" as "+choice, func(s string) bool { return strings.Contains(s, "< "+choice) })
				return
			}
		}
		p.moves("\x1b[B")
	}
	p.t.Fatalf("%s has no choice %q:\n%s", label, choice, p.Screen())
}

// Press goes to a button and chooses it.
func (p *Person) Press(button string) {
	p.t.Helper()
	p.At("[ " + button)
	p.Types("\r")
}

// GoesOn leaves a page of checks that may have failed: the first Enter may only be told so.
func (p *Person) GoesOn(next string) {
	p.t.Helper()
	p.Press("Continue")
	p.Until(next, func(s string) bool { return strings.Contains(s, next) || strings.Contains(s, "press Continue again") })
	if !strings.Contains(p.Screen(), next) {
		p.Press("Continue")
	}
	p.Shows(next)
}

// The keys that agree: no text has them.
const (
	control = "\x07" // Ctrl-G takes control
	Sure    = "\x19" // Ctrl-Y answers a question with Yes
)

// Take takes control where no other console has it. A console that has not heard yet that it is free asks first.
func (p *Person) Take() {
	p.t.Helper()
	const again = 20 * time.Second // after which the key is pressed once more
	var pressed time.Time
	p.Shows("nobody has control")
	wait.Until(p.t, "control for this console", func() bool {
		screen := p.Screen()
		if strings.Contains(screen, "nobody has control") && time.Since(pressed) > again {
			pressed = time.Now()
			p.send(control)
		}
		return strings.Contains(screen, "you have control")
	})
	p.rest()
}

// TakeOver takes control from another console.
func (p *Person) TakeOver() {
	p.t.Helper()
	p.Shows("has control, Ctrl-G takes it")
	p.Types(control)
	p.Shows("Take control?")
	p.Types(Sure)
	p.Shows("you have control")
}

// Waive takes responsibility for what failed on the page of checks.
func (p *Person) Waive(by, why string) {
	p.t.Helper()
	p.Until("the end of the checks", func(s string) bool { return !strings.Contains(s, "still looking") })
	for strings.Contains(p.Screen(), "  FAIL ") {
		before := strings.Count(p.Screen(), "  FAIL ")
		p.Press("Waive")
		p.Shows("You take responsibility")
		p.Fill("Your name", by)
		p.Fill("Reason", why)
		p.Press("Waive")
		p.Until("one failure less", func(s string) bool {
			// Not the sentence above the keys: the next answer of the engine may take it away before anyone sees it.
			return !strings.Contains(s, "You take responsibility") && strings.Count(s, "  FAIL ") < before
		})
	}
}

// Answers a question with its choice number n, counted from 1.
func (p *Person) Answers(text string, n int) {
	p.t.Helper()
	p.Shows(text)
	time.Sleep(enterDelay) // for so long the product takes no answer
	p.Types(string(rune('0' + n)))
	p.Types("\r")
}

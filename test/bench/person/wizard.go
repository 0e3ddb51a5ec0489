package person

import (
	"slices"
	"strings"
	"time"
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

// focus is where the one marker stands. ok is false for a screen that is half drawn: there may be no marker, or two, or the cursor is on its
// way. The wizard ends each picture by putting the cursor where the marker is.
func focus(screen look) (at marker, ok bool) {
	found := 0
	for y, line := range strings.Split(screen.text, "\n") {
		button := strings.Index(line, ">[ ")
		if !strings.HasPrefix(line, "> ") && button < 0 {
			continue
		}
		at = marker{y, max(button, 0), line[:min(labelled, len(line))]}
		found++
	}
	here := screen.y == at.y && (at.x == 0 || screen.x == at.x+len(">[ "))
	return at, found == 1 && here
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
		if screen, _ := p.waitMarker(); at(screen.text, label) {
			return
		}
		p.moves(key)
	}
	p.t.Fatalf("%q never led to %q:\n%s", key, label, p.Screen())
}

// moves presses a key that moves the marker, once, and sees it moved: a second one would be answered too, later.
func (p *Person) moves(key string) {
	p.t.Helper()
	_, before := p.waitMarker()
	p.send(key)
	p.soon("the marker elsewhere", func(s look) bool {
		now, ok := focus(s)
		return ok && now != before
	})
	p.rest()
}

// waitMarker waits for a whole screen, and returns it with where its marker stands.
func (p *Person) waitMarker() (screen look, at marker) {
	p.t.Helper()
	screen = p.soon("one marker with the cursor", func(s look) (ok bool) {
		at, ok = focus(s)
		return ok
	})
	return screen, at
}

// Fill puts a value into a field in place of what is there, goes on to the next, and sees the value on the screen.
func (p *Person) Fill(label, value string) {
	p.t.Helper()
	p.At(label)
	p.Replace(value)
	p.Types("\t")
	p.soon(label+" as "+value, func(s look) bool { return !at(s.text, label) && has(s.text, "  "+label, "["+value+" ") })
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
	p.inField(value)
	p.rest()
}

// inField waits until the field at the marker shows a value.
func (p *Person) inField(value string) {
	p.t.Helper()
	p.soon(value+" at the marker", func(s look) bool { return has(s.text, "> ", "["+value+" ") })
}

// Word goes on to the field of a word that agrees to something, and types it. Keys that come at once agree to nothing, and a busy console
// may take those at once that were typed one by one: each letter is seen before the next.
func (p *Person) Word(word string) {
	p.t.Helper()
	p.moves("\t")
	for i, letter := range word {
		p.send(string(letter))
		p.inField(word[:i+1])
	}
	p.rest()
}

// Pick chooses by the choice's words.
func (p *Person) Pick(label, choice string) {
	p.t.Helper()
	p.At(label)
	p.Types("\r")
	p.Shows("Up and Down move, Enter chooses")
	for range 12 {
		screen, _ := p.waitMarker()
		for line := range strings.SplitSeq(screen.text, "\n") {
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
	if told := p.either(next, "press Continue again"); told != next {
		p.Press("Continue")
		p.Shows(next)
	}
}

// either waits until a whole screen shows one of several words, and returns the first of them that it shows.
func (p *Person) either(words ...string) (shown string) {
	p.t.Helper()
	p.Whole(strings.Join(words, " or "), func(s string) bool {
		i := slices.IndexFunc(words, func(w string) bool { return strings.Contains(s, w) })
		if i >= 0 {
			shown = words[i]
		}
		return i >= 0
	})
	return shown
}

// The keys that agree: no text has them.
const (
	control = "\x07" // Ctrl-G takes control
	Sure    = "\x19" // Ctrl-Y answers a question with Yes
)

// What the header says of control.
const (
	free = "nobody has control"
	ours = "you have control"
)

// Take takes control at a console that was started, or started again: it waits until nobody has control, for what the screen shows may be
// of the console before. A console that has not heard yet that control is free asks first, so the key is pressed again.
func (p *Person) Take() {
	p.t.Helper()
	p.Shows(free)
	p.again(control, "control for this console", func(s string) bool { return strings.Contains(s, ours) }, free)
}

// HasControl takes control where the console that is on the screen does not have it.
func (p *Person) HasControl() {
	p.t.Helper()
	if p.either(ours, free) == free {
		p.Take()
	}
}

// Redraws has the screen drawn until it shows something: a key that is typed while a line is opened may be lost.
func (p *Person) Redraws(what string, ok func(screen string) bool) {
	p.t.Helper()
	p.again("\x0c", what, ok, "")
}

// Says answers a prompt that stays when what was typed is lost: login throws away what came before its question.
func (p *Person) Says(prompt, words, want string) {
	p.t.Helper()
	p.Shows(prompt)
	p.again(words+"\r", want, func(s string) bool { return strings.Contains(s, want) }, prompt+"\n")
}

// again types keys until the screen shows what they are to bring, and each time only on a screen that shows on.
func (p *Person) again(keys, what string, ok func(screen string) bool, on string) {
	p.t.Helper()
	const pause = 20 * time.Second // after which they are typed once more
	var typed time.Time
	p.Until(what, func(s string) bool {
		if ok(s) {
			return true
		}
		if strings.Contains(s+"\n", on) && time.Since(typed) > pause {
			typed = time.Now()
			p.send(keys)
		}
		return false
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
	p.Shows(ours)
}

// Waive takes responsibility for what failed on the page of checks.
func (p *Person) Waive(by, why string) {
	p.t.Helper()
	const failed = "  FAIL "
	looked := func(s string) bool { return !strings.Contains(s, "still looking") }
	for before := strings.Count(p.Whole("the end of the checks", looked), failed); before > 0; {
		p.Press("Waive")
		p.Shows("You take responsibility")
		p.Fill("Your name", by)
		p.Fill("Reason", why)
		p.Press("Waive")
		before = strings.Count(p.Whole("one failure less", func(s string) bool {
			// Not the sentence above the keys: the next answer of the engine may take it away before anyone sees it.
			return !strings.Contains(s, "You take responsibility") && strings.Count(s, failed) < before
		}), failed)
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

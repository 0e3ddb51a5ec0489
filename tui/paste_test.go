package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/test/race"
	"touchdown/test/wait"
)

// TestHugePaste: whatever is pasted wherever, it is taken or refused at once, and the field is whole.
func TestHugePaste(t *testing.T) {
	size, most := 1<<20, 2*time.Second
	if race.On { // the detector makes each access ten times as dear; half is still more than any field takes
		size, most = size/2, 5*most
	}
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	for name, data := range map[string]string{
		"letters": fill("a"), "NUL": fill("\x00"), "bracketed": "\x1b[200~" + fill("abcd efgh\r") + "\x1b[201~", "lines": fill("a\r"), "ends": fill("\r"),
		"JSON": `{"auths":{` + fill(`"registry.example.com":{"auth":"dXNlcjpwYXNz"},`), "open JSON": fill("{\r"), "ESC": fill("\x1b"),
		"unfinished": "\x1b[" + fill("9"), "blocks": fill("-----BEGIN X-----\rAA==\r-----END X-----\r\r"), "mouse": fill("\x1b[<35;10;10M"),
		"tabs": fill("\t"), "arrows": fill("\x1b[D"), "OSC": "\x1b]0;" + fill("x"), "no UTF-8": fill("\xc3\xff"), "wide": fill("\U0001F600"),
	} {
		for field, keys := range [][]string{{"c"}, {"c", "tab", "tab"}, {"c", "tab", "tab", "tab"}, nil} {
			if race.On && name != "letters" && field != len(name)%4 { // without the detector all is pasted into each
				continue
			}
			b := newBench(t, 80, 24)
			b.press(keys...)
			began := worked()
			b.stream(data)
			b.screen()
			if took := worked() - began; took > most {
				t.Errorf("%s in field %d: %s", name, field, took)
			}
			for _, set := range b.fake.sets {
				if len(set) > longestPEM+100 {
					t.Errorf("%s in field %d: %d bytes were set", name, field, len(set))
				}
			}
			if name == "letters" && field < 2 {
				b.shows(fmt.Sprintf("more than %d characters", longest))
				if n := len(b.app.page.(*form).entry.ed.value()); n > 10 {
					t.Errorf("in field %d stay %d characters of what was refused", field, n)
				}
			}
		}
	}
}

// worked is how much time of a processor this process has used: on a busy machine it is less than what has passed.
func worked() time.Duration {
	var use unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &use)
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// stream sends data as the reader of a line does, in parts.
func (b *bench) stream(data string) {
	b.t.Helper()
	var d decoder
	for first := true; data != ""; first = false {
		n := min(len(data), showBytes)
		d.feed([]byte(data[:n]))
		data = data[n:]
		if msg := typed(d.take(), first, data == ""); msg != nil {
			_, cmd := b.app.Update(msg)
			b.run(cmd)
		}
	}
	d.rest()
}

// TestLongPasteOnALine sends a megabyte through a real line: it is read to its end, refused, and the next key works.
func TestLongPasteOnALine(t *testing.T) {
	t.Parallel()
	l := openLine(t, "", "vt220", size(80, 24))
	l.shows("Hardware check")
	l.send("\x07")
	l.shows("you have control")
	l.send("c")
	l.shows("Base domain")
	began := time.Now()
	l.send(strings.Repeat("a", 1<<20))
	l.shows("more than 65536 characters")
	t.Logf("a megabyte in %s", time.Since(began).Round(time.Millisecond))
	// A key within the paste belongs to it, and its end shows nowhere: a person whose key did nothing presses it again.
	wait.Soon(t, 10*time.Second, "a key behind the paste to show", func() error {
		l.send("b")
		l.quiet()
		if screen := l.screen(); !strings.Contains(screen, "[b") {
			return errors.New(screen)
		}
		return nil
	})
	l.clean()
}

// TestPasteThatStalls: a line over a network, or a busy machine, gives a paste pauses. What is too long is refused as a whole, and a
// key that a person presses afterwards is taken.
func TestPasteThatStalls(t *testing.T) {
	b := newBench(t, 80, 24)
	b.press("c")
	in, at := &input{}, epoch
	send := func(after time.Duration, text string) {
		t.Helper()
		at = at.Add(after)
		var d decoder
		d.feed([]byte(text))
		_, cmd := b.app.Update(in.joined(typed(d.take(), true, true), at))
		b.run(cmd)
	}
	part := strings.Repeat("a", longest*2/3)
	send(0, part)
	send(pasteGap/2, part)
	b.shows("Nothing of it was taken")
	send(pasteGap/2, part)
	if got := b.app.page.(*form).entry.ed.value(); got != "sno-042" {
		t.Errorf("of a paste that was refused %d characters stay", len(got))
	}
	send(pasteGap/2, "b")
	b.shows("[b ")
	send(pasteGap/2, "cd")
	b.shows("[bcd ")
	send(2*pasteGap, part)
	send(2*pasteGap, part) // another paste: the first one is in the field
	b.shows("Nothing of it was taken")
	if got := len(b.app.page.(*form).entry.ed.value()); got != len("bcd")+len(part) {
		t.Errorf("%d characters are in the field", got)
	}
}

package tui

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// obeyed reports whether a terminal may do anything with r but show it: control characters of one and of eight bits, what
// turns the direction of text, what cannot be seen.
func obeyed(r rune) bool { return !unicode.IsPrint(r) }

// Safe returns a writer that passes on nothing but what a terminal shows, line breaks and tabs; a question mark stands for all
// else. With ascii it passes on ASCII only: a terminal that does not know UTF-8 takes some of its bytes for control characters.
// A character must not be split between two writes.
func Safe(out io.Writer, ascii bool) io.Writer { return safe{out, ascii} }

// Outlet is the way to a terminal for all that is printed line by line. What is not a terminal gets UTF-8.
func Outlet(out io.Writer) io.Writer { return Safe(out, onlyASCII(out)) }

// onlyASCII reports whether out is a terminal that is not known to show UTF-8.
func onlyASCII(out io.Writer) bool {
	f, ok := out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && !kernelConsole(int(f.Fd())) && (os.Getenv("TERM") == "dumb" || old(os.Getenv("TERM")))
}

type safe struct {
	out   io.Writer
	ascii bool
}

func (s safe) Write(p []byte) (int, error) {
	if _, err := io.WriteString(s.out, Shown(string(p), s.ascii)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Shown is text as a terminal shows it: see Safe.
func Shown(text string, ascii bool) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == '\n' || r == '\t', r == '\r' && strings.HasPrefix(text[i+1:], "\n"):
		case obeyed(r), r == utf8.RuneError, ascii && r > unicode.MaxASCII:
			r = '?'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Escaped is a JSON document that Safe leaves unchanged: what it would replace is written as an escape, which means the same.
func Escaped(document []byte, out io.Writer) []byte {
	ascii := onlyASCII(out)
	var b strings.Builder
	for _, r := range string(document) {
		switch {
		case r == '\n' || r == '\t' || !obeyed(r) && r != utf8.RuneError && (r <= unicode.MaxASCII || !ascii):
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return []byte(b.String())
}

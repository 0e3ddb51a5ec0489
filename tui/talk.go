package tui

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/sys/unix"
)

// talk is a line terminal: lines go out, lines come in.
type talk struct {
	ctx     context.Context //nolint:containedctx // ends with Plain
	in      io.Reader
	tty     *os.File // that in is; nil for no terminal
	out     io.Writer
	lines   chan string     // closed at the end of the input
	news    chan string     // what is told while the prompt waits for a line
	changes func() []string // what happened while the prompt waits; nil: nothing is told
	leaves  func() string   // what a person should know who leaves; nil: what is said to everybody
	heard   func() error    // what a line that a person typed does before it is an answer

	screens bool // the terminal has screens to go back to

	record func(line string) // for support
	secret string            // what a prompt has that is not recorded
}

// listen reads lines until the input ends.
func (p *talk) listen() {
	defer close(p.lines)
	for r := bufio.NewReaderSize(p.in, longest); ; {
		line, err := readLine(r)
		if err != nil {
			return
		}
		select {
		case p.lines <- line:
		case <-p.ctx.Done():
			return
		}
	}
}

// readLine reads a line without its end. Of a longer one than a field takes it returns nothing: it was not an answer.
func readLine(r *bufio.Reader) (string, error) {
	line, long, err := r.ReadLine()
	text := string(line)
	for more := long; more && err == nil; {
		text = ""
		_, more, err = r.ReadLine()
	}
	return text, err
}

// write prints lines without the looks that they have on a screen.
func (p *talk) write(lines ...string) { p.as(lines, lines) }

// as prints lines, and records others in their place.
func (p *talk) as(recorded, lines []string) {
	for _, line := range plainText(recorded) {
		if line != "" {
			p.record("| " + line)
		}
	}
	p.print(lines)
}

// print is write for what is not recorded for support: it is secret, long, or was typed.
func (p *talk) print(lines []string) {
	for _, line := range lines {
		if line != "" {
			fmt.Fprintf(p.out, "%s\r\n", ansi.Strip(line))
		}
	}
}

// printed is print with a line in the record that tells what was there.
func (p *talk) printed(what string, lines []string) {
	p.record("prints what is not recorded: " + what)
	p.print(lines)
}

// ask prints a prompt and waits for an answer.
func (p *talk) ask(prompt string) (string, error) {
	text, err := p.askLine(prompt)
	return strings.TrimSpace(text), err
}

// askLine is ask with what stands before the answer.
func (p *talk) askLine(prompt string) (string, error) {
	text, err := p.read(prompt)
	p.secret = ""
	if err == nil && p.heard != nil {
		err = p.heard()
	}
	return text, err
}

// read prints a prompt and waits for a line.
func (p *talk) read(prompt string) (string, error) {
	for {
		line, err := p.prompted(prompt)
		if err != nil || !strings.HasSuffix(line, interrupt) {
			return strings.TrimRight(line, " \t\r\n"), err
		}
		if err := p.leaving(); err != nil {
			return "", err
		}
	}
}

func (p *talk) prompted(prompt string) (string, error) {
	for {
		fmt.Fprintf(p.out, "%s ", prompt)
		p.record("? " + without(prompt, p.secret))
		line, news, err := p.next()
		if len(news) == 0 && err == nil {
			p.record(map[bool]string{true: "key enter", false: "types a line"}[strings.TrimSpace(line) == ""])
		}
		if len(news) == 0 {
			return line, err
		}
		p.write(append([]string{" "}, news...)...) // and the prompt again, below it
	}
}

// next is the line that a person types, or news that come before it.
func (p *talk) next() (line string, news []string, err error) {
	for {
		var look <-chan time.Time
		if p.changes != nil {
			look = time.After(heartbeat)
		}
		select {
		case <-p.ctx.Done():
			return "", nil, p.ctx.Err()
		case text := <-p.news:
			return "", []string{text}, nil
		case line, ok := <-p.lines:
			if !ok {
				return "", nil, ErrHungUp
			}
			return line, nil, nil
		case <-look:
			if news := p.changes(); len(news) > 0 {
				return "", news, nil
			}
		}
	}
}

// errLeft ends the console because a person wants it to.
var errLeft = errors.New("the person left")

// leaving asks whether the person leaves. Ctrl-C alone ends nothing, and neither does a second one.
func (p *talk) leaving() error {
	if p.heard != nil {
		if err := p.heard(); err != nil {
			return err
		}
	}
	return p.askToLeave()
}

// askToLeave asks whether the person leaves, at a locked console too.
func (p *talk) askToLeave() error {
	text := t("leave.text")
	if p.leaves != nil {
		text = p.leaves()
	}
	p.write(" ", t("leave.title"))
	p.write(wrap(text, minWidth, "")...)
	word := t("plain.leaveWord")
	line, err := p.prompted(t("plain.leave", word))
	if err == nil && strings.TrimSpace(line) == word {
		return errLeft
	}
	return err
}

// quiet is how long nothing may come before a decision is asked for: a pasted text is a line every few milliseconds.
const quiet = 150 * time.Millisecond

// decide asks for what no pasted line may answer.
func (p *talk) decide(prompt string) (string, error) {
	if err := p.drop(); err != nil {
		return "", err
	}
	text, err := p.ask(prompt)
	if err == nil && p.screens && text == t("plain.screens") {
		return "", errOther
	}
	return text, err
}

// drop forgets the lines that came already, until there are none.
func (p *talk) drop() error {
	for {
		select {
		case <-p.ctx.Done():
			return p.ctx.Err()
		case _, ok := <-p.lines:
			if !ok {
				return ErrHungUp
			}
		case <-time.After(quiet):
			return nil
		}
	}
}

// pause waits; the end of the input ends it, and so does the word, which it tells. Other lines typed meanwhile are dropped.
func (p *talk) pause(d time.Duration, word string) (typed bool, err error) {
	after := time.After(d)
	for {
		select {
		case <-p.ctx.Done():
			return false, p.ctx.Err()
		case <-after:
			return false, nil
		case line, ok := <-p.lines:
			if !ok {
				return false, ErrHungUp
			}
			if strings.HasSuffix(line, interrupt) {
				return false, p.leaving()
			}
			if word != "" && strings.TrimSpace(line) == word {
				return true, nil
			}
		}
	}
}

// options asks for one of numbered ways on and returns its index, or -1.
func (p *talk) options(names ...string) (int, error) {
	for i, name := range names {
		p.write(t("pick.choice", i+1, name))
	}
	text, err := p.decide(t("plain.number"))
	n, bad := strconv.Atoi(text)
	if err != nil || text == "" {
		return -1, err
	}
	if bad != nil || n < 1 || n > len(names) {
		p.printed("that no such way exists", []string{t("plain.noNumber", text, len(names))})
		return -1, nil
	}
	p.record("chooses " + names[n-1])
	return n - 1, nil
}

// block reads on from line to a dot, or to an empty line where none belongs to the value. Of what is too long it keeps no more than
// tells so.
func (p *talk) block(line string, gaps bool, next func(prompt string) (string, error)) (string, error) {
	var all strings.Builder
	for (gaps || line != "") && strings.TrimSpace(line) != "." {
		if all.Len() <= longestPEM {
			all.WriteString(line + "\n")
		}
		var err error
		if line, err = next(""); err != nil {
			return "", err
		}
	}
	return all.String(), nil
}

// echo switches the terminal's echo, so that a secret does not stay on the screen.
func (p *talk) echo(on bool) {
	if p.tty == nil {
		return
	}
	f := p.tty
	tio, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		return
	}
	tio.Lflag &^= unix.ECHO
	if on {
		tio.Lflag |= unix.ECHO
	}
	_ = unix.IoctlSetTermios(int(f.Fd()), unix.TCSETS, tio)
}

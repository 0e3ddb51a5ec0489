package tui

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"touchdown/steps/engine"
)

// prompts is the console as numbered questions, line by line, for terminals that cannot place the cursor.
type prompts struct {
	*desk
	ctx   context.Context //nolint:containedctx // ends with Plain
	in    io.Reader
	out   io.Writer
	lines chan string // closed at the end of the input
	told  told
}

// Plain is Run for a terminal that cannot place the cursor, under the console's name. The end of the input ends it with
// ErrHungUp wherever it is; nothing is ever taken as agreed by that.
func Plain(ctx context.Context, session engine.Session, name string, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o := Options{Name: name, Mode: Basic, Clock: time.Now, Save: saveBundle}
	p := &prompts{ctx: ctx, in: in, out: Safe(out, true), lines: make(chan string)}
	p.desk = newDesk(newLink(ctx, session, name, time.Second), o)
	go func() {
		defer close(p.lines)
		for r := bufio.NewReaderSize(in, longest); ; {
			line, err := readLine(r)
			if err != nil {
				return
			}
			select {
			case p.lines <- line:
			case <-ctx.Done():
				return
			}
		}
	}()
	defer p.link.release()
	go p.link.follow() // keeps the pen
	for {
		if err := p.turnOnce(); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
}

// readLine reads a line without its end. Of a longer one than a field takes it returns nothing: it was no answer.
func readLine(r *bufio.Reader) (string, error) {
	line, long, err := r.ReadLine()
	text := string(line)
	for more := long; more && err == nil; {
		text = ""
		_, more, err = r.ReadLine()
	}
	return text, err
}

// turnOnce does what the job's state asks for. Its error ends the console.
func (p *prompts) turnOnce() error {
	p.absorb(p.link.look())
	switch {
	case p.gone != nil || p.snap == nil:
		p.write(t("engine.gone"))
		return p.pause(retryPause)
	case p.free() && p.asksNow():
		answer, err := p.decide(t("plain.take", t("plain.control")))
		if err == nil && answer == t("plain.control") {
			p.write(p.do(p.link.take(false)))
		}
		return err
	case !p.held && p.asksNow():
		p.write(p.penState())
		answer, err := p.decide(t("plain.pen", t("plain.control")))
		if err == nil && answer == t("plain.control") {
			p.write(p.do(p.link.take(true)))
		}
		return err
	}
	switch p.wanted() {
	case "form", "checks", "hello":
		return p.questions()
	case "review":
		return p.review()
	case "question":
		return p.decision()
	case "problem":
		return p.trouble()
	case "dashboard":
		return p.finish()
	}
	return p.watch()
}

// asksNow reports whether the job's state asks a person for something.
func (p *prompts) asksNow() bool { return !p.moving() || p.state() == engine.InQuestion }

func (p *prompts) write(lines ...string) {
	for _, line := range lines {
		if line != "" {
			fmt.Fprintf(p.out, "%s\r\n", line)
		}
	}
}

// ask prints a prompt and waits for a line.
func (p *prompts) ask(prompt string) (string, error) {
	fmt.Fprintf(p.out, "%s ", prompt)
	select {
	case <-p.ctx.Done():
		return "", p.ctx.Err()
	case line, ok := <-p.lines:
		if !ok {
			return "", ErrHungUp
		}
		return strings.TrimSpace(line), nil
	}
}

// quiet is how long nothing may come before a decision is asked for: a pasted text is a line every few milliseconds.
const quiet = 150 * time.Millisecond

// decide asks for what no pasted line may answer.
func (p *prompts) decide(prompt string) (string, error) {
	if err := p.drop(); err != nil {
		return "", err
	}
	return p.ask(prompt)
}

// drop forgets the lines that came already, until there are none.
func (p *prompts) drop() error {
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

// pause waits; the end of the input ends it, lines typed meanwhile are dropped.
func (p *prompts) pause(d time.Duration) error {
	after := time.After(d)
	for {
		select {
		case <-p.ctx.Done():
			return p.ctx.Err()
		case <-after:
			return nil
		case _, ok := <-p.lines:
			if !ok {
				return ErrHungUp
			}
		}
	}
}

// do carries out a command at once and returns what there is to say about it.
func (p *prompts) do(cmd tea.Cmd) string {
	p.flash = ""
	switch msg := cmd().(type) {
	case setMsg:
		p.absorb(msg.snapshot)
		p.fieldSet(msg)
	case actMsg:
		p.absorb(msg.snapshot)
		if msg.failed != nil {
			return p.explain(msg.failed)
		}
	case penMsg:
		p.absorb(msg.snapshot)
		if p.held = msg.failed == nil; !p.held {
			return p.explain(msg.failed)
		}
	case docMsg:
		if msg.failed != nil {
			return p.explain(msg.failed)
		}
		return string(msg.data)
	}
	return p.flash
}

func (p *prompts) act(a engine.Action) { p.write(p.do(p.link.act(a))) }

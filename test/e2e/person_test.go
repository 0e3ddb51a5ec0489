package e2e

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hinshun/vt10x"

	"touchdown/test/bench/landing"
)

// person sits at a terminal of 80 columns and 24 lines: reads the screen, types, and looks whether it did what was meant.
type person struct {
	t    *testing.T
	line io.Writer

	mu    sync.Mutex
	vt    vt10x.Terminal
	wrote time.Time // when the node last wrote
	kept  []string  // screens worth keeping
}

// sit puts a person at the end of a line.
func sit(t *testing.T, line io.ReadWriter) *person {
	p := &person{t: t, line: line, vt: vt10x.New(vt10x.WithSize(80, 24))}
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := line.Read(buf)
			p.mu.Lock()
			_, _ = p.vt.Write(buf[:n])
			p.wrote = time.Now()
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return p
}

// screen is what the terminal shows, without colours.
func (p *person) screen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := strings.Split(p.vt.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// keep notes the screen of now for the transcript.
func (p *person) keep(what string) {
	p.kept = append(p.kept, "### "+what+"\n\n"+p.screen()+"\n")
}

// keepOutput notes the node's addresses and routes for the transcript.
func (p *person) keepOutput(l *landing.Landing, what string) {
	p.t.Helper()
	const look = "ip -br -4 address show br-ex; ip -4 route show default"
	out, err := l.Node.Shell(ctxFor(p.t, 10*time.Second), look)
	if err != nil {
		p.t.Error(err)
	}
	p.kept = append(p.kept, "### "+what+"\n\n"+out)
}

// until waits for a screen.
func (p *person) until(limit time.Duration, what string, ok func(screen string) bool) {
	p.t.Helper()
	for end := time.Now().Add(limit); !ok(p.screen()); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatalf("never saw %s on the screen:\n%s", what, p.screen())
		}
	}
}

func (p *person) shows(limit time.Duration, want string) {
	p.t.Helper()
	p.until(limit, fmt.Sprintf("%q", want), func(s string) bool { return strings.Contains(s, want) })
}

// types sends keys and waits until the screen is at rest.
func (p *person) types(keys string) {
	p.t.Helper()
	sent := time.Now()
	if _, err := io.WriteString(p.line, keys); err != nil {
		p.t.Fatal(err)
	}
	const calm, patience = 80 * time.Millisecond, 2 * time.Second
	for {
		time.Sleep(10 * time.Millisecond)
		p.mu.Lock()
		wrote := p.wrote
		p.mu.Unlock()
		if wrote.After(sent) && time.Since(wrote) > calm || time.Since(sent) > patience {
			return
		}
	}
}

// at presses Tab until the marker stands before label: a field's, or "[ Continue ]".
func (p *person) at(label string) {
	p.t.Helper()
	for range 40 {
		for line := range strings.SplitSeq(p.screen(), "\n") {
			if strings.HasPrefix(line, "> "+label) || strings.Contains(line, ">"+label) {
				return
			}
		}
		p.types("\t")
	}
	p.t.Fatalf("Tab never came to %q:\n%s", label, p.screen())
}

// fill puts a value into a field in place of what is there, and sees it on the screen.
func (p *person) fill(label, value string) {
	p.t.Helper()
	p.at(label)
	p.types("\x15" + value)
	p.types("\t")
	p.until(5*time.Second, label+" as "+value, func(s string) bool { return strings.Contains(s, "["+value+" ") })
}

// pick chooses by the choice's words.
func (p *person) pick(label, choice string) {
	p.t.Helper()
	p.at(label)
	p.types("\r")
	for range 12 {
		for line := range strings.SplitSeq(p.screen(), "\n") {
			if strings.HasPrefix(line, ">") && strings.Contains(line, "  "+choice) {
				p.types("\r")
				p.until(5*time.Second, label+" as "+choice, func(s string) bool { return strings.Contains(s, "< "+choice) })
				return
			}
		}
		p.types("\x1b[B")
	}
	p.t.Fatalf("%s has no choice %q:\n%s", label, choice, p.screen())
}

// press goes to a button and chooses it.
func (p *person) press(button string) {
	p.t.Helper()
	p.at("[ " + button)
	p.types("\r")
}

// waive takes responsibility for what failed on the page of checks.
func (p *person) waive(why string) {
	p.t.Helper()
	p.until(20*time.Second, "the end of the checks", func(s string) bool { return !strings.Contains(s, "still looking") })
	for strings.Contains(p.screen(), "  FAIL ") {
		before := strings.Count(p.screen(), "  FAIL ")
		p.press("Waive")
		p.shows(5*time.Second, "You take responsibility")
		p.types("J. Doe\t" + why + "\t\t")
		p.types("\r")
		p.until(5*time.Second, "one failure less", func(s string) bool {
			return strings.Contains(s, "Waived. It is in the report.") && strings.Count(s, "  FAIL ") < before
		})
	}
}

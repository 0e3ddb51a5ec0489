// Package person sits at a console of the bench: reads the screen, types, and looks whether it did what was meant.
package person

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hinshun/vt10x"

	"touchdown/test/wait"
)

// A screen is at rest when nothing came for so long; a key that changes nothing is given up after a while. Both are gaps, and a busy
// machine makes gaps anywhere: they only pace the keys. A test that needs a certain screen waits for it (Until), and one that decides by
// what a page shows, or does not show, waits until the picture is whole (Whole).
const (
	quietTime = 80 * time.Millisecond
	nothing   = 2 * time.Second
	answer    = 20 * time.Second // within which a console of an idle machine shows, over any line, what a key did
)

// Person has a terminal of 80 columns and 24 lines in front of them.
type Person struct {
	Pause time.Duration // after each key; 0: they type as fast as the screens come

	t    testing.TB
	line io.Writer

	mu      sync.Mutex
	vt      vt10x.Terminal
	wrote   time.Time // when the node last wrote
	burst   int       // bytes since the last key, or since the screen was last at rest
	largest int       // most bytes of a burst
	of      string    // the screen after it
	keys    int       // typed so far
	kept    []string  // screens worth keeping
	ended   error     // why nothing comes over the line any more
}

// Sit puts a person at the end of a line.
func Sit(t testing.TB, line io.ReadWriter) *Person {
	t.Helper()
	p := &Person{t: t}
	p.Move(line)
	wait.Explain(t, "the screen that the test looks at", p.Screen)
	return p
}

// Move puts the person at another line, in front of an empty screen. The line of before must have ended.
func (p *Person) Move(line io.ReadWriter) {
	vt := terminal()
	p.mu.Lock()
	p.line, p.vt, p.ended = line, vt, nil
	p.mu.Unlock()
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := line.Read(buf)
			p.saw(vt, buf[:n])
			if err != nil {
				p.end(vt, err)
				return
			}
		}
	}()
}

// saw takes what came over the line.
func (p *Person) saw(vt vt10x.Terminal, data []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = vt.Write(data)
	if vt != p.vt || len(data) == 0 {
		return
	}
	if time.Since(p.wrote) > quietTime {
		p.burst = 0
	}
	p.wrote = time.Now()
	p.burst += len(data)
	if p.burst > p.largest {
		p.largest, p.of = p.burst, text(vt)
	}
}

// end notes that a line has ended, unless the person sits at another one now.
func (p *Person) end(vt vt10x.Terminal, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if vt == p.vt {
		p.ended = err
	}
}

func terminal() vt10x.Terminal { return vt10x.New(vt10x.WithSize(80, 24)) }

// Shown is the screen after a console wrote something, without colours.
func Shown(wrote []byte) string {
	vt := terminal()
	_, _ = vt.Write(wrote)
	return text(vt)
}

// text is what a terminal shows, without colours.
func text(vt vt10x.Terminal) string {
	lines := strings.Split(vt.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// Screen is what the terminal shows, without colours.
func (p *Person) Screen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return text(p.vt)
}

// Measure forgets what was counted so far.
func (p *Person) Measure() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.burst, p.largest, p.of, p.keys = 0, 0, "", 0
}

// Largest is the most that a key, or the work alone, wrote until the screen was at rest, in bytes, and the screen then.
func (p *Person) Largest() (bytes int, screen string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.largest, p.of
}

// Keys is how many keys were typed.
func (p *Person) Keys() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.keys
}

// Keep notes the screen of now for the transcript.
func (p *Person) Keep(what string) { p.Note(what, p.Screen()) }

// Note adds a text to the transcript.
func (p *Person) Note(what, text string) {
	p.kept = append(p.kept, "### "+what+"\n\n"+strings.TrimRight(text, "\n")+"\n")
}

// Transcript is all that was kept.
func (p *Person) Transcript() string { return strings.Join(p.kept, "\n") }

// Leave writes the transcript to a file, where one is named.
func (p *Person) Leave(file string) {
	p.t.Helper()
	if file == "" {
		return
	}
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = os.WriteFile(file, []byte(p.Transcript()), 0o644)
	}
	if err != nil {
		p.t.Error(err)
	}
}

// Types sends keys and waits until the screen is at rest.
func (p *Person) Types(keys string) {
	p.t.Helper()
	p.send(keys)
	p.rest()
}

// ByHand types key by key, with a rest after each. A busy console may take two keys at once all the same: for what agrees to something
// there is Word.
func (p *Person) ByHand(keys string) {
	p.t.Helper()
	for _, key := range split(keys) {
		p.Types(key)
	}
}

// Costs is how many bytes a key makes, and how long it is until the last of them has come over the line.
func (p *Person) Costs(key string) (bytes int, took time.Duration) {
	p.t.Helper()
	p.rest()
	sent := time.Now()
	p.Types(key)
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.burst, p.wrote.Sub(sent)
}

// send types, one key after the other where there is a pause between them, else all at once.
func (p *Person) send(keys string) {
	p.t.Helper()
	all := split(keys)
	parts := []string{keys}
	if p.Pause > 0 {
		parts = all
	}
	p.mu.Lock()
	p.keys += len(all)
	line := p.line
	p.mu.Unlock()
	for _, part := range parts {
		p.mu.Lock()
		p.burst = 0
		p.mu.Unlock()
		wrote := make(chan error, 1)
		go func() {
			_, err := io.WriteString(line, part)
			wrote <- err
		}()
		select {
		case err := <-wrote:
			if err != nil {
				p.t.Fatal(err)
			}
		case <-time.After(wait.Timeout(answer)):
			p.t.Fatalf("the line takes no keys: %q", part)
		}
		time.Sleep(p.Pause) // as slow as the person types
	}
}

// split takes a string apart into keys: an arrow is one.
func split(s string) []string {
	var keys []string
	for s != "" {
		n := 1
		if strings.HasPrefix(s, "\x1b[") && len(s) > 2 {
			n = 3
		}
		keys, s = append(keys, s[:n]), s[n:]
	}
	return keys
}

// rest waits until nothing comes any more.
func (p *Person) rest() {
	p.t.Helper()
	since := time.Now()
	wait.Soon(p.t, answer, "a screen at rest", func() error {
		p.mu.Lock()
		wrote, quiet := p.burst > 0, time.Since(p.wrote) > quietTime
		p.mu.Unlock()
		if !quiet || !wrote && time.Since(since) <= nothing {
			return fmt.Errorf("it wrote: %t, quiet: %t; it shows\n%s", wrote, quiet, p.Screen())
		}
		return nil
	})
}

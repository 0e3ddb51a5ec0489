package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
)

const (
	// recordPause is how often the engine is told at most.
	recordPause = time.Second
	// mostUntold is how much waits for an engine that is away, in bytes; what is older is lost.
	mostUntold = 16 << 10
	// afterKey is how long a page belongs to the last key: until then each change is recorded.
	afterKey = 3 * time.Second
	// firstPause and lastPause are how long a page that changes without a key is left alone: at first, and after each time twice as long.
	// The engine's journal tells what happened meanwhile.
	firstPause = time.Minute
	lastPause  = 6 * time.Hour
	// someTyping is the line for letters that are typed, however many.
	someTyping = "types"
)

// record is what this console tells the engine of itself, for support: the pages that it showed, and the keys that did something. What is
// typed is not part of it. It never makes the console wait.
type record struct {
	tell func(context.Context, string) error

	mu     sync.Mutex
	untold []string // lines
	size   int      // of untold, in bytes
	lost   bool     // the beginning of untold
	last   string   // the last line without its time
	typing bool     // since the last someTyping nothing but pages was recorded
	wake   chan struct{}

	page  string // that was recorded last, and its lines
	lines []string
	at    time.Time
	pause time.Duration
}

func newRecord(tell func(context.Context, string) error) *record {
	return &record{tell: tell, wake: make(chan struct{}, 1), pause: firstPause}
}

// note records a line; one that is the same as the one before is not repeated, also when that was told already: a line for each letter would
// tell how long a PIN is.
func (r *record) note(at time.Time, line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if line == r.last || line == someTyping && r.typing {
		return
	}
	r.last, r.typing = line, line == someTyping || r.typing && strings.HasPrefix(line, "page ")
	r.add(at.UTC().Format(time.TimeOnly) + " " + line)
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// add takes a line. Whoever calls it holds mu.
func (r *record) add(line string) {
	r.untold = append(r.untold, line)
	for r.size += len(line) + 1; r.size > mostUntold; r.lost = true {
		r.size -= len(r.untold[0]) + 1
		r.untold = r.untold[1:]
	}
}

// plainText is lines without their looks.
func plainText(lines []string) (plain []string) {
	for _, line := range lines {
		plain = append(plain, strings.TrimRight(ansi.Strip(line), " "))
	}
	return plain
}

// takes tells whether a page is recorded now; most pages of one that only moves are not.
func (r *record) takes(now, key time.Time, page string) bool {
	return page != r.page || now.Sub(key).Abs() < afterKey || now.Sub(r.at) >= r.pause
}

// shows records a page: whole when it is another one, else the lines that changed. now and key, when the last one was pressed, are by the
// clock of this console, at is the engine's.
func (r *record) shows(at, now, key time.Time, page string, lines []string) {
	if !r.takes(now, key, page) {
		return
	}
	another := page != r.page
	if r.pause = min(2*r.pause, lastPause); another || now.Sub(key).Abs() < afterKey {
		r.pause = firstPause
	}
	if !another && slices.Equal(lines, r.lines) {
		return
	}
	text := []string{"page " + page}
	for i, line := range lines {
		if another && line != "" || !another && (i >= len(r.lines) || line != r.lines[i]) {
			text = append(text, fmt.Sprintf("%4d| %s", i+1, line))
		}
	}
	r.page, r.lines, r.at = page, lines, now
	r.note(at, strings.Join(text, "\n"))
}

// begin tells the engine what is recorded, until the function that it returns is called: that tells the rest.
func (r *record) begin(ctx context.Context) (end func()) {
	ctx, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-r.wake:
				r.send(ctx, askTimeout)
			}
			select {
			case <-ctx.Done():
			case <-time.After(recordPause):
			}
		}
		r.send(context.WithoutCancel(ctx), recordPause)
	}()
	return func() { stop(); <-done }
}

// send tells the engine. What it does not take waits.
func (r *record) send(ctx context.Context, limit time.Duration) {
	r.mu.Lock()
	lines, lost := r.untold, r.lost
	r.untold, r.size, r.lost = nil, 0, false
	r.mu.Unlock()
	if len(lines) == 0 {
		return
	}
	text := strings.Join(lines, "\n")
	if lost {
		text = "... what was before is lost\n" + text
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if r.tell(ctx, text) == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	newer := r.untold
	r.untold, r.size, r.lost = nil, 0, lost
	for _, line := range append(lines, newer...) {
		r.add(line)
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

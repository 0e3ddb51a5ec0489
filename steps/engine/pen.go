package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"touchdown/steps"
)

// penGrace is how long a console that went away keeps the pen, so that a line that drops for a moment does
// not hand it to someone else.
const penGrace = 5 * time.Second

// pen is the right to write. At most one console holds it.
type pen struct {
	token    string
	holder   string
	since    time.Time
	attached int       // event streams that name the token
	left     time.Time // when the last of them ended
}

// free reports whether nobody holds the pen, or whoever did went away. A holder that never opened a stream,
// such as a single `touchdown answers --set`, keeps it for the grace too.
func (p *pen) free(now time.Time) bool {
	return p.token == "" || (p.attached == 0 && now.Sub(p.left) > penGrace)
}

// TakePen implements Session.
func (e *Engine) TakePen(_ context.Context, console string, force bool) (string, error) {
	console = strings.TrimSpace(console)
	if console == "" || len(console) > 64 {
		return "", fmt.Errorf("%w: a console's name has 1 to 64 characters", ErrInvalid)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	// The same console again is one that came back after a crash or a dropped line.
	if !force && console != e.pen.holder && !e.pen.free(e.now()) {
		return "", fmt.Errorf("%w: %s, since %s", ErrPenHeld, e.pen.holder, e.pen.since.Format(time.TimeOnly))
	}
	token := make([]byte, 16)
	rand.Read(token)
	e.pen = pen{token: hex.EncodeToString(token), holder: console, since: e.now(), left: e.now()}
	e.changedLocked()
	return e.pen.token, nil
}

// ReleasePen implements Session.
func (e *Engine) ReleasePen(_ context.Context, token string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.checkPen(token); err != nil {
		return err
	}
	e.pen = pen{}
	e.changedLocked()
	return nil
}

// checkPen fails unless token is the pen. The caller holds e.mu.
func (e *Engine) checkPen(token string) error {
	if token == "" || token != e.pen.token {
		return ErrNoPen
	}
	if e.pen.attached == 0 {
		e.pen.left = e.now()
	}
	return nil
}

// Events implements Session.
func (e *Engine) Events(ctx context.Context, token string, from uint64, each func([]steps.Event) error) error {
	e.attach(token, 1)
	defer e.attach(token, -1)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(e.closing, stop)()
	return e.hub.follow(ctx, from, each)
}

// attach counts a stream in or out.
func (e *Engine) attach(token string, n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.attached += n
	switch e.attached {
	case 0:
		e.restartDeadlineLocked()
	case n: // the first one: what was seen while nobody looked may be old
		e.lookAgain()
	}
	if token == "" || token != e.pen.token {
		return
	}
	e.pen.attached += n
	e.pen.left = e.now()
	if e.pen.attached == 0 {
		time.AfterFunc(penGrace+time.Millisecond, func() { e.penLeft(token) })
	}
}

// penLeft tells the other consoles that whoever held the pen did not come back.
func (e *Engine) penLeft(token string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.pen.token == token && e.pen.free(e.now()) {
		e.pen = pen{}
		e.changedLocked()
	}
}

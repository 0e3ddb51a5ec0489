package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"touchdown/backend/value"
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// controlGrace is how long a console that went away keeps control, so that a line that drops for a moment does
// not hand it to someone else.
const controlGrace = 5 * time.Second

// control tells which console may write: the holder of control, one at most. It counts the consoles that watch, too.
type control struct {
	now  func() time.Time
	lost func() // called whenever a console loses control

	token    string // "" when nobody holds control
	holder   string
	since    time.Time
	attached int       // event streams that name the token
	left     time.Time // when the last of them ended

	watching int // event streams of all consoles
}

// free reports whether nobody holds control, or whoever did went away. A holder that never opened a stream,
// such as a single request by curl, keeps it for the grace too.
func (c *control) free() bool {
	return c.token == "" || (c.attached == 0 && c.now().Sub(c.left) > controlGrace)
}

// take gives control to a console.
func (c *control) take(console string, force bool) (token string, err error) {
	console = strings.TrimSpace(console)
	if console == "" || len(console) > 64 || !value.OneLine(console) {
		return "", fmt.Errorf("%w: a console's name has 1 to 64 bytes on one line, without control characters", session.ErrInvalid)
	}
	// The same console again is one that came back after a crash or a dropped line.
	if !force && console != c.holder && !c.free() {
		return "", fmt.Errorf("%w: %s, since %s", session.ErrControlHeld, c.holder, c.since.Format(time.TimeOnly))
	}
	random := make([]byte, 16)
	rand.Read(random)
	c.drop()
	c.token, c.holder, c.since, c.left = hex.EncodeToString(random), console, c.now(), c.now()
	return c.token, nil
}

// drop leaves control to whoever takes it.
func (c *control) drop() {
	c.lost()
	c.token, c.holder, c.since, c.attached, c.left = "", "", time.Time{}, 0, time.Time{}
}

// check fails unless token is the one that its holder was given.
func (c *control) check(token string) error {
	if token == "" || token != c.token {
		return session.ErrNoControl
	}
	if c.attached == 0 {
		c.left = c.now()
	}
	return nil
}

// attach counts a stream in or out, and tells whether the holder of control has none left.
func (c *control) attach(token string, n int) (left bool) {
	c.watching += n
	if token == "" || token != c.token {
		return false
	}
	c.attached += n
	c.left = c.now()
	return c.attached == 0
}

// gone takes control from a holder that did not come back, and tells whether it did.
func (c *control) gone(token string) bool {
	if c.token != token || !c.free() {
		return false
	}
	c.drop()
	return true
}

// view says who may write.
func (c *control) view() view.Control {
	if c.free() {
		return view.Control{}
	}
	return view.Control{Holder: c.holder, Since: c.since}
}

// TakeControl implements Session.
func (e *Engine) TakeControl(ctx context.Context, console string, force bool) (string, error) {
	someoneIsHere(e)
	if err := e.idle.May(ctx); err != nil {
		return "", err
	}
	return e.takeControl(console, force)
}

// takeControl is TakeControl for the engine itself, too.
func (e *Engine) takeControl(console string, force bool) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	token, err := e.core.control.take(console, force)
	if err == nil {
		e.core.recorder.changed()
	}
	return token, err
}

// ReleaseControl implements Session.
func (e *Engine) ReleaseControl(_ context.Context, token string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.core.control.check(token); err != nil {
		return err
	}
	e.core.control.drop()
	e.core.recorder.changed()
	return nil
}

// Events implements Session.
func (e *Engine) Events(ctx context.Context, token string, from uint64, each func([]event.Event) error) error {
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
	left := e.core.control.attach(token, n)
	select {
	case e.attached <- struct{}{}:
	default:
	}
	switch e.core.control.watching {
	case 0:
		if e.core.question.restart(e.core.job.question, e.now()) {
			e.core.recorder.changed()
		}
	case n: // the first one: what was seen while nobody looked may be old
		e.core.inspector.again()
	}
	if left {
		time.AfterFunc(controlGrace+time.Millisecond, func() { // who held control may not have come back: the others are told
			e.mu.Lock()
			defer e.mu.Unlock()
			if e.core.control.gone(token) {
				e.core.recorder.changed()
			}
		})
	}
}

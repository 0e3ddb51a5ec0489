package engine

import (
	"context"

	"touchdown/backend/message"
	"touchdown/steps/idle"
)

// newIdle is the lock of the consoles that nobody uses. Its times keep what the kernel counts beside the clock (time.Time), which
// Touchdown itself sets.
func newIdle(e *Engine) *idle.Lock {
	return idle.Open(idle.Options{Dir: e.folder.dir, Baked: idle.ReadBaked(e.o.Node.Host), Now: e.o.Node.Now, Log: e.o.Node.Log})
}

// Present implements Session.
func (e *Engine) Present(ctx context.Context, pin string) error {
	someoneIsHere(e) // at a console that is locked, too: it takes no PIN to keep a node from starting
	err := e.idle.Present(ctx, pin)
	if pin != "" { // how long nobody may try another one concerns all consoles
		e.mu.Lock()
		defer e.mu.Unlock()
		e.core.recorder.changed()
	}
	return err
}

// idleNotice says that consoles stay open although a PIN was set.
func idleNotice(e *Engine) (all []message.Text) {
	if e.idle.Broken() {
		all = append(all, message.T("The PIN of the consoles cannot be read, so they do not lock. Set spec.console.pin again."))
	}
	return all
}

// pinNotice says that the PIN of a job that was undone still counts.
const pinNotice = "pin"

// takePINBack takes back the PIN that a start set, and says so where the disk keeps it: the consoles lock all the same. Whoever calls it
// holds mu. The next engine tries again.
func takePINBack(c *core) {
	delete(c.notices, pinNotice)
	if err := c.draft.idle.Back(); err != nil {
		c.o.Node.Log.Error("the PIN of the consoles cannot be taken back", "error", err)
		c.notices[pinNotice] = message.F("The PIN of the consoles could not be taken back: they still lock. Look at the disk that holds %s, then start this machine again.", c.folder.dir)
	}
	c.recorder.changed()
}

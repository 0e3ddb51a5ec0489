package engine

import (
	"errors"
	"testing"
	"time"

	"touchdown/steps/session"
	"touchdown/steps/view"
)

// TestControl is the rule of control alone: one holder, who keeps it for a moment after the line dropped.
func TestControl(t *testing.T) {
	now := time.Unix(1000, 0)
	c := &control{now: func() time.Time { return now }, lost: func() {}}
	first, err := c.take(" tty1 ", false)
	must(t, err)
	if v := c.view(); v.Holder != "tty1" || !v.Since.Equal(now) {
		t.Errorf("it is held by %+v", v)
	}
	if _, err := c.take("ttyS0", false); !errors.Is(err, session.ErrControlHeld) {
		t.Errorf("a second console: %v", err)
	}
	c.attach("", 1) // someone watches
	c.attach(first, 1)
	if left := c.attach(first, -1); !left || c.watching != 1 {
		t.Errorf("left %t, %d watch", left, c.watching)
	}
	if now = now.Add(controlGrace); c.gone(first) {
		t.Error("it was lost within the grace")
	}
	if now = now.Add(1); !c.gone(first) || c.view() != (view.Control{}) || !errors.Is(c.check(first), session.ErrNoControl) {
		t.Error("whoever went away still holds it")
	}
	again, err := c.take("ttyS0", false)
	must(t, err)
	if c.check(again) != nil || c.gone(first) {
		t.Error("the new holder does not hold it")
	}
	if _, err := c.take("", true); !errors.Is(err, session.ErrInvalid) {
		t.Errorf("a console without a name: %v", err)
	}
}

package nodeconfig_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"touchdown/test/wait"
)

// cutUndo is a cluster after a power cut in the pause of an Undo that had put all back: newest is rendered, and the node has current.
// The node takes what is rendered once the pause has ended.
func cutUndo(t *testing.T, newest, current string) (o *operator, undo func(limit time.Duration) error) {
	o, c := newOperator(t)
	o.put(true, newest, current)
	o.api.After = func(string, string) {
		if o.api.Get(pool, "spec", "paused") != "true" {
			now := o.newest()
			o.put(false, now, now)
		}
	}
	return o, func(limit time.Duration) error {
		b := batch(c, true)
		b.Cut = true
		b.Timeouts.Render, b.Timeouts.Rest, b.Timeouts.Roll = limit, limit, limit
		return b.Undo(t.Context(), "rendered-0", func(context.Context) (bool, error) { return false, nil })
	}
}

func (o *operator) put(paused bool, spec, status string) {
	o.api.Put(pool, fmt.Sprintf(`{"spec":{"paused":%t,"configuration":{"name":%q}},"status":{"configuration":{"name":%q},
		"conditions":[{"type":"Updated","status":"True"},{"type":"Updating","status":"False"},{"type":"Degraded","status":"False"}]}}`, paused, spec, status))
}

func (o *operator) newest() (name string) {
	_, _ = fmt.Sscanf(o.api.Get(pool, "spec", "configuration", "name"), "%q", &name)
	return name
}

// The power fails after all is put back and before it is rendered: "Updated" is old news then, and the node still has the site's values.
func TestUndoAfterACutWaitsForTheRendering(t *testing.T) {
	o, undo := cutUndo(t, "rendered-1", "rendered-1")
	started := time.AfterFunc(200*time.Millisecond, func() { // the operator, later than the API
		o.put(o.api.Get(pool, "spec", "paused") == "true", "rendered-0", "rendered-1")
	})
	defer started.Stop()
	err := undo(wait.Timeout(0))
	if got := o.api.Get(pool, "status", "configuration", "name"); err != nil || got != `"rendered-0"` {
		t.Errorf("the node has %s (%v)", got, err)
	}
}

// The power fails after the rendering: there is nothing to wait for but the node.
func TestUndoAfterACutDoesNotWaitForWhatIsRendered(t *testing.T) {
	for _, current := range []string{"rendered-0", "rendered-1"} {
		o, undo := cutUndo(t, "rendered-0", current)
		limit, begin := wait.Timeout(0), time.Now()
		err := undo(limit)
		if got := o.api.Get(pool, "status", "configuration", "name"); err != nil || got != `"rendered-0"` || time.Since(begin) >= limit {
			t.Errorf("from %s: after %s the node has %s (%v)", current, time.Since(begin), got, err)
		}
	}
}

// Someone else's change keeps the old rendering from coming: the undo ends all the same.
func TestUndoAfterACutEndsWithSomeoneElsesRendering(t *testing.T) {
	o, undo := cutUndo(t, "rendered-9", "rendered-1")
	err := undo(300 * time.Millisecond)
	if got := o.api.Get(pool, "status", "configuration", "name"); err != nil || got != `"rendered-9"` {
		t.Errorf("the node has %s (%v)", got, err)
	}
}

package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"touchdown/backend/check"
	"touchdown/steps"
)

// TestFirstConsoleSeesTheMachineAsItIs: on a node that boots slowly the engine has looked, and stopped looking, long before
// a console is there. The clock jumps.
func TestFirstConsoleSeesTheMachineAsItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, newWorld())
		defer r.Close()
		cable := func() steps.Check {
			s, err := r.Snapshot(t.Context())
			must(t, err)
			return s.Stages[0].Steps[0].Checks[0]
		}
		time.Sleep(time.Hour)
		if c := cable(); c.Status != check.Fail {
			t.Fatalf("before: %+v", c)
		}
		r.w.mu.Lock()
		r.w.cable = true
		r.w.mu.Unlock()
		ctx, leave := context.WithCancel(t.Context())
		watching := make(chan struct{})
		go func() {
			defer close(watching)
			_ = r.Events(ctx, "", 0, func([]steps.Event) error { return nil })
		}()
		time.Sleep(time.Second)
		if c := cable(); c.Status != check.Pass {
			t.Errorf("the first console is told %+v", c)
		}
		leave()
		<-watching
	})
}

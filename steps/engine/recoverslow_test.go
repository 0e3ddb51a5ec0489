package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"touchdown/backend"
	"touchdown/steps"
)

// slowly puts something right, and reports nothing meanwhile.
type slowly time.Duration

func (s slowly) Recover(ctx context.Context, _ *backend.Node, _ steps.Report) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(time.Duration(s)):
		return nil
	}
}

// TestABusyMachineRecovers: the old network settings may take nearly five minutes to come back, by the timeouts of backend/network
// together. One that was stopped before would leave the node with half of them.
func TestABusyMachineRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, newWorld())
		defer r.Close()
		r.recoverStep(slowly(5*time.Minute), &stepReport{e: r.Engine, step: "light"})
		r.mu.Lock()
		defer r.mu.Unlock()
		if notice, told := r.core.notices["recover light"]; told {
			t.Errorf("the recovery was stopped: %s", notice)
		}
	})
}

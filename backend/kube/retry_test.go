package kube

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestABusyAPIIsHeardOnce: a form waits 500 ms for an API that is away, and still hears one that is busy and answers after 12 s.
func TestABusyAPIIsHeardOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Shut(t.TempDir()+"/kubeconfig", nil).Within(500 * time.Millisecond)
		err := c.Do(t.Context(), "reading", func(ctx context.Context) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(12 * time.Second):
				return nil
			}
		})
		if err != nil {
			t.Errorf("the answer was not heard: %v", err)
		}
	})
}

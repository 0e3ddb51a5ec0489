package steps

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestTheTrialLastsAsLongAsTheQuestion: what keeps the checkpoint alive is called again and again, and never after the answer.
func TestTheTrialLastsAsLongAsTheQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		stop := every(context.Background(), time.Minute, func() { calls++ })
		time.Sleep(10*time.Minute + time.Second)
		stop()
		time.Sleep(time.Hour)
		if calls != 10 {
			t.Errorf("%d calls in 10 minutes", calls)
		}
	})
}

package steps

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"touchdown/backend/network"
	"touchdown/backend/problem"
)

// TestTheTrialLastsAsLongAsTheQuestion: the checkpoint is extended again and again, whatever fails once, and never after the answer.
func TestTheTrialLastsAsLongAsTheQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		asking, stop := extending(t.Context(), func(context.Context, time.Duration) error { calls++; return errors.New("busy") })
		time.Sleep(10*time.Minute + time.Second)
		synctest.Wait()
		if asking.Err() != nil {
			t.Errorf("the question ends: %v", context.Cause(asking))
		}
		stop()
		time.Sleep(time.Hour)
		if calls != 10 {
			t.Errorf("%d calls in 10 minutes", calls)
		}
	})
}

// TestATrialThatIsOverEndsTheQuestion: nobody decides on settings that nothing would put back, and nothing extends a trial for ever.
func TestATrialThatIsOverEndsTheQuestion(t *testing.T) {
	late := &problem.Problem{Code: network.Late}
	for name, c := range map[string]struct {
		fails error
		after time.Duration
		cause error
	}{
		"NetworkManager lost it": {late, questionMore / 3, late},
		"nobody ever answers":    {nil, questionLongest, errTooLong},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				asking, stop := extending(t.Context(), func(context.Context, time.Duration) error { return c.fails })
				defer stop()
				<-asking.Done()
				if took := time.Since(began); took != c.after || !errors.Is(context.Cause(asking), c.cause) {
					t.Errorf("after %s: %v", took, context.Cause(asking))
				}
			})
		})
	}
}
